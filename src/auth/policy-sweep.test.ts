import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { World } from '../lib/world.ts'
import type { PolicyStore } from './policy-store.ts'
import { PolicySweep } from './policy-sweep.ts'

/** A store that knows only when policies end, and timers that the test runs by hand. */
function stage() {
  let nowMs = 0
  let ends: number[] = []
  let listener: (atMs: number) => void = () => {}
  let pending: { readonly atMs: number; readonly work: () => void } | undefined
  let isBroken = false
  const policies = {
    onEnd: (told: typeof listener) => {
      listener = told
    },
    removeExpired: async () => {
      if (isBroken) throw new Error('no disk')
      ends = ends.filter((atMs) => atMs > nowMs)
      return Math.min(Infinity, ...ends)
    },
  } as unknown as PolicyStore
  const timers = {
    after: (delayMs: number, work: () => void) => {
      pending = { atMs: nowMs + delayMs, work }
      return {
        cancel: () => {
          pending = undefined
        },
      }
    },
    sleep: async () => {},
  }
  const world = { clock: { nowMs: () => nowMs, monotonicMs: () => nowMs }, timers } as unknown as World
  const logged: string[] = []
  const sweep = new PolicySweep(policies, world, (_level, message) => logged.push(message))
  return {
    sweep,
    logged,
    ends: () => ends,
    pendingAt: () => pending?.atMs,
    break: (broken: boolean) => {
      isBroken = broken
    },
    write: (atMs: number) => {
      ends.push(atMs)
      listener(atMs)
    },
    /** Lets the timer that is set run at its time. */
    runTimer: async () => {
      const timer = pending
      assert.ok(timer !== undefined)
      pending = undefined
      nowMs = Math.max(nowMs, timer.atMs)
      timer.work()
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    },
  }
}

test('it sleeps while nothing ends, and wakes for the next end, whenever that is set', async () => {
  const at = stage()
  at.sweep.start()
  await at.runTimer()
  assert.equal(at.pendingAt(), undefined)
  at.write(5_000)
  at.write(9_000)
  at.write(2_000)
  assert.equal(at.pendingAt(), 2_000)
  await at.runTimer()
  assert.deepEqual([at.ends(), at.pendingAt()], [[5_000, 9_000], 5_000])
  await at.runTimer()
  await at.runTimer()
  assert.deepEqual([at.ends(), at.pendingAt()], [[], undefined])
})

test('a far end is looked for again each hour: the clock may be set', async () => {
  const at = stage()
  at.sweep.start()
  await at.runTimer()
  at.write(3 * 3_600_000)
  assert.equal(at.pendingAt(), 3_600_000)
  for (let i = 0; i < 3; i++) await at.runTimer()
  assert.deepEqual(at.ends(), [])
})

test('what fails is told and tried again; stopped, it does nothing', async () => {
  const at = stage()
  at.sweep.start()
  at.write(1_000)
  at.break(true)
  await at.runTimer()
  assert.equal(at.logged.length, 1)
  at.break(false)
  await at.runTimer()
  assert.deepEqual(at.ends(), [])
  at.sweep.stop()
  at.write(70_000_000)
  assert.equal(at.pendingAt(), undefined)
})
