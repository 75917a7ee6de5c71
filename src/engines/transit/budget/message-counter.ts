// The budgets of one thread for the keys of one mount. Most keys are used little: a thread may seal some messages of
// each version without asking. This costs no write, because the number of threads is counted (message-count-store.ts).
// A thread that needs more gets it in blocks that grow with use, and asks before it runs out.
import { fail } from '../../../api/errors.ts'
import { StorageFull } from '../../../storage/errors.ts'
import { MessageAllowance } from './message-allowance.ts'
import { type BudgetSpent, MessageBudget } from './message-budget.ts'
import { type AllowanceAnswer, type AllowanceCall, notGranted } from './message-count-store.ts'
import { mayTakeFree, type Standing } from './message-ledger.ts'
import { MESSAGE_LIMITS, type MessageLimits } from './message-limits.ts'

/** Allowances that are kept, at about 200 bytes each. Beyond it the thread starts over, as if it were another one. */
const MAX_BUDGETS = 50_000

/** Asks the thread that writes; see `MessageCountStore.answer`. */
export type CallMessageCounts = (question: AllowanceCall) => Promise<AllowanceAnswer>

/** A key version that is being loaded, with what is stored of its count. */
export type CountedVersion = {
  readonly name: string
  readonly version: number
  readonly identity: string
  /** What the ledger says of it. */
  readonly standing: Pick<Standing, 'reserved' | 'hasFirst' | 'from'>
}

/** What a counter asks, and what it may give. */
type CounterParts = {
  readonly ask: CallMessageCounts
  readonly limits?: MessageLimits
  /** Told when the thread has become a life: what it cached of the mount is outdated. */
  readonly onBegin?: () => void
}

/** Gives budgets to rings that are loaded, and fills them. */
export class MessageCounter {
  readonly #ask: CallMessageCounts
  readonly #limits: MessageLimits
  readonly #onBegin: () => void
  readonly warnFrom: number
  readonly #pools = new Map<string, MessageAllowance>()
  readonly #refills = new Map<MessageAllowance, Promise<AllowanceAnswer>>()
  /** Lives that were stored when this thread became one of them; undefined before. */
  #life: number | undefined
  #beginning: Promise<number> | undefined
  /** Names of keys some of whose budgets hold no more. */
  readonly #stale = new Set<string>()
  #beginnings = 0

  constructor({ ask, limits = MESSAGE_LIMITS, onBegin = () => {} }: CounterParts) {
    this.#ask = ask
    this.#limits = limits
    this.#onBegin = onBegin
    this.warnFrom = limits.most / 2
  }

  /**
   * Returns the budget of a version that is being loaded. The allowance behind it may exist, and keeps what is left.
   */
  of(version: CountedVersion): MessageBudget {
    const pool = this.#poolOf(version)
    pool.names.add(version.name)
    const { reserved, hasFirst, from } = version.standing
    pool.standing = { hasFirst, from: Math.min(pool.standing.from, from) }
    // The first block of this cluster is not counted: most keys use little of it.
    pool.total = Math.max(pool.total, reserved - (hasFirst ? this.#limits.block : 0))
    if (this.#life !== undefined) this.#giveFree(pool, this.#life)
    return new MessageBudget(this, version, pool)
  }

  /**
   * True if `of` would return a budget with the same content: its count did not change, and the counter is the same.
   */
  holds({ name, pool }: MessageBudget): boolean {
    return this.#pools.get(pool.identity) === pool && pool.names.has(name)
  }

  /** True if this thread is a life of the mount. */
  get isBegun(): boolean {
    return this.#life !== undefined
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

  #poolOf({ identity, standing }: CountedVersion): MessageAllowance {
    const known = this.#pools.get(identity)
    if (known !== undefined) return known
    if (this.#pools.size >= MAX_BUDGETS) this.#beginAnew()
    const pool = new MessageAllowance(identity, standing)
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

  /** Forgets all budgets: the thread starts over, as if it were another one. */
  reset(): void {
    this.#beginAnew()
  }

  #beginAnew(): void {
    this.#pools.clear()
    this.#stale.clear()
    this.#beginnings += 1
    this.#life = undefined
    this.#beginning = undefined
  }

  #giveFree(pool: MessageAllowance, life: number): void {
    if (pool.isBegun) return
    pool.isBegun = true
    if (mayTakeFree(this.#limits, pool.standing, life)) pool.add(this.#limits.free)
  }

  /**
   * Makes this thread a life of the mount, once. Keys that are loaded afterwards have their free messages. Others are
   * to be loaded again, as the cluster may have come into the ledger only now.
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
      for (const identity of this.#pools.keys()) this.takeNames(identity)
      this.#onBegin()
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
    if (!budget.pool.isBegun) {
      await this.begin()
      // The key is to be loaded again; or the counter started over, and this budget's allowance is filled no more.
      if (!budget.pool.isBegun) return true
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
    pool.block = Math.min(this.#limits.lastAsk, Math.max(this.#limits.firstAsk, 2 * pool.block))
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
  if (answer.failed !== 'full') throw notGranted(answer.failed)
  throw new StorageFull('The storage device is full')
}

function exhausted({ name, version }: MessageBudget) {
  return fail('message_limit_reached', [
    `version ${version} of the key has encrypted 2^32 messages, as many as its nonces are good for: rotate the key ` +
      `with keys/${name}/rotate, and set auto_rotate_period so that it rotates by itself`,
  ])
}
