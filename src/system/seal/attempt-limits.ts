// Limits of the endpoints that take no token, because shares are the permission (threats S-02, P-60), and of operation
// tokens: one that is presented counts as a share, and a wrong one as a share that is refused. Shares and disruptions
// are counted for each address and for all together. A disruption starts, drops or resets an attempt, or
// gives a wrong share: it costs other holders their progress. Differs: docs/differences.md#storage-and-seal.
//
// A person who types shares stays far below the limits. A client that floods is told when to come back, and learns
// nothing else: it is refused before its share is looked at.
import { failFor, Refusal } from '../../api/errors.ts'
import type { Log } from '../../lib/log.ts'
import { networkOf } from '../../lib/network.ts'
import type { Clock } from '../../lib/world.ts'

/** A budget that refills: `burst` at once, then one more each `everyMs`. */
export type Allowance = { readonly burst: number; readonly everyMs: number }

/** For each address. The burst is above the largest number of shares (255): one person may type all of them. */
export const SHARES: Allowance = { burst: 300, everyMs: 2_000 }
/** For each address: starting, dropping, resetting, and shares that are refused. */
export const DISRUPTIVE_ACTIONS: Allowance = { burst: 20, everyMs: 30_000 }
/**
 * For each address: wrong combinations with shares of several addresses. Any of them may have given the wrong one, so
 * this limit is wider: an honest holder should not be kept out by the shares of others.
 */
export const AMBIGUOUS_FAILURES: Allowance = { burst: 60, everyMs: 10_000 }
/** For all addresses together; binds only those that caused a disruption themselves, see `#admit`. */
export const ALL_SHARES: Allowance = { burst: 1_500, everyMs: 200 }
/** For all addresses together: bounds a disruption that comes from many addresses at once. */
export const ALL_DISRUPTIVE_ACTIONS: Allowance = { burst: 100, everyMs: 6_000 }

/** Addresses with a budget of their own. Beyond that the one that was silent longest is forgotten. */
export const MAX_ADDRESSES = 10_000
/** A flood writes at most one line of the log in this time. */
const LOG_EVERY_MS = 60_000

/** 'share' gives one share. 'change' starts, drops or resets an attempt. */
export type AttemptAction = 'share' | 'change'

/** One request that is limited. */
export type Attempt = {
  /** What the shares are for. Requests with the same purpose share the progress of one attempt. */
  readonly purpose: string
  readonly action: AttemptAction
  readonly address: string
}

/** The shares given together do not give the key. Any may be the wrong one; `run` says to whom it is charged. */
export class WrongCombination extends Refusal {
  constructor({ code, status, message, cause }: Refusal) {
    super(code, status, message, cause)
  }
}

/** What one address may still do. */
type Budget = {
  readonly shares: Bucket
  readonly disruptions: Bucket
  readonly ambiguities: Bucket
  /** The address once gave a share to a right combination, so ambiguous failures are not charged to it. */
  isProven: boolean
}

