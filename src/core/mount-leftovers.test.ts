import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { MountEntry, MountInNamespace } from '../api/mount.ts'
import { ACTIVE_PRIMARY, type NodeRole } from '../api/node-role.ts'
import { realWorld } from '../lib/world.ts'
import { newMountEntry } from './mount-entries.ts'
import { MountLeftovers } from './mount-leftovers.ts'
import type { Mounted } from './mount-table.ts'

const SECONDARY: NodeRole = { ...ACTIVE_PRIMARY, performance: 'secondary' }
const MOUNT = newMountEntry(realWorld(), { path: 'gone/', type: 'transit', kind: 'secret', description: '' })
const KEY = `root/core/mounts/${MOUNT.uuid}`
/** So soon after a change, and where the rest of a mount is still here, and where nobody can say what is gone. */
const [SOON_MS, LATER_MS, UNSURE_MS] = [5_000, 60_000, 10_000]

/** A table in which a mount is gone, and of which the rest goes when it is told to; and timers that are run by hand. */
function stage(role: NodeRole) {
  let isRestHere = true
  let looks = 0
  let changed = (_: string, __: string): void => {}
  let reset = (): void => {}
  const waits: number[] = []
  let pending = (): void => {}
  const world = realWorld()
  /** What is asked for of tokens. */
  const revoked: string[] = []
  let [isUnsure, entry]: [boolean, MountEntry | undefined] = [false, undefined]
  const goneOf = async (mounts: readonly MountInNamespace[]) => (isUnsure ? undefined : mounts)
  const leftovers = new MountLeftovers({
    mounts: {
      hasEntry: async () => false,
      wipeLeftovers: async () => {
        looks++
        return !isRestHere
      },
      goneOf,
      withUuid: () => (entry === undefined ? undefined : ({ entry } as Mounted)),
      stale: false,
      refresh: async () => {},
    },
    leases: {
      revokeByMount: async ({ path }) => void revoked.push(path),
      revokeOfGone: async (goneOf) => {
        const isKnown = (await goneOf([])) !== undefined
        revoked.push(isKnown ? 'all' : 'unsure')
        return isKnown
      },
    },
    isUnsure: async () => isUnsure,
    invalidation: {
      register: (part: { changed: typeof changed; reset: typeof reset }) => {
        changed = part.changed
        reset = part.reset
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
    revoked,
    goes: () => changed('', KEY),
    emptied: () => reset(),
    isKnown: (known: MountEntry | undefined) => {
      entry = known
    },
    isUnsure: (unsure: boolean) => {
      isUnsure = unsure
    },
    restGoes: () => {
      isRestHere = false
    },
    run: async () => {
      pending()
      for (let turn = 0; turn < 10; turn++) await world.ticks.next()
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
  await again.run()
  assert.equal(again.looks(), 2)
  assert.deepEqual(again.waits.slice(-1), [LATER_MS])
  again.restGoes()
  await again.run()
  assert.equal(again.looks(), 3)
  const planned = again.waits.length
  await again.run()
  assert.equal(again.waits.length, planned, 'nothing more is due')
  await run()
  goes()
  assert.deepEqual(waits.slice(-1), [SOON_MS])
  await run()
  assert.equal(looks(), 2)
})

test('F8: elsewhere nobody removes the rest, so it is not looked at again', async () => {
  const { leftovers, waits, looks, revoked } = stage(ACTIVE_PRIMARY)
  await leftovers.start()
  assert.equal(looks(), 1)
  assert.deepEqual([waits, revoked], [[], []])
})

test('all tokens are looked through once, soon after a start in a set', async () => {
  for (const performance of ['secondary', 'primary'] as const) {
    const { leftovers, waits, revoked, run } = stage({ ...ACTIVE_PRIMARY, performance })
    await leftovers.start()
    assert.deepEqual([waits, revoked], [[SOON_MS], []])
    await run()
    await run()
    assert.deepEqual(revoked, ['all'], performance)
  }
})

test('what a mount gave is revoked by its paths where the mount is known, and else among all tokens', async () => {
  const { leftovers, revoked, goes, emptied, isKnown, restGoes, run } = stage(SECONDARY)
  restGoes()
  await leftovers.start()
  await run()
  const done = async () => {
    await run()
    return revoked.splice(0)
  }
  await done()
  isKnown(MOUNT)
  goes()
  assert.deepEqual(await done(), ['gone/'])
  // It may have been at another path between two changes that were not looked at.
  goes()
  goes()
  assert.deepEqual(await done(), ['all'])
  isKnown({ ...MOUNT, namespace: 'abcdef' })
  goes()
  assert.deepEqual(await done(), ['all'])
  isKnown(undefined)
  goes()
  assert.deepEqual(await done(), ['all'])
  emptied()
  assert.deepEqual(await done(), ['all'])
})

test('nothing is revoked while a copy or a comparison runs, and all tokens are looked through behind it', async () => {
  const { leftovers, waits, revoked, goes, isKnown, isUnsure, restGoes, run } = stage(SECONDARY)
  restGoes()
  isUnsure(true)
  await leftovers.start()
  await run()
  assert.deepEqual([revoked.splice(0), waits.slice(-1)], [['unsure'], [UNSURE_MS]])
  isKnown(MOUNT)
  goes()
  await run()
  assert.deepEqual([revoked.splice(0), waits.slice(-1)], [['unsure'], [UNSURE_MS]])
  isUnsure(false)
  await run()
  assert.deepEqual(revoked.splice(0), ['all'])
  const planned = waits.length
  await run()
  assert.deepEqual([revoked, waits.length], [[], planned], 'nothing more is due')
})
