// Threads that have slow work do not keep each other from the workers, however much they have.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Job } from '../../../src/lib/slow-work.ts'
import { newLoad } from '../../../src/threads/load.ts'
import { PooledWork } from '../../../src/threads/pooled-work.ts'
import { SlowPool } from '../../../src/threads/slow-pool.ts'
import { COUNTING, type PoolThreadData } from '../../fixtures/pool-thread.ts'
import { until } from '../../fixtures/until.ts'

const ENTRY = new URL('../../fixtures/pool-thread.ts', import.meta.url)
/** Two of the other thread are in front, and some are done while this thread is away from its core. */
const MOST_BEFORE = 20

test('P-46 a thread with many short jobs delays another one by few of them', async (context) => {
  const load = newLoad(1)
  const count = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const threads: Worker[] = []
  const start = (data: PoolThreadData, transferList: MessageChannel['port1'][] = []): Worker => {
    const thread = new Worker(ENTRY, { workerData: data, transferList })
    threads.push(thread)
    return thread
  }
  const pool = new SlowPool({
    load,
    start: async (takes) => {
      pool.addWorker(start({ load, count }), takes)
    },
  })
  const joined = () => {
    const { port1, port2 } = new MessageChannel()
    return { port: port2, seat: pool.addClient(port1) }
  }
  const { port, seat } = joined()
  context.after(async () => {
    port.close()
    for (const thread of threads) await thread.terminate()
  })
  const own = new PooledWork({ port, load, seat })
  const flooding = joined()
  start({ load, count, client: { ...flooding, jobs: 50 } }, [flooding.port])
  await until(() => Atomics.load(count, 0) > 100, 'the other thread is at work')
  const waits: number[] = []
  for (let attempt = 0; attempt < 9; attempt++) {
    const before = Atomics.load(count, 0)
    waits.push((await own.run(COUNTING as Job<undefined, number>, undefined)) - before)
    // Who asks again at once keeps the other one out in turn.
    await until(() => Atomics.load(count, 0) > before + waits.length + 20, 'the other thread goes on')
  }
  const [median = 0] = waits.toSorted((one, other) => one - other).slice(4)
  assert.ok(median < MOST_BEFORE, `${waits} jobs of the other thread were done before`)
})
