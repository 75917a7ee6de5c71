// The pool with ports inside this thread: what it gives to whom, and when. Jobs end when the test says so.
import { strict as assert } from 'node:assert'
import { afterEach, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { type AnyJob, inlineWork, type Job, JobFailed, JobForgotten, Overloaded } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { depthOf, jobSent, newLoad, takeSlot } from './load.ts'
import { PooledWork, type QueueLimits } from './pooled-work.ts'
import type { SlowPort, Takes } from './slow-messages.ts'
import { SlowPool } from './slow-pool.ts'
import { serveSlowWork } from './slow-worker.ts'

type Closable = SlowPort & { close(): void }

/** Two ends that clone as threads do, and close together. */
function channel(): [Closable, Closable] {
  const { port1, port2 } = new MessageChannel()
  return [port1, port2]
}

/** Of jobs that still wait when their test is over. */
const unanswered = (): void => {}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A test that fails leaves no port open, which would keep the process. */
const opened: { close(): void }[] = []
afterEach(() => {
  for (const port of opened.splice(0)) port.close()
})

type Started = { readonly name: string; end(): void }

function stage({
  workers,
  limits,
}: {
  readonly workers: Readonly<Record<Takes, number>>
  readonly limits?: QueueLimits
}) {
  const started: Started[] = []
  const run = (name: string): Promise<string> =>
    new Promise((resolve) => started.push({ name, end: () => resolve(`${name} done`) }))
  const short: Job<string, string> = { name: 'short', takes: 'short', run }
  const long: Job<string, string> = { name: 'long', takes: 'long', run }
  const bytes: Job<Uint8Array, string> = { name: 'bytes', takes: 'short', run: () => run('bytes') }
  const broken: Job<string, string> = {
    name: 'broken',
    takes: 'short',
    run: () => {
      throw new RangeError('the secret')
    },
  }
  const all = [short, long, bytes, broken] as AnyJob[]
  const jobs = new Map<string, AnyJob>(all.map((job) => [job.name, job]))
  const kills: (() => void)[] = []
  const load = newLoad(workers.short)
  const addWorker = (takes: Takes): void => {
    const [ours, theirs] = channel()
    opened.push(ours, theirs)
    serveSlowWork(theirs, jobs, realWorld(), load)
    const leave = pool.addWorker(ours, takes)
    kills.push(() => {
      ours.close()
      leave()
    })
  }
  const starts: Takes[] = []
  const pool = new SlowPool({
    load,
    start: async (takes) => {
      starts.push(takes)
      if (workers[takes] === 0) throw new Error('there is no room for a thread')
      for (let i = 0; i < workers[takes]; i++) addWorker(takes)
    },
  })
  const client = () => {
    const [ours, theirs] = channel()
    opened.push(ours, theirs)
    pool.addClient(ours)
    const work = new PooledWork({ port: theirs, load }, limits === undefined ? {} : { limits })
    return Object.assign(work, { close: () => theirs.close() })
  }
  const names = () => started.map(({ name }) => name)
  const end = (name: string): void => {
    const at = started.findIndex((one) => one.name === name)
    assert.notEqual(at, -1, `${name} has not begun: ${names()}`)
    started.splice(at, 1)[0]?.end()
  }
  const close = () => {
    for (const port of opened) port.close()
  }
  return { short, long, bytes, broken, client, names, end, kills, addWorker, close, starts, workers }
}

test('no worker is started before there is a job for it', async () => {
  const { client, starts, short, end, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  await settle()
  assert.deepEqual(starts, [])
  const done = one.run(short, 'a')
  await settle()
  end('a')
  assert.equal(await done, 'a done')
  assert.deepEqual(starts, ['short'])
  close()
})

test('P-46 a short job is answered while long ones run and wait', async () => {
  const { client, long, short, names, end, close } = stage({ workers: { short: 1, long: 2 } })
  const one = client()
  const generations = ['l1', 'l2', 'l3', 'l4'].map((name) => one.run(long, name))
  await settle()
  assert.deepEqual(names(), ['l1', 'l2'])
  for (const name of ['s1', 's2', 's3']) {
    const done = one.run(short, name)
    await settle()
    end(name)
    assert.equal(await done, `${name} done`)
  }
  for (const name of ['l1', 'l2', 'l3', 'l4']) {
    end(name)
    await settle()
  }
  assert.equal((await Promise.all(generations)).length, 4)
  close()
})

test('a long job begins although short ones never cease', async () => {
  const { client, long, short, names, close } = stage({ workers: { short: 1, long: 1 } })
  const one = client()
  for (let n = 0; n < 8; n++) one.run(short, `s${n}`).catch(unanswered)
  one.run(long, 'l').catch(unanswered)
  await settle()
  assert.deepEqual(names(), ['s0', 'l'])
  close()
})

test('two clients are served in turns', async () => {
  const { client, short, names, end, close } = stage({ workers: { short: 1, long: 0 } })
  const [one, other] = [client(), client()]
  for (const name of ['a1', 'a2', 'a3', 'a4']) one.run(short, name).catch(unanswered)
  await settle()
  other.run(short, 'b1').catch(unanswered)
  await settle()
  const order: string[] = []
  for (let turn = 0; turn < 5; turn++) {
    const [name = ''] = names()
    order.push(name)
    end(name)
    await settle()
  }
  // Two were on their way to the worker before the other came.
  assert.ok(order.indexOf('b1') <= 3, order.join())
  close()
})

test('what waits beyond the limit is refused at once', async () => {
  const { client, long, close } = stage({ workers: { short: 1, long: 1 }, limits: { short: 1, long: 2 } })
  const one = client()
  one.run(long, 'running').catch(unanswered)
  await settle()
  one.run(long, 'w1').catch(unanswered)
  one.run(long, 'w2').catch(unanswered)
  await assert.rejects(one.run(long, 'w3'), Overloaded)
  close()
})

test('F-16 a worker that dies: its job fails, the others go on, and another worker takes its place', async () => {
  const { client, short, names, end, kills, addWorker, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const [first, second, third] = ['j1', 'j2', 'j3'].map((name) => one.run(short, name))
  const failed = assert.rejects(first as Promise<string>, JobFailed)
  await settle()
  assert.deepEqual(names(), ['j1'])
  kills[0]?.()
  await failed
  addWorker('short')
  await settle()
  end('j2')
  await settle()
  end('j3')
  assert.deepEqual(await Promise.all([second, third]), ['j2 done', 'j3 done'])
  close()
})

test('a job that throws fails alone, with the name of the error and nothing of what it said', async () => {
  const { client, broken, short, end, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  await assert.rejects(one.run(broken, 'x'), (cause: Error) => {
    assert.ok(cause instanceof JobFailed)
    assert.match(cause.name, /RangeError/)
    assert.ok(!`${cause.stack}${cause.message}`.includes('the secret'))
    return true
  })
  const done = one.run(short, 'y')
  await settle()
  end('y')
  assert.equal(await done, 'y done')
  close()
})

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

test('a client that is gone leaves no job behind, and the pool that is gone leaves no caller waiting', async () => {
  const { client, short, names, end, close } = stage({ workers: { short: 1, long: 0 } })
  const [one, other] = [client(), client()]
  for (const name of ['a1', 'a2', 'a3', 'a4']) one.run(short, name).catch(() => {})
  await settle()
  one.close()
  await settle()
  const lost = assert.rejects(other.run(short, 'b1'), JobFailed)
  await settle()
  for (const name of ['a1', 'a2']) {
    end(name)
    await settle()
  }
  assert.deepEqual(names(), ['b1'])
  close()
  await lost
  await assert.rejects(other.run(short, 'b2'), JobFailed)
})

test('F-16 where no worker can be started, who waits is told, and the next job tries again', async () => {
  const { client, short, starts, addWorker, end, workers, close } = stage({ workers: { short: 0, long: 0 } })
  const one = client()
  await assert.rejects(one.run(short, 'a'), JobFailed)
  Object.assign(workers, { short: 1 })
  const done = one.run(short, 'b')
  await settle()
  end('b')
  assert.equal(await done, 'b done')
  assert.deepEqual(starts, ['short', 'short'])
  addWorker('short')
  close()
})

test('F-16 a worker that dies takes along what was handed over to it', async () => {
  const { client, short, bytes, kills, addWorker, names, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const first = assert.rejects(one.run(short, 'a'), JobFailed)
  const memory = new Uint8Array(8)
  const second = assert.rejects(one.run(bytes, memory, [memory.buffer]), JobFailed)
  await settle()
  kills[0]?.()
  await Promise.all([first, second])
  addWorker('short')
  await settle()
  assert.deepEqual(names(), ['a'])
  close()
})

test('each job goes to the worker with the least to do, whoever gave it that', async () => {
  const { client, short, names, end, close } = stage({ workers: { short: 2, long: 0 } })
  const [one, other] = [client(), client()]
  one.run(short, 'a').catch(unanswered)
  await settle()
  other.run(short, 'b').catch(unanswered)
  await settle()
  assert.deepEqual(names(), ['a', 'b'])
  end('a')
  await settle()
  other.run(short, 'c').catch(unanswered)
  await settle()
  assert.deepEqual(names(), ['b', 'c'])
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

test('work is split over what is idle, and not where others are at it', async () => {
  const { client, short, end, close } = stage({ workers: { short: 3, long: 0 } })
  const [one, other] = [client(), client()]
  const first = one.split()
  // Before they are started they are idle, too.
  assert.equal(first.parts(), 3)
  const second = other.split()
  assert.deepEqual([first.parts(), second.parts()], [2, 2])
  second.end()
  assert.equal(first.parts(), 3)
  first.end()
  const done = one.run(short, 'a')
  await settle()
  const third = other.split()
  assert.equal(third.parts(), 2)
  third.end()
  end('a')
  await done
  assert.equal(one.split().parts(), 3)
  assert.equal(inlineWork(realWorld()).split().parts(), 1)
  close()
})

test('a slot that was taken long ago begins anew', () => {
  const load = newLoad(1)
  const slot = takeSlot(load, 0)
  jobSent(load, slot)
  assert.equal(depthOf(load, slot), 1)
  assert.notEqual(takeSlot(load, 1), slot)
  assert.equal(takeSlot(load, 1024), slot)
  assert.equal(depthOf(load, slot), 0)
})
