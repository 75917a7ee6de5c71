// Answers that go together: which wait for others, how long, and what becomes of them where the worker ends.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { closePorts, settle, stage, unanswered } from '../../test/fixtures/pool-stage.ts'
import { JobFailed } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { FIRST_SLOT, LAST_JOB, newJobId, newLoad, nowAt, takeSlot, wasAt } from './load.ts'

closePorts()

/** One worker, whose clock goes on only where the test says so. Every job is timed by what `took` tells. */
function timed() {
  let nowMs = 1_000
  const clock = { ...realWorld().clock, monotonicMs: () => nowMs }
  const on = stage({ workers: { short: 1, long: 0 }, clock })
  const took = async (name: string, ms: number): Promise<void> => {
    nowMs += ms
    on.end(name)
    await settle()
  }
  return { ...on, took }
}

/** The names in the order of their answers. */
function answersOf(jobs: readonly (readonly [string, Promise<unknown>])[]): string[] {
  const answered: string[] = []
  for (const [name, done] of jobs)
    done.then(
      () => answered.push(name),
      () => answered.push(`${name} failed`),
    )
  return answered
}

test('answers wait for those of the next jobs alike while more are left, and four milliseconds at most', async () => {
  const { client, short, took, names, close } = timed()
  const one = client()
  const answered = answersOf(Array.from('abcdefghijkl', (name) => [name, one.run(short, name)]))
  await settle()
  // Only this job and the next were on the way to the worker, since it was not known yet how long they take.
  await took('a', 0.5)
  assert.deepEqual(answered, ['a'])
  // Ten are there now. With the fifth it would be more than four milliseconds.
  for (const name of 'bcd') await took(name, 1.2)
  assert.deepEqual(answered, ['a'])
  await took('e', 1.2)
  assert.deepEqual(answered, Array.from('abcde'))
  // Half of what is left.
  for (const name of 'fgh') await took(name, 0.1)
  assert.deepEqual(answered, Array.from('abcde'))
  await took('i', 0.1)
  assert.deepEqual(answered, Array.from('abcdefghi'))
  assert.deepEqual(names(), ['j'])
  close()
})

test('an answer does not wait where the next job is of another kind, or takes long', async () => {
  const { client, kinds, took, names, close } = timed()
  const one = client()
  answersOf(['r0', 's0'].map((name) => [name, one.run(kinds, name)]))
  await settle()
  await took('r0', 0.1)
  await took('s0', 0.1)
  const answered = answersOf(['r1', 's1', 's2', 's3', 's4', 's5'].map((name) => [name, one.run(kinds, name)]))
  await settle()
  await took('r1', 0.1)
  assert.deepEqual(answered, ['r1'])
  await took('s1', 0.1)
  assert.deepEqual(answered, ['r1'])
  await took('s2', 4.5)
  assert.deepEqual([answered, names()], [['r1', 's1', 's2'], ['s3']])
  close()
})

test('what is of another kind, though of the same name, is expected to take as long as its like', async () => {
  const { client, kinds, took, depths, close } = timed()
  const one = client()
  answersOf([['r2', one.run(kinds, 'r2')]])
  await settle()
  await took('r2', 0.5)
  for (const name of ['s1', 's2', 's3', 'r3', 'r4']) one.run(kinds, name).catch(unanswered)
  await settle()
  assert.deepEqual(depths(), [2])
  await took('s1', 3)
  // 3 ms each, and half a one.
  assert.deepEqual(depths(), [4])
  close()
})

test('a job that fails is timed, too', async () => {
  const { client, unsendable, took, depths, close } = timed()
  const one = client()
  const names = ['x1', 'x2', 'x3', 'x4', 'x5', 'x6']
  answersOf(names.map((name) => [name, one.run(unsendable, name)]))
  await settle()
  assert.deepEqual(depths(), [2])
  await took('x1', 1)
  assert.deepEqual(depths(), [5])
  close()
})

test('as much is on its way to a worker as takes it some milliseconds', async () => {
  const { client, short, took, depths, close } = timed()
  const one = client()
  const jobs = Array.from({ length: 40 }, (_, n) => `j${n}`)
  answersOf(jobs.map((name) => [name, one.run(short, name)]))
  await settle()
  assert.deepEqual(depths(), [2])
  await took('j0', 1.5)
  // Eight of these.
  assert.deepEqual(depths(), [8])
  for (const name of jobs.slice(1, 5)) await took(name, 0.01)
  assert.deepEqual(depths(), [24])
  close()
})

