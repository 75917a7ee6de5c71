// Bounds the calls to the cloud that are under way, so that a slow cloud takes a bounded part of this server (threats
// L-12). The mounts of that cloud take no more than their share. A mount has a lane for each service, so that calls
// which wait for one service do not hold up calls to another.
import { MOST_CONNECTIONS } from '../../lib/outbound.ts'

/**
 * Calls of all mounts together. Each has its own connection, so that an admitted call does not wait a second time,
 * unseen.
 */
const MOST_RUNNING = MOST_CONNECTIONS
/** Calls of one lane. */
const MOST_RUNNING_OF_ONE = 32
/** Calls that may wait in one lane; further ones fail at once. */
const MOST_WAITING_OF_ONE = 256

/** A call that waits to be made, or is being made. */
export type Admission = {
  /** Resolves when the call may be made. */
  readonly admitted: Promise<void>
  /** Must be called when the call has ended, or is given up while waiting. Further calls do nothing. */
  readonly leave: () => void
}

/** The lanes of one mount. `identity` is for the identity provider, which also issues this server's tokens. */
export type PerHostQueues = Readonly<Record<'identity' | 'resources' | 'graph', HostQueue>>

/** Decides whose call is made next. All cloud mounts of the process share one. */
export class CallGate {
  #running = 0
  readonly #lanes = new Set<HostQueue>()

  /** Returns the lanes of a new mount. */
  newLanes(): PerHostQueues {
    return { identity: this.newLane(), resources: this.newLane(), graph: this.newLane() }
  }

  /** Returns one lane, empty. */
  newLane(): HostQueue {
    return new HostQueue(this)
  }

  /** Tells the gate that a lane has a waiting call. @internal */
  hasWaiting(lane: HostQueue): void {
    this.#lanes.add(lane)
    this.#admit()
  }

  /** Tells the gate that an admitted call has ended. @internal */
  ended(): void {
    this.#running -= 1
    this.#admit()
  }

  /**
   * Admits waiting calls while there is room. The lane with the fewest calls under way comes first, so one whose
   * service answers is never held up for long.
   */
  #admit(): void {
    while (this.#running < MOST_RUNNING) {
      let next: HostQueue | undefined
      for (const lane of this.#lanes) {
        if (lane.waiting === 0) this.#lanes.delete(lane)
        else if (lane.running < MOST_RUNNING_OF_ONE && lane.running < (next?.running ?? Infinity)) next = lane
      }
      if (next === undefined) return
      // Lanes with equally many calls take turns, because this one goes to the end.
      this.#lanes.delete(next)
      this.#lanes.add(next)
      this.#running += 1
      next.admitFirst()
    }
  }
}

/** The queue of one lane. A mount enters calls; the gate admits them, first come first served. */
export class HostQueue {
  running = 0
  readonly #gate: CallGate
  readonly #queue = new Set<() => void>()

  constructor(gate: CallGate) {
    this.#gate = gate
  }

  /** Number of calls that wait. */
  get waiting(): number {
    return this.#queue.size
  }

  /** Adds a call to the queue. Returns undefined if too many wait already. */
  enter(): Admission | undefined {
    if (this.#queue.size >= MOST_WAITING_OF_ONE) return undefined
    let isAdmitted = false
    let isOver = false
    const { promise, resolve } = Promise.withResolvers<void>()
    const admit = (): void => {
      isAdmitted = true
      resolve()
    }
    this.#queue.add(admit)
    this.#gate.hasWaiting(this)
    return {
      admitted: promise,
      leave: () => {
        if (isOver) return
        isOver = true
        if (!isAdmitted) {
          this.#queue.delete(admit)
          return
        }
        this.running -= 1
        this.#gate.ended()
      },
    }
  }

  /** Admits the call that has waited longest. @internal */
  admitFirst(): void {
    const [first] = this.#queue
    if (first === undefined) return
    this.#queue.delete(first)
    this.running += 1
    first()
  }
}
