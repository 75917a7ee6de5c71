// The client's end of the pool, in a thread that has slow work: workers do it while this thread goes on. Jobs wait
// here. Only a few are on their way to a worker, so that a thread with much work delays others by little.
import type { MessagePort } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import { type Job, JobFailed, JobForgotten, Overloaded, type SlowWork, type Split } from '../lib/slow-work.ts'
import { PeerGone } from '../rpc/errors.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { faultEndsThread } from './fault-log.ts'
import {
  beginSplit,
  depthOf,
  endSplit,
  jobDone,
  jobSent,
  type Load,
  newJobId,
  othersSplitting,
  wasAt,
  workersOf,
} from './load.ts'
import { CLIENT_CALLS, type JobAnswer, type JobOrder, type LaneEnd, POOL_CALLS, type Takes } from './slow-messages.ts'

/** The access of one thread to the pool: its port, the shared memory, and its seat there. */
export type PoolHandle<P = MessagePort> = { readonly port: P; readonly load: Load; readonly seat: number }

/** How many jobs may wait in this thread; the next one is refused. */
export type QueueLimits = Readonly<Record<Takes, number>>
/** At 1.5 ms each, short jobs that wait are done within seconds. A new RSA key of 4096 bits takes about one second. */
const LIMITS: QueueLimits = { short: 2_000, long: 32 }

/**
 * How much work a lane holds, in milliseconds of its worker. More than the worker keeps answers for, so that it goes on
 * while those are read. Little enough for the thread whose jobs come next.
 */
const LANE_MS = 12
/** At least two short jobs: the worker is at one while the next is already there. */
const LEAST_ON_LANE: Readonly<Record<Takes, number>> = { short: 2, long: 1 }
const MOST_ON_LANE: Readonly<Record<Takes, number>> = { short: 24, long: 1 }

/** Counts what waits in this thread and what is done, for telemetry. */
export type PoolMeter = {
  readonly nowMs: () => number
  /** How long the job waited here until it was sent to a worker. */
  readonly begun: (waitedMs: number) => void
  readonly done: () => void
  readonly refused: () => void
  readonly waiting: (takes: Takes, jobs: number) => void
}

type Task = {
  readonly order: JobOrder
  readonly moved: ArrayBuffer[]
  readonly resolve: (output: unknown) => void
  readonly reject: (cause: Error) => void
  /** True if a worker died that had it. */
  isSecondTry: boolean
  /** When it began to wait; 0 if there is no meter. */
  readonly sinceMs: number
}

/** The client's end of a lane to one worker. */
type Lane = {
  readonly port: MessagePort
  readonly slot: number
  readonly tasks: Task[]
  /** The tasks among these that go with the next message. */
  readonly unsent: Task[]
}

/** The jobs that wait for one kind of worker, and the lanes to those workers. */
type Queue = { readonly waiting: Task[]; readonly lanes: Set<Lane>; isStarting: boolean }
const newQueue = (): Queue => ({ waiting: [], lanes: new Set(), isStarting: false })

/** Slow work done by the pool. Every thread that has such work makes one. */
export class PooledWork implements SlowWork {
  readonly #pool: Peer<typeof POOL_CALLS>
  readonly #load: Load
  readonly #seat: number
  readonly #limits: QueueLimits
  readonly #meter: PoolMeter | undefined
  readonly #queues: Readonly<Record<Takes, Queue>> = { short: newQueue(), long: newQueue() }
  /** How long the last job of each kind took. */
  readonly #tookMs = new Map<string, number>()
  #isForgetting = false
  /** Set while the pool waits to hear that nothing of this thread is on a lane. */
  #owedIdle: PromiseWithResolvers<void> | undefined
  #isGone = false

