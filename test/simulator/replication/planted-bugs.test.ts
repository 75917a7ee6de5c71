// Each planted bug is found by the seed that stands beside it, which finds nothing without the bug. Where a change of
// the simulator takes a seed away, planted-bugs.ts finds another when it is run by itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLANTED_BUGS } from './planted-bugs.ts'
import { runSet } from './set-run.ts'

for (const { name, seams, seed, finds } of PLANTED_BUGS) {
  test(`F12: seed ${seed} finds: ${name}`, async () => {
    const { fault } = await runSet(seed, seams)
    assert.match(fault ?? 'nothing was found', new RegExp(`: ${finds} `))
    assert.equal((await runSet(seed)).fault, undefined)
  })
}
