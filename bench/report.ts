// Medians over the rounds, and tables of them.
import { OPERATIONS, REFERENCE } from './operations.ts'
import type { Target } from './targets.ts'
import type { Measurement } from './wrk.ts'

/** The name of a server under load, as it stands in tables. */
export type Name = Target['name']
/** Measurements by operation and target, one for each round. */
export type Measurements = ReadonlyMap<string, ReadonlyMap<Name, readonly Measurement[]>>

/** Returns the median; NaN for no numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** Returns the median of each figure over the rounds. */
export function medians(rounds: readonly Measurement[]): Measurement {
  const of = (pick: (one: Measurement) => number): number => median(rounds.map(pick))
  return {
    requestsPerSecond: of((one) => one.requestsPerSecond),
    cpuMicrosecondsPerRequest: of((one) => one.cpuMicrosecondsPerRequest),
    p50Microseconds: of((one) => one.p50Microseconds),
    p99Microseconds: of((one) => one.p99Microseconds),
    errors: rounds.reduce((sum, one) => sum + one.errors, 0),
  }
}

/** A row of the table. */
export type Row = {
  readonly operation: string
  readonly target: Name
  readonly medians: Measurement
  /** Ratio to the control's same operation, or to its encryption of 128 bytes. */
  readonly cpuRatio: number | undefined
  readonly p99Ratio: number | undefined
}

/** Returns a row for each operation and target, in the order of the measurements. */
export function rowsOf(measurements: Measurements): Row[] {
  const reference = measurements.get(REFERENCE)?.get('control')
  return [...measurements].flatMap(([operation, targets]) =>
    [...targets].map(([target, rounds]) => {
      const own = medians(rounds)
      const compared = target === 'control' ? undefined : (targets.get('control') ?? reference)
      const control = compared && medians(compared)
      return {
        operation,
        target,
        medians: own,
        cpuRatio: control && own.cpuMicrosecondsPerRequest / control.cpuMicrosecondsPerRequest,
        p99Ratio: control && own.p99Microseconds / control.p99Microseconds,
      }
    }),
  )
}

const HEAD = ['work', 'server', 'requests/s', 'CPU µs', 'p50 ms', 'p99 ms', 'errors', 'CPU ratio', 'p99 ratio']

/** Formats rows as a table in Markdown, which can be copied into a page. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map(({ operation, target, medians: own, cpuRatio, p99Ratio }) => [
    operation,
    target,
    perSecond(own.requestsPerSecond, itemsOf(operation)),
    own.cpuMicrosecondsPerRequest.toFixed(0),
    milliseconds(own.p50Microseconds),
    milliseconds(own.p99Microseconds),
    String(own.errors),
    ratio(cpuRatio),
    ratio(p99Ratio),
  ])
  return markdownTable(HEAD, lines)
}

/** Formats a table: names in the first two columns, numbers, aligned to the right, in the others. */
export function markdownTable(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i]?.length ?? 0)))
  const write = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, i) => (i < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [write(head), write(rule), ...lines.map(write)].join('\n')
}

function itemsOf(operation: string): number {
  return OPERATIONS.find(({ name }) => name === operation)?.items ?? 1
}

function perSecond(rate: number, items: number): string {
  return items === 1 ? rate.toFixed(0) : `${rate.toFixed(0)} (${Math.round((rate * items) / 1000)}k items)`
}

/** Formats microseconds as milliseconds, with two decimals. */
export const milliseconds = (microseconds: number): string => (microseconds / 1000).toFixed(2)
/** Formats a ratio as `1.25 x`; the empty text if there is none. */
export const ratio = (value: number | undefined): string => (value === undefined ? '' : `${value.toFixed(2)} x`)
