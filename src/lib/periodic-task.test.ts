import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { PeriodicTask } from './periodic-task.ts'
import type { Timers } from './world.ts'

class Closed extends Error {}

/** Looks that answer when they are told to, and a timer that runs when it is told to. */
function stage() {
  let nowMs = 0
  let pending: { readonly atMs: number; readonly work: () => void } | undefined
  const timers: Timers = {
    after: (delayMs, work) => {
      const timer = { atMs: nowMs + delayMs, work }
      pending = timer
      return {
        cancel: () => {
          if (pending === timer) pending = undefined
        },
      }
    },
    sleep: async () => {},
  }
  const answers: { readonly give: (waitMs: number) => void; readonly fail: (cause: unknown) => void }[] = []
  const logged: unknown[] = []
  let running = 0
  let mostRunning = 0
  const task = (): Promise<number> => {
    mostRunning = Math.max(mostRunning, ++running)
    return new Promise<number>((give, fail) => answers.push({ give, fail })).finally(() => {
      running -= 1
    })
  }
  const series = new PeriodicTask(task, {
    world: { clock: { nowMs: () => 0, monotonicMs: () => nowMs }, timers },
    log: (...line) => void logged.push(line),
    failure: 'The task failed',
    retryMs: 7_000,
    isClosed: (cause) => cause instanceof Closed,
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    series,
    logged,
    begun: () => answers.length,
    mostRunning: () => mostRunning,
    waitMs: () => (pending === undefined ? undefined : pending.atMs - nowMs),
    pass: (ms: number) => {
      nowMs += ms
    },
    runTimer: () => {
      assert.ok(pending !== undefined, 'a timer is set')
      const { atMs, work } = pending
      pending = undefined
      nowMs = Math.max(nowMs, atMs)
      work()
    },
    give: async (waitMs: number) => {
      answers.at(-1)?.give(waitMs)
      await turn()
    },
    fail: async (cause: unknown) => {
      answers.at(-1)?.fail(cause)
      await turn()
    },
  }
}

test('the first run is after the wait of the start, each further one after what the last one said', async () => {
  const at = stage()
  at.series.start(30)
  assert.deepEqual([at.waitMs(), at.begun(), at.series.isOn], [30, 0, true])
  at.runTimer()
  assert.equal(at.begun(), 1)
  await at.give(50)
  assert.equal(at.waitMs(), 50)
  at.runTimer()
  await at.give(20)
  assert.deepEqual([at.waitMs(), at.begun()], [20, 2])
})

test('it waits an hour at most, and without end until somebody asks', async () => {
  const at = stage()
  at.series.start(0)
  at.runTimer()
  await at.give(3 * 3_600_000)
  assert.equal(at.waitMs(), 3_600_000)
  at.runTimer()
  await at.give(Infinity)
  assert.equal(at.waitMs(), undefined)
  at.series.within(40)
  assert.equal(at.waitMs(), 40)
})

test('asked for sooner it runs sooner, and never later than planned', () => {
  const at = stage()
  at.series.start(100)
  at.series.within(200)
  assert.equal(at.waitMs(), 100)
  at.series.within(10)
  assert.equal(at.waitMs(), 10)
})

test('one run at a time: who wants one joins it, and what is asked for meanwhile comes after it', async () => {
  const at = stage()
  at.series.start(0)
  at.runTimer()
  const joined = Promise.all([at.series.now(), at.series.now()])
  at.series.within(5)
  assert.deepEqual([at.begun(), at.waitMs()], [1, undefined])
  at.pass(2)
  await at.give(1_000)
  await joined
  assert.equal(at.waitMs(), 3)
  at.runTimer()
  at.series.within(5)
  at.pass(9)
  await at.give(1_000)
  assert.equal(at.waitMs(), 0)
  assert.equal(at.mostRunning(), 1)
})

test('a run out of order takes the place of the planned one', async () => {
  const at = stage()
  at.series.start(100)
  const ran = at.series.now()
  assert.deepEqual([at.begun(), at.waitMs()], [1, undefined])
  await at.give(60)
  await ran
  assert.equal(at.waitMs(), 60)
})

test('a run that fails is logged without its message and tried again', async () => {
  const at = stage()
  at.series.start(0)
  at.runTimer()
  await at.fail(new TypeError('a secret'))
  assert.deepEqual(at.logged, [['warn', 'The task failed', { cause: 'TypeError' }]])
  assert.equal(at.waitMs(), 7_000)
  at.runTimer()
  await at.fail('no error')
  assert.deepEqual(at.logged[1], ['warn', 'The task failed', { cause: 'string' }])
  at.runTimer()
  await at.give(10)
  assert.deepEqual([at.begun(), at.logged.length, at.waitMs()], [3, 2, 10])
})

test('what is closed meanwhile is no news, and the task runs again while nobody stops', async () => {
  const at = stage()
  at.series.start(0)
  at.runTimer()
  await at.fail(new Closed())
  assert.deepEqual([at.logged.length, at.waitMs()], [0, 7_000])
})

test('stopped, nothing runs, whoever asks; started again it goes on', async () => {
  const at = stage()
  at.series.start(10)
  at.series.stop()
  at.series.within(0)
  await at.series.now()
  assert.deepEqual([at.begun(), at.waitMs(), at.series.isOn], [0, undefined, false])
  at.series.start(10)
  at.runTimer()
  assert.equal(at.begun(), 1)
})

test('stop does not wait for the run under way: how it ends is no news, and no other follows', async () => {
  const at = stage()
  at.series.start(0)
  at.runTimer()
  at.series.stop()
  await at.fail(new Error('stopped'))
  assert.deepEqual([at.logged.length, at.waitMs()], [0, undefined])
})

test('started again during a run of the time before, the next run comes after that one', async () => {
  const at = stage()
  at.series.start(0)
  at.runTimer()
  at.series.stop()
  at.series.start(25)
  assert.equal(at.waitMs(), undefined)
  await at.fail(new Closed())
  assert.equal(at.waitMs(), 25)
  at.runTimer()
  assert.deepEqual([at.begun(), at.mostRunning()], [2, 1])
})
