// How many test files run at once, and which. Proofs have a lane for each core. They wait for much: a start, a disk, an
// end. So an exact test runs beside them, which gives the same verdict at any load: it takes what proofs leave.
import { isProof } from './tree.ts'

/** Takes one file. `isBeside`: there are proofs under way, and it is none. */
export type RunFile = (path: string, isBeside: boolean) => Promise<void>

/**
 * Each of `files` once: proofs and the others each in their order. Beside `lanes` for all files there is one more for
 * what is no proof, as long as proofs are under way.
 */
export async function runInLanes(files: readonly string[], lanes: number, runFile: RunFile): Promise<void> {
  const proofs = files.filter(isProof)
  const others = files.filter((path) => !isProof(path))
  let proofsLeft = proofs.length
  const lane = async (): Promise<void> => {
    for (let path = proofs.shift(); path !== undefined; path = proofs.shift()) {
      await runFile(path, false)
      proofsLeft--
    }
    for (let path = others.shift(); path !== undefined; path = others.shift()) await runFile(path, false)
  }
  const besideLane = async (): Promise<void> => {
    while (proofsLeft > 0) {
      const path = others.shift()
      if (path === undefined) return
      await runFile(path, true)
    }
  }
  await Promise.all([...Array.from({ length: lanes }, lane), besideLane()])
}
