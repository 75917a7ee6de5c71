// What an activation asks of a primary's API, as the assembly is handed it: files and the network are for others
// (src/process/primary-api.ts).

/** A wrapped activation token, and how its primary is reached and trusted; '' for what was left out. */
export type AskedPrimary = {
  readonly address: string
  readonly jwt: string
  readonly caFile: string
  readonly caPath: string
}

/** What came of it. Sentences name the address and the remedy, and tell no secret. */
export type Unwrapped =
  | { readonly kind: 'bundle'; readonly text: string }
  | { readonly kind: 'failed'; readonly sentence: string }
/** What a look at the primary found, without using the token up. */
export type LookedAt = {
  readonly kind: 'good' | 'failed'
  readonly sentence: string
  readonly version?: string
  readonly clockSkewMs?: number
}

/** The API of a primary. Neither call rejects for what the network or the primary does. */
export type PrimaryApi = {
  readonly unwrap: (asked: AskedPrimary) => Promise<Unwrapped>
  readonly look: (asked: AskedPrimary) => Promise<LookedAt>
}
