// What a thread may still seal under one key version. All names that the version has take from it, and what is left of
// it stays when a key is deleted, restored, or restored under another name.

export class MessageAllowance {
  readonly identity: string
  /** Lives that there had been when the version was made: the fewest that any name of it says. */
  countedFrom: number
  /** Keys that were loaded with it. */
  readonly names = new Set<string>()
  /** Messages that may be sealed now. */
  left = 0
  /** With fewer left, more is asked for, before they are used up. */
  low = 0
  /** Whether the messages that each thread has without asking were given. */
  hasFree = false
  /** What is asked for next. */
  block = 0
  /** Sealed at most, by all threads, as far as it is known here. */
  total = 0

  constructor(identity: string, countedFrom: number) {
    this.identity = identity
    this.countedFrom = countedFrom
  }

  add(messages: number): void {
    this.left += messages
    this.lower()
  }

  /** More could not be had: it is asked for again when half of what is left is used. */
  lower(): void {
    this.low = Math.max(0, Math.floor(this.left / 2))
  }
}
