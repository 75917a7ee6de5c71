// What a worker of the pool does: the jobs of all lanes, one after the other, in the order in which they came.
import { receiveMessageOnPort } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import type { AnyJob, Job, JobTools } from '../lib/slow-work.ts'
import { NO_CALLS } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { faultEndsThread } from './fault-log.ts'
import { jobDone, type Load, nowAt } from './load.ts'
import { type JobAnswer, type JobOrder, type LaneEnd, WORKER_CALLS } from './slow-messages.ts'

/** `held` are answers for the next message, `waiting` is how many jobs are here and not begun. */
type Lane = LaneEnd & { readonly held: Answer[]; heldSinceMs: number; waiting: number }
type Task = { readonly order: JobOrder; readonly lane: Lane }
type Answer = { readonly answer: JobAnswer; readonly moved: ArrayBuffer[] }

/**
 * How long an answer waits at most for others that go with it. Each message wakes the thread that asked, and what that
 * then does for one request alone costs twice as much as for one of four; so do the requests that follow the answers.
 */
const HOLD_MS = 4

export function serveSlowWork(pool: Port, jobs: ReadonlyMap<string, AnyJob>, tools: JobTools, load: Load): void {
  const { clock } = tools
  const lanes = new Set<Lane>()
  const waiting: Task[] = []
  /** To be told when everything was let go of. */
  const collections: (() => void)[] = []
  let isAtWork = false
  connectPeer({
    channel: portChannel(pool),
    asks: NO_CALLS,
    answers: WORKER_CALLS,
    handlers: { lane: open, collect },
    onFault: faultEndsThread,
  })
  pool.on('close', () => {
    for (const { port } of lanes) port.close()
  })

  function open(end: LaneEnd): void {
    const lane: Lane = { ...end, held: [], heldSinceMs: 0, waiting: 0 }
    lanes.add(lane)
    lane.port.on('message', (orders: readonly JobOrder[]) => {
      for (const order of orders) waiting.push({ order, lane })
      lane.waiting += orders.length
      begin()
    })
    lane.port.on('close', () => {
      lane.held.length = 0
      lanes.delete(lane)
    })
  }

  /** Who lives has nothing on a lane then: what is there was sent by threads that are no more, and is not begun. */
  function collect(): Promise<void> {
    for (const { port, slot } of lanes) {
      for (let left = receiveMessageOnPort(port); left !== undefined; left = receiveMessageOnPort(port)) {
        for (let n = (left.message as readonly JobOrder[]).length; n > 0; n--) jobDone(load, slot)
      }
    }
    for (const { lane } of waiting.splice(0)) {
      jobDone(load, lane.slot)
      lane.held.length = 0
      lane.waiting = 0
    }
    const collected = Promise.withResolvers<void>()
    collections.push(collected.resolve)
    begin()
    return collected.promise
  }

  function begin(): void {
    if (isAtWork) return
    isAtWork = true
    setImmediate(next)
  }

  /**
   * In a turn of the event loop for each: nothing of the job before it is on the stack, and every lane is heard. One
   * port alone gives up to a thousand messages in a turn, to which a thread adds as fast as it is answered.
   */
  async function next(): Promise<void> {
    const task = waiting.shift()
    if (task !== undefined) await run(task)
    else {
      const collected = collections.shift()
      if (collected === undefined) {
        isAtWork = false
        return
      }
      collectGarbage()
      collected()
    }
    setImmediate(next)
  }

  async function run({ order, lane }: Task): Promise<void> {
    lane.waiting--
    nowAt(load, lane.slot, order.id)
    const beganMs = clock.monotonicMs()
    const answer = await answerTo(order, beganMs)
    const nowMs = clock.monotonicMs()
    nowAt(load, lane.slot, 0)
    // Before the answer: who has it and has more work finds this worker free.
    jobDone(load, lane.slot)
    if (lane.held.length === 0) lane.heldSinceMs = nowMs
    lane.held.push(answer)
    if (!mayHold(lane, order.kind, nowMs, nowMs - beganMs)) send(lane)
  }

  /**
   * Only where the next job is of the same lane, which is looked at again behind it, and of the kind of the one before
   * it, and so takes about as long; and at most as many answers as there are jobs left, so that there are new ones
   * before those are done.
   */
  function mayHold(lane: Lane, kind: string, nowMs: number, tookMs: number): boolean {
    const following = waiting[0]
    if (following?.lane !== lane || following.order.kind !== kind) return false
    return lane.held.length < lane.waiting && nowMs + tookMs - lane.heldSinceMs <= HOLD_MS
  }

  async function answerTo(order: JobOrder, beganMs: number): Promise<Answer> {
    const { id } = order
    try {
      const job = jobs.get(order.job) as Job<unknown, unknown> | undefined
      if (job === undefined) throw new Error(`There is no job "${order.job}"`)
      const output = await job.run(order.input, tools)
      const tookMs = clock.monotonicMs() - beganMs
      return { answer: { id, output, tookMs }, moved: job.moves?.(output) ?? [] }
    } catch (cause) {
      return { answer: failed({ id, tookMs: clock.monotonicMs() - beganMs }, cause), moved: [] }
    }
  }
}

function send({ port, held }: Lane): void {
  const answers = held.splice(0)
  try {
    post(port, answers)
  } catch {
    // One of them no other thread can have.
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

/** A message could hold what the job was given. */
const failed = ({ id, tookMs }: Pick<JobAnswer, 'id' | 'tookMs'>, cause: unknown): JobAnswer => ({
  id,
  tookMs,
  failed: cause instanceof Error ? cause.name : typeof cause,
})
