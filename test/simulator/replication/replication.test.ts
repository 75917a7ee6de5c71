// F12: whatever a seed says happens to a primary and its secondaries, the invariants of following hold, and once all is
// well again the secondaries have everything. RUNS: how many seeds; `npm run torture:replication` is the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSeed } from '../../fixtures/seed.ts'
import { runSet } from './set-run.ts'

const RUNS = Number(process.env.RUNS ?? '20')

test(`F12: ${RUNS} lives of a primary and its secondaries keep every invariant of following`, async (t) => {
  const first = testSeed(t)
  for (let seed = first; seed < first + RUNS; seed++) {
    const { fault } = await runSet(seed)
    assert.equal(fault, undefined, `SEED=${seed} RUNS=1 npm run torture:replication repeats it`)
  }
})

test('F12: a seed repeats all that happened to a primary and its secondaries, in order', async (t) => {
  const seed = testSeed(t)
  const [one, again] = [await runSet(seed), await runSet(seed)]
  assert.deepEqual(one.lines, again.lines)
  assert.ok(one.lines.length > 50, 'something happened')
})
