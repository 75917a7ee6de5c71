// The report of a run of the tests: whole failures, skipped tests and why, and the closing lines that CI reads.
import { packagesToInstall } from './debian-packages.ts'
import type { Counts, Failure, FileResult } from './test-results.ts'
import type { Unsteady, Verdict } from './test-verdict.ts'
import { isProof } from './tree.ts'

/** Failures are repeated at the end, in short: of a long log often only the end is kept. */
const RECALLED = 5
const RECALLED_CHARACTERS = 700

/** Seconds by path. */
export type Times = Map<string, number>

/** Formats times, a line for each file, the longest first: `12.3 test/proofs/start/snapshot.test.ts`. */
export function timeLines(times: ReadonlyMap<string, number>): string {
  const longestFirst = [...times].sort(([, a], [, b]) => b - a)
  return longestFirst.map(([path, seconds]) => `${seconds.toFixed(1)} ${path}\n`).join('')
}

/** Formats one failure, with its stack. */
export function failureLine({ title, text }: Failure): string {
  return `\n✖ ${title}\n${text}`
}

/** Formats the output of files with a failure: a seed may be in it. */
export function outputLines(files: ReadonlyMap<string, FileResult>): string[] {
  return [...files].flatMap(([file, { failures, output }]) => {
    const said = output.trimEnd()
    return failures.length === 0 || said === '' ? [] : [`\noutput of ${file}\n${said}`]
  })
}

/** Facts of a run beside its results. */
export type Closing = {
  /** The project's directory. */
  readonly root: string
  /** A skipped test is a failure. */
  readonly requireAll: boolean
  readonly durationMs: number
}

/** Returns the closing lines of a run. The counts have the form of the runner's own. */
export function closingLines(verdict: Verdict, { root, requireAll, durationMs }: Closing): string[] {
  return [
    ...(requireAll ? skippedTests(verdict) : skippedReasons(verdict)),
    ...packagesToInstall(
      root,
      skippedOf(verdict).map(({ reason }) => reason),
    ),
    ...countLines(verdict, durationMs),
    kindsLine(verdict),
    ...verdict.failures.slice(0, RECALLED).map(recalled),
    ...verdict.unsteady.flatMap(unsteadyLines),
    ...verdict.faults.map((fault) => `failed: ${fault}`),
  ]
}

/** True if the run passes. With `requireAll` a skipped test is a failure. */
export function isWell({ files, failures, faults }: Verdict, requireAll: boolean): boolean {
  const skipped = [...files.values()].some((file) => file.skipped.length > 0)
  return failures.length === 0 && faults.length === 0 && !(requireAll && skipped)
}

/** Formats the counts by kind: `exact 7012, proofs 1054, unsteady 1, skipped 0`. */
function kindsLine({ files, unsteady }: Verdict): string {
  const sum = (ofProofs: boolean): Counts =>
    add([...files].filter(([file]) => isProof(file) === ofProofs).map(([, { counts }]) => counts))
  const [exact, proofs] = [sum(false), sum(true)]
  const skipped = exact.skipped + proofs.skipped
  return `exact ${exact.tests}, proofs ${proofs.tests}, unsteady ${unsteady.length}, skipped ${skipped}`
}

function countLines({ files }: Verdict, durationMs: number): string[] {
  const counts = add([...files.values()].map((file) => file.counts))
  return [...Object.entries(counts).map(([name, count]) => `# ${name} ${count}`), `# duration_ms ${durationMs}`]
}

function add(all: readonly Counts[]): Counts {
  const sum: Counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 }
  for (const counts of all) for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name]
  return sum
}

function skippedOf({ files }: Verdict): FileResult['skipped'] {
  return [...files.values()].flatMap(({ skipped }) => skipped)
}

function skippedTests(verdict: Verdict): string[] {
  return skippedOf(verdict).map(({ title, reason }) => `skipped, though nothing may be: ${title}: ${reason}`)
}

function skippedReasons(verdict: Verdict): string[] {
  const titles = Map.groupBy(skippedOf(verdict), ({ reason }) => reason)
  return [...titles].map(([reason, tests]) => `skipped ${tests.length}: ${reason}`)
}

function recalled({ title, text }: Failure): string {
  return `failed: ${title}: ${text.replace(/\s+/g, ' ').slice(0, RECALLED_CHARACTERS)}`
}

/** Shows the first failure whole: it will not come again soon. */
function unsteadyLines({ file, failures, seeds, known }: Unsteady): string[] {
  const seed = seeds.length === 0 ? 'no seed' : [...new Set(seeds)].join(' ')
  const note = known === undefined ? '' : ` (known until ${known.until}: ${known.reason})`
  const [first] = failures
  return [`unsteady ${first?.title ?? file}, ${seed}${note}`, ...(first === undefined ? [] : [first.text])]
}
