// Runs the tests with the flags that the server has: a proof in a process of its own, several files of exact tests in
// one. A proof that fails is run once more, by itself, when all have ended.
//   sh bin/with-runtime tools/run-tests.ts [--times FILE] [--together] [part of a path, or a pattern with *]...
// FILE gets a line for each test file: the seconds that it took in its first run, its path; the longest first.
// With --together all run in one process, as those that failed in company did.
// With KEYWRIGHT_REQUIRE=all a skipped test is a failure: where everything is installed, nothing may be left out.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, matchesGlob } from 'node:path'
import { parseArgs } from 'node:util'
import { groupTests, type TestGroup } from './test-groups.ts'
import { runInLanes } from './test-lanes.ts'
import { runTestGroup } from './test-process.ts'
import { closingLines, isWell, outputLines, type Times, timeLines } from './test-report.ts'
import type { FileResult } from './test-results.ts'
import { failedProofs, judge, type KnownUnsteady } from './test-verdict.ts'
import { isProof } from './tree.ts'

const TEST_FILES = '{src,test,tools,bench,emulator}/**/*.test.ts'
/** The files that take longest, by `--times`. They begin first, so that no core waits for one in the end. */
export const LONGEST: readonly string[] = [
  'test/proofs/torture/kill.test.ts',
  'test/proofs/pages/runbooks.test.ts',
  'test/proofs/pages/runbooks-of-pairs.test.ts',
  'test/proofs/pages/runbooks-of-regions.test.ts',
  'test/proofs/bench/replication.test.ts',
  'test/conformance/storage.test.ts',
  'test/proofs/bench/run.test.ts',
  'test/proofs/start/snapshot.test.ts',
  'test/proofs/replication/filters.test.ts',
  'test/proofs/torture/power/power.test.ts',
  'test/proofs/faults/overload.test.ts',
  'test/proofs/start/lifecycle.test.ts',
  'test/proofs/start/start-failures.test.ts',
  'test/proofs/servers/generated-requests.test.ts',
  'test/proofs/servers/authorisation.test.ts',
  'test/proofs/model/model.test.ts',
  'test/proofs/faults/audit-devices.test.ts',
]
/** A cache like the program's own: types are stripped once, not in every process and thread of the tests. */
const COMPILE_CACHE = 'node_modules/.cache/keywright'

/** Only so many of the failed proofs are run again: more failures are no matter of chance. */
const MOST_AGAIN = 6
/** The list of proofs that are known to be unsteady, each with its last day. */
export const KNOWN_UNSTEADY = 'test/proofs/unsteady.json'

/** Runs the tests, and resolves to whether all is well. Only on a terminal everything is shown. */
export async function runTests(root: string, { patterns, timesPath, isTogether }: TestOptions): Promise<boolean> {
  const startMs = performance.now()
  const lanes = availableParallelism()
  const files = findTests(root, patterns)
  const unmatched = patterns.filter((pattern) => findTests(root, [pattern]).length === 0)
  if (files.length === 0 || unmatched.length > 0) {
    console.log(`no test file matches ${unmatched.join(' ') || TEST_FILES}`)
    return false
  }
  process.env.NODE_COMPILE_CACHE ??= join(root, COMPILE_CACHE)
  const times: Times = new Map()
  const first = await runFiles(root, isTogether ? [files] : groupTests(inOrder(files), lanes, LONGEST), times)
  if (timesPath !== undefined) writeFileSync(timesPath, timeLines(times))
  const second = new Map<string, FileResult>()
  for (const file of failedProofs(first).slice(0, MOST_AGAIN)) {
    console.log(`\nonce more, by itself: ${file}`)
    for (const [path, result] of await runFiles(root, [[file]], times)) second.set(path, result)
  }
  const known = readKnownUnsteady(root)
  const verdict = judge({ first, second }, known, new Date().toISOString().slice(0, 10))
  for (const { file } of known) {
    if (!isProof(file) || !existsSync(join(root, file)))
      verdict.faults.push(`${KNOWN_UNSTEADY} names ${file}, which is no proof`)
  }
  const requireAll = process.env.KEYWRIGHT_REQUIRE === 'all'
  const lines = closingLines(verdict, {
    root,
    requireAll,
    durationMs: performance.now() - startMs,
  })
  for (const line of lines) console.log(line)
  return isWell(verdict, requireAll)
}

/** Returns the results by path from `root`. */
async function runFiles(
  root: string,
  groups: readonly TestGroup[],
  times: Times,
): Promise<ReadonlyMap<string, FileResult>> {
  const results = new Map<string, FileResult>()
  await runInLanes(groups, availableParallelism(), async (group, isBeside) => {
    for (const [path, { result, seconds }] of await runTestGroup(root, group, { isBeside })) {
      results.set(path, result)
      times.set(path, seconds)
    }
    if (group.length > 1 && group.some((path) => (results.get(path)?.failures.length ?? 0) > 0))
      console.log(`\nthese share a process, and do with npm test -- --together ${group.join(' ')}`)
  })
  if (!process.stdout.isTTY) for (const line of outputLines(results)) console.log(line)
  return results
}

/** Reads the list; empty if there is no such file. */
function readKnownUnsteady(root: string): KnownUnsteady[] {
  const path = join(root, KNOWN_UNSTEADY)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
}

/** Returns the test files of the project, or those that one of the patterns names. */
export function findTests(root: string, patterns: readonly string[]): string[] {
  const wanted = patterns.map((pattern) => pattern.replace(/^\.\//, ''))
  const matches = (path: string): boolean =>
    wanted.length === 0 || wanted.some((pattern) => path.includes(pattern) || matchesGlob(path, pattern))
  return globSync(TEST_FILES, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter(matches)
    .sort()
}

/** Sorts files: the longest first, then the other proofs, which start servers; tests beside the code take a second. */
export function inOrder(files: readonly string[]): string[] {
  const rank = (path: string): number => {
    const place = LONGEST.indexOf(path)
    if (place !== -1) return place
    return LONGEST.length + (isProof(path) ? 0 : path.startsWith('test/') ? 1 : 2)
  }
  return files.toSorted((a, b) => rank(a) - rank(b))
}

/** The command line. */
export type TestOptions = {
  /** Parts of paths, or patterns with *; none: all files. */
  readonly patterns: readonly string[]
  /** The file that gets the time of each test file. */
  readonly timesPath: string | undefined
  /** All in one process, in the order of their paths. */
  readonly isTogether: boolean
}

/** Parses the command line. @throws Error for an unknown option */
export function readTestOptions(args: readonly string[]): TestOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { times: { type: 'string' }, together: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  return { patterns: positionals, timesPath: values.times, isTogether: values.together }
}

if (import.meta.main) {
  const well = await runTests(process.cwd(), readTestOptions(process.argv.slice(2)))
  process.exitCode = well ? 0 : 1
}
