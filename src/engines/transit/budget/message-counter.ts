// The budgets of one thread for the keys of one mount. Most keys are used little: of each version a thread may seal
// some messages without asking, which costs no write, because it is counted how many threads there ever were
// (message-count-store.ts). Who needs more gets it in blocks that grow with use, before it is needed.
import { fail } from '../../../api/errors.ts'
import { StorageFull, StorageReadOnly } from '../../../storage/contract.ts'
import { MessageAllowance } from './message-allowance.ts'
import { type BudgetSpent, MessageBudget } from './message-budget.ts'
import { type AllowanceAnswer, type AllowanceCall, FREE_MESSAGES, MOST_MESSAGES } from './message-count-store.ts'

const FIRST_BLOCK = 2 ** 16
/** Seconds of work for a thread. */
const LAST_BLOCK = 2 ** 22
/** About 200 bytes each. Beyond it the thread begins anew, as if it were another. */
const MAX_BUDGETS = 50_000

export type CallMessageCounts = (question: AllowanceCall) => Promise<AllowanceAnswer>

/** What is stored of a key version that is loaded. */
export type CountedVersion = {
  readonly name: string
  readonly version: number
  readonly identity: string
  /** Messages in blocks that were given. */
  readonly granted: number
  /** Threads that there had been when it was made. */
  readonly countedFrom: number
}

export class MessageCounter {
  readonly #ask: CallMessageCounts
  readonly #pools = new Map<string, MessageAllowance>()
  readonly #refills = new Map<MessageAllowance, Promise<AllowanceAnswer>>()
  /** Number of this thread among all that there were with this mount. */
  #life: number | undefined
  #beginning: Promise<number> | undefined
  /** Keys some of whose budgets hold no more. */
  readonly #loose = new Set<string>()
  #beginnings = 0

  constructor(ask: CallMessageCounts) {
    this.#ask = ask
  }

  /** Of a version that is being loaded: the one that there is, with what is left of it. */
  of(version: CountedVersion): MessageBudget {
    const pool = this.#poolOf(version)
    pool.names.add(version.name)
    pool.countedFrom = Math.min(pool.countedFrom, version.countedFrom)
    pool.total = Math.max(pool.total, version.granted + FREE_MESSAGES * this.#livesSince(version))
    if (this.#life !== undefined) this.#giveFree(pool)
    return new MessageBudget(this, version, pool)
  }

  /** Whether it is still the one that `of` would give: nothing more was stored of it, and the counter is the same. */
  holds({ name, pool }: MessageBudget): boolean {
    return this.#pools.get(pool.identity) === pool && pool.names.has(name)
  }

  /** How often the counter began anew: no budget of before holds. */
  get beginnings(): number {
    return this.#beginnings
  }

  /** Whether all budgets hold that a key was given when it was loaded last, with so many beginnings. */
  holdsAll(name: string, beginnings: number): boolean {
    return this.#beginnings === beginnings && !this.#loose.has(name)
  }

  /** All versions of the key were given budgets that hold. */
  heldBy(name: string): void {
    this.#loose.delete(name)
  }

  #poolOf({ identity, countedFrom }: CountedVersion): MessageAllowance {
    const known = this.#pools.get(identity)
    if (known !== undefined) return known
    if (this.#pools.size >= MAX_BUDGETS) this.#beginAnew()
    const pool = new MessageAllowance(identity, countedFrom)
    this.#pools.set(identity, pool)
    return pool
  }

  /** The keys that were loaded with this version, to be loaded anew. */
  takeNames(identity: string): string[] {
    const names = this.#pools.get(identity)?.names
    const taken = [...(names ?? [])]
    for (const name of taken) this.#loose.add(name)
    names?.clear()
    return taken
  }

  #livesSince({ countedFrom }: { readonly countedFrom: number }): number {
    return Math.max(0, (this.#life ?? 0) - countedFrom)
  }

  #beginAnew(): void {
    this.#pools.clear()
    this.#loose.clear()
    this.#beginnings += 1
    this.#life = undefined
    this.#beginning = undefined
  }

  #giveFree(pool: MessageAllowance): void {
    if (pool.hasFree) return
    pool.hasFree = true
    if (pool.total <= MOST_MESSAGES) pool.add(FREE_MESSAGES)
  }

  /** Has this thread counted among those that there were. @throws what storing it throws */
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

  /** The same while nobody waits: what hinders it shows where it is needed. */
  beginAhead(): void {
    if (this.#life === undefined) this.begin().catch(() => {})
  }

  /** While there is something left: nobody waits for it, and a failure shows when nothing is left. */
  refillAhead(budget: MessageBudget): void {
    if (this.#refills.has(budget.pool)) return
    this.#refill(budget, 1).catch(() => budget.pool.lower())
  }

  /**
   * More for a budget that is spent, for `messages` at least. True where another version may have taken the place of
   * the one that was used: the key is to be loaded anew.
   * @throws Refusal where the version has sealed as many as it may; what storing it throws
   */
  async more({ budget, isAskedFor }: BudgetSpent, messages: number): Promise<boolean> {
    if (!budget.pool.hasFree) {
      await this.begin()
      // The counter has begun anew, and this budget belongs to the one before.
      if (!budget.pool.hasFree) return true
      if (budget.left >= messages) return false
    }
    const answer = requireDone(await this.#refill(budget, messages))
    if (answer.granted > 0) return false
    if (answer.isOther || (!isAskedFor && answer.latestVersion > budget.version)) return true
    throw exhausted(budget)
  }

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

/** What travels between threads has no classes. */
function requireDone(answer: AllowanceAnswer): Exclude<AllowanceAnswer, { readonly failed: string }> {
  if (!('failed' in answer)) return answer
  if (answer.failed === 'full') throw new StorageFull('The storage device is full')
  throw new StorageReadOnly('Where the messages of keys are counted nothing is written')
}

function exhausted({ name, version }: MessageBudget) {
  return fail('message_limit_reached', [
    `version ${version} of the key has encrypted 2^32 messages, as many as its nonces are good for: rotate the key ` +
      `with keys/${name}/rotate, and set auto_rotate_period so that it rotates by itself`,
  ])
}