test('F-16 a worker that dies at a job fails it alone: what it had done, but not told, is done elsewhere', async () => {
  const { client, short, took, names, kills, addWorker, end, close } = timed()
  const one = client()
  answersOf(['w', 'x'].map((name) => [name, one.run(short, name)]))
  await settle()
  await took('w', 0.1)
  await took('x', 0.1)
  const jobs = Array.from('abcdef', (name) => [name, one.run(short, name)] as const)
  const answered = answersOf(jobs)
  await settle()
  await took('a', 0.1)
  await took('b', 0.1)
  assert.deepEqual([names(), answered], [['c'], []])
  const failed = assert.rejects(jobs[2]?.[1] as Promise<string>, JobFailed)
  kills[0]?.()
  await failed
  addWorker('short')
  await settle()
  for (const name of 'abdef') {
    end(name)
    await settle()
  }
  assert.deepEqual(answered, ['c failed', ...'abdef'])
  close()
})

test('F-16 a job that ends its workers unseen goes on elsewhere once, and then fails', async () => {
  const { client, short, kills, addWorker, depths, load, close } = stage({ workers: { short: 1, long: 0 } })
  const one = client()
  const lost = Promise.all(['a', 'b'].map((name) => assert.rejects(one.run(short, name), JobFailed)))
  for (const nth of [0, 1]) {
    await settle()
    assert.equal(depths().length, nth + 1)
    // It reads them, or tells an answer: it is at none.
    nowAt(load, FIRST_SLOT + nth, 0)
    kills[nth]?.()
    if (nth === 0) addWorker('short')
  }
  await lost
  close()
})

test('F-16 a worker that dies at a job of one thread fails none of another, whatever numbers those have', async () => {
  const { client, short, kills, addWorker, names, end, load, close } = timed()
  // After as many the numbers begin anew.
  Atomics.store(load, LAST_JOB, -2)
  const [one, other] = [client(), client()]
  const jobs = ['a', 'b'].map((name) => one.run(short, name))
  await settle()
  const theirs = ['x', 'y'].map((name) => other.run(short, name))
  await settle()
  assert.deepEqual(names(), ['a'])
  const failed = assert.rejects(jobs[0] as Promise<string>, JobFailed)
  kills[0]?.()
  await failed
  addWorker('short')
  await settle()
  // This worker, which tests only let go of, is at it still.
  for (const name of ['b', 'x', 'y']) {
    end(name)
    await settle()
  }
  assert.deepEqual(await Promise.all([jobs[1], ...theirs]), ['b done', 'x done', 'y done'])
  close()
})

test('jobs are numbered past the end of the numbers, and none is 0', () => {
  const load = newLoad(1)
  Atomics.store(load, LAST_JOB, 2 ** 31 - 2)
  assert.deepEqual([newJobId(load), newJobId(load)], [2 ** 31 - 1, -(2 ** 31)])
  Atomics.store(load, LAST_JOB, -2)
  assert.deepEqual([newJobId(load), newJobId(load)], [-1, 1])
  nowAt(load, takeSlot(load, 0), -1)
  assert.equal(wasAt(load, FIRST_SLOT, -1), true)
})

test('an output that no other thread can have fails for its caller alone, also among others', async () => {
  const { client, unsendable, took, close } = timed()
  const one = client()
  answersOf([['fine', one.run(unsendable, 'fine')]])
  await settle()
  await took('fine', 0.1)
  const answered = answersOf(['x', 'fine', 'y', 'z'].map((name) => [name, one.run(unsendable, name)]))
  await settle()
  await took('x', 0.1)
  assert.deepEqual(answered, [])
  await took('fine', 0.1)
  assert.deepEqual(answered, ['x failed', 'fine'])
  close()
})

test('an answer does not wait for jobs of another thread that are alike, before the next of its own', async () => {
  const { client, short, took, names, close } = timed()
  const [one, other] = [client(), client()]
  answersOf(['u', 'v'].map((name) => [name, one.run(short, name)]))
  await settle()
  await took('u', 1)
  await took('v', 1)
  const answered = answersOf(['a', 'b'].map((name) => [name, one.run(short, name)]))
  await settle()
  answersOf(['x', 'y'].map((name) => [name, other.run(short, name)]))
  await settle()
  answersOf(['c', 'd', 'e'].map((name) => [name, one.run(short, name)]))
  await settle()
  await took('a', 0.1)
  assert.deepEqual(answered, [])
  await took('b', 0.1)
  assert.deepEqual([answered, names()], [['a', 'b'], ['x']])
  close()
})

test('what waits behind jobs that no other thread can have goes on when those have failed', async () => {
  const { client, short, took, depths, close } = timed()
  const one = client()
  const unsendable = (() => {}) as unknown as string
  const given = [
    ['a', 'a'],
    ['b', 'b'],
    ['x', unsendable],
    ['y', unsendable],
    ['z', unsendable],
    ['c', 'c'],
  ] as const
  const answered = answersOf(given.map(([name, input]) => [name, one.run(short, input)]))
  await settle()
  await took('a', 20)
  await took('b', 20)
  await took('c', 1)
  assert.deepEqual([answered.toSorted(), depths()], [['a', 'b', 'c', 'x failed', 'y failed', 'z failed'], []])
  close()
})
