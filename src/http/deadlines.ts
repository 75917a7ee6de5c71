// Deadlines of many requests, checked once a second: a timer for each request would cost more than the request.
import { LinkedList, type ListNode } from '../lib/linked-list.ts'
import type { Clock, Timer, Timers } from '../lib/world.ts'

const TICK_MS = 1_000
/**
 * The most that one tick may count. A thread that stood still has not read what arrived meanwhile, and its clients must
 * not pay for that.
 */
const MOST_TICK_MS = 1_500

/** A deadline that was set; keep it to remove it. */
export type Deadline = ListNode<{ readonly atMs: number; readonly onLate: () => void }>

/** Deadlines of the same length, so that they expire in the order in which they were set. */
export class DeadlineQueue {
  readonly #deadlines: Deadlines
  readonly #lengthMs: number
  readonly #waiting = new LinkedList<Deadline['value']>()

  constructor(deadlines: Deadlines, lengthMs: number) {
    this.#deadlines = deadlines
    this.#lengthMs = lengthMs
  }

  /**
   * Sets a deadline. `onLate` is called once unless the deadline is removed before. While the thread runs without a
   * stop, that is not early, and about two ticks late at most. Returns undefined if the length is 0: no deadline.
   */
  add(onLate: () => void): Deadline | undefined {
    if (this.#lengthMs === 0) return undefined
    return this.#waiting.add({ atMs: this.#deadlines.tickMs + TICK_MS + this.#lengthMs, onLate })
  }

  /** Removes a deadline in constant time; one that has expired, or is undefined, does no harm. */
  remove(deadline: Deadline | undefined): void {
    if (deadline !== undefined) this.#waiting.remove(deadline)
  }

  /** Calls those that are due; for Deadlines alone. */
  expire(nowMs: number): void {
    for (let next = this.#waiting.first; next !== undefined; next = this.#waiting.first) {
      if (next.value.atMs > nowMs) return
      this.#waiting.remove(next)
      next.value.onLate()
    }
  }
}

/** The clock of all queues of a thread; one timer serves them all. */
export class Deadlines {
  readonly #queues: DeadlineQueue[] = []
  readonly #clock: Clock
  readonly #timers: Timers
  #timer: Timer
  #lookedMs: number
  /** Time of the last tick, on a clock that stops while the thread stands still. */
  tickMs: number

  constructor({ clock, timers }: { readonly clock: Clock; readonly timers: Timers }) {
    this.#clock = clock
    this.#timers = timers
    this.#lookedMs = clock.monotonicMs()
    this.tickMs = this.#lookedMs
    this.#timer = timers.after(TICK_MS, () => this.#tick())
  }

  /** Makes a queue of deadlines of this length; 0: none ever expires. */
  queue(lengthMs: number): DeadlineQueue {
    const queue = new DeadlineQueue(this, lengthMs)
    this.#queues.push(queue)
    return queue
  }

  /** Stops the timer; nothing expires any more. */
  stop(): void {
    this.#timer.cancel()
  }

  #tick(): void {
    const nowMs = this.#clock.monotonicMs()
    this.tickMs += Math.min(nowMs - this.#lookedMs, MOST_TICK_MS)
    this.#lookedMs = nowMs
    this.#timer = this.#timers.after(TICK_MS, () => this.#tick())
    for (const queue of this.#queues) queue.expire(this.tickMs)
  }
}
