// Answers to writes that wait until secondaries have them on their disks: on the thread that writes. The commits
// themselves go on meanwhile, and one message of a secondary answers for all that it has by then. So a write costs one
// round trip to the farthest of them, however many there are at once. New shares of the seal are waited for in the same
// way by who made them: they come to secondaries beside the log.
import type { Log } from '../../lib/log.ts'
import type { Timer, World } from '../../lib/world.ts'
import { DEFAULT_TIMEOUT_MS, LONGEST_WAIT_MS, SHORTEST_WAIT_MS, type SynchronousSettings } from './settings.ts'
import { type Moment, SynchronousSecondary, type SynchronousState, type WriteMark } from './synchronous-secondary.ts'

/** What the waiting needs. */
export type SynchronousParts = {
  readonly world: Pick<World, 'clock' | 'timers'>
  readonly log: Log
  /** Index of the last change that secondaries for disaster recovery get; undefined while no store is open. */
  readonly lastIndex: () => number | undefined
  /** Id of the seal that is in force. */
  readonly sealId: () => string
  readonly settings: SynchronousSettings
}

/**
 * How far a secondary has all, and the id of the seal that it has. An index that is undefined: it is away, or what it
 * has is not whole. An id that is undefined: it is being sent another seal.
 */
export type SecondaryProgress = readonly [id: string, index: number | undefined, sealId: string | undefined]

/** A secondary, as status shows it. */
export type SynchronousTold = {
  readonly id: string
  /** 'unknown': it was never let in, so nothing waits for it. */
  readonly state: SynchronousState | 'unknown'
  /** Wall clock; undefined for one that is unknown. */
  readonly sinceMs: number | undefined
}

/** What had been written when a request came, and when that was, on the monotonic clock. */
export type RequestMark = WriteMark & { readonly atMs: number }

/** What is waited for, or what there is: the log up to `index`, and the seal that is in force. */
type Extent = { readonly index: number; readonly hasSeal: boolean }

type Waiter = Extent & {
  /** On the monotonic clock: since when it waits, and when its answer is held back no longer. */
  readonly atMs: number
  readonly endMs: number
  /** A secondary is one no more that did not confirm it. */
  isAlone: boolean
  readonly settle: (isConfirmed: boolean) => void
}

const isIn = (wanted: Extent, has: Extent): boolean => wanted.index <= has.index && (has.hasSeal || !wanted.hasSeal)

const extentOf = ({ has, hasSeal }: SynchronousSecondary): Extent => ({ index: has, hasSeal })

/** The writes of one server that wait. */
export class SynchronousWrites {
  /** Writes that waited until all had them; that were answered without one that was away; that nobody confirmed. */
  readonly counts = { confirmed: 0, alone: 0, unconfirmed: 0, waitedSeconds: 0 }
  readonly #parts: SynchronousParts
  #settings: SynchronousSettings
  readonly #secondaries = new Map<string, SynchronousSecondary>()
  /** Sent away, and without a new token. What their links still say was on its way by then. */
  readonly #sentAway = new Set<string>()
  /** False while this cluster is no primary, or is sealed. */
  #isOn = false
  /** In the order of their indexes, since the log only grows. */
  #waiting: Waiter[] = []
  /** Those who made a new seal, which no other write waits for. */
  #waitingForSeal: Waiter[] = []
  #timer: Timer | undefined
  #dueMs = Infinity

  constructor(parts: SynchronousParts) {
    this.#parts = parts
    this.#settings = parts.settings
  }

  /** The ids of all secondaries that writes are to wait for. */
  get ids(): readonly string[] {
    return this.#settings.ids
  }

  /** Writes that wait now. */
  get waiting(): number {
    return this.#waiting.length + this.#waitingForSeal.length
  }

