// Runs the tests, each file in a process of its own, with the flags that the server has.
//   sh bin/with-runtime tools/run-tests.ts [part of a path, or a pattern with *]...
// With KEYWRIGHT_REQUIRE=all a skipped test is a failure: where everything is installed, nothing may be left out.
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, matchesGlob } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { TestReport } from './test-report.ts'

const TEST_FILES = '{src,test,tools,bench,emulator}/**/*.test.ts'
/** Those that take longest, a minute and more: begun first, so that no core waits for one of them in the end. */
export const LONGEST: readonly string[] = [
  'test/proofs/torture/kill.test.ts',
  'test/proofs/pages/runbooks.test.ts',
  'test/proofs/start/snapshot.test.ts',
  'test/proofs/torture/power/power.test.ts',
  'test/proofs/faults/overload.test.ts',
  'test/proofs/start/lifecycle.test.ts',
]
/** A file that hangs is ended, and named, before whoever waits for the run loses patience. */
const MOST_FILE_MS = 10 * 60 * 1000
/** As the program has it: the types are taken out of a file once, not in every process and thread of the tests. */
const COMPILE_CACHE = 'node_modules/.cache/keywright'

/** Whether all is well; on a terminal everything is shown, elsewhere only what is not well. */
export async function runTests(root: string, patterns: readonly string[]): Promise<boolean> {
  const files = findTests(root, patterns)
  if (files.length === 0) {
    console.log(`no test file matches ${patterns.join(' ') || TEST_FILES}`)
    return false
  }
  process.env.NODE_COMPILE_CACHE ??= join(root, COMPILE_CACHE)
  const events = run({
    files: inOrder(files).map((path) => join(root, path)),
    cwd: root,
    concurrency: availableParallelism(),
    execArgv: runtimeFlags(root),
    timeout: MOST_FILE_MS,
  })
  const terminal = process.stdout.isTTY
  const report = new TestReport(root, (line) => console.log(line), terminal)
  events.on('data', (event) => report.take(event))
  const last = terminal ? events.compose(spec).on('data', (text) => process.stdout.write(text)) : events
  await once(last, 'end')
  return report.close(process.env.KEYWRIGHT_REQUIRE === 'all')
}

/** Test files of the project, or those of them that one of the patterns names. */
export function findTests(root: string, patterns: readonly string[]): string[] {
  const wanted = patterns.map((pattern) => pattern.replace(/^\.\//, ''))
  const matches = (path: string): boolean =>
    wanted.length === 0 || wanted.some((pattern) => path.includes(pattern) || matchesGlob(path, pattern))
  return globSync(TEST_FILES, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter(matches)
    .sort()
}

/** The longest first, then those with servers of their own; those that lie beside the code take a second or two. */
export function inOrder(files: readonly string[]): string[] {
  const rank = (path: string): number => {
    const place = LONGEST.indexOf(path)
    if (place !== -1) return place
    return LONGEST.length + (path.startsWith('test/') ? 0 : 1)
  }
  return files.toSorted((a, b) => rank(a) - rank(b))
}

/** The flags of bin/runtime.flags: one a line, with a reason behind it. */
function runtimeFlags(root: string): string[] {
  const lines = readFileSync(join(root, 'bin/runtime.flags'), 'utf8').split('\n')
  return lines.filter((line) => line.startsWith('--')).map((line) => line.split(' ')[0] ?? '')
}

if (import.meta.main) {
  const well = await runTests(process.cwd(), process.argv.slice(2))
  process.exitCode = well ? 0 : 1
}
