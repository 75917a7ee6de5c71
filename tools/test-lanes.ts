// Decides which processes of tests run at once. Proofs have a lane for each core, and wait for much: a start, a disk,
// an end. So one process of exact tests runs beside them: their verdict is the same at any load.
import type { TestGroup } from './test-groups.ts'
import { isProof } from './tree.ts'

/** Runs the files of one process. `isBeside`: it has no proof, and proofs are under way. */
export type RunGroup = (group: TestGroup, isBeside: boolean) => Promise<void>

/**
 * Each of `groups` once: proofs and the others each in their order. Beside `lanes` for all groups there is one more for
 * what is no proof, as long as proofs are under way.
 */
export async function runInLanes(groups: readonly TestGroup[], lanes: number, runGroup: RunGroup): Promise<void> {
  const proofs = groups.filter((group) => group.some(isProof))
  const others = groups.filter((group) => !group.some(isProof))
  let proofsLeft = proofs.length
  const lane = async (): Promise<void> => {
    for (let group = proofs.shift(); group !== undefined; group = proofs.shift()) {
      await runGroup(group, false)
      proofsLeft--
    }
    for (let group = others.shift(); group !== undefined; group = others.shift()) await runGroup(group, false)
  }
  const besideLane = async (): Promise<void> => {
    while (proofsLeft > 0) {
      const group = others.shift()
      if (group === undefined) return
      await runGroup(group, true)
    }
  }
  await Promise.all([...Array.from({ length: lanes }, lane), besideLane()])
}
