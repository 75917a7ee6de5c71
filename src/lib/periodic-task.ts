// What is done without a request: again and again, from its start to its stop.
import type { Log } from './log.ts'
import type { Timer, World } from './world.ts'

/** The clock may be set while a timer runs, and what is due be another thing by then. */
const LONGEST_WAIT_MS = 3_600_000

export type PeriodicTaskOptions = {
  readonly world: Pick<World, 'clock' | 'timers'>
  readonly log: Log
  /** What the log says of a run that failed; after `retryMs` it is tried again. */
  readonly failure: string
  readonly retryMs: number
  /** A cause that is no news, because what the task works on was closed meanwhile: nothing is logged. */
  readonly isClosed: (cause: unknown) => boolean
}

/** One run at a time: what is asked for during one comes after it. */
export class PeriodicTask {
  readonly #task: () => Promise<number>
  readonly #options: PeriodicTaskOptions
  #isOn = false
  #timer: Timer | undefined
  /** On the clock that never goes back; Infinity: nothing is planned. */
  #dueMs = Infinity
  #running: Promise<void> | undefined

  /** `task` says how long nothing is to be done, in milliseconds; Infinity: until somebody asks (`within`). */
  constructor(task: () => Promise<number>, options: PeriodicTaskOptions) {
    this.#task = task
    this.#options = options
  }

  /** False from `stop` on: a long run asks, and ends early. */
  get isOn(): boolean {
    return this.#isOn
  }

  /** The first run is after `waitMs`. */
  start(waitMs: number): void {
    this.#isOn = true
    this.within(waitMs)
  }

  /** Ends the series. One that is under way is not waited for: no other follows it. */
  stop(): void {
    this.#isOn = false
    this.#forgetPlan()
  }

  /** Runs within `waitMs`, unless it does so anyway. Nothing happens while it is stopped. */
  within(waitMs: number): void {
    const dueMs = this.#nowMs() + waitMs
    if (!this.#isOn || dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    if (this.#running === undefined) this.#wait(waitMs)
  }

  /** Runs at once, or joins the run that is under way; not while it is stopped. Never throws. */
  now(): Promise<void> {
    if (this.#running === undefined && !this.#isOn) return Promise.resolve()
    this.#running ??= this.#once()
    return this.#running
  }

  async #once(): Promise<void> {
    this.#forgetPlan()
    const waitMs = await this.#outcome()
    this.#running = undefined
    // Asked for meanwhile.
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
