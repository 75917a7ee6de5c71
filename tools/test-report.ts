// What is said about a run of the tests: failures whole, what was skipped and why, and the closing lines that CI reads.
import { relative } from 'node:path'
import type { EventData } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

/** Whoever keeps the end of a log alone shall still read what failed. */
const RECALLED = 5
const RECALLED_CHARACTERS = 700

type Verdict = EventData.TestPass | EventData.TestFail

/** Takes the events of one run, and sums them up. */
export class TestReport {
  private readonly root: string
  private readonly print: (line: string) => void
  private readonly failuresShown: boolean
  /** Names of the tests that are open around the one that runs, by file. */
  private readonly open = new Map<string, string[]>()
  /** What files wrote; told for those that fail, since a seed may be in it. */
  private readonly written = new Map<string, string>()
  private readonly failedFiles = new Set<string>()
  /** A line each. */
  private readonly failures: string[] = []
  private readonly skipped: { readonly title: string; readonly reason: string }[] = []
  private summary: EventData.TestSummary | undefined

  /** `failuresShown`: another reporter prints what failed, and the counts. */
  constructor(root: string, print: (line: string) => void, failuresShown = false) {
    this.root = root
    this.print = print
    this.failuresShown = failuresShown
  }

  take({ type, data }: TestEvent): void {
    if (type === 'test:start') this.openAround(data)[data.nesting] = data.name
    else if (type === 'test:pass') this.pass(data)
    else if (type === 'test:fail') this.fail(data)
    else if (type === 'test:stdout' || type === 'test:stderr') {
      this.written.set(data.file, (this.written.get(data.file) ?? '') + data.message)
    } else if (type === 'test:summary' && data.file === undefined) this.summary = data
  }

  /** Whether all is well; with `requireAll` a skipped test is a failure. */
  close(requireAll: boolean): boolean {
    if (!this.failuresShown) this.printOutput()
    for (const line of requireAll ? this.skippedTests() : this.skippedReasons()) this.print(line)
    if (!this.failuresShown) this.printCounts()
    for (const failure of this.failures.slice(0, RECALLED)) this.print(failure)
    return this.failedFiles.size === 0 && this.summary?.success === true && !(requireAll && this.skipped.length > 0)
  }

  private printOutput(): void {
    for (const file of this.failedFiles) {
      const text = this.written.get(file)?.trimEnd()
      if (text) this.print(`\noutput of ${relative(this.root, file)}\n${text}`)
    }
  }

  /** In the form of the runner's own closing lines. */
  private printCounts(): void {
    const counts: Readonly<Record<string, number>> = this.summary?.counts ?? {}
    const names = { tests: 'tests', suites: 'suites', passed: 'pass', failed: 'fail', cancelled: 'cancelled' }
    for (const [key, name] of Object.entries({ ...names, skipped: 'skipped', todo: 'todo' })) {
      this.print(`# ${name} ${counts[key] ?? 0}`)
    }
    this.print(`# duration_ms ${this.summary?.duration_ms ?? 0}`)
  }

  private skippedTests(): string[] {
    return this.skipped.map(({ title, reason }) => `skipped, though nothing may be: ${title}: ${reason}`)
  }

  private skippedReasons(): string[] {
    const titles = Map.groupBy(this.skipped, ({ reason }) => reason)
    return [...titles].map(([reason, tests]) => `skipped ${tests.length}: ${reason}`)
  }

  private pass(data: EventData.TestPass): void {
    if (data.skip !== undefined && data.skip !== false) {
      this.skipped.push({ title: this.title(data), reason: data.skip === true ? 'no reason given' : data.skip })
    } else if (data.name === data.file) {
      this.failedFiles.add(data.file)
      this.print(`\n✖ ${this.title(data)}\nholds no test`)
    }
  }

  private fail(data: EventData.TestFail): void {
    const error: EventData.Error & { failureType?: string; exitCode?: number } = data.details.error
    // A test around a failed one fails with it, and has nothing to add.
    if (error.failureType === 'subtestsFailed') return
    this.failedFiles.add(data.file ?? '')
    if (this.failuresShown) return
    const ended = error.exitCode === undefined ? '' : ` (the file ended with exit code ${error.exitCode})`
    const cause = typeof error.cause === 'string' ? error.cause : inspect(error.cause ?? error)
    this.failures.push(`failed: ${this.title(data)}: ${cause.replace(/\s+/g, ' ').slice(0, RECALLED_CHARACTERS)}`)
    this.print(`\n✖ ${this.title(data)}\n${cause}${ended}`)
  }

  /** `src/lib/a.test.ts:12 outer > inner` */
  private title(data: Verdict): string {
    const place = `${relative(this.root, data.file ?? '')}:${data.line ?? 1}`
    if (data.name === data.file) return place
    return `${place} ${[...this.openAround(data).slice(0, data.nesting), data.name].join(' > ')}`
  }

  private openAround({ file = '' }: { file?: string }): string[] {
    const names = this.open.get(file) ?? []
    this.open.set(file, names)
    return names
  }
}
