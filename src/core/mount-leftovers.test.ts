import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { ACTIVE_PRIMARY, type NodeRole } from '../api/node-role.ts'
import { realWorld } from '../lib/world.ts'
import { MountLeftovers } from './mount-leftovers.ts'

const SECONDARY: NodeRole = { ...ACTIVE_PRIMARY, performance: 'secondary' }
const KEY = 'root/core/mounts/5b0d0c0e-33a1-4a0e-8a0b-3f1d2c4b5a69'

/** A table in which a mount is gone, and of which the rest goes when it is told to; and timers that are run by hand. */
function stage(role: NodeRole) {
  let isRestHere = true
  let looks = 0
  let changed = (_: string, __: string): void => {}
  const waits: number[] = []
  let pending = (): void => {}
  const world = realWorld()
  const leftovers = new MountLeftovers({
    mounts: {
      hasEntry: async () => false,
      wipeLeftovers: async () => {
        looks++
        return !isRestHere
      },
    },
    invalidation: {
      register: (part: { changed: typeof changed }) => {
        changed = part.changed
      },
    } as never,
    role: () => role,
    world: {
      ...world,
      clock: { ...world.clock, monotonicMs: () => 0 },
      timers: {
        after: (ms, work) => {
          waits.push(ms)
          pending = work
          return { cancel: () => {} }
        },
        sleep: async () => {},
      },
    },
    log: () => {},
  })
  return {
    leftovers,
    waits,
    looks: () => looks,
    goes: () => changed('', KEY),
    restGoes: () => {
      isRestHere = false
    },
    run: async () => {
      pending()
      for (let turn = 0; turn < 5; turn++) await world.ticks.next()
    },
  }
}

test('F8: what a secondary keeps of a mount is looked at again while the rest of that is here', async () => {
  const { leftovers, waits, looks, goes, restGoes, run } = stage(SECONDARY)
  restGoes()
  await leftovers.start()
  assert.equal(looks(), 1)
  const again = stage(SECONDARY)
  await again.leftovers.start()
  assert.deepEqual(again.waits.slice(-1), [60_000])
  again.restGoes()
  await again.run()
  assert.equal(again.looks(), 2)
  const planned = again.waits.length
  await again.run()
  assert.equal(again.waits.length, planned, 'nothing more is due')
  goes()
  assert.deepEqual(waits.slice(-1), [5_000])
  await run()
  assert.equal(looks(), 2)
})

test('F8: elsewhere nobody removes the rest, so it is not looked at again', async () => {
  const { leftovers, waits, looks } = stage(ACTIVE_PRIMARY)
  await leftovers.start()
  assert.equal(looks(), 1)
  assert.ok(!waits.includes(60_000))
})
