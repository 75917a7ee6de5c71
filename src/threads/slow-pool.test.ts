// The pool with ports inside this thread: what it gives to whom, and when. Jobs end when the test says so.
import { strict as assert } from 'node:assert'
import { afterEach, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { until } from '../../test/fixtures/until.ts'
import { type AnyJob, inlineWork, type Job, JobFailed, JobForgotten, Overloaded } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { depthOf, jobSent, newLoad, takeSlot } from './load.ts'
import { PooledWork, type PoolMeter, type QueueLimits } from './pooled-work.ts'
import type { SlowPort, Takes, ToClient, ToWorker } from './slow-messages.ts'
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
  isServing = true,
}: {
  readonly workers: Readonly<Record<Takes, number>>
  readonly limits?: QueueLimits
  /** Else what starts a worker, which has read nothing yet, is in `serves`. */
  readonly isServing?: boolean
}) {
  const started: Started[] = []
  const run = (name: string): Promise<string> =>
    new Promise((resolve) => started.push({ name, end: () => resolve(`${name} done`) }))
  const short: Job<string, string> = { name: 'short', takes: 'short', run }
  const long: Job<string, string> = { name: 'long', takes: 'long', run }
  const bytes: Job<Uint8Array, string> = { name: 'bytes', takes: 'short', run: () => run('bytes') }
  const output = new Uint8Array(8)
  const giving: Job<string, Uint8Array> = {
    name: 'giving',
    takes: 'short',
    run: () => output,
    moves: () => [output.buffer],
  }
  const unsendable: Job<string, unknown> = { name: 'unsendable', takes: 'short', run: () => unanswered }
  const broken: Job<string, string> = {
    name: 'broken',
    takes: 'short',
    run: () => {
      throw new RangeError('the secret')
    },
  }
  const all = [short, long, bytes, broken, giving, unsendable] as AnyJob[]
  const jobs = new Map<string, AnyJob>(all.map((job) => [job.name, job]))
  const kills: (() => void)[] = []
  const serves: (() => void)[] = []
  const load = newLoad(workers.short)
  const addWorker = (takes: Takes): void => {
    const [ours, theirs] = channel()
    opened.push(ours, theirs)
    const serve = () => serveSlowWork(theirs, jobs, realWorld(), load)
    if (isServing) serve()
    else serves.push(serve)
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
  const client = (meter?: PoolMeter) => {
    const [ours, theirs] = channel()
    opened.push(ours, theirs)
    pool.addClient(ours)
    const given = { ...(limits === undefined ? {} : { limits }), ...(meter === undefined ? {} : { meter }) }
    return Object.assign(new PooledWork({ port: theirs, load }, given), { close: () => theirs.close() })
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
  const made = { short, long, bytes, broken, giving, unsendable, output }
  return { ...made, pool, load, client, names, end, kills, serves, addWorker, close, starts, workers }
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

test('an input that no other thread can have fails for its caller alone', async () => {
  const { client, short, names, end, close, load } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const first = one.run(short, 'a')
  await settle()
  const bad = unanswered as unknown as string
  // One of them at once, the other when it is its turn.
  const failed = [assert.rejects(one.run(short, bad), JobFailed)]
  const second = one.run(short, 'b')
  failed.push(assert.rejects(one.run(short, bad), JobFailed))
  const third = one.run(short, 'c')
  await settle()
  for (const name of ['a', 'b', 'c']) {
    assert.deepEqual(names(), [name])
    end(name)
    await settle()
  }
  await Promise.all(failed)
  assert.deepEqual(await Promise.all([first, second, third]), ['a done', 'b done', 'c done'])
  assert.equal(depthOf(load, takeSlot(newLoad(1), 0)), 0)
  await one.forget()
  close()
})

test('an output that no other thread can have fails for its caller alone', async () => {
  const { client, short, unsendable, end, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const failed = assert.rejects(one.run(unsendable, 'x'), JobFailed)
  const done = one.run(short, 'a')
  await failed
  await settle()
  end('a')
  assert.equal(await done, 'a done')
  close()
})

test('what is handed over is not copied, on the way to the worker and back', async () => {
  const { client, giving, output, bytes, end, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  assert.equal((await one.run(giving, 'x')).byteLength, 8)
  assert.equal(output.buffer.byteLength, 0)
  const input = new Uint8Array(8)
  const done = one.run(bytes, input, [input.buffer])
  await settle()
  assert.equal(input.byteLength, 0)
  end('bytes')
  await done
  close()
})

test('forget: jobs of a thread that is gone are not begun, by a worker that has not read them, or has', async () => {
  const { client, short, names, end, serves, load, close } = stage({ workers: { short: 1, long: 0 }, isServing: false })
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
  const slots = [...load.subarray(2)]
  assert.deepEqual(
    slots.filter((depth) => depth !== 0),
    [],
  )
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
  opened.push(ours, theirs)
  pool.addClient(ours)
  theirs.on('message', (received) => {
    const message = received as ToClient
    heard.push(message.kind)
    if (message.kind === 'forget') theirs.postMessage({ kind: 'idle', round: message.round }, [])
    else if (message.kind === 'collect') theirs.postMessage({ kind: 'collected' }, [])
  })
  const one = client()
  const done = one.run(short, 'a')
  await settle()
  const both = [one.forget(), one.forget()]
  await settle()
  end('a')
  await Promise.all([done, ...both])
  await settle()
  assert.deepEqual(heard, ['lane', 'forget', 'collect', 'forget', 'collect', 'go on'])
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
    opened.push(ours, theirs)
    let leave = (): void => ours.close()
    if (dying === 'a worker') leave = pool.addWorker(ours, 'short')
    else pool.addClient(ours)
    let isAsked = false
    theirs.on('message', (received) => {
      const message = received as ToClient | ToWorker
      if (message.kind === 'forget') theirs.postMessage({ kind: 'idle', round: message.round }, [])
      if (message.kind === 'collect') isAsked = true
    })
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

test('who waits hears that the pool has ended', async () => {
  const { client, short, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const running = assert.rejects(one.run(short, 'a'), JobFailed)
  await settle()
  const forgotten = assert.rejects(one.forget(), JobFailed)
  await settle()
  close()
  await Promise.all([running, forgotten])
  await assert.rejects(one.forget(), JobFailed)
})

test('what waits and what is done is counted', async () => {
  const { client, short, long, end, close } = stage({ workers: { short: 1, long: 0 }, limits: { short: 2, long: 1 } })
  const counts = { begun: 0, done: 0, refused: 0, short: 0, long: 0 }
  const one = client({
    nowMs: () => 0,
    begun: () => counts.begun++,
    done: () => counts.done++,
    refused: () => counts.refused++,
    waiting: (takes, jobs) => {
      counts[takes] = jobs
    },
  })
  const first = one.run(short, 'a')
  await settle()
  const others = [one.run(short, 'b'), one.run(short, 'c'), one.run(short, 'd')]
  await assert.rejects(one.run(short, 'e'), Overloaded)
  assert.deepEqual(counts, { begun: 2, done: 0, refused: 1, short: 2, long: 0 })
  const failed = assert.rejects(one.run(long, 'l'), JobFailed)
  assert.equal(counts.long, 1)
  await failed
  for (const name of ['a', 'b', 'c', 'd']) {
    await settle()
    end(name)
  }
  await Promise.all([first, ...others])
  assert.deepEqual(counts, { begun: 4, done: 4, refused: 1, short: 0, long: 0 })
  close()
})
