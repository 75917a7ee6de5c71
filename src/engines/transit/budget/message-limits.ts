// How many messages a key version may seal, and in which portions the right to seal them is handed on: from the set of
// clusters to one cluster (message-ledger.ts), from a cluster to its threads (message-count-store.ts).

/** The numbers, which tests lower. */
export type MessageLimits = {
  /** Messages that one version may seal, over all clusters (NIST SP 800-38D section 8.3). */
  readonly most: number
  /** Messages that a cluster is granted at once. */
  readonly block: number
  /** Messages of each version that each thread may seal without asking. */
  readonly free: number
  /** The part of a cluster's first block that its threads may use up without asking. */
  readonly freeShare: number
  /** The first block that a thread asks for. */
  readonly firstAsk: number
  /**
   * The largest block of a thread: seconds of its work. What is left of it when the thread dies counts as sealed, which
   * is a thousandth of `most` at most.
   */
  readonly lastAsk: number
}

/** The limits of a server. */
export const MESSAGE_LIMITS: MessageLimits = {
  most: 2 ** 32,
  // An hour at 18,000 messages a second: so long a cluster lasts without its primary, and half of it in the worst case.
  block: 2 ** 26,
  free: 2 ** 10,
  freeShare: 2 ** 25,
  firstAsk: 2 ** 16,
  lastAsk: 2 ** 22,
}

/** Clusters that a set has at a time. Half of the messages of a new version are then granted ahead of need. */
export const MOST_CLUSTERS = 32
