// The pool with ports inside this thread: what it gives to whom, and when.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { closePorts, settle, stage, unanswered } from '../../test/fixtures/pool-stage.ts'
import { inlineWork, JobFailed, Overloaded } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { depthOf, jobSent, leaveSeat, newLoad, nowAt, takeSeat, takeSlot, wasAt } from './load.ts'

closePorts()

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

test('F-16 a thread that dies at work that it splits takes that along', async () => {
  const { client, close } = stage({ workers: { short: 3, long: 0 } })
  const [one, dying] = [client(), client()]
  dying.split()
  dying.split()
  const split = one.split()
  assert.equal(split.parts(), 1)
  dying.close()
  await settle()
  assert.equal(split.parts(), 3)
  // Its seat is another's now.
  const next = client()
  const begun = next.split()
  assert.equal(split.parts(), 2)
  // One that lives on without the pool ends nothing of that.
  dying.split().end()
  assert.equal(split.parts(), 2)
  begun.end()
  assert.equal(split.parts(), 3)
  split.end()
  close()
})

test('there is a seat for many threads, and no more', () => {
  const load = newLoad(1)
  const seats = Array.from({ length: 1_024 }, () => takeSeat(load))
  assert.equal(new Set(seats).size, 1_024)
  assert.throws(() => takeSeat(load), RangeError)
  leaveSeat(load, seats[7] ?? 0)
  assert.equal(takeSeat(load), seats[7])
})

test('a slot that was taken long ago begins anew', () => {
  const load = newLoad(1)
  const slot = takeSlot(load, 0)
  jobSent(load, slot)
  assert.equal(depthOf(load, slot), 1)
  assert.notEqual(takeSlot(load, 1), slot)
  nowAt(load, slot, 5)
  assert.equal(takeSlot(load, 1024), slot)
  assert.equal(wasAt(load, slot, 5), false)
  assert.equal(depthOf(load, slot), 0)
})

test('an input that no other thread can have fails for its caller alone', async () => {
  const { client, short, names, end, close, depths } = stage({ workers: { short: 1, long: 0 } })
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
  assert.deepEqual(depths(), [])
  await one.forget()
  close()
})

test('an output that no other thread can have fails for its caller alone', async () => {
  const { client, short, unsendable, end, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const failed = assert.rejects(one.run(unsendable, 'x'), JobFailed)
  const done = one.run(short, 'a')
  await settle()
  end('x')
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
