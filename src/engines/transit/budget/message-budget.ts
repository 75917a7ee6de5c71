// How many messages a thread may still seal under a key version (threats P-11, C-13): random nonces of 96 bits are good
// for 2^32 messages of one key (NIST SP 800-38D section 8.3), so the messages of each version are counted. A thread
// counts down what it was given, which was stored before (message-count-store.ts): the count is never too low.
import type { MessageAllowance } from './message-allowance.ts'

/** Half of what may be: from here on answers warn. */
export const WARN_MESSAGES = 2 ** 31

/** Asks for more before nothing is left. */
type Refiller = { refillAhead(budget: MessageBudget): void }

export class MessageBudget {
  readonly name: string
  readonly version: number
  /** What it takes from: shared by all names that the version has. */
  readonly pool: MessageAllowance
  readonly #counter: Refiller

  constructor(counter: Refiller, { name, version }: Pick<MessageBudget, 'name' | 'version'>, pool: MessageAllowance) {
    this.#counter = counter
    this.name = name
    this.version = version
    this.pool = pool
  }

  /** Before a message is sealed. @throws BudgetSpent where nothing is left, and nothing may be sealed */
  take(isAskedFor: boolean): void {
    this.pool.left -= 1
    if (this.pool.left < this.pool.low) this.#runLow(isAskedFor)
  }

  #runLow(isAskedFor: boolean): void {
    if (this.pool.left < 0) {
      this.pool.left += 1
      throw new BudgetSpent(this, isAskedFor)
    }
    this.#counter.refillAhead(this)
  }

  get left(): number {
    return this.pool.left
  }

  /** Messages that were sealed before this was there to count them. */
  spend(messages: number): void {
    this.pool.left -= messages
  }

  /** Answers warn of it. */
  get isNearLimit(): boolean {
    return this.pool.total >= WARN_MESSAGES
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
