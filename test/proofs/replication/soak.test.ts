// Scenario T100: a primary, its secondary for disaster recovery and a region, under a mixed load, with one misfortune
// after the other. `npm run torture:clusters` is the long form, which draws what happens from a seed and judges memory.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { testSeed } from '../../fixtures/seed.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { soak } from './soak/soak.ts'

/** Some of those that the long form has. */
const STEPS = [['links cut downwards'], ['primary killed'], ['handed over'], ['keyring rotated', 'region killed']]

test('T100: three clusters lose nothing in one misfortune after the other, and end with the same', async (t) => {
  const temporary = temporaryDirectory()
  t.after(() => temporary.cleanUp())
  const { faults } = await soak({
    root: temporary.path,
    seed: testSeed(t),
    steps: STEPS,
    span: { leastMs: 300, mostMs: 1_000 },
    isCalmJudged: false,
    pauseMs: 100,
    say: (line) => t.diagnostic(line),
  })
  assert.deepEqual(faults.slice(0, 5), [])
})
