// Which test files share a process. Loading the program costs a process about as much as the tests of a file do, so
// exact tests run several files in one. A proof has a process of its own.
import { isProof } from './tree.ts'

/** Test files that run in one process, one after another: paths from the project's directory. */
export type TestGroup = readonly string[]

/** Exact tests that would be seen by others in their process. */
export const ALONE: Readonly<Record<string, string>> = {
  'test/coverage/new-key-type.test.ts': 'adds to the list of key types before the program is loaded',
  'tools/test-process.test.ts': 'runs the runner inside of it, which ends what the process tells of later files',
}
/** More files than these in one process save little, and the last of them keeps a core waiting for longer. */
const MOST_IN_GROUP = 8
/** So many groups for each lane at least, so that all lanes end at about the same time. */
const GROUPS_OF_A_LANE = 8

/**
 * Puts each of `files` into a group, in their order. Proofs are alone, and so are the files in `alone`: those that take
 * as long as a whole group.
 */
export function groupTests(files: readonly string[], lanes: number, alone: readonly string[]): TestGroup[] {
  const sharing = files.filter((path) => mayShareProcess(path) && !alone.includes(path)).length
  return inGroups(files, Math.min(MOST_IN_GROUP, Math.ceil(sharing / (lanes * GROUPS_OF_A_LANE))), alone)
}

/** Puts each of `files` into a group, in their order, of at most `most` files. Files in `alone` have their own. */
export function inGroups(files: readonly string[], most: number, alone: readonly string[] = []): TestGroup[] {
  const groups: string[][] = []
  let open: string[] = []
  for (const path of files) {
    if (!mayShareProcess(path) || alone.includes(path)) groups.push([path])
    else if (open.length > 0 && open.length < most) open.push(path)
    else {
      open = [path]
      groups.push(open)
    }
  }
  return groups
}

function mayShareProcess(path: string): boolean {
  return !isProof(path) && !(path in ALONE)
}
