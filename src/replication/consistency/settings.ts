/** How long requests and answers wait, in milliseconds. */
export type ConsistencySettings = {
  /** A request, for a state that it names. */
  readonly waitMs: number
  /** The same, where the request asks for it. */
  readonly awaitStateMs: number
  /** The answer to a request that the primary carried out, for what was written there; 0: none waits. */
  readonly heldMs: number
}

/** Most things arrive within the first: a client would come again only after a second. */
export const DEFAULT_CONSISTENCY: ConsistencySettings = { waitMs: 100, awaitStateMs: 2_000, heldMs: 2_000 }
