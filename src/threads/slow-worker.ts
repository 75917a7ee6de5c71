// What a worker of the pool does: the jobs of all lanes, one after the other, in the order in which they came.
import type { MessagePort } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import type { AnyJob, Job, JobTools } from '../lib/slow-work.ts'
import { jobDone, type Load } from './load.ts'
import type { FromWorker, JobAnswer, JobOrder, LaneEnd, SlowPort, ToWorker } from './slow-messages.ts'

export function serveSlowWork(pool: SlowPort, jobs: ReadonlyMap<string, AnyJob>, tools: JobTools, load: Load): void {
  const lanes = new Set<MessagePort>()
  let last: Promise<void> = Promise.resolve()
  // Each in a step of its own, so that nothing of the job before it is still on the stack.
  const next = (step: () => void | Promise<void>): void => {
    last = last.then(step)
  }
  pool.on('message', (received) => {
    const message = received as ToWorker
    if (message.kind === 'lane') open(message)
    else
      next(() => {
        collectGarbage()
        pool.postMessage({ kind: 'collected' } satisfies FromWorker, [])
      })
  })
  pool.on('close', () => {
    for (const port of lanes) port.close()
  })

  function open({ port, slot }: LaneEnd): void {
    lanes.add(port)
    port.on('message', (order: JobOrder) => next(() => run(order, port, slot)))
    port.on('close', () => lanes.delete(port))
  }

  async function run({ job: name, input }: JobOrder, port: MessagePort, slot: number): Promise<void> {
    const { answer, moved } = await answerOf(name, input)
    // Before the answer: who has it and has more work finds this worker free.
    jobDone(load, slot)
    port.postMessage(answer, moved)
  }

  async function answerOf(name: string, input: unknown): Promise<{ answer: JobAnswer; moved: ArrayBuffer[] }> {
    try {
      const job = jobs.get(name) as Job<unknown, unknown> | undefined
      if (job === undefined) throw new Error(`There is no job "${name}"`)
      const output = await job.run(input, tools)
      return { answer: { output }, moved: job.moves?.(output) ?? [] }
    } catch (cause) {
      // A message could hold what the job was given.
      return { answer: { failed: cause instanceof Error ? cause.name : typeof cause }, moved: [] }
    }
  }
}
