// What somebody looks at by itself, without a request: again and again, from its start to its stop.
import type { Log } from './log.ts'
import type { Timer, World } from './world.ts'

/** The clock may be set while a timer runs, and what is due be another thing by then. */
const LONGEST_WAIT_MS = 3_600_000

export type LookOptions = {
  readonly world: Pick<World, 'clock' | 'timers'>
  readonly log: Log
  /** What the log says of a look that failed; after `retryMs` it is tried again. */
  readonly failure: string
  readonly retryMs: number
  /** A cause that is no news, because what is looked at was closed meanwhile: nothing is logged. */
  readonly isClosed: (cause: unknown) => boolean
}

/** One look at a time: what is asked for during one comes after it. */
export class PeriodicLook {
  readonly #look: () => Promise<number>
  readonly #options: LookOptions
  #isOn = false
  #timer: Timer | undefined
  /** On the clock that never goes back; Infinity: nothing is planned. */
  #dueMs = Infinity
  #looking: Promise<void> | undefined

  /** `look` says how long nothing is to be done, in milliseconds; Infinity: until somebody asks (`within`). */
  constructor(look: () => Promise<number>, options: LookOptions) {
    this.#look = look
    this.#options = options
  }

  /** False from `stop` on: a long look asks, and ends early. */
  get isOn(): boolean {
    return this.#isOn
  }

  /** The first look is after `waitMs`. */
  start(waitMs: number): void {
    this.#isOn = true
    this.within(waitMs)
  }

  /** Ends the series. One that is under way is not waited for: no other follows it. */
  stop(): void {
    this.#isOn = false
    this.#forgetPlan()
  }

  /** Looks within `waitMs`, unless it does so anyway. Nothing happens while it is stopped. */
  within(waitMs: number): void {
    const dueMs = this.#nowMs() + waitMs
    if (!this.#isOn || dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    if (this.#looking === undefined) this.#wait(waitMs)
  }

  /** Looks at once, or joins the look that is under way; not while it is stopped. Never throws. */
  now(): Promise<void> {
    if (this.#looking === undefined && !this.#isOn) return Promise.resolve()
    this.#looking ??= this.#once()
    return this.#looking
  }

  async #once(): Promise<void> {
    this.#forgetPlan()
    const waitMs = await this.#outcome()
    this.#looking = undefined
    // Asked for meanwhile.
    const askedMs = Math.max(this.#dueMs - this.#nowMs(), 0)
    this.#dueMs = Infinity
    this.within(Math.min(waitMs, askedMs))
  }

  async #outcome(): Promise<number> {
    const { log, failure, retryMs, isClosed } = this.#options
    try {
      return await this.#look()
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