/** The counts of one thread, in memory. A restart forgets them; it also ends every attempt. */
export class AttemptLimits {
  readonly #clock: Clock
  readonly #log: Log
  readonly #all: Pick<Budget, 'shares' | 'disruptions'>
  readonly #budgets = new Map<string, Budget>()
  /** By purpose: the addresses whose shares the attempt holds now. */
  readonly #givers = new Map<string, Set<string>>()
  #refused = 0
  #loggedAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
    this.#all = { shares: this.#bucket(ALL_SHARES), disruptions: this.#bucket(ALL_DISRUPTIVE_ACTIONS) }
  }

  /**
   * Runs `work` if the address is within its limits. A refused share is a disruption by its giver. A wrong combination
   * of several addresses is an ambiguous failure of each, except of those that once gave to a right one. `isOver` reads
   * the result of a share: true if it was the last and right, false if more are needed, undefined if it was not used.
   * @throws Refusal too_many_attempts, without running `work`; whatever `work` throws
   */
  async run<T>(
    { purpose, action, address }: Attempt,
    work: () => Promise<T>,
    isOver: (result: T) => boolean | undefined,
  ): Promise<T> {
    const network = networkOf(address)
    this.#admit(network, action)
    try {
      const result = await work()
      if (action === 'change') this.#givers.delete(purpose)
      else this.#given(purpose, network, isOver(result))
      return result
    } catch (cause) {
      if (action === 'share' && cause instanceof WrongCombination) this.#wrong(purpose, network)
      else if (action === 'share' && cause instanceof Refusal) this.#spoilt(network)
      throw cause
    }
  }

  /** Takes from the budgets. A share may turn out to be wrong, so an address without disruptions left may give none. */
  #admit(network: string, action: AttemptAction): void {
    const own = this.#budgetOf(network)
    const needed = action === 'share' ? [own.disruptions, own.ambiguities, own.shares] : [own.disruptions]
    // The common budgets bind only an address that has lately caused disruptions itself, and never one of this machine.
    // Else strangers could exhaust them and lock out the holders of shares.
    const isSuspect = !(own.disruptions.isFull && own.ambiguities.isFull) && !isHere(network)
    if (isSuspect) needed.push(this.#all.disruptions)
    if (isSuspect && action === 'share') needed.push(this.#all.shares)
    const waitMs = Math.max(...needed.map((bucket) => bucket.waitMs()))
    if (waitMs > 0) throw this.#refusal(network, waitMs)
    const kind = action === 'share' ? 'shares' : 'disruptions'
    own[kind].take()
    if (!isHere(network)) this.#all[kind].take()
  }

  /** Notes the giver of a share. When the combination is right, all its givers are proven. */
  #given(purpose: string, network: string, isOver: boolean | undefined): void {
    if (isOver === undefined) return
    const givers = (this.#givers.get(purpose) ?? new Set()).add(network)
    this.#givers.set(purpose, givers)
    if (!isOver) return
    this.#givers.delete(purpose)
    for (const each of givers) this.#budgetOf(each).isProven = true
  }

  /** Charges a wrong combination. With a single giver there is no doubt whose share it was. */
  #wrong(purpose: string, network: string): void {
    const givers = (this.#givers.get(purpose) ?? new Set()).add(network)
    this.#givers.delete(purpose)
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

  /** Charges a disruption to one address. */
  #spoilt(network: string): void {
    this.#budgetOf(network).disruptions.take()
    if (!isHere(network)) this.#all.disruptions.take()
  }

  /** The refusal, with `Retry-After`. The log gets one line a minute with a count, so that a flood does not fill it. */
  #refusal(network: string, waitMs: number) {
    this.#refused++
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#loggedAtMs >= LOG_EVERY_MS) {
      this.#log('warn', 'Attempts with shares or operation tokens are refused: there are too many', {
        address: network,
        refused: this.#refused,
      })
      this.#loggedAtMs = nowMs
      this.#refused = 0
    }
    const seconds = Math.ceil(waitMs / 1000)
    return failFor(seconds, 'too_many_attempts', [seconds])
  }

  /** The budget of an address, a full one for an unknown address. */
  #budgetOf(network: string): Budget {
    const known = this.#budgets.get(network) ?? this.#newBudget()
    // Setting the key again moves it to the end: the map keeps the order in which keys were set.
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

/** True for loopback and for a Unix socket, as `networkOf` writes them. No other address shares the /64 of ::1. */
const isHere = (network: string): boolean => network === '' || network === '0:0:0:0::/64' || network.startsWith('127.')

/** The rest of an allowance: a token bucket that is refilled when it is looked at. */
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

  /** Time until one can be taken; 0 if there is one now. */
  waitMs(): number {
    this.#fill()
    return this.#left >= 1 ? 0 : Math.ceil((1 - this.#left) * this.#allowance.everyMs)
  }

  get isFull(): boolean {
    this.#fill()
    return this.#left >= this.#allowance.burst
  }

  /** Takes one if there is one: an empty bucket goes into no debt, so the wait stays bounded. */
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
