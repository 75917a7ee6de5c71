// The pool at seal: no job is begun, running jobs end, and every thread lets go of what was done.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { MessagePort } from 'node:worker_threads'
import { channel, closePorts, settle, stage, unanswered } from '../../test/fixtures/pool-stage.ts'
import { until } from '../../test/fixtures/until.ts'
import { JobFailed, JobForgotten } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { type Handlers, NO_CALLS } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { FIRST_SLOT, SLOTS } from './load.ts'
import { CLIENT_CALLS, type ClientLane, type JobAnswer, POOL_CALLS, WORKER_CALLS } from './slow-messages.ts'

closePorts()

/** A client of the test's own, which confirms whatever it is asked. */
function falseClient(port: Port, does: Partial<Handlers<typeof CLIENT_CALLS>> = {}): void {
  const handlers = { lane: () => {}, rest: () => {}, collect: () => {}, goOn: () => {}, ...does }
  const onFault = assert.fail
  connectPeer({ channel: portChannel(port), asks: POOL_CALLS, answers: CLIENT_CALLS, handlers, onFault })
}

test('forget: what waits is refused, what runs is answered, and it resolves only then', async () => {
  const { client, long, end, close } = stage({ workers: { short: 1, long: 1 } })
  const [one, writer] = [client(), client()]
  const running = one.run(long, 'running')
  await settle()
  const waiting = assert.rejects(one.run(long, 'waiting'), JobForgotten)
  await settle()
  let isForgotten = false
  const forgotten = writer.forget().then(() => {
    isForgotten = true
  })
  await waiting
  await settle()
  assert.equal(isForgotten, false)
  end('running')
  assert.equal(await running, 'running done')
  await forgotten
  close()
})

test('forget: a client that goes on with the next of what it was at, before it has heard, is refused', async () => {
  const { client, short, names, end, close } = stage({ workers: { short: 1, long: 0 } })
  const [one, sealing] = [client(), client()]
  const next = one.run(short, 'a').then(() => one.run(short, 'b'))
  const refused = assert.rejects(next, JobForgotten)
  await settle()
  const forgotten = sealing.forget()
  await settle()
  end('a')
  await settle()
  assert.deepEqual(names(), [])
  await Promise.all([refused, forgotten])
  await settle()
  const later = one.run(short, 'c')
  await settle()
  end('c')
  assert.equal(await later, 'c done')
  close()
})

