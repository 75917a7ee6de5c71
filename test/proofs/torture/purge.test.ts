// A store of PURGED_MB megabytes, a third of them deleted, is purged beside commits: no file holds a byte of it within
// a minute, no step computes for long, and the rest is whole. `npm run torture:purge` is the long form, with 1 GiB.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { realWorld } from '../../../src/lib/world.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import { openStore } from '../../../src/storage/commit/transactional-store.ts'
import { openSqliteBackend } from '../../../src/storage/sqlite/sqlite-store.ts'
import { verifyStore } from '../../../src/storage/verify/verify.ts'
import { SeededRandom } from '../../conformance/seeded-random.ts'
import { CANARIES, Canaries } from '../../fixtures/canaries.ts'
import { filesWith } from '../../fixtures/found-bytes.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { Steps } from './long-log.ts'

const MEGABYTES = Number(process.env.PURGED_MB ?? '100')
const SEED = 1
const MOST_MS = 60_000
/** What one step may compute. What it waits for the device and for other processes is not its own. */
const MOST_STEP_MS = 50
const LEAF_KEY = Buffer.alloc(32, 1)

type Step = 'erase' | 'forgetRecords' | 'dropGoneBuckets'

/** Measures each call of the verb: in this backend it works before it returns. */
function measured(backend: Backend, verb: Step, longest: Map<Step, number>): void {
  const work: (...args: never[]) => unknown = backend[verb]
  const timed = (...args: never[]): unknown => {
    const before = process.threadCpuUsage()
    const result = work.apply(backend, args)
    const { user, system } = process.threadCpuUsage(before)
    longest.set(verb, Math.max(longest.get(verb) ?? 0, (user + system) / 1_000))
    return result
  }
  Object.assign(backend, { [verb]: timed })
}

test(`P-20: of ${MEGABYTES} MB nothing that was purged is left within a minute`, async (t) => {
  const steps = new Steps(t)
  const { clock, timers } = realWorld()
  const { path: directory, cleanUp } = temporaryDirectory()
  t.after(cleanUp)
  const random = new SeededRandom(SEED)
  const backend = openSqliteBackend(directory, random)
  const longest = new Map<Step, number>()
  for (const verb of ['erase', 'forgetRecords', 'dropGoneBuckets'] as const) measured(backend, verb, longest)
  const store = await openStore(backend, { clock, timers })
  store.setLeafKey(LEAF_KEY)
  const canaries = new Canaries(store, random)
  await steps.take(`wrote ${MEGABYTES} MB`, () => canaries.fill(MEGABYTES * 1_000_000))
  await steps.take('deleted', async () => assert.ok((await canaries.delete()) > 10 * MEGABYTES))
  assert.ok(filesWith(directory, ...CANARIES).includes('keywright.db'))
  let commits = 0
  const startedMs = clock.monotonicMs()
  let isPurging = true
  const purge = store.purge(await store.lastIndex()).finally(() => {
    isPurging = false
  })
  for (; isPurging; commits++) await canaries.beside()
  await purge
  const ms = clock.monotonicMs() - startedMs
  t.diagnostic(
    `purged in ${Math.round(ms)} ms beside ${commits} commits; longest steps ${JSON.stringify([...longest])}`,
  )
  assert.deepEqual(filesWith(directory, ...CANARIES), [])
  assert.ok(ms < MOST_MS, `${ms} ms`)
  for (const [verb, stepMs] of longest) assert.ok(stepMs < MOST_STEP_MS, `${verb}: ${stepMs} ms`)
  const { wrongEntries, classes } = await steps.take('tree checked', () => store.checkTree())
  assert.deepEqual([wrongEntries.count, classes.replicated.wrongPages], [0, []])
  await store.close()
  const sentences: string[] = []
  await steps.take('verified', () => {
    verifyStore({ directory, keys: undefined, onFinding: (sentence) => sentences.push(sentence) })
  })
  assert.deepEqual(sentences, [])
  assert.deepEqual(filesWith(directory, ...CANARIES), [])
})
