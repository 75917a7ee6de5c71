// Times that many requests may take, looked at once a second: a timer for each request would cost more than the
// request.
import { LinkedList, type ListNode } from '../lib/linked-list.ts'
import type { Clock, Timer, Timers } from '../lib/world.ts'

const TICK_MS = 1_000
/** A thread that stood still has not read what came meanwhile: of a longer pause no more counts against its clients. */
const MOST_TICK_MS = 1_500

export type Deadline = ListNode<{ readonly atMs: number; readonly onLate: () => void }>

/** Deadlines of one length, so that they come in the order in which they were set. */
export class DeadlineQueue {
  readonly #deadlines: Deadlines
  readonly #lengthMs: number
  readonly #waiting = new LinkedList<Deadline['value']>()

  constructor(deadlines: Deadlines, lengthMs: number) {
    this.#deadlines = deadlines
    this.#lengthMs = lengthMs
  }

  /**
   * `onLate` is called once, not before the time and, by a thread that runs, at most two ticks after it, unless it is
   * removed before.
   */
  add(onLate: () => void): Deadline | undefined {
    if (this.#lengthMs === 0) return undefined
    return this.#waiting.add({ atMs: this.#deadlines.tickMs + TICK_MS + this.#lengthMs, onLate })
  }

  remove(deadline: Deadline | undefined): void {
    if (deadline !== undefined) this.#waiting.remove(deadline)
  }

  expire(nowMs: number): void {
    for (let next = this.#waiting.first; next !== undefined; next = this.#waiting.first) {
      if (next.value.atMs > nowMs) return
      this.#waiting.remove(next)
      next.value.onLate()
    }
  }
}

export class Deadlines {
  readonly #queues: DeadlineQueue[] = []
  readonly #clock: Clock
  readonly #timers: Timers
  #timer: Timer
  #lookedMs: number
  /** When it last looked, on a clock that stops while the thread stands still. */
  tickMs: number

  constructor({ clock, timers }: { readonly clock: Clock; readonly timers: Timers }) {
    this.#clock = clock
    this.#timers = timers
    this.#lookedMs = clock.monotonicMs()
    this.tickMs = this.#lookedMs
    this.#timer = timers.after(TICK_MS, () => this.#tick())
  }

  /** 0: no deadline at all. */
  queue(lengthMs: number): DeadlineQueue {
    const queue = new DeadlineQueue(this, lengthMs)
    this.#queues.push(queue)
    return queue
  }

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
