// What a worker of the pool does: the jobs of all lanes, one after the other, in the order in which they came.
import { receiveMessageOnPort } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import type { AnyJob, Job, JobTools } from '../lib/slow-work.ts'
import { jobDone, type Load } from './load.ts'
import type { FromWorker, JobAnswer, JobOrder, LaneEnd, SlowPort, ToWorker } from './slow-messages.ts'

type Task = { readonly order: JobOrder; readonly lane: LaneEnd }

export function serveSlowWork(pool: SlowPort, jobs: ReadonlyMap<string, AnyJob>, tools: JobTools, load: Load): void {
  const lanes = new Set<LaneEnd>()
  const waiting: Task[] = []
  let collections = 0
  let isAtWork = false
  pool.on('message', (received) => {
    const message = received as ToWorker
    if (message.kind === 'lane') open(message)
    else collect()
  })
  pool.on('close', () => {
    for (const { port } of lanes) port.close()
  })

  function open(lane: LaneEnd): void {
    lanes.add(lane)
    lane.port.on('message', (order: JobOrder) => {
      waiting.push({ order, lane })
      begin()
    })
    lane.port.on('close', () => lanes.delete(lane))
  }

  /** Who lives has nothing on a lane then: what is there was sent by threads that are no more, and is not begun. */
  function collect(): void {
    for (const { port, slot } of lanes) while (receiveMessageOnPort(port) !== undefined) jobDone(load, slot)
    for (const { lane } of waiting.splice(0)) jobDone(load, lane.slot)
    collections++
    begin()
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
    else if (collections > 0) {
      collections--
      collectGarbage()
      pool.postMessage({ kind: 'collected' } satisfies FromWorker, [])
    } else {
      isAtWork = false
      return
    }
    setImmediate(next)
  }

  async function run({ order, lane: { port, slot } }: Task): Promise<void> {
    const { answer, moved } = await answerTo(order)
    // Before the answer: who has it and has more work finds this worker free.
    jobDone(load, slot)
    try {
      port.postMessage(answer, moved)
    } catch (cause) {
      // No other thread can have what it gave.
      port.postMessage(failed(order, cause), [])
    }
  }

  async function answerTo(order: JobOrder): Promise<{ readonly answer: JobAnswer; readonly moved: ArrayBuffer[] }> {
    try {
      const job = jobs.get(order.job) as Job<unknown, unknown> | undefined
      if (job === undefined) throw new Error(`There is no job "${order.job}"`)
      const output = await job.run(order.input, tools)
      return { answer: { id: order.id, output }, moved: job.moves?.(output) ?? [] }
    } catch (cause) {
      return { answer: failed(order, cause), moved: [] }
    }
  }
}

/** A message could hold what the job was given. */
const failed = ({ id }: JobOrder, cause: unknown): JobAnswer => ({
  id,
  failed: cause instanceof Error ? cause.name : typeof cause,
})
