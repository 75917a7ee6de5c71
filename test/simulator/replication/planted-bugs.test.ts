// Each planted bug is found by the seed that stands beside it, which finds nothing without the bug. Where a change of
// the simulator takes a seed away, the file of the bugs finds another when it is run by itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAILOVER_BUGS } from './failover-bugs.ts'
import { runFailovers } from './failover-run.ts'
import { FILTER_BUGS } from './filter-bugs.ts'
import { runFiltered } from './filtered-run.ts'
import { PERFORMANCE_BUGS } from './performance-bugs.ts'
import { runPerformance } from './performance-run.ts'
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts'
import type { Outcome } from './seeded-run.ts'
import { runSet } from './set-run.ts'
import type { Seams } from './simulated-set.ts'

function finds(bugs: readonly PlantedBug[], run: (seed: number, seams?: Seams) => Promise<Outcome>): void {
  for (const { name, seams, seed, finds: what } of bugs) {
    test(`F12: seed ${seed} finds: ${name}`, async () => {
      const { fault } = await run(seed, seams)
      assert.match(fault ?? 'nothing was found', new RegExp(`: ${what} `))
      assert.equal((await run(seed)).fault, undefined)
    })
  }
}

finds(PLANTED_BUGS, runSet)
finds(FAILOVER_BUGS, runFailovers)
finds(PERFORMANCE_BUGS, runPerformance)
finds(FILTER_BUGS, runFiltered)
