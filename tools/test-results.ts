// Collects the results of test files, file by file, from the events of the runner.
import { join, relative } from 'node:path'
import type { EventData } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

/** The counts of a file, as the runner makes them: a test with others inside is one more. */
export type Counts = {
  tests: number
  suites: number
  pass: number
  fail: number
  cancelled: number
  skipped: number
  todo: number
}
/** A failed test. */
export type Failure = {
  /** `src/lib/json.test.ts:12 outer > inner` */
  readonly title: string
  /** The whole cause, with its stack. */
  readonly text: string
}
/** The results of one test file. */
export type FileResult = {
  readonly counts: Counts
  readonly failures: readonly Failure[]
  readonly skipped: readonly { readonly title: string; readonly reason: string }[]
  /** The output of its tests; a seed may be in it. */
  readonly output: string
  /** The seeds that its tests printed: `seed=7`. */
  readonly seeds: readonly string[]
}

type Verdict = EventData.TestPass | EventData.TestFail
/** `entryFile` is the test file that was run, `file` the one in which a test stands: helpers make many tests. */
type Place = { readonly file?: string | undefined; readonly entryFile?: string }
type Collected = {
  -readonly [Part in keyof FileResult]: FileResult[Part] extends readonly (infer Item)[] ? Item[] : FileResult[Part]
} & {
  /** Names of the tests that are open around the one that runs. */
  readonly open: string[]
  /** True if its process reported its end. */
  isWhole: boolean
}

const SEED = /\bseed=\S+/g
const CANCELLATIONS = ['cancelledByParent', 'testAborted', 'testTimeoutFailure']

/** Collects the events of one run. Files are named from `root`. */
export class TestResults {
  private readonly root: string
  private readonly told: (failure: Failure) => void
  private readonly collected = new Map<string, Collected>()

  /** `told` gets each failure at once, so that it is known even if the run is ended early. */
  constructor(root: string, told: (failure: Failure) => void = () => {}) {
    this.root = root
    this.told = told
  }

  take({ type, data }: TestEvent): void {
    if (type === 'test:start') this.of(data).open[data.nesting] = data.name
    else if (type === 'test:pass') this.pass(data)
    else if (type === 'test:fail') this.fail(data)
    else if (type === 'test:stdout' || type === 'test:stderr') this.write(data, data.message)
    else if (type === 'test:diagnostic' && data.file !== undefined)
      this.of(data).seeds.push(...(data.message.match(SEED) ?? []))
    else if (type === 'test:summary') this.end(data)
  }

  files(): ReadonlyMap<string, FileResult> {
    return this.collected
  }

  /**
   * Adds a failure for each of these files that did not run to its end. A file that exits with 0 in the middle fails no
   * test: the later ones are just missing.
   */
  requireWhole(paths: readonly string[]): void {
    for (const path of paths) {
      const file = this.collected.get(path)
      if (file?.isWhole === true || (file !== undefined && file.failures.length > 0)) continue
      const entryFile = join(this.root, path)
      this.count(this.of({ entryFile }), 'fail')
      this.add({ entryFile }, { title: `${path}:1`, text: 'ended before all its tests had run' })
    }
  }

  /** Counts a failure that the runner counts, even if no event named it. */
  private end(summary: EventData.TestSummary): void {
    if (summary.file !== undefined) this.of(summary).isWhole = true
    const files = summary.file === undefined ? [...this.collected.values()] : [this.of(summary)]
    const known = files.some(({ failures }) => failures.length > 0)
    const title = summary.file === undefined ? 'the run' : `${this.path(summary.file)}:1`
    if (!summary.success && !known) this.add(summary, { title, text: inspect(summary.counts) })
  }

  private add(data: Place, failure: Failure): void {
    this.of(data).failures.push(failure)
    this.told(failure)
  }

  private write(data: Place, message: string): void {
    const file = this.of(data)
    file.output += message
    file.seeds.push(...(message.match(SEED) ?? []))
  }

  private pass(data: EventData.TestPass): void {
    const file = this.of(data)
    const isSuite = data.details.type === 'suite'
    if (data.skip !== undefined && data.skip !== false) {
      // A skipped suite has no further events, and counts as one test.
      if (isSuite) file.counts.suites += 1
      file.counts.tests += 1
      file.counts.skipped += 1
      file.skipped.push({ title: this.title(data), reason: data.skip === true ? 'no reason given' : data.skip })
    } else if (isSuite) file.counts.suites += 1
    else if (data.name === data.file) {
      this.count(file, 'fail')
      this.add(data, { title: this.title(data), text: 'holds no test' })
    } else this.count(file, 'pass')
  }

  private fail(data: EventData.TestFail): void {
    const file = this.of(data)
    const error: EventData.Error & { failureType?: string; exitCode?: number } = data.details.error
    if (data.details.type === 'suite') file.counts.suites += 1
    else this.count(file, CANCELLATIONS.includes(error.failureType ?? '') ? 'cancelled' : 'fail')
    // A test around a failed one fails with it, and has nothing to add.
    if (error.failureType === 'subtestsFailed') return
    const ended = error.exitCode === undefined ? '' : ` (the file ended with exit code ${error.exitCode})`
    const cause = typeof error.cause === 'string' ? error.cause : inspect(error.cause ?? error)
    this.add(data, { title: this.title(data), text: `${cause}${ended}` })
  }

  private count({ counts }: Collected, end: 'pass' | 'fail' | 'cancelled'): void {
    counts.tests += 1
    counts[end] += 1
  }

  private title(data: Verdict): string {
    const place = `${this.path(data.file)}:${data.line ?? 1}`
    if (data.name === data.file) return place
    return `${place} ${[...this.of(data).open.slice(0, data.nesting), data.name].join(' > ')}`
  }

  private path(file = ''): string {
    return relative(this.root, file).replaceAll('\\', '/')
  }

  private of({ file, entryFile = file }: Place): Collected {
    const path = this.path(entryFile)
    const known = this.collected.get(path)
    if (known !== undefined) return known
    const counts: Counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 }
    const made: Collected = { counts, failures: [], skipped: [], output: '', seeds: [], open: [], isWhole: false }
    this.collected.set(path, made)
    return made
  }
}
