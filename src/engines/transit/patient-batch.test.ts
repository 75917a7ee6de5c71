import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fail } from '../../api/errors.ts'
import { runPatiently } from './patient-batch.ts'

/** A clock that the work itself moves on; sleeping lets other requests in. */
function patience() {
  const state = { nowMs: 0, sleeps: 0 }
  const world = {
    clock: { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs },
    timers: {
      after: () => ({ cancel: () => {} }),
      sleep: async () => {
        state.sleeps += 1
      },
    },
  }
  return { state, world }
}

const items = Array.from({ length: 100 }, (_, index) => ({ input: String(index) }))
const failed = (error: string): string => `failed: ${error}`

test('quick work is done at once', () => {
  const { world } = patience()
  const run = runPatiently(items, ({ input }) => `${input}!`, failed, world)
  assert.ok(!(run instanceof Promise))
  assert.deepEqual([run.results.length, run.results[99], run.succeeded], [100, '99!', 100])
})

test('P-42 longer work lets others in every 5 ms, and stays in order', async () => {
  const { state, world } = patience()
  const run = runPatiently(
    items,
    ({ input }) => {
      state.nowMs += 1
      return String(input)
    },
    failed,
    world,
  )
  assert.ok(run instanceof Promise)
  assert.deepEqual(
    (await run).results,
    items.map(({ input }) => input),
  )
  assert.equal(state.sleeps, 19)
})

test('work that is done elsewhere is asked for in parts, beside work that is done here', async () => {
  const { world } = patience()
  let [under, most] = [0, 0]
  const run = await runPatiently(
    items,
    ({ input }) => {
      if (Number(input) % 2 === 0) return String(input)
      under += 1
      most = Math.max(most, under)
      return Promise.resolve().then(() => {
        under -= 1
        if (input === '7') throw fail('bad_request', ['seven'])
        return String(input)
      })
    },
    failed,
    world,
  )
  assert.deepEqual(
    run.results,
    items.map(({ input }) => (input === '7' ? 'failed: seven' : input)),
  )
  assert.equal(run.succeeded, 99)
  assert.ok(most > 1 && most <= 32, String(most))
})

test('a defect fails the whole batch', async () => {
  const { world } = patience()
  const broken = () => Promise.reject(new Error('a defect'))
  await assert.rejects(async () => runPatiently(items, broken, failed, world), /a defect/)
})

test('P-42 work that only looks as if it were done elsewhere lets others in all the same', async () => {
  const { state, world } = patience()
  const run = await runPatiently(
    items,
    ({ input }) => {
      state.nowMs += 1
      return Promise.resolve(String(input))
    },
    failed,
    world,
  )
  assert.equal(run.succeeded, 100)
  assert.ok(state.sleeps >= 10, `${state.sleeps} turns of others in 100 ms`)
})

test('work that is really elsewhere is waited for, and nothing besides', async () => {
  const { state, world } = patience()
  const run = await runPatiently(items, ({ input }) => Promise.resolve(String(input)), failed, world)
  assert.deepEqual([run.succeeded, state.sleeps], [100, 0])
})
