// How long the ends of a link wait, and how often they do things. Tests hand in shorter times.

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

/** Times in milliseconds. */
export type LinkTimes = {
  /** Until the first message of the other end, and until each further one of an activation. */
  readonly greetingMs: number
  /** For all of a knock, its dial included. */
  readonly knockMs: number
  /** From one beat to the next. */
  readonly beatMs: number
  /** Nothing at all arrived for so long: the link is half-open, or one of its directions is cut. */
  readonly silenceMs: number
  /** From one comparison of the roots to the next. */
  readonly rootMs: number
  /** From one note of a secondary's state to the next. */
  readonly noteMs: number
  /** The first pause before a link is dialed again. Each further one is twice as long, up to `longestRetryMs`. */
  readonly firstRetryMs: number
  readonly longestRetryMs: number
  /** A link that was up for so long was a good one: the pauses begin with the first again. */
  readonly healthyMs: number
  /** The pause of a secondary that was refused, or that stopped. */
  readonly idleMs: number
  /** The pause of a secondary whose disk is full. */
  readonly fullMs: number
  /** From one call of a former primary to the next, and how long one may take: it is to know soon after a heal. */
  readonly takeoverRetryMs: number
  readonly takeoverMs: number
  /** From one question for a new leaf to the next, and from one look whether a secondary trusts all authorities. */
  readonly renewalMs: number
  /** The pause before a port that could not be opened is tried again. */
  readonly portMs: number
  /** For the last words of a link that this end gives up. */
  readonly closingMs: number
}

/** The times of all links but those of tests. */
export const LINK_TIMES: LinkTimes = {
  greetingMs: 10 * SECOND_MS,
  knockMs: 15 * SECOND_MS,
  beatMs: SECOND_MS,
  silenceMs: 10 * SECOND_MS,
  rootMs: 10 * SECOND_MS,
  noteMs: 10 * SECOND_MS,
  firstRetryMs: 100,
  longestRetryMs: 10 * SECOND_MS,
  healthyMs: MINUTE_MS,
  idleMs: MINUTE_MS,
  fullMs: 30 * SECOND_MS,
  takeoverRetryMs: 5 * SECOND_MS,
  takeoverMs: 5 * SECOND_MS,
  renewalMs: 60 * MINUTE_MS,
  portMs: 5 * SECOND_MS,
  closingMs: SECOND_MS,
}
