// Tokens by which this server proves elsewhere which of its mounts asks. A party that trusts the issuer finds its
// public keys at the issuer's address. Engines get the signing half, the endpoints that publish keys the other.

/** The claims of a token. */
export type IdentityClaims = {
  readonly subject: string
  readonly audience: string
  /** At most MAX_IDENTITY_TOKEN_SECONDS. */
  readonly ttlSeconds: number
}

/** How long a key that no longer signs is still published; so also the longest life of a token. */
export const MAX_IDENTITY_TOKEN_SECONDS = 86_400

/** The signing half, as engines get it. */
export interface IdentityTokens {
  /** Address of the issuer. @throws Refusal if this server has none that others could ask */
  issuer(): string
  /**
   * Makes a token, signed with RS256. Runs only on the thread that writes, since the first token makes the key.
   * @throws Refusal as `issuer`
   */
  mint(claims: IdentityClaims): Promise<string>
}

/** A member of a JSON Web Key Set (RFC 7517): the public half alone. */
export type PublishedKey = {
  readonly kty: 'RSA'
  readonly use: 'sig'
  readonly alg: 'RS256'
  readonly kid: string
  readonly n: string
  readonly e: string
}

/** The public half, for the endpoints that publish it without a token. */
export interface PublishedIdentity {
  /** Address of the issuer. @throws Refusal as IdentityTokens */
  issuer(): string
  /** The keys that verify live tokens; empty until the first token was made. */
  publishedKeys(): Promise<readonly PublishedKey[]>
}
