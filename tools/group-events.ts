// Tells apart the files that share a process. What the runner tells of such a process becomes what it would tell of
// each file by itself, so that nothing behind it knows of groups.
import type { EventData } from 'node:test'
import type { TestEvent } from 'node:test/reporters'

/** Takes the events of one process, in which tools/test-group.ts runs `files`, absolute paths. */
export class GroupEvents {
  private readonly entry: string
  private readonly files: readonly string[]
  private readonly durations = new Map<string, number>()
  /** The file whose suite is open, or was the last one. */
  private file: string
  private tests = 0

  constructor(entry: string, files: readonly string[]) {
    this.entry = entry
    this.files = files
    this.file = files[0] ?? entry
  }

  /** Milliseconds that a file took, loading included; 0 where it did not come to its end. */
  durationOf(file: string): number {
    return this.durations.get(file) ?? 0
  }

  /** The events of single files that `event` stands for. */
  split({ type, data }: TestEvent): TestEvent[] {
    switch (type) {
      case 'test:start':
        if (data.nesting === 0 && this.files.includes(data.name)) this.begin(data.name)
        return data.nesting === 0 ? [] : [{ type, data: this.inner(data) }]
      case 'test:pass':
        if (data.nesting === 0) return this.passed(data)
        this.tests++
        return [{ type, data: this.inner(data) }]
      case 'test:fail':
        if (data.nesting === 0) return this.failed(data)
        this.tests++
        return [{ type, data: this.inner(data) }]
      case 'test:diagnostic':
        return data.nesting === 0 ? [] : [{ type, data: this.inner(data) }]
      // Which file wrote it is not told.
      case 'test:stdout':
      case 'test:stderr':
        return this.files.map((file) => ({ type, data: { ...data, file } }))
      // One of each file follows from its suite; this one is of them all.
      case 'test:summary':
        return data.file === undefined ? [{ type, data }] : []
      default:
        return []
    }
  }

  private begin(file: string): void {
    this.file = file
    this.tests = 0
  }

  private inner<Data extends { readonly nesting: number }>(data: Data): Data {
    return { ...data, nesting: data.nesting - 1, entryFile: this.file }
  }

  private passed(data: EventData.TestPass): TestEvent[] {
    // The process itself, which ended with code 0 and told of no file: none of them came to its end.
    if (data.name === this.entry) return []
    this.durations.set(this.file, data.details.duration_ms)
    // The runner tells a file without a test as a test with the name of the file.
    const { file } = this
    const empty: TestEvent = { type: 'test:pass', data: { ...this.ofFile(data), details: { duration_ms: 0 } } }
    return [...(this.tests === 0 ? [empty] : []), this.summaryOf(file)]
  }

  private failed(data: EventData.TestFail): TestEvent[] {
    this.durations.set(this.file, data.details.duration_ms)
    const failure: TestEvent = {
      type: 'test:fail',
      data: { ...this.ofFile(data), details: { ...data.details, type: 'test' } },
    }
    return data.name === this.entry ? [failure] : [failure, this.summaryOf(this.file)]
  }

  /** Says that the file came to its end; what failed in it has been told. */
  private summaryOf(file: string): TestEvent {
    const counts = { tests: 0, suites: 0, passed: 0, cancelled: 0, skipped: 0, todo: 0, topLevel: 0 }
    return { type: 'test:summary', data: { file, success: true, duration_ms: 0, counts } }
  }

  private ofFile<Data extends EventData.TestPass | EventData.TestFail>(data: Data): Data {
    return { ...data, name: this.file, file: this.file, entryFile: this.file }
  }
}
