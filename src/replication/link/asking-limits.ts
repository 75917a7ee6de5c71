// How much a secondary may have asked of its primary at once. Both ends count: the secondary refuses what is above, and
// the primary gives up the link of one that does not.

const MIB = 1024 * 1024

/** Questions without an answer. */
export const MAX_ASKED = 1_000
/** Bytes of their bodies. */
export const MAX_ASKED_BYTES = 64 * MIB
/** Bytes of answers that wait to be sent. A primary with more does nothing of what is asked further. */
export const MAX_UNSENT_ANSWER_BYTES = 64 * MIB
