// What is open to all because shares are the permission is limited (threats S-02, P-60): how often an address may give
// shares, how much more seldom it may spoil what others are doing, and how often all that spoil may do so together.
//
// Who types shares stays far below. Whoever floods is told when to come back, and learns nothing else: it is refused
// before the share is looked at.
import { failFor, Refusal } from '../../api/errors.ts'
import type { Log } from '../../lib/log.ts'
import { networkOf } from '../../lib/network.ts'
import type { Clock } from '../../lib/world.ts'

/** So many at once, and then one each time that `everyMs` has passed. */
export type Allowance = { readonly burst: number; readonly everyMs: number }

/** More than the most shares there can be (255), for one person who types all of them. */
export const SHARES: Allowance = { burst: 300, everyMs: 2_000 }
/** Starting, dropping, resetting, and shares that are refused. */
export const DISRUPTIVE_ACTIONS: Allowance = { burst: 20, everyMs: 30_000 }
/**
 * Combinations of several givers that were wrong: whose share it was cannot be told. Who types stays below, so that
 * nobody is kept out by what others gave.
 */
export const AMBIGUOUS_FAILURES: Allowance = { burst: 60, everyMs: 10_000 }
export const ALL_SHARES: Allowance = { burst: 1_500, everyMs: 200 }
export const ALL_DISRUPTIVE_ACTIONS: Allowance = { burst: 100, everyMs: 6_000 }

/** Addresses that are remembered; the one that was heard of longest ago goes first. */
export const MAX_ADDRESSES = 10_000
/** A flood writes a line of the log so often. */
const LOG_EVERY_MS = 60_000

/** 'share': gives one. 'change': starts, drops or resets an attempt. */
export type AttemptAction = 'share' | 'change'

export type Attempt = {
  /** What the shares are for: attempts of one name have their progress in common. */
  readonly matter: string
  readonly act: AttemptAction
  readonly address: string
}

/** Shares that were there together do not give the key. Any of them may be the wrong one. */
export class WrongCombination extends Refusal {
  constructor({ code, status, message, cause }: Refusal) {
    super(code, status, message, cause)
  }
}

type Budget = {
  readonly shares: Bucket
  readonly disruptions: Bucket
  readonly ambiguities: Bucket
  /** It gave to a combination that was right. */
  isProven: boolean
}

