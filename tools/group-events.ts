// Tells apart the files that share a process. The runner's events of such a process become the events that it would
// send for each file alone, so nothing that reads them knows of groups.
import type { EventData } from 'node:test'
import type { TestEvent } from 'node:test/reporters'

/** tools/test-group.ts puts a test and a suite around those of a file. */
const LEVELS = 2

/** Takes the events of one process, in which tools/test-group.ts (`entry`) runs `files`, absolute paths. */
export class GroupEvents {
  private readonly entry: string
  private readonly files: readonly string[]
  private readonly durations = new Map<string, number>()
  private readonly diagnostics: string[] = []
  /** The file that runs, or was the last one. */
  private file: string
  private tests = 0

  constructor(entry: string, files: readonly string[]) {
    this.entry = entry
    this.files = files
    this.file = files[0] ?? entry
  }

  /** Milliseconds that a file took, loading included; 0 if it did not end. */
  durationOf(file: string): number {
    return this.durations.get(file) ?? 0
  }

  /** Returns the events of single files that `event` stands for. */
  split({ type, data }: TestEvent): TestEvent[] {
    switch (type) {
      case 'test:start':
        if (data.nesting === 0) this.begin(data.name)
        return data.nesting < LEVELS ? [] : [{ type, data: this.inner(data) }]
      case 'test:pass':
        if (data.nesting < LEVELS) return this.passed(data)
        this.tests++
        return [{ type, data: this.inner(data) }]
      case 'test:fail':
        if (data.nesting < LEVELS) return this.failed(data)
        this.tests++
        return [{ type, data: this.inner(data) }]
      case 'test:diagnostic':
        if (data.nesting >= LEVELS) return [{ type, data: this.inner(data) }]
        if (data.file !== undefined) this.diagnostics.push(data.message)
        return []
      // The runner does not tell which file wrote it, so each has it.
      case 'test:stdout':
      case 'test:stderr':
        return this.files.map((file) => ({ type, data: { message: data.message, file } }))
      // The summary of a file follows from its end; this one is about all of them.
      case 'test:summary':
        return data.file === undefined ? [{ type, data }] : []
      default:
        return []
    }
  }

  private begin(file: string): void {
    if (!this.files.includes(file)) return
    this.file = file
    this.tests = 0
  }

  private inner<Data extends { readonly nesting: number }>(data: Data): Data {
    return { ...data, nesting: data.nesting - LEVELS, entryFile: this.file }
  }

  private passed(data: EventData.TestPass): TestEvent[] {
    // The process itself, if it ended with code 0 before a file did: that file is missed later.
    if (data.name === this.entry) return []
    if (data.nesting === 0) return [this.endOfFile(data)]
    // The runner reports a file without a test as a test that has the name of the file.
    return this.tests > 0 ? [] : [{ type: 'test:pass', data: ofFile(this.file, data, { duration_ms: 0 }) }]
  }

  private failed(data: EventData.TestFail): TestEvent[] {
    if (data.name === this.entry) return [this.failureOfProcess(data)]
    const own = isOfParts(data) ? [] : [failureOf(this.file, data)]
    return data.nesting === 0 ? [...own, this.endOfFile(data)] : own
  }

  /**
   * A failure that belongs to no test: the process was ended, or something failed behind the end of a test. The first
   * file that did not end gets it; if all did, the last one.
   */
  private failureOfProcess(data: EventData.TestFail): TestEvent {
    const file = this.files.find((one) => !this.durations.has(one)) ?? this.file
    const { error } = data.details
    const said = [String(error.cause ?? error.message), ...this.diagnostics, `in one process: ${this.files.join(' ')}`]
    const details = { ...data.details, error: { ...error, cause: said.join('\n') } }
    return failureOf(file, { ...data, details })
  }

  /** Says that the file came to its end; its failures have been reported. */
  private endOfFile(data: EventData.TestPass | EventData.TestFail): TestEvent {
    this.durations.set(this.file, data.details.duration_ms)
    const counts = { tests: 0, suites: 0, passed: 0, cancelled: 0, skipped: 0, todo: 0, topLevel: 0 }
    return { type: 'test:summary', data: { file: this.file, success: true, duration_ms: 0, counts } }
  }
}

/** True if only something inside failed, which has been reported. */
function isOfParts({ details }: EventData.TestFail): boolean {
  return (details.error as { failureType?: string }).failureType === 'subtestsFailed'
}

function failureOf(file: string, data: EventData.TestFail): TestEvent {
  return { type: 'test:fail', data: ofFile(file, data, { ...data.details, type: 'test' }) }
}

/** The event as if the file were a test. */
function ofFile<Data extends EventData.TestPass | EventData.TestFail>(
  file: string,
  data: Data,
  details: Data['details'],
): Data {
  return { ...data, nesting: 0, name: file, file, entryFile: file, details }
}
