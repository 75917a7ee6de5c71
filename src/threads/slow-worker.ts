// What a worker of the pool does with the messages it gets: one job after the other, in their order.
import { collectGarbage } from '../lib/collect-garbage.ts'
import type { AnyJob, Job, JobTools } from '../lib/slow-work.ts'
import type { FromWorker, JobOrder, SlowPort, ToWorker } from './slow-messages.ts'

export function serveSlowWork(port: SlowPort, jobs: ReadonlyMap<string, AnyJob>, tools: JobTools): void {
  let last: Promise<void> = Promise.resolve()
  const answer = (message: FromWorker, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved)
  port.on('message', (received) => {
    const message = received as ToWorker
    // A step of its own, so that nothing of the job before it is still on the stack.
    last = last.then(async () => {
      if (message.kind === 'run') await run(message)
      else {
        collectGarbage()
        answer({ kind: 'collected' })
      }
    })
  })

  async function run({ id, job: name, input }: JobOrder): Promise<void> {
    try {
      const job = jobs.get(name) as Job<unknown, unknown> | undefined
      if (job === undefined) throw new Error(`There is no job "${name}"`)
      const output = await job.run(input, tools)
      const moved = job.moves?.(output) ?? []
      answer({ kind: 'done', id, output, moved }, moved)
    } catch (cause) {
      // A message could hold what the job was given.
      const reason = cause instanceof Error ? cause.name : typeof cause
      answer({ kind: 'refused', id, why: 'failed', reason })
    }
  }
}
