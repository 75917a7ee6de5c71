// Runs test files in one process, with the flags that the server has, and collects results and times.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec, type TestEvent } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { GroupEvents } from './group-events.ts'
import type { TestGroup } from './test-groups.ts'
import { failureLine } from './test-report.ts'
import { type FileResult, TestResults } from './test-results.ts'

/** Ten minutes: a process that hangs is ended, and its file named, while a person or CI still waits for the run. */
const MOST_PROCESS_MS = 10 * 60 * 1000
const STEP_BACK = preloaded('tools/step-back.js')
/** Where several files share a process. */
const GROUP_ENTRY = join(import.meta.dirname, 'test-group.ts')
/** Preloaded like in the program: it saves 0.3 ms for each file that a test loads, and a whole server has 500. */
const OWN_FILES = preloaded('src/own-files.js')

/** What a file gave, and the seconds it took, loading included. */
export type TimedResult = { readonly result: FileResult; readonly seconds: number }

type RunOptions = {
  /** The group runs beside proofs, at a lower priority. */
  readonly isBeside?: boolean
  /** Takes each failure at once, where the output is no terminal. */
  readonly tell?: (failure: string) => void
  /** The process is ended after this time. */
  readonly mostMs?: number
}

/**
 * Runs the files of `group`, paths from `root`, in one process. On a terminal its output is shown when it has ended;
 * elsewhere failures are told at once.
 */
export async function runTestGroup(
  root: string,
  group: TestGroup,
  { isBeside = false, tell = console.log, mostMs = MOST_PROCESS_MS }: RunOptions = {},
): Promise<ReadonlyMap<string, TimedResult>> {
  const startMs = performance.now()
  const paths = group.map((path) => join(root, path))
  const together = paths.length > 1 ? new GroupEvents(GROUP_ENTRY, paths) : undefined
  const events = run({
    ...(together === undefined ? { files: paths } : { files: [GROUP_ENTRY], argv: paths }),
    cwd: root,
    execArgv: [...runtimeFlags(root), OWN_FILES, ...(isBeside ? [STEP_BACK] : [])],
    // Not the timeout of tests: that does not count while a file is loaded.
    signal: AbortSignal.timeout(mostMs),
  })
  const shown = process.stdout.isTTY ? new Shown() : undefined
  const results = new TestResults(root, (failure) => {
    if (shown === undefined) tell(failureLine(failure))
  })
  events.on('data', (event: TestEvent) => {
    for (const each of together?.split(event) ?? [event]) results.take(each)
    shown?.take(event)
  })
  await once(events, 'end')
  results.requireWhole(group)
  if (shown !== undefined) process.stdout.write(await shown.whole())
  const durationOf = (path: string): number =>
    together === undefined ? performance.now() - startMs : together.durationOf(join(root, path))
  return new Map(
    [...results.files()].map(([path, result]) => [path, { result, seconds: durationOf(path) / 1000 }] as const),
  )
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
