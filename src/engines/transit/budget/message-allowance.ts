// The allowance of a thread: what it may still seal under one key version. A version may have several names, as keys
// can be restored under others; all names share one allowance. What is left outlives deletion and restore.

/** An allowance, which the counter of its thread fills (message-counter.ts) and budgets take from. */
export class MessageAllowance {
  readonly identity: string
  /** Lives of the mount before the version was made: the smallest number that any of its names has. */
  countedFrom: number
  /** Names of the keys that were loaded with it. */
  readonly names = new Set<string>()
  /** Messages that may be sealed now. */
  left = 0
  /** If fewer are left, more are asked for, before these are used up. */
  low = 0
  /** Whether the thread has had its FREE_MESSAGES, which it need not ask for. */
  hasFree = false
  /** Messages that were asked for last; the next block is twice as large. */
  block = 0
  /** The most messages that all threads together have sealed, as far as this thread knows. */
  total = 0

  constructor(identity: string, countedFrom: number) {
    this.identity = identity
    this.countedFrom = countedFrom
  }

  /** Adds messages that were stored as given. */
  add(messages: number): void {
    this.left += messages
    this.lower()
  }

  /** Sets the next request for more to when half of what is left is used. */
  lower(): void {
    this.low = Math.max(0, Math.floor(this.left / 2))
  }
}
