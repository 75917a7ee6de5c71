// A worker of the pool: it does the jobs of all lanes, one after the other, in the order in which they came.
import { receiveMessageOnPort } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import type { AnyJob, Job, JobTools } from '../lib/slow-work.ts'
import { NO_CALLS } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { faultEndsThread } from './fault-log.ts'
import { jobDone, type Load, nowAt } from './load.ts'
import { type JobAnswer, type JobOrder, type LaneEnd, WORKER_CALLS } from './slow-messages.ts'

/** A client's lane as its worker has it. */
type Lane = LaneEnd & {
  /** Answers that go with the next message. */
  readonly held: Answer[]
  heldSinceMs: number
  /** Jobs of this lane that are here and not begun. */
  waiting: number
}
type Task = { readonly order: JobOrder; readonly lane: Lane }
type Answer = { readonly answer: JobAnswer; readonly moved: ArrayBuffer[] }

/**
 * How long an answer waits for others to go with it, if the next job takes no longer than the last. Each message wakes
 * the thread that asked. Its work for one request alone then costs twice as much as for one of four, and so do the
 * requests that follow the answers.
 */
const HOLD_MS = 4

/**
 * Makes this thread a worker of the pool. It takes lanes by `pool` and does their jobs, which it finds by name in
 * `jobs`, until `pool` closes.
 */
export function serveSlowWork(pool: Port, jobs: ReadonlyMap<string, AnyJob>, tools: JobTools, load: Load): void {
  const worker = new SlowWorker(jobs, tools, load)
  connectPeer({
    channel: portChannel(pool),
    asks: NO_CALLS,
    answers: WORKER_CALLS,
    handlers: { lane: (end) => worker.open(end), collect: () => worker.collect() },
    onFault: faultEndsThread,
  })
  pool.on('close', () => worker.close())
}

class SlowWorker {
  readonly #jobs: ReadonlyMap<string, AnyJob>
  readonly #tools: JobTools
  readonly #load: Load
  readonly #lanes = new Set<Lane>()
  readonly #waiting: Task[] = []
  /** To be called once the worker has let go of everything. */
  readonly #collections: (() => void)[] = []
  #isAtWork = false

  constructor(jobs: ReadonlyMap<string, AnyJob>, tools: JobTools, load: Load) {
    this.#jobs = jobs
    this.#tools = tools
    this.#load = load
  }

  open(end: LaneEnd): void {
    const lane: Lane = { ...end, held: [], heldSinceMs: 0, waiting: 0 }
    this.#lanes.add(lane)
    lane.port.on('message', (orders: readonly JobOrder[]) => {
      for (const order of orders) this.#waiting.push({ order, lane })
      lane.waiting += orders.length
      this.#begin()
    })
    lane.port.on('close', () => {
      lane.held.length = 0
      this.#lanes.delete(lane)
    })
  }

  /**
   * Throws away every job that is not begun, and resolves when the garbage is collected. Clients that live have nothing
   * on a lane by then, so what is left there was sent by threads that have ended.
   */
  collect(): Promise<void> {
    for (const lane of this.#lanes) this.#discardUnread(lane)
    for (const { lane } of this.#waiting.splice(0)) {
      jobDone(this.#load, lane.slot)
      lane.held.length = 0
      lane.waiting = 0
    }
    const collected = Promise.withResolvers<void>()
    this.#collections.push(collected.resolve)
    this.#begin()
    return collected.promise
  }

  close(): void {
    for (const { port } of this.#lanes) port.close()
  }

  #discardUnread({ port, slot }: Lane): void {
    for (let left = receiveMessageOnPort(port); left !== undefined; left = receiveMessageOnPort(port)) {
      for (let n = (left.message as readonly JobOrder[]).length; n > 0; n--) jobDone(this.#load, slot)
    }
  }

  #begin(): void {
    if (this.#isAtWork) return
    this.#isAtWork = true
    setImmediate(() => this.#next())
  }

  /**
   * Does one job, or one collection, in a turn of the event loop of its own. Nothing of the job before is then on the
   * stack, and every lane is read: one port alone gives up to a thousand messages in a turn, and a client sends more as
   * fast as it is answered.
   */
  async #next(): Promise<void> {
    const task = this.#waiting.shift()
    if (task !== undefined) await this.#run(task)
    else {
      const collected = this.#collections.shift()
      if (collected === undefined) {
        this.#isAtWork = false
        return
      }
      collectGarbage()
      collected()
    }
    setImmediate(() => this.#next())
  }

  async #run({ order, lane }: Task): Promise<void> {
    const { clock } = this.#tools
    lane.waiting--
    nowAt(this.#load, lane.slot, order.id)
    const beganMs = clock.monotonicMs()
    const answer = await this.#answerTo(order, beganMs)
    const nowMs = clock.monotonicMs()
    nowAt(this.#load, lane.slot, 0)
    // Counted as done before it is answered: the client may send more at once, and must find this worker free.
    jobDone(this.#load, lane.slot)
    if (lane.held.length === 0) lane.heldSinceMs = nowMs
    lane.held.push(answer)
    if (!this.#mayHold(lane, order.kind, nowMs, nowMs - beganMs)) send(lane)
  }

  /**
   * True if the next job is of the same lane and kind: the lane is then looked at again after it, in about the time
   * that this one took. At most as many answers are held as jobs are left, so that new jobs arrive before those are
   * done.
   */
  #mayHold(lane: Lane, kind: string, nowMs: number, tookMs: number): boolean {
    const following = this.#waiting[0]
    if (following?.lane !== lane || following.order.kind !== kind) return false
    return lane.held.length < lane.waiting && nowMs + tookMs - lane.heldSinceMs <= HOLD_MS
  }

  async #answerTo(order: JobOrder, beganMs: number): Promise<Answer> {
    const { clock } = this.#tools
    const { id } = order
    try {
      const job = this.#jobs.get(order.job) as Job<unknown, unknown> | undefined
      if (job === undefined) throw new Error(`There is no job "${order.job}"`)
      const output = await job.run(order.input, this.#tools)
      const tookMs = clock.monotonicMs() - beganMs
      return { answer: { id, output, tookMs }, moved: job.moves?.(output) ?? [] }
    } catch (cause) {
      return { answer: failed({ id, tookMs: clock.monotonicMs() - beganMs }, cause), moved: [] }
    }
  }
}

/** Sends all answers that are held, in one message if it can be. */
function send({ port, held }: Lane): void {
  const answers = held.splice(0)
  try {
    post(port, answers)
  } catch {
    // One of the answers cannot be sent to another thread. Sent one by one, only that one fails.
    for (const each of answers) {
      try {
        post(port, [each])
      } catch (cause) {
        post(port, [{ answer: failed(each.answer, cause), moved: [] }])
      }
    }
  }
}

function post(port: LaneEnd['port'], answers: readonly Answer[]): void {
  port.postMessage(
    answers.map(({ answer }) => answer),
    answers.flatMap(({ moved }) => moved),
  )
}

/** Names the error and leaves out its message, which could hold what the job was given. */
const failed = ({ id, tookMs }: Pick<JobAnswer, 'id' | 'tookMs'>, cause: unknown): JobAnswer => ({
  id,
  tookMs,
  failed: cause instanceof Error ? cause.name : typeof cause,
})
