// Budgets: how many messages a thread may still seal under a key version (threats P-11, C-13). Random nonces of 96 bits
// are good for 2^32 messages of one key (NIST SP 800-38D section 8.3). So the messages of each version are counted. A
// thread counts down what it was given. That was stored first (message-count-store.ts), so no stored count is too low.
import type { MessageAllowance } from './message-allowance.ts'

/** Asks for more while something is left. */
type Refiller = {
  refillAhead(budget: MessageBudget): void
  /** Half of the messages that a version may seal: from here on answers warn. */
  readonly warnFrom: number
}

/** The allowance of a version as one key uses it: with the name and number by which more is asked for. */
export class MessageBudget {
  readonly name: string
  readonly version: number
  /** The allowance that it takes from, which all names of the version share. */
  readonly pool: MessageAllowance
  readonly #counter: Refiller

  constructor(counter: Refiller, { name, version }: Pick<MessageBudget, 'name' | 'version'>, pool: MessageAllowance) {
    this.#counter = counter
    this.name = name
    this.version = version
    this.pool = pool
  }

  /**
   * Takes one message; to be called before it is sealed. `isAskedFor`: the request named this very version.
   * @throws BudgetSpent if nothing is left; nothing may be sealed then
   */
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

  /** Takes messages that were sealed before this budget existed: with a key that was not stored yet. */
  spend(messages: number): void {
    this.pool.left -= messages
  }

  /** True if half of the messages that the version may seal are sealed: answers then warn. */
  get isNearLimit(): boolean {
    return this.pool.total >= this.#counter.warnFrom
  }
}

/** Thrown when a thread may seal no more under a version: the request waits for more, and starts over. */
export class BudgetSpent extends Error {
  readonly budget: MessageBudget
  /** Whether the request named this version; if so, another version is of no use to it. */
  readonly isAskedFor: boolean

  constructor(budget: MessageBudget, isAskedFor: boolean) {
    super('A thread has used up the messages that it may seal under a key version')
    this.budget = budget
    this.isAskedFor = isAskedFor
  }
}
