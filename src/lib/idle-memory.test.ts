import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { giveBackWhenIdle } from './idle-memory.ts'

const MEBIBYTE = 1 << 20

/** A thread whose heap is back at 10 MiB after each collection. */
function thread() {
  const time = steppedTime(0)
  const facts = { workedMs: 0, heap: 40, collected: [] as number[] }
  const looks = giveBackWhenIdle(time, {
    workedMs: () => facts.workedMs,
    heapBytes: () => facts.heap * MEBIBYTE,
    collect: () => {
      facts.collected.push(time.clock.monotonicMs())
      facts.heap = 10
    },
  })
  return { time, facts, looks }
}

test('an idle thread gives back what its start and each burst left behind, and nothing else', async () => {
  const { time, facts } = thread()
  await time.advance(100_000)
  assert.deepEqual(facts.collected, [10_000])
  facts.heap = 17
  await time.advance(100_000)
  assert.deepEqual(facts.collected, [10_000])
  facts.heap = 18
  await time.advance(100_000)
  assert.deepEqual(facts.collected, [10_000, 210_000])
})

test('a thread that works gives nothing back until it has been idle for a while', async () => {
  const { time, facts } = thread()
  for (let i = 0; i < 10; i++) {
    facts.workedMs += 101
    await time.advance(10_000)
  }
  assert.deepEqual(facts.collected, [])
  facts.workedMs += 100
  await time.advance(10_000)
  assert.deepEqual(facts.collected, [110_000])
})

test('a thread that has a little to do all the time gives back seldom', async () => {
  const { time, facts } = thread()
  for (let i = 0; i < 20; i++) {
    facts.heap += 10
    await time.advance(10_000)
  }
  assert.deepEqual(facts.collected, [10_000, 70_000, 130_000, 190_000])
})

test('nothing is looked at after the end', async () => {
  const { time, facts, looks } = thread()
  looks.stop()
  await time.advance(60_000)
  assert.deepEqual([facts.collected, time.waiting()], [[], []])
})

test('an idle thread of the runtime collects all there is, and ends all the same', { timeout: 30_000 }, async () => {
  const text = `
    import { constants, PerformanceObserver } from 'node:perf_hooks'
    import { parentPort } from 'node:worker_threads'
    import { giveBackWhenIdle } from ${JSON.stringify(new URL('./idle-memory.ts', import.meta.url).href)}
    import { realWorld } from ${JSON.stringify(new URL('./world.ts', import.meta.url).href)}
    const held = Array.from({ length: 200_000 }, (_, i) => ({ i }))
    const wait = setInterval(() => held.length, 1_000)
    new PerformanceObserver((seen) => {
      const flags = seen.getEntries().map(({ detail }) => detail.flags)
      if (!flags.includes(constants.NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE)) return
      parentPort.postMessage('collected')
      clearInterval(wait)
    }).observe({ entryTypes: ['gc'] })
    const { clock, timers } = realWorld()
    giveBackWhenIdle({ clock, timers: { ...timers, after: (ms, work) => timers.after(ms / 20, work) } })`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`))
  const ended = once(worker, 'exit')
  assert.deepEqual(await Promise.race([once(worker, 'message'), ended]), ['collected'])
  assert.deepEqual(await ended, [0])
})
