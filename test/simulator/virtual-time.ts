// Time that passes only where nothing else is left to do. Everything that a simulated thread waits for stands here: its
// ticks, its timers, and work that is done outside. So it is known when nothing more will happen before the next timer,
// and time jumps there. What waits for anything else (a file, a socket, a port) is not seen: it has no place in a
// simulation.
import type { Clock, Ticks, Timer, Timers, World } from '../../src/lib/world.ts'

/** Thrown by `until` for work that has nothing left to wait for, or waits for longer than it may. */
export class NeverEnds extends Error {
  override name = 'NeverEnds'
}

/** Clock, timers and ticks of one thread. */
export type VirtualThread = Pick<World, 'clock' | 'timers' | 'ticks'> & {
  /** Nothing of what it waits for ever happens: it was killed. Its promises stay as they are for ever. */
  readonly kill: () => void
}

type Work = () => void

/** What is ready to run on a thread, first come, first served; undefined once it was killed. */
type Line = { ready: Work[] | undefined }
type Waiting = { readonly atMs: number; readonly line: Line; readonly work: Work }

const HOUR_MS = 3_600_000

/** Promises that can go on do so, up to the last, and what this process has ready has its turn. */
const nextLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Promises that can go on do so, up to the last. */
const promisesOver = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))
/** At one of so many steps the process has its turn all the same: to hear signals. */
const LOOPS = 50

/** The one time of a simulation, and the order in which its threads run. */
export class VirtualTime {
  #nowMs: number
  readonly #choose: (below: number) => number
  readonly #lines: Line[] = []
  /** In the order in which they are due; those of one moment in the order in which they were set. */
  readonly #waiting: Waiting[] = []
  /** The number of pieces of work outside that have not ended, and the end of the last one. */
  #outside = 0
  #lastOutside: Promise<unknown> = Promise.resolve()

  /** The number of pieces of work that wait for turns of this process. */
  #paced: number
  #steps = 0

  /**
   * `choose` says which of the threads that are ready runs next: a number from 0 to `below` - 1. Where nothing waits
   * for more than `promises`, streams and the like, each step takes a fraction of the time.
   */
  constructor(startMs: number, choose: (below: number) => number, waitsFor: 'all' | 'promises' = 'all') {
    this.#nowMs = startMs
    this.#choose = choose
    this.#paced = waitsFor === 'all' ? 1 : 0
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** The milliseconds until each timer, the next one first. */
  get waiting(): readonly number[] {
    return this.#waiting.map(({ atMs }) => atMs - this.#nowMs)
  }

  /** A thread beside the others. What is ready on it runs in order; between threads there is none. */
  newThread(): VirtualThread {
    const line: Line = { ready: [] }
    this.#lines.push(line)
    const nowMs = (): number => this.#nowMs
    const clock: Clock = { nowMs, monotonicMs: nowMs }
    const timers: Timers = {
      after: (delayMs, work) => this.#after(line, delayMs, work),
      sleep: (delayMs) => new Promise((resolve) => this.#after(line, delayMs, resolve)),
    }
    const ticks: Ticks = {
      next: () => new Promise((resolve) => line.ready?.push(resolve)),
      run: (work, of) => void line.ready?.push(() => work(of)),
    }
    return { clock, timers, ticks, kill: () => this.#kill(line) }
  }

  /**
   * Has work done that only this process can do: with its files, or on its own threads. It takes no time: until it ends
   * nothing else runs. One piece is begun after the other.
   */
  outside<T>(work: () => Promise<T>): Promise<T> {
    this.#outside++
    const done = this.#lastOutside.then(work).finally(() => {
      this.#outside--
    })
    this.#lastOutside = done.catch(() => {})
    return done
  }

  /** Has work done that waits for turns of this process, although the rest waits for promises. */
  async paced<T>(work: () => Promise<T>): Promise<T> {
    this.#paced++
    try {
      return await work()
    } finally {
      this.#paced--
    }
  }

  /** Runs all that is ready. No time passes. */
  async settle(): Promise<void> {
    do await this.#promisesDone()
    while (this.#runNext())
  }

  /** Runs so many of the things that are ready, one by one: to end a thread in the middle of its work. */
  async steps(count: number): Promise<void> {
    for (let step = 0; step < count; step++) {
      await this.#promisesDone()
      if (!this.#runNext()) return
    }
    await this.#promisesDone()
  }

  /** Lets this time pass: each timer comes at its moment, and all that it begins ends before the next. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    do await this.settle()
    while (this.#jump(endMs))
    this.#nowMs = endMs
  }

  /**
   * Lets this time go by as for a machine that was suspended: every timer whose moment went by comes at the end of it,
   * and once. Days cost little so.
   */
  async leap(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    await this.settle()
    while (this.#wake(endMs));
    this.#nowMs = endMs
    await this.settle()
  }

  /**
   * Lets all that is ready run, and time pass where nothing is, until `work` has settled.
   * @throws what `work` throws, and NeverEnds
   */
  async until<T>(work: Promise<T>, withinMs = HOUR_MS): Promise<T> {
    const endMs = this.#nowMs + withinMs
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    work.then(over, over)
    for (await this.#promisesDone(); !isOver; await this.#promisesDone()) {
      if (this.#runNext() || this.#jump(endMs)) continue
      throw new NeverEnds(`The work does not end within ${withinMs} ms, or waits for what no simulation sees`)
    }
    return work
  }

  async #promisesDone(): Promise<void> {
    if (this.#paced === 0 && ++this.#steps % LOOPS !== 0) await promisesOver()
    else await nextLoop()
    while (this.#outside > 0) await nextLoop()
  }

  #after(line: Line, delayMs: number, work: Work): Timer {
    let isCancelled = false
    const due = (): void => {
      if (!isCancelled) work()
    }
    const one: Waiting = { atMs: this.#nowMs + delayMs, line, work: due }
    // What waits for nothing needs no time to pass.
    if (delayMs <= 0) line.ready?.push(due)
    else if (line.ready !== undefined) {
      const before = this.#waiting.findLastIndex(({ atMs }) => atMs <= one.atMs)
      this.#waiting.splice(before + 1, 0, one)
    }
    return {
      cancel: () => {
        isCancelled = true
        this.#forget((each) => each === one)
      },
    }
  }

  /** Runs one thing that is ready; false if there is none. */
  #runNext(): boolean {
    const busy = this.#lines.filter(({ ready = [] }) => ready.length > 0)
    const next = busy.length > 1 ? busy[this.#choose(busy.length)] : busy[0]
    next?.ready?.shift()?.()
    return next !== undefined
  }

  /** Moves to the next timer, and makes all of its moment ready; false if there is none up to then. */
  #jump(endMs: number): boolean {
    const [first] = this.#waiting
    if (first === undefined || first.atMs > endMs) return false
    this.#nowMs = first.atMs
    while (this.#wake(first.atMs));
    return true
  }

  /** Makes the next timer ready; false if none is due by then. */
  #wake(byMs: number): boolean {
    const [first] = this.#waiting
    if (first === undefined || first.atMs > byMs) return false
    this.#waiting.shift()
    first.line.ready?.push(first.work)
    return true
  }

  #kill(line: Line): void {
    if (line.ready === undefined) return
    line.ready = undefined
    this.#lines.splice(this.#lines.indexOf(line), 1)
    this.#forget((each) => each.line === line)
  }

  #forget(isGone: (each: Waiting) => boolean): void {
    const kept = this.#waiting.filter((each) => !isGone(each))
    this.#waiting.splice(0, this.#waiting.length, ...kept)
  }
}