export class AttemptLimits {
  readonly #clock: Clock
  readonly #log: Log
  readonly #all: Pick<Budget, 'shares' | 'disruptions'>
  readonly #budgets = new Map<string, Budget>()
  /** Who has given shares to an attempt, by its matter, since it had none. */
  readonly #givers = new Map<string, Set<string>>()
  #refused = 0
  #loggedAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
    this.#all = { shares: this.#bucket(ALL_SHARES), disruptions: this.#bucket(ALL_DISRUPTIVE_ACTIONS) }
  }

  /**
   * Runs `work` where the address may do so now. A share that is refused counts as a spoiler of who gave it. Where a
   * combination of several givers is wrong, it counts as a doubt of each who never gave to one that was right, and
   * nobody is charged as its spoiler: whose share was wrong cannot be told. `isOver` tells of a share's answer whether
   * it was the last of an attempt and right; undefined: nothing was done with it.
   * @throws Refusal too_many_attempts, without running `work`; whatever `work` throws
   */
  async run<T>(
    { matter, act, address }: Attempt,
    work: () => Promise<T>,
    isOver: (result: T) => boolean | undefined,
  ): Promise<T> {
    const network = networkOf(address)
    this.#admit(network, act)
    try {
      const result = await work()
      if (act === 'change') this.#givers.delete(matter)
      else this.#given(matter, network, isOver(result))
      return result
    } catch (cause) {
      if (act === 'share' && cause instanceof WrongCombination) this.#wrong(matter, network)
      else if (act === 'share' && cause instanceof Refusal) this.#spoilt(network)
      throw cause
    }
  }

  /** A share may be the one that spoils, so who has no spoiler left gives none. */
  #admit(network: string, act: AttemptAction): void {
    const own = this.#budgetOf(network)
    const needed = act === 'share' ? [own.disruptions, own.ambiguities, own.shares] : [own.disruptions]
    // What strangers do together keeps out nobody who did none of it, nor who sits at the machine.
    const isSuspect = !(own.disruptions.isFull && own.ambiguities.isFull) && !isHere(network)
    if (isSuspect) needed.push(this.#all.disruptions)
    if (isSuspect && act === 'share') needed.push(this.#all.shares)
    const waitMs = Math.max(...needed.map((bucket) => bucket.waitMs()))
    if (waitMs > 0) throw this.#refusal(network, waitMs)
    const kind = act === 'share' ? 'shares' : 'disruptions'
    own[kind].take()
    if (!isHere(network)) this.#all[kind].take()
  }

  #given(matter: string, network: string, isOver: boolean | undefined): void {
    if (isOver === undefined) return
    const givers = (this.#givers.get(matter) ?? new Set()).add(network)
    this.#givers.set(matter, givers)
    if (!isOver) return
    this.#givers.delete(matter)
    for (const each of givers) this.#budgetOf(each).isProven = true
  }

  #wrong(matter: string, network: string): void {
    const givers = (this.#givers.get(matter) ?? new Set()).add(network)
    this.#givers.delete(matter)
    if (givers.size === 1) {
      this.#spoilt(network)
      return
    }
    for (const each of givers) {
      const budget = this.#budgetOf(each)
      if (!budget.isProven) budget.ambiguities.take()
    }
    this.#all.disruptions.take()
  }

  #spoilt(network: string): void {
    this.#budgetOf(network).disruptions.take()
    if (!isHere(network)) this.#all.disruptions.take()
  }

  #refusal(network: string, waitMs: number) {
    this.#refused++
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#loggedAtMs >= LOG_EVERY_MS) {
      this.#log('warn', 'Attempts to give shares are refused: there are too many', {
        address: network,
        refused: this.#refused,
      })
      this.#loggedAtMs = nowMs
      this.#refused = 0
    }
    const seconds = Math.ceil(waitMs / 1000)
    return failFor(seconds, 'too_many_attempts', [seconds])
  }

  #budgetOf(network: string): Budget {
    const known = this.#budgets.get(network) ?? this.#newBudget()
    // The map keeps the order in which its keys were set.
    this.#budgets.delete(network)
    this.#budgets.set(network, known)
    if (this.#budgets.size > MAX_ADDRESSES) {
      const oldest = this.#budgets.keys().next()
      if (oldest.done !== true) this.#budgets.delete(oldest.value)
    }
    return known
  }

  #newBudget(): Budget {
    const [shares, disruptions, ambiguities] = [
      this.#bucket(SHARES),
      this.#bucket(DISRUPTIVE_ACTIONS),
      this.#bucket(AMBIGUOUS_FAILURES),
    ]
    return { shares, disruptions, ambiguities, isProven: false }
  }

  #bucket(allowance: Allowance): Bucket {
    return new Bucket(allowance, () => this.#clock.monotonicMs())
  }
}

/** A network as `networkOf` writes it: loopback, or a Unix socket. ::1 is alone in its network of 64 bits. */
const isHere = (network: string): boolean => network === '' || network === '0:0:0:0::/64' || network.startsWith('127.')

/** What is left of an allowance. */
class Bucket {
  readonly #allowance: Allowance
  readonly #nowMs: () => number
  #left: number
  #filledAtMs: number

  constructor(allowance: Allowance, nowMs: () => number) {
    this.#allowance = allowance
    this.#nowMs = nowMs
    this.#left = allowance.burst
    this.#filledAtMs = nowMs()
  }

  /** Until one can be taken; 0: now. */
  waitMs(): number {
    this.#fill()
    return this.#left >= 1 ? 0 : Math.ceil((1 - this.#left) * this.#allowance.everyMs)
  }

  get isFull(): boolean {
    this.#fill()
    return this.#left >= this.#allowance.burst
  }

  /** Of what is not there nothing is owed. */
  take(): void {
    this.#fill()
    this.#left = Math.max(0, this.#left - 1)
  }

  #fill(): void {
    const nowMs = this.#nowMs()
    const { burst, everyMs } = this.#allowance
    this.#left = Math.min(burst, this.#left + (nowMs - this.#filledAtMs) / everyMs)
    this.#filledAtMs = nowMs
  }
}
