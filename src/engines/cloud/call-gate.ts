// How many calls to the cloud are under way: a slow cloud takes a bounded part of this server, and of that the mounts
// which belong to it take no more than their share. A mount has a lane for each service of its cloud, so that what
// waits for one of them stands in nobody's way to another.
import { MOST_CONNECTIONS } from '../../lib/outbound.ts'

/** Of all mounts together: each has its connection, so that none of them waits a second time, unseen. */
const MOST_RUNNING = MOST_CONNECTIONS
/** Of one lane. */
const MOST_RUNNING_OF_ONE = 32
const MOST_WAITING_OF_ONE = 256

/** A call that wants to be made. */
export type Admission = {
  /** Resolves when it may be. */
  readonly admitted: Promise<void>
  /** The call has ended, or has stopped waiting. */
  readonly leave: () => void
}

/** To the identity provider, which also gives this server its tokens, the resource manager, and the graph. */
export type PerHostQueues = Readonly<Record<'identity' | 'resources' | 'graph', HostQueue>>

export class CallGate {
  #running = 0
  readonly #lanes = new Set<HostQueue>()

  /** Of one mount. */
  newLanes(): PerHostQueues {
    return { identity: this.newLane(), resources: this.newLane(), graph: this.newLane() }
  }

  newLane(): HostQueue {
    return new HostQueue(this)
  }

  /** @internal */
  hasWaiting(lane: HostQueue): void {
    this.#lanes.add(lane)
    this.#admit()
  }

  /** @internal */
  ended(): void {
    this.#running -= 1
    this.#admit()
  }

  /**
   * Of those that wait, the lane that has the fewest calls under way: one whose service answers is never held up for
   * long.
   */
  #admit(): void {
    while (this.#running < MOST_RUNNING) {
      let next: HostQueue | undefined
      for (const lane of this.#lanes) {
        if (lane.waiting === 0) this.#lanes.delete(lane)
        else if (lane.running < MOST_RUNNING_OF_ONE && lane.running < (next?.running ?? Infinity)) next = lane
      }
      if (next === undefined) return
      // Of equals each has its turn.
      this.#lanes.delete(next)
      this.#lanes.add(next)
      this.#running += 1
      next.admitFirst()
    }
  }
}

export class HostQueue {
  running = 0
  readonly #gate: CallGate
  readonly #queue = new Set<() => void>()

  constructor(gate: CallGate) {
    this.#gate = gate
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** Undefined where too many wait already. */
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

  /** @internal */
  admitFirst(): void {
    const [first] = this.#queue
    if (first === undefined) return
    this.#queue.delete(first)
    this.running += 1
    first()
  }
}
