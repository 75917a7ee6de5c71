// The budgets of one thread for the keys of one mount. Most keys are used little: a thread may seal some messages of
// each version without asking. This costs no write, because the number of threads is counted (message-count-store.ts).
// A thread that needs more gets it in blocks that grow with use, and asks before it runs out.
import { fail } from '../../../api/errors.ts'
import { StorageFull } from '../../../storage/contract.ts'
import { MessageAllowance } from './message-allowance.ts'
import { type BudgetSpent, MessageBudget } from './message-budget.ts'
import { type AllowanceAnswer, type AllowanceCall, FREE_MESSAGES, MOST_MESSAGES } from './message-count-store.ts'

const FIRST_BLOCK = 2 ** 16
/**
 * The largest block: seconds of work for a thread. What is left of it when the thread dies counts as sealed, which is a
 * thousandth of MOST_MESSAGES at most.
 */
const LAST_BLOCK = 2 ** 22
/** Allowances that are kept, at about 200 bytes each. Beyond it the thread starts over, as if it were another one. */
const MAX_BUDGETS = 50_000

/** Asks the thread that writes; see `MessageCountStore.answer`. */
export type CallMessageCounts = (question: AllowanceCall) => Promise<AllowanceAnswer>

/** A key version that is being loaded, with what is stored of its count. */
export type CountedVersion = {
  readonly name: string
  readonly version: number
  readonly identity: string
  /** Messages that were granted in blocks. */
  readonly granted: number
  /** Lives of the mount before the version was made. */
  readonly countedFrom: number
}

/** Gives budgets to rings that are loaded, and fills them. */
export class MessageCounter {
  readonly #ask: CallMessageCounts
  readonly #pools = new Map<string, MessageAllowance>()
  readonly #refills = new Map<MessageAllowance, Promise<AllowanceAnswer>>()
  /** Lives that were stored when this thread became one of them; undefined before. */
  #life: number | undefined
  #beginning: Promise<number> | undefined
  /** Names of keys some of whose budgets hold no more. */
  readonly #stale = new Set<string>()
  #beginnings = 0

  constructor(ask: CallMessageCounts) {
    this.#ask = ask
  }

