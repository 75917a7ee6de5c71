// Work that is done without a request, again and again between a start and a stop.
import type { Log } from './log.ts'
import type { Timer, World } from './world.ts'

/**
 * The wall clock may be set while a timer runs, and other work be due then. So a run that is planned comes within the
 * hour.
 */
const LONGEST_WAIT_MS = 3_600_000

/** How a task waits, and what becomes of its failures. */
export type PeriodicTaskOptions = {
  readonly world: Pick<World, 'clock' | 'timers'>
  readonly log: Log
  /** The message of the log for a run that failed. The next run comes after `retryMs`. */
  readonly failure: string
  readonly retryMs: number
  /** True for a cause that only tells that the task's subject was closed meanwhile: it is not logged. */
  readonly isClosed: (cause: unknown) => boolean
}

/** Runs a task, one run at a time. A run that is asked for during another comes after it. */
export class PeriodicTask {
  readonly #task: () => Promise<number>
  readonly #options: PeriodicTaskOptions
  #isOn = false
  #timer: Timer | undefined
  /** On the monotonic clock; Infinity: no run is planned. */
  #dueMs = Infinity
  #running: Promise<void> | undefined

  /** `task` returns how many milliseconds may pass until its next run; Infinity: until `within` asks for one. */
  constructor(task: () => Promise<number>, options: PeriodicTaskOptions) {
    this.#task = task
    this.#options = options
  }

  /** False after `stop`: a long run checks it, and ends early. */
  get isOn(): boolean {
    return this.#isOn
  }

  /** Begins the series; the first run is after `waitMs`. */
  start(waitMs: number): void {
    this.#isOn = true
    this.within(waitMs)
  }

  /** Ends the series. A run under way is not waited for, and no other follows it. */
  stop(): void {
    this.#isOn = false
    this.#forgetPlan()
  }

  /** Makes sure that a run begins within `waitMs`. Does nothing while the task is stopped. */
  within(waitMs: number): void {
    const dueMs = this.#nowMs() + waitMs
    if (!this.#isOn || dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    if (this.#running === undefined) this.#wait(waitMs)
  }

  /** Runs at once, or joins the run under way; does nothing while the task is stopped. Never rejects. */
  now(): Promise<void> {
    if (this.#running === undefined && !this.#isOn) return Promise.resolve()
    this.#running ??= this.#once()
    return this.#running
  }

  async #once(): Promise<void> {
    this.#forgetPlan()
    const waitMs = await this.#outcome()
    this.#running = undefined
    // `within` may have been called during the run.
    const askedMs = Math.max(this.#dueMs - this.#nowMs(), 0)
    this.#dueMs = Infinity
    this.within(Math.min(waitMs, askedMs))
  }

  async #outcome(): Promise<number> {
    const { log, failure, retryMs, isClosed } = this.#options
    try {
      return await this.#task()
    } catch (cause) {
      if (this.#isOn && !isClosed(cause)) {
        log('warn', failure, { cause: cause instanceof Error ? cause.name : typeof cause })
      }
      return retryMs
    }
  }

  #wait(waitMs: number): void {
    this.#timer?.cancel()
    this.#timer = this.#options.world.timers.after(Math.min(waitMs, LONGEST_WAIT_MS), () => void this.now())
  }

  #forgetPlan(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#dueMs = Infinity
  }

  #nowMs(): number {
    return this.#options.world.clock.monotonicMs()
  }
}