test('a client that joins later finds the workers, and one that joins while all forget waits with them', async () => {
  const { client, short, names, end, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const running = one.run(short, 'a')
  await settle()
  const forgotten = one.forget()
  await settle()
  const late = client()
  await settle()
  await assert.rejects(late.run(short, 'b'), JobForgotten)
  end('a')
  await Promise.all([running, forgotten])
  await settle()
  const done = late.run(short, 'c')
  await settle()
  assert.deepEqual(names(), ['c'])
  end('c')
  assert.equal(await done, 'c done')
  close()
})

test('forget: it resolves without a worker, and where a client or a worker is gone meanwhile', async () => {
  const { client, short, end, kills, close } = stage({ workers: { short: 2, long: 0 } })
  const [one, other, sealing] = [client(), client(), client()]
  await sealing.forget()
  await settle()
  const lost = assert.rejects(one.run(short, 'a'), JobFailed)
  await settle()
  other.run(short, 'b').catch(unanswered)
  await settle()
  const forgotten = Promise.all([sealing.forget(), sealing.forget()])
  await settle()
  kills[0]?.()
  await lost
  other.close()
  await settle()
  end('b')
  await forgotten
  close()
})

test('forget: jobs of a thread that is gone are not begun, by a worker that has not read them, or has', async () => {
  const { client, short, names, end, serves, depths, close } = stage({
    workers: { short: 1, long: 0 },
    isServing: false,
  })
  const [gone, sealing] = [client(), client()]
  for (const name of ['a', 'b']) gone.run(short, name).catch(unanswered)
  await settle()
  gone.close()
  await settle()
  const forgotten = sealing.forget()
  await settle()
  serves[0]?.()
  await forgotten
  await settle()
  assert.deepEqual(names(), [])
  const late = client()
  for (const name of ['c', 'd']) late.run(short, name).catch(unanswered)
  await settle()
  assert.deepEqual(names(), ['c'])
  late.close()
  await settle()
  let isForgotten = false
  const again = sealing.forget().then(() => {
    isForgotten = true
  })
  await settle()
  assert.equal(isForgotten, false)
  end('c')
  await again
  await settle()
  assert.deepEqual(names(), [])
  assert.deepEqual(depths(), [])
  close()
})

test('forget: answers that a worker keeps go with the jobs they wait for, and it is at none', async () => {
  // No job takes any time: how long an answer is kept depends on the jobs that follow alone.
  const clock = { ...realWorld().clock, monotonicMs: () => 1_000 }
  const { pool, client, short, end, load, close } = stage({ workers: { short: 1, long: 0 }, clock })
  const one = client()
  const first = one.run(short, 'first')
  await settle()
  end('first')
  await first
  assert.equal(load[FIRST_SLOT + SLOTS], 0)
  // A client that says that it is idle, and is not.
  const [ours, theirs] = channel()
  const answered: number[] = []
  let lane: MessagePort | undefined
  const join = ({ port }: ClientLane): void => {
    lane = port
    lane.on('message', (answers: readonly JobAnswer[]) => answered.push(...answers.map(({ id }) => id)))
  }
  falseClient(theirs, { lane: join })
  pool.addClient(ours)
  await settle()
  const post = (...ids: number[]): void =>
    lane?.postMessage(ids.map((id) => ({ id, job: 'short', kind: 'short', input: `${id}` })))
  post(101, 102, 103, 104)
  await settle()
  end('101')
  await settle()
  assert.deepEqual(answered, [])
  const forgotten = one.forget()
  await settle()
  end('102')
  await forgotten
  assert.deepEqual(answered, [102])
  post(105, 106)
  await settle()
  end('105')
  await settle()
  assert.deepEqual(answered, [102, 105])
  close()
})

test('forget: short jobs that wait are refused, and what a worker that dies meanwhile had not begun', async () => {
  const { client, short, kills, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const begun = assert.rejects(one.run(short, 'a'), JobFailed)
  const ahead = assert.rejects(one.run(short, 'b'), JobForgotten)
  const waiting = assert.rejects(one.run(short, 'c'), JobForgotten)
  await settle()
  const forgotten = one.forget()
  await waiting
  kills[0]?.()
  await Promise.all([begun, ahead, forgotten])
  close()
})

test('forget: each thread lets go, and another one that asks meanwhile waits for its turn', async (context) => {
  const { pool, client, short, end, close } = stage({ workers: { short: 1, long: 0 } })
  const gc = globalThis.gc ?? assert.fail('tests run with --expose-gc')
  let collections = 0
  globalThis.gc = Object.assign(() => void collections++, gc) as typeof gc
  context.after(() => {
    globalThis.gc = gc
  })
  const heard: string[] = []
  const [ours, theirs] = channel()
  pool.addClient(ours)
  const hear = (what: string) => () => void heard.push(what)
  falseClient(theirs, { lane: hear('lane'), rest: hear('rest'), collect: hear('collect'), goOn: hear('go on') })
  const one = client()
  const done = one.run(short, 'a')
  await settle()
  const both = [one.forget(), one.forget()]
  await settle()
  end('a')
  await Promise.all([done, ...both])
  await settle()
  assert.deepEqual(heard, ['lane', 'rest', 'collect', 'rest', 'collect', 'go on'])
  // Twice each time, in a worker, in a client and in the thread of the pool.
  assert.equal(collections, 2 * 2 * 3)
  close()
})

for (const dying of ['a worker', 'a client'] as const) {
  test(`F-16 forget: ${dying} that never lets go is not waited for when it ends`, async () => {
    const { pool, client, short, end, close } = stage({ workers: { short: 1, long: 0 } })
    const one = client()
    const done = one.run(short, 'a')
    await settle()
    end('a')
    await done
    const [ours, theirs] = channel()
    let leave = (): void => ours.close()
    if (dying === 'a worker') leave = pool.addWorker(ours, 'short')
    else pool.addClient(ours)
    let isAsked = false
    const collect = (): Promise<void> => {
      isAsked = true
      return new Promise(() => {})
    }
    const handlers = { lane: () => {}, collect }
    const worker = { channel: portChannel(theirs), asks: NO_CALLS, answers: WORKER_CALLS, handlers }
    if (dying === 'a worker') connectPeer({ ...worker, onFault: assert.fail })
    else falseClient(theirs, { collect })
    let isForgotten = false
    const forgotten = one.forget().then(() => {
      isForgotten = true
    })
    await until(() => isAsked, 'it is asked to let go')
    await settle()
    assert.equal(isForgotten, false)
    leave()
    await forgotten
    close()
  })
}