  /**
   * Returns the budget of a version that is being loaded. The allowance behind it may exist, and keeps what is left.
   */
  of(version: CountedVersion): MessageBudget {
    const pool = this.#poolOf(version)
    pool.names.add(version.name)
    pool.countedFrom = Math.min(pool.countedFrom, version.countedFrom)
    pool.total = Math.max(pool.total, version.granted + FREE_MESSAGES * this.#livesSince(version))
    if (this.#life !== undefined) this.#giveFree(pool)
    return new MessageBudget(this, version, pool)
  }

  /**
   * True if `of` would return a budget with the same content: its count did not change, and the counter is the same.
   */
  holds({ name, pool }: MessageBudget): boolean {
    return this.#pools.get(pool.identity) === pool && pool.names.has(name)
  }

  /** How often the counter started over; no budget from before holds. */
  get beginnings(): number {
    return this.#beginnings
  }

  /** True if all budgets hold that a key got when it was loaded last; `beginnings` is the number of that time. */
  holdsAll(name: string, beginnings: number): boolean {
    return this.#beginnings === beginnings && !this.#stale.has(name)
  }

  /** Notes that all versions of the key now have budgets that hold. */
  heldBy(name: string): void {
    this.#stale.delete(name)
  }

  #poolOf({ identity, countedFrom }: CountedVersion): MessageAllowance {
    const known = this.#pools.get(identity)
    if (known !== undefined) return known
    if (this.#pools.size >= MAX_BUDGETS) this.#beginAnew()
    const pool = new MessageAllowance(identity, countedFrom)
    this.#pools.set(identity, pool)
    return pool
  }

  /** Returns the names of keys that were loaded with this version, and lets go of them: they are to be loaded again. */
  takeNames(identity: string): string[] {
    const names = this.#pools.get(identity)?.names
    const taken = [...(names ?? [])]
    for (const name of taken) this.#stale.add(name)
    names?.clear()
    return taken
  }

  #livesSince({ countedFrom }: { readonly countedFrom: number }): number {
    return Math.max(0, (this.#life ?? 0) - countedFrom)
  }

  #beginAnew(): void {
    this.#pools.clear()
    this.#stale.clear()
    this.#beginnings += 1
    this.#life = undefined
    this.#beginning = undefined
  }

  #giveFree(pool: MessageAllowance): void {
    if (pool.hasFree) return
    pool.hasFree = true
    if (pool.total <= MOST_MESSAGES) pool.add(FREE_MESSAGES)
  }

  /**
   * Makes this thread a life of the mount, once; its budgets then get their FREE_MESSAGES.
   * @throws what storing throws
   */
  begin(): Promise<number> {
    this.#beginning ??= this.#begin()
    return this.#beginning
  }

  async #begin(): Promise<number> {
    try {
      const answer = requireDone(await this.#ask({ kind: 'life' }))
      this.#life = answer.life
      for (const pool of this.#pools.values()) {
        pool.total += FREE_MESSAGES * this.#livesSince(pool)
        this.#giveFree(pool)
      }
      return answer.life
    } catch (cause) {
      this.#beginning = undefined
      throw cause
    }
  }

  /** Does so in advance, while no request waits for it. A failure shows when a request needs it (`more`). */
  beginAhead(): void {
    if (this.#life === undefined) this.begin().catch(() => {})
  }

  /** Asks for more while something is left: no request waits for it. A failure shows once nothing is left. */
  refillAhead(budget: MessageBudget): void {
    if (this.#refills.has(budget.pool)) return
    this.#refill(budget, 1).catch(() => budget.pool.lower())
  }

  /**
   * Gets more for a budget that is spent, `messages` at least. Returns true if the key is to be loaded again, because
   * another version may have taken the place of the one that was used.
   * @throws Refusal if the version has sealed as many messages as it may; and what storing throws
   */
  async more({ budget, isAskedFor }: BudgetSpent, messages: number): Promise<boolean> {
    if (!budget.pool.hasFree) {
      await this.begin()
      // The counter started over, so this budget's allowance is filled no more.
      if (!budget.pool.hasFree) return true
      if (budget.left >= messages) return false
    }
    const answer = requireDone(await this.#refill(budget, messages))
    if (answer.granted > 0) return false
    if (answer.isOther || (!isAskedFor && answer.latestVersion > budget.version)) return true
    throw exhausted(budget)
  }

  /** Asks for a block; requests that come while one is asked for share it. */
  #refill(budget: MessageBudget, messages: number): Promise<AllowanceAnswer> {
    const known = this.#refills.get(budget.pool)
    if (known !== undefined) return known
    const refill = this.#grant(budget, messages).finally(() => this.#refills.delete(budget.pool))
    this.#refills.set(budget.pool, refill)
    return refill
  }

  async #grant(budget: MessageBudget, messages: number): Promise<AllowanceAnswer> {
    const { name, version, pool } = budget
    const { identity } = pool
    pool.block = Math.min(LAST_BLOCK, Math.max(FIRST_BLOCK, 2 * pool.block))
    const wanted = Math.max(pool.block, messages)
    const answer = requireDone(
      await this.#ask({ kind: 'block', name, version, identity, wanted, atLeast: Math.min(wanted, messages) }),
    )
    pool.total = Math.max(pool.total, answer.total)
    if (answer.granted > 0) pool.add(answer.granted)
    else pool.lower()
    return answer
  }
}

/** Throws what the writing thread would have thrown: answers between threads are plain data, not errors. */
function requireDone(answer: AllowanceAnswer): Exclude<AllowanceAnswer, { readonly failed: string }> {
  if (!('failed' in answer)) return answer
  throw new StorageFull('The storage device is full')
}

function exhausted({ name, version }: MessageBudget) {
  return fail('message_limit_reached', [
    `version ${version} of the key has encrypted 2^32 messages, as many as its nonces are good for: rotate the key ` +
      `with keys/${name}/rotate, and set auto_rotate_period so that it rotates by itself`,
  ])
}
