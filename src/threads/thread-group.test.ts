import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { Clock } from '../lib/world.ts'
import { type GroupThread, ThreadGroup } from './thread-group.ts'

/** Threads that end when the test says so. */
function stage(options: { readonly failsFrom?: number; readonly rest?: () => Promise<void> } = {}) {
  const started: { readonly thread: GroupThread; die(reason: string): void }[] = []
  const fatal: string[] = []
  let nowMs = 0
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const start = async (): Promise<GroupThread> => {
    if (started.length >= (options.failsFrom ?? Number.POSITIVE_INFINITY)) throw new Error('no room')
    const { promise, resolve } = Promise.withResolvers<string>()
    const thread = { ended: promise, stop: async () => resolve('told to') }
    started.push({ thread, die: resolve })
    return thread
  }
  const advance = (ms: number): void => {
    nowMs += ms
  }
  const group = (count: number) =>
    ThreadGroup.start({
      kind: 'serving',
      count,
      start,
      clock,
      log: () => {},
      onFatal: (reason) => fatal.push(reason),
      ...(options.rest === undefined ? {} : { rest: options.rest }),
    })
  return { started, fatal, advance, group }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a thread that dies is replaced', async () => {
  const { started, fatal, group } = stage()
  const threads = await group(2)
  started[0]?.die('out of memory')
  await settle()
  assert.deepEqual([threads.size, started.length, fatal], [2, 3, []])
})

test('threads that were told to end are not replaced', async () => {
  const { started, group } = stage()
  const threads = await group(3)
  await threads.stop()
  await settle()
  assert.deepEqual([threads.size, started.length], [0, 3])
})

test('threads that keep dying end the process, those that die now and then do not', async () => {
  const often = stage()
  await often.group(1)
  for (let death = 0; death < 6; death++) {
    often.started.at(-1)?.die('again')
    await settle()
  }
  assert.equal(often.fatal.length, 1)
  const seldom = stage()
  await seldom.group(1)
  for (let death = 0; death < 20; death++) {
    seldom.started.at(-1)?.die('again')
    seldom.advance(60_000)
    await settle()
  }
  assert.deepEqual([seldom.fatal, seldom.started.length], [[], 21])
})

test('a group that may rest does so before it replaces a thread that died too often, and nothing ends', async () => {
  const rests: (() => void)[] = []
  const { started, fatal, group } = stage({ rest: () => new Promise((resolve) => rests.push(resolve)) })
  const threads = await group(1)
  for (let death = 0; death < 6; death++) {
    started.at(-1)?.die('again')
    await settle()
  }
  assert.deepEqual([threads.size, started.length, rests.length], [0, 6, 1])
  rests[0]?.()
  await settle()
  assert.deepEqual([threads.size, started.length, fatal], [1, 7, []])
})

test('a group that cannot start leaves no thread behind', async () => {
  const { started, group } = stage({ failsFrom: 2 })
  await assert.rejects(group(3), /no room/)
  assert.deepEqual(await Promise.all(started.map(({ thread }) => thread.ended)), ['told to', 'told to'])
})

test('where no replacement starts, the process ends', async () => {
  const { started, fatal, group } = stage({ failsFrom: 1 })
  await group(1)
  started[0]?.die('x')
  await settle()
  assert.equal(fatal.length, 1)
})