  /** What status shows of each of them; nothing while this cluster is no primary. */
  get told(): readonly SynchronousTold[] {
    if (!this.#isOn) return []
    return this.ids.map((id) => {
      const found = this.#secondaries.get(id)
      return { id, state: found?.state ?? 'unknown', sinceMs: found?.sinceMs }
    })
  }

  /** Takes over other settings. Those that are new in them are waited for once they are known. */
  configure(settings: SynchronousSettings): void {
    this.#settings = settings
    for (const id of this.#secondaries.keys()) if (!settings.ids.includes(id)) this.#drop(id)
    this.#wake()
  }

  /**
   * Takes over what the records say: the secondaries that have had all once, or undefined where this cluster is no
   * primary. Then nobody can tell what becomes of the writes that wait.
   */
  know(ids: ReadonlySet<string> | undefined): void {
    this.#isOn = ids !== undefined
    if (ids === undefined) {
      this.#secondaries.clear()
      this.#sentAway.clear()
      this.#settle([...this.#waiting.splice(0), ...this.#waitingForSeal.splice(0)], false)
    } else {
      // The records may have been read before it was sent away.
      const isNew = (id: string): boolean => ids.has(id) && !this.#secondaries.has(id) && !this.#sentAway.has(id)
      for (const id of this.ids.filter(isNew)) this.#add(id, true)
    }
    this.#wake()
  }

  /** The secondary is one no more, until `issued`: writes go on without it. */
  forget(id: string): void {
    this.#sentAway.add(id)
    this.#drop(id)
    this.#wake()
  }

  /** The id has a new token: whoever comes with it is let in. */
  issued(id: string): void {
    this.#sentAway.delete(id)
  }

  /** The seal was rekeyed. */
  rekeyed(): void {
    for (const each of this.#secondaries.values()) each.rekeyed(this.#parts.sealId(), this.#now)
    this.#wake()
  }

  /** Links say how far secondaries have all. */
  reached(progress: readonly SecondaryProgress[]): void {
    const written = this.#isOn ? this.#written : undefined
    if (written === undefined) return
    for (const [id, index, sealId] of progress) {
      // The settings may have changed since.
      if (!this.ids.includes(id) || this.#sentAway.has(id)) continue
      const isBack = (this.#secondaries.get(id) ?? this.#add(id, false)).reported(index, sealId, written, this.#now)
      if (isBack) this.#parts.log('info', 'A synchronous secondary has all, and writes wait for it', { secondary: id })
    }
    this.#wake()
  }

  /** How far this cluster has written; undefined where no write ever waits. */
  mark(): RequestMark | undefined {
    const written = this.#isOn && this.ids.length > 0 ? this.#written : undefined
    return written && { ...written, atMs: this.#now.monotonicMs }
  }

  /**
   * Waits until all secondaries that are not away have the log up to this index, and the seal that is in force if that
   * was changed. False: that is not known, and will not be soon. Undefined: there is nothing to wait for. `sinceMs`:
   * from when the longest wait counts, on the monotonic clock.
   */
  confirmed(index: number, isRekeyed = false, sinceMs = this.#now.monotonicMs): Promise<boolean> | undefined {
    const wanted = { index, hasSeal: isRekeyed }
    if (!this.#isOn || isIn(wanted, this.#awaitedHave)) {
      if (this.#isOn && !this.#allHave(wanted)) this.counts.alone++
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const line = isRekeyed ? this.#waitingForSeal : this.#waiting
    // What is waited for may have been read before what the last one waits for.
    const inOrder = Math.max(index, line.at(-1)?.index ?? 0)
    const atMs = this.#now.monotonicMs
    const endMs = Math.max(sinceMs + LONGEST_WAIT_MS, atMs + SHORTEST_WAIT_MS)
    line.push({ index: inOrder, hasSeal: isRekeyed, atMs, endMs, isAlone: false, settle: resolve })
    this.#plan(endMs)
    return promise
  }

  get #written(): WriteMark | undefined {
    const index = this.#parts.lastIndex()
    return index === undefined ? undefined : { index, sealId: this.#parts.sealId() }
  }

  get #now(): Moment {
    const { clock } = this.#parts.world
    return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
  }

  /** What all that are waited for have. */
  get #awaitedHave(): Extent {
    const awaited = [...this.#secondaries.values()].filter(({ isAwaited }) => isAwaited)
    return {
      index: Math.min(...awaited.map(({ has }) => has)),
      hasSeal: awaited.every(({ hasSeal }) => hasSeal),
    }
  }

  #allHave(wanted: Extent): boolean {
    return this.#secondaries.values().every((each) => isIn(wanted, extentOf(each)))
  }

  #add(id: string, isExpected: boolean): SynchronousSecondary {
    const written = this.#written ?? { index: 0, sealId: this.#parts.sealId() }
    const added = new SynchronousSecondary(id, isExpected, written, this.#now)
    this.#secondaries.set(id, added)
    return added
  }

  #drop(id: string): void {
    const dropped = this.#secondaries.get(id)
    if (dropped === undefined) return
    this.#secondaries.delete(id)
    for (const each of this.#lines.flat()) if (!isIn(each, extentOf(dropped))) each.isAlone = true
  }

  /** Answers those that need not wait any longer. */
  #wake(): void {
    const have = this.#awaitedHave
    for (const line of this.#lines) {
      const first = line.findIndex((each) => !isIn(each, have))
      this.#settle(line.splice(0, first === -1 ? line.length : first), true)
    }
    this.#plan()
  }

  get #lines(): readonly Waiter[][] {
    return [this.#waiting, this.#waitingForSeal]
  }

  #settle(waiters: readonly Waiter[], isConfirmed: boolean): void {
    if (waiters.length === 0) return
    const { monotonicMs } = this.#now
    for (const { atMs, settle, isAlone, ...wanted } of waiters) {
      if (!isConfirmed) this.counts.unconfirmed++
      else if (!isAlone && this.#allHave(wanted)) this.counts.confirmed++
      else this.counts.alone++
      this.counts.waitedSeconds += (monotonicMs - atMs) / 1_000
      settle(isConfirmed)
    }
  }

  /** When the secondary is to be missed: it is away, or does not confirm what waits, for as long as may be. */
  #dueOf(secondary: SynchronousSecondary): number {
    const { timeoutMs } = this.#settings
    if (!secondary.isAwaited || (timeoutMs === undefined && secondary.isMissed)) return Infinity
    const has = extentOf(secondary)
    const unconfirmed = this.#lines.map((line) => line.find((each) => !isIn(each, has))?.atMs ?? Infinity)
    return Math.min(secondary.awaySinceMs ?? Infinity, ...unconfirmed) + (timeoutMs ?? DEFAULT_TIMEOUT_MS)
  }

  /**
   * Sees to it that somebody looks when the next of the times is over, and by `endMs`. A look that comes early plans
   * the next one.
   */
  #plan(endMs = Infinity): void {
    const { timers, clock } = this.#parts.world
    const dues = [...this.#secondaries.values()].map((each) => this.#dueOf(each))
    const dueMs = Math.min(...dues, endMs)
    if (dueMs >= this.#dueMs) return
    this.#timer?.cancel()
    this.#dueMs = dueMs
    this.#timer = timers.after(Math.max(0, Math.ceil(dueMs - clock.monotonicMs())), () => this.#look())
  }

  #look(): void {
    this.#dueMs = Infinity
    const now = this.#now
    for (const each of this.#secondaries.values()) if (this.#dueOf(each) <= now.monotonicMs) this.#miss(each, now)
    this.#wake()
    this.#waiting = this.#endAt(now, this.#waiting)
    this.#waitingForSeal = this.#endAt(now, this.#waitingForSeal)
    this.#plan(this.#lines.flat().reduce((first, { endMs }) => Math.min(first, endMs), Infinity))
  }

  /** Answers those whose time is over; returns the others. Who came to its line late may have to leave it first. */
  #endAt({ monotonicMs }: Moment, line: readonly Waiter[]): Waiter[] {
    const isOver = ({ endMs }: Waiter): boolean => endMs <= monotonicMs
    this.#settle(line.filter(isOver), false)
    return line.filter((each) => !isOver(each))
  }

  #miss(secondary: SynchronousSecondary, now: Moment): void {
    const goesOnWithout = this.#settings.timeoutMs !== undefined
    if (!secondary.miss(goesOnWithout, now)) return
    const what = goesOnWithout
      ? 'A synchronous secondary is away: writes go on without it, and are not there'
      : 'A synchronous secondary is away: writes wait for it, and are refused an answer'
    this.#parts.log('warn', what, { secondary: secondary.id })
  }
}