  constructor(
    { port, load, seat }: PoolHandle<Port>,
    { limits = LIMITS, meter }: { readonly limits?: QueueLimits; readonly meter?: PoolMeter } = {},
  ) {
    this.#pool = connectPeer({
      channel: portChannel(port),
      asks: POOL_CALLS,
      answers: CLIENT_CALLS,
      handlers: {
        lane: (end) => this.#open(end, end.takes),
        rest: () => this.#rest(),
        collect: collectGarbage,
        goOn: () => {
          this.#isForgetting = false
        },
      },
      onFault: faultEndsThread,
    })
    this.#load = load
    this.#seat = seat
    this.#limits = limits
    this.#meter = meter
    port.on('close', () => this.#closed())
  }

  run<I, O>(job: Job<I, O>, input: I, moved: ArrayBuffer[] = []): Promise<O> {
    const { name, takes } = job
    if (this.#isGone) return Promise.reject(new JobFailed(POOL_ENDED))
    // The job would hold keys that no thread may hold after the seal.
    if (this.#isForgetting) return Promise.reject(new JobForgotten(SEALED_BEFORE))
    const { waiting } = this.#queues[takes]
    if (waiting.length >= this.#limits[takes]) {
      this.#meter?.refused()
      return Promise.reject(new Overloaded('More slow work waits than can be done soon'))
    }
    return new Promise<O>((resolve, reject) => {
      const sinceMs = this.#meter?.nowMs() ?? 0
      const kind = job.kind === undefined ? name : `${name} ${job.kind(input)}`
      const order = { id: newJobId(this.#load), job: name, kind, input }
      const answer = { resolve: resolve as (output: unknown) => void, reject }
      waiting.push({ order, moved, ...answer, isSecondTry: false, sinceMs })
      this.#assign(takes)
    })
  }

  split(): Split {
    // There are as many workers as cores, and each thread that splits work uses a core as a worker does. If the pool
    // has ended, another client may have the seat.
    if (!this.#isGone) beginSplit(this.#load, this.#seat)
    return {
      parts: () => Math.max(1, this.#idle() - othersSplitting(this.#load)),
      end: () => {
        if (!this.#isGone) endSplit(this.#load, this.#seat)
      },
    }
  }

  forget(): Promise<void> {
    return this.#pool.call('forget', undefined).catch((cause: unknown) => {
      throw cause instanceof PeerGone ? new JobFailed(POOL_ENDED) : cause
    })
  }

  #idle(): number {
    const { lanes } = this.#queues.short
    if (lanes.size === 0) return workersOf(this.#load)
    let idle = 0
    for (const { slot } of lanes) if (depthOf(this.#load, slot) === 0) idle++
    return idle
  }

  #rest(): Promise<void> {
    this.#isForgetting = true
    for (const takes of KINDS) this.#refuse(takes, () => new JobForgotten(SEALED_BEFORE))
    this.#owedIdle ??= Promise.withResolvers<void>()
    const { promise } = this.#owedIdle
    this.#confirmIdle()
    return promise
  }

  async #start(takes: Takes): Promise<void> {
    const queue = this.#queues[takes]
    queue.isStarting = true
    const isStarted = await this.#pool.call('start', takes).catch(() => false)
    // False also if the pool has ended: `#closed` has then refused what waited, and nothing is left to refuse here.
    if (isStarted) return
    queue.isStarting = false
    this.#refuse(takes, () => new JobFailed(THREAD_ENDED))
  }

  #open({ port, slot }: LaneEnd, takes: Takes): void {
    const lane: Lane = { port, slot, tasks: [], unsent: [] }
    const queue = this.#queues[takes]
    queue.lanes.add(lane)
    queue.isStarting = false
    port.on('message', (answers: readonly JobAnswer[]) => {
      for (const answer of answers) this.#answered(lane, answer)
      this.#assign(takes)
      this.#confirmIdle()
    })
    port.on('close', () => {
      queue.lanes.delete(lane)
      this.#workerEnded(lane, queue)
      this.#assign(takes)
      this.#confirmIdle()
    })
    this.#assign(takes)
  }

  #answered({ tasks }: Lane, answer: JobAnswer): void {
    const at = tasks.findIndex(({ order }) => order.id === answer.id)
    if (at === -1) return
    const [task] = tasks.splice(at, 1)
    this.#meter?.done()
    if (task === undefined) return
    this.#tookMs.set(task.order.kind, answer.tookMs)
    if ('failed' in answer) task.reject(new JobFailed(answer.failed))
    else task.resolve(answer.output)
  }

  /**
   * Fails the job that the worker was at. Its other jobs go back to the queue, also those done but not yet answered.
   * They go back once only. The worker may have died while it read another job or sent an answer, and the next worker
   * would die of the same.
   */
  #workerEnded({ tasks, slot }: Lane, queue: Queue): void {
    const kept: Task[] = []
    for (const task of tasks.splice(0)) {
      // Memory that was handed over to the worker is gone with it.
      const cannotGoOn = task.moved.length > 0 || task.isSecondTry || this.#isGone
      const isLost = cannotGoOn || wasAt(this.#load, slot, task.order.id)
      if (isLost) task.reject(new JobFailed(THREAD_ENDED))
      else if (this.#isForgetting) task.reject(new JobForgotten(SEALED_BEFORE))
      else kept.push(Object.assign(task, { isSecondTry: true }))
    }
    queue.waiting.unshift(...kept)
  }

  /** Puts waiting jobs on lanes, as many as those may hold, and has workers started if there are none. */
  #assign(takes: Takes): void {
    const queue = this.#queues[takes]
    for (let task = queue.waiting[0]; task !== undefined; task = queue.waiting[0]) {
      const lane = this.#freest(takes, task.order.kind)
      if (lane === undefined) break
      queue.waiting.shift()
      this.#meter?.begun(this.#meter.nowMs() - task.sinceMs)
      lane.tasks.push(task)
      jobSent(this.#load, lane.slot)
      lane.unsent.push(task)
    }
    let isRoomLeft = false
    for (const lane of queue.lanes) if (lane.unsent.length > 0 && !this.#send(lane)) isRoomLeft = true
    // A job that could not be sent gets no answer, and so would not call the next one: try the room it left now.
    if (isRoomLeft) {
      this.#assign(takes)
      return
    }
    if (queue.waiting.length > 0 && queue.lanes.size === 0 && !queue.isStarting) {
      void this.#start(takes)
    }
    this.#meter?.waiting(takes, queue.waiting.length)
  }

  /** Sends what is unsent in one message. False if some job could not be sent, which leaves room on the lane. */
  #send(lane: Lane): boolean {
    const tasks = lane.unsent.splice(0)
    try {
      post(lane.port, tasks)
      return true
    } catch {
      for (const task of tasks) this.#sendAlone(lane, task)
      return false
    }
  }

  #sendAlone(lane: Lane, task: Task): void {
    try {
      post(lane.port, [task])
    } catch (cause) {
      // Its input holds what cannot be sent to another thread: a defect of its caller, whose other jobs go on.
      lane.tasks.splice(lane.tasks.indexOf(task), 1)
      jobDone(this.#load, lane.slot)
      task.reject(new JobFailed(cause instanceof Error ? cause.name : typeof cause))
    }
  }

  /** Returns the lane with room for such a job whose worker has the least to do. */
  #freest(takes: Takes, kind: string): Lane | undefined {
    let freest: Lane | undefined
    let least = Number.POSITIVE_INFINITY
    for (const lane of this.#queues[takes].lanes) {
      if (!this.#hasRoom(lane, takes, kind)) continue
      const depth = depthOf(this.#load, lane.slot)
      if (depth >= least) continue
      freest = lane
      least = depth
    }
    return freest
  }

  #hasRoom({ tasks }: Lane, takes: Takes, kind: string): boolean {
    if (tasks.length < LEAST_ON_LANE[takes]) return true
    if (tasks.length >= MOST_ON_LANE[takes]) return false
    let ms = this.#expectedMs(kind)
    for (const { order } of tasks) ms += this.#expectedMs(order.kind)
    return ms <= LANE_MS
  }

  /** The time of the last job of this kind; of an unknown kind, all that a lane may hold. */
  #expectedMs(kind: string): number {
    return this.#tookMs.get(kind) ?? LANE_MS
  }

  #refuse(takes: Takes, cause: () => Error): void {
    for (const { reject } of this.#queues[takes].waiting.splice(0)) reject(cause())
    this.#meter?.waiting(takes, 0)
  }

  /** Tells the pool that nothing of this thread is on a lane, if it asked and that is so. */
  #confirmIdle(): void {
    if (this.#owedIdle === undefined) return
    const isAtWork = KINDS.some((takes) => [...this.#queues[takes].lanes].some(({ tasks }) => tasks.length > 0))
    if (isAtWork) return
    this.#owedIdle.resolve()
    this.#owedIdle = undefined
  }

  #closed(): void {
    this.#isGone = true
    for (const takes of KINDS) {
      this.#refuse(takes, () => new JobFailed(POOL_ENDED))
      for (const { port } of this.#queues[takes].lanes) port.close()
    }
  }
}

function post(port: MessagePort, tasks: readonly Task[]): void {
  port.postMessage(
    tasks.map(({ order }) => order),
    tasks.flatMap(({ moved }) => moved),
  )
}

const KINDS = ['short', 'long'] as const
const POOL_ENDED = 'the pool has ended'
const THREAD_ENDED = 'its thread ended'
const SEALED_BEFORE = 'The server was sealed before the work began'
