// F12: whatever a seed says happens to a primary and its secondaries, and whichever of them is the primary then, the
// invariants of replication hold, and once all is well again the secondaries have everything. `npm run
// torture:replication` is the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSeed } from '../../fixtures/seed.ts'
import { runFailovers } from './failover-run.ts'
import { runFiltered } from './filtered-run.ts'
import { runPerformance } from './performance-run.ts'
import { runPerformanceServers } from './performance-server-run.ts'
import { runFamily, runSeed } from './seeded-run.ts'
import { runServers } from './server-run.ts'
import { runSet } from './set-run.ts'

const RUNS = 25
const FAMILIES = 8
const FILTERED = 8

test(`F12: ${RUNS} lives of a primary and its secondaries keep every invariant of replication`, async (t) => {
  const first = testSeed(t)
  for (let seed = first; seed < first + RUNS; seed++) {
    const { fault } = await runSeed(seed)
    assert.equal(fault, undefined, `SEED=${seed} RUNS=1 npm run torture:replication repeats it`)
  }
})

test(`F12: ${FAMILIES} lives of a set for performance, with others beside it, keep every invariant`, async (t) => {
  const first = testSeed(t)
  for (let seed = first; seed < first + FAMILIES; seed++) {
    const { fault } = await runFamily(seed)
    assert.equal(fault, undefined, `PERFORMANCE=1 SEED=${seed} RUNS=1 npm run torture:replication repeats it`)
  }
})

test(`F12: ${FILTERED} lives of a set whose operators filter it keep every invariant`, async (t) => {
  const first = testSeed(t)
  for (let seed = first; seed < first + FILTERED; seed++) {
    const { fault } = await runFiltered(seed)
    assert.equal(fault, undefined, `FILTERS=1 SEED=${seed} RUNS=1 npm run torture:replication repeats it`)
  }
})

test('F12: a seed repeats all that happened to a primary and its secondaries, in order', async (t) => {
  const seed = testSeed(t)
  for (const run of [runSet, runFailovers, runPerformance, runFiltered, runServers, runPerformanceServers]) {
    const [one, again] = [await run(seed), await run(seed)]
    assert.deepEqual(again, one)
    assert.ok(one.lines.length > 5, 'something happened')
  }
})
