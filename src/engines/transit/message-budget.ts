// How many messages a thread may still seal under a key version (threats P-11, C-13): random nonces of 96 bits are good
// for 2^32 messages of one key (NIST SP 800-38D section 8.3), so the messages of each version are counted. A thread
// counts down what it was given; what was given is stored first (budget-ledger.ts), so the count is never too low.
import type { BudgetBook, CountedVersion } from './budget-book.ts'

/** Half of what may be: from here on answers warn. */
export const WARN_MESSAGES = 2 ** 31

export class MessageBudget {
  readonly name: string
  readonly version: number
  /** Names the secrets of the version, so that a key that takes the name of another begins anew. */
  readonly identity: string
  readonly countedFrom: number
  readonly #book: BudgetBook
  /** Messages that may be sealed now. */
  #left = 0
  /** With fewer left, more is asked for, before they are used up. */
  #low = 0
  /** Whether the messages that each thread has without asking were given. */
  hasFree = false
  /** What is asked for next. */
  block = 0
  /** Sealed at most, by all threads, as far as it is known here. */
  total = 0

  constructor(book: BudgetBook, { name, version, identity, countedFrom }: CountedVersion) {
    this.#book = book
    this.name = name
    this.version = version
    this.identity = identity
    this.countedFrom = countedFrom
  }

  /** Before a message is sealed. @throws BudgetSpent where nothing is left, and nothing may be sealed */
  take(isAskedFor: boolean): void {
    this.#left -= 1
    if (this.#left < this.#low) this.#runLow(isAskedFor)
  }

  #runLow(isAskedFor: boolean): void {
    if (this.#left < 0) {
      this.#left += 1
      throw new BudgetSpent(this, isAskedFor)
    }
    this.#book.refillAhead(this)
  }

  get left(): number {
    return this.#left
  }

  add(messages: number): void {
    this.#left += messages
    this.lower()
  }

  /** Messages that were sealed before this was there to count them. */
  spend(messages: number): void {
    this.#left -= messages
  }

  /** Answers warn of it. */
  get isNearLimit(): boolean {
    return this.total >= WARN_MESSAGES
  }

  /** More could not be had: it is asked for again when half of what is left is used. */
  lower(): void {
    this.#low = Math.max(0, Math.floor(this.#left / 2))
  }
}

/** The request waits for more, and begins anew. */
export class BudgetSpent extends Error {
  readonly budget: MessageBudget
  /** The caller asked for this very version. */
  readonly isAskedFor: boolean

  constructor(budget: MessageBudget, isAskedFor: boolean) {
    super('A thread has used up the messages that it may seal under a key version')
    this.budget = budget
    this.isAskedFor = isAskedFor
  }
}
