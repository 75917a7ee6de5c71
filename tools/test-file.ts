// One test file, in a process of its own with the flags that the server has: what its tests gave, and how long it took.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec, type TestEvent } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { failureLine } from './test-report.ts'
import { type FileResult, TestResults } from './test-results.ts'

/** A file that hangs is ended, and named, before whoever waits for the run loses patience. */
const MOST_FILE_MS = 10 * 60 * 1000
const STEP_BACK = preloaded('tools/step-back.js')
/** As the program has it: 0.3 ms less for each of its files that a test loads, of which a whole server has 500. */
const OWN_FILES = preloaded('src/own-files.js')

export type TimedResult = { readonly result: FileResult; readonly seconds: number }

/**
 * Runs the file at `path` from `root`. On a terminal all that it says is shown when it has ended; elsewhere what fails
 * is printed at once. `isBeside`: proofs go first.
 */
export async function runTestFile(root: string, path: string, isBeside = false): Promise<TimedResult> {
  const startMs = performance.now()
  const events = run({
    files: [join(root, path)],
    cwd: root,
    execArgv: [...runtimeFlags(root), OWN_FILES, ...(isBeside ? [STEP_BACK] : [])],
    timeout: MOST_FILE_MS,
  })
  const shown = process.stdout.isTTY ? new Shown() : undefined
  const results = new TestResults(root, (failure) => {
    if (shown === undefined) console.log(failureLine(failure))
  })
  events.on('data', (event: TestEvent) => {
    results.take(event)
    shown?.take(event)
  })
  await once(events, 'end')
  results.requireWhole([path])
  if (shown !== undefined) process.stdout.write(await shown.whole())
  const result = results.files().get(path)
  if (result === undefined) throw new Error(`${path} gave no result`)
  return { result, seconds: (performance.now() - startMs) / 1000 }
}

/** What the runner's own reporter makes of one file, kept until it has ended: others run at the same time. */
class Shown {
  private readonly reporter = new spec()
  private text = ''

  constructor() {
    this.reporter.on('data', (text) => {
      this.text += text
    })
  }

  take(event: TestEvent): void {
    // The counts of one file say nothing: they stand at the end, for all.
    if (event.type === 'test:diagnostic' && event.data.file === undefined) return
    this.reporter.write(event)
  }

  async whole(): Promise<string> {
    this.reporter.end()
    await once(this.reporter, 'end')
    return this.text
  }
}

function preloaded(path: string): string {
  return `--import=${pathToFileURL(join(import.meta.dirname, '..', path)).href}`
}

/** The flags of bin/runtime.flags: one a line, with a reason behind it. */
function runtimeFlags(root: string): string[] {
  const lines = readFileSync(join(root, 'bin/runtime.flags'), 'utf8').split('\n')
  return lines.filter((line) => line.startsWith('--')).map((line) => line.split(' ')[0] ?? '')
}
