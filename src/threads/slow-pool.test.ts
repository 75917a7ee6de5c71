// The pool with ports inside this thread: what it gives to whom, and when. Jobs end when the test says so.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type AnyJob, inlineWork, type Job, JobFailed, JobForgotten, Overloaded } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { newLoad, PooledWork } from './pooled-work.ts'
import type { SlowPort } from './slow-messages.ts'
import { SlowPool } from './slow-pool.ts'
import { serveSlowWork } from './slow-worker.ts'

/** Two ends that clone as threads do, and close together. */
function channel(): [SlowPort & { close(): void }, SlowPort & { close(): void }] {
  const { port1, port2 } = new MessageChannel()
  const end = (port: MessagePort): SlowPort & { close(): void } => {
    const { on } = port as unknown as SlowPort
    return {
      postMessage: (message, moved) => port.postMessage(message, moved),
      on: (event, listener) => on.call(port, event, listener),
      close: () => port.close(),
    }
  }
  return [end(port1), end(port2)]
}

/** Of jobs that still wait when their test is over. */
const unanswered = (): void => {}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

type Started = { readonly name: string; end(): void }

function stage(options: {
  readonly workers: number
  readonly longSlots: number
  readonly limits?: { short: number; long: number }
}) {
  const started: Started[] = []
  const run = (name: string): Promise<string> =>
    new Promise((resolve) => started.push({ name, end: () => resolve(`${name} done`) }))
  const short: Job<string, string> = { name: 'short', takes: 'short', run }
  const long: Job<string, string> = { name: 'long', takes: 'long', run }
  const broken: Job<string, string> = {
    name: 'broken',
    takes: 'short',
    run: () => {
      throw new RangeError('the secret')
    },
  }
  const jobs = new Map<string, AnyJob>([short, long, broken].map((job) => [job.name, job as AnyJob]))
  const kills: (() => void)[] = []
  const ports: { close(): void }[] = []
  const load = newLoad(options.workers)
  const addWorker = (): void => {
    const [ours, theirs] = channel()
    ports.push(ours, theirs)
    serveSlowWork(theirs, jobs, realWorld())
    const leave = pool.addWorker(ours)
    kills.push(() => {
      ours.close()
      leave()
    })
  }
  let starts = 0
  const pool = new SlowPool({
    limits: options.limits ?? { short: 100, long: 10 },
    longSlots: options.longSlots,
    load,
    start: async () => {
      starts++
      for (let i = 0; i < options.workers; i++) addWorker()
    },
  })
  const client = () => {
    const [ours, theirs] = channel()
    ports.push(ours, theirs)
    pool.addClient(ours)
    return Object.assign(new PooledWork(theirs, load), { close: () => theirs.close() })
  }
  const names = () => started.map(({ name }) => name)
  const end = (name: string): void => {
    const at = started.findIndex((one) => one.name === name)
    assert.notEqual(at, -1, `${name} has not begun: ${names()}`)
    started.splice(at, 1)[0]?.end()
  }
  const close = () => {
    for (const port of ports) port.close()
  }
  return { short, long, broken, client, names, end, kills, addWorker, close, starts: () => starts }
}

test('no worker is started before there is a job', async () => {
  const { client, starts, short, end, close } = stage({ workers: 1, longSlots: 0 })
  const one = client()
  await settle()
  assert.equal(starts(), 0)
  const done = one.run(short, 'a')
  await settle()
  end('a')
  assert.equal(await done, 'a done')
  assert.equal(starts(), 1)
  close()
})

test('P-46 a short job is answered while long ones run and wait', async () => {
  const { client, long, short, names, end, close } = stage({ workers: 3, longSlots: 2 })
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
  const { client, long, short, names, end, close } = stage({ workers: 2, longSlots: 1 })
  const one = client()
  for (let n = 0; n < 8; n++) one.run(short, `s${n}`).catch(unanswered)
  one.run(long, 'l').catch(unanswered)
  await settle()
  for (let n = 0; n < 6 && !names().includes('l'); n++) {
    end(`s${n}`)
    await settle()
  }
  assert.ok(names().includes('l'))
  close()
})

test('two clients are served in turns', async () => {
  const { client, short, names, end, close } = stage({ workers: 1, longSlots: 0 })
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
  const { client, long, close } = stage({ workers: 2, longSlots: 1, limits: { short: 1, long: 2 } })
  const one = client()
  one.run(long, 'running').catch(unanswered)
  await settle()
  one.run(long, 'w1').catch(unanswered)
  one.run(long, 'w2').catch(unanswered)
  await assert.rejects(one.run(long, 'w3'), Overloaded)
  close()
})

test('F-16 a worker that dies: its job fails, the others go on, and another worker takes its place', async () => {
  const { client, short, names, end, kills, addWorker, close } = stage({ workers: 1, longSlots: 0 })
  const one = client()
  const [first, second, third] = ['j1', 'j2', 'j3'].map((name) => one.run(short, name))
  const failed = assert.rejects(first as Promise<string>, JobFailed)
  await settle()
  assert.deepEqual(names(), ['j1'])
  kills[0]?.()
  await failed
  addWorker()
  await settle()
  end('j2')
  await settle()
  end('j3')
  assert.deepEqual(await Promise.all([second, third]), ['j2 done', 'j3 done'])
  close()
})

test('a job that throws fails alone, with the name of the error and nothing of what it said', async () => {
  const { client, broken, short, end, close } = stage({ workers: 1, longSlots: 0 })
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
  const { client, long, end, close } = stage({ workers: 2, longSlots: 1 })
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
  const { client, short, names, end, close } = stage({ workers: 1, longSlots: 0 })
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
  const later = one.run(short, 'c')
  await settle()
  end('c')
  assert.equal(await later, 'c done')
  close()
})

test('a client that is gone leaves no job behind, and the pool that is gone leaves no caller waiting', async () => {
  const { client, short, names, end, close } = stage({ workers: 1, longSlots: 0 })
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

test('work is split over what is idle, and not where others are at it', () => {
  const load = newLoad(4)
  const [mine, theirs] = channel()
  const [one, other] = [mine, theirs].map((port) => new PooledWork(port, load))
  const first = one?.split()
  const second = other?.split()
  assert.deepEqual([first?.parts, second?.parts], [4, 3])
  first?.end()
  second?.end()
  assert.equal(one?.split().parts, 4)
  assert.deepEqual(inlineWork(realWorld()).split().parts, 1)
  mine.close()
})
