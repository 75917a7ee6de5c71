// Where each number lies in the memory that all threads share. Every thread has a row of its own and is the only one
// that writes it, so counting is one addition, without a lock; who asks adds the rows up. A thread that takes the place
// of a dead one goes on in its row: nothing that was counted is lost.
//
// The numbers are 64-bit floats, exact up to 2^53, and aligned: no machine that this runs on reads half of one.
import type { Endpoint } from '../api/endpoint.ts'
import { BUCKETS, type CellName, type Family, type HistogramName, KEPT } from './families.ts'

/** Of a histogram: how many in each bucket, how many in none, and the sum. */
export const HISTOGRAM_CELLS = BUCKETS.length + 2
/** 2xx, 3xx, 4xx, 5xx; 429 stands out of its class, because it is the caller's pace that it is about. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', '429'] as const
const ENDPOINT_CELLS = STATUS_CLASSES.length + HISTOGRAM_CELLS

const entries = Object.entries(KEPT) as [string, Family][]
const namesOf = (wanted: (family: Family) => boolean): string[] =>
  entries.filter(([, family]) => wanted(family)).flatMap(([, { cells = {} }]) => Object.keys(cells))
const scalars = namesOf(({ kind }) => kind !== 'histogram')
const histograms = namesOf(({ kind }) => kind === 'histogram')
const gauges = namesOf(({ kind }) => kind === 'gauge')

/** Place of a single number in a row. */
export const CELL = Object.fromEntries(scalars.map((name, at) => [name, at])) as Readonly<Record<CellName, number>>
/** Place of the first number of a histogram in a row. */
export const HISTOGRAM = Object.fromEntries(
  histograms.map((name, at) => [name, scalars.length + at * HISTOGRAM_CELLS]),
) as Readonly<Record<HistogramName, number>>
const FIRST_ENDPOINT = scalars.length + histograms.length * HISTOGRAM_CELLS

/** The numbers of one thread. */
export type CellRow = Float64Array

/** What a thread is given; the rows of the others are for reading. */
export type MetricMemory = {
  readonly cells: Float64Array<SharedArrayBuffer>
  readonly rowCells: number
}

/** Row 0 is the thread that watches, row 1 the one that writes, the others serve. */
export const WATCHING_ROW = 0
export const WRITING_ROW = 1
export const FIRST_SERVING_ROW = 2

/** For so many endpoints there is room: who makes the memory need not know them. */
export const ENDPOINT_ROOM = 512

/** For the endpoints and threads of this process. One more endpoint stands for requests that found none. */
export function newMetricMemory(endpoints: number, servingThreads: number): MetricMemory {
  const rowCells = FIRST_ENDPOINT + (endpoints + 1) * ENDPOINT_CELLS
  const rows = FIRST_SERVING_ROW + servingThreads
  const bytes = rows * rowCells * Float64Array.BYTES_PER_ELEMENT
  return { cells: new Float64Array(new SharedArrayBuffer(bytes)), rowCells }
}

export const rowCount = ({ cells, rowCells }: MetricMemory): number => cells.length / rowCells

export function rowOf({ cells, rowCells }: MetricMemory, row: number): CellRow {
  return cells.subarray(row * rowCells, (row + 1) * rowCells)
}

/** A thread that is gone has no connections; what it counted stays. */
export function clearGauges(row: CellRow): void {
  for (const name of gauges) row[CELL[name as CellName]] = 0
}

/** Place of the numbers of an endpoint, by its place in the list of all; -1: of requests that found none. */
export const endpointAt = (index: number): number => FIRST_ENDPOINT + (index + 1) * ENDPOINT_CELLS

/** Places of all endpoints; the same in every thread, since they are made from the same list. */
export function endpointColumns(endpoints: readonly Endpoint[]): ReadonlyMap<Endpoint | undefined, number> {
  if (endpoints.length > ENDPOINT_ROOM) throw new Error('There are more endpoints than ENDPOINT_ROOM')
  const places = endpoints.map((endpoint, index) => [endpoint, endpointAt(index)] as const)
  return new Map<Endpoint | undefined, number>([[undefined, endpointAt(-1)], ...places])
}

/** `at` is the place of the histogram. */
export function observe(row: CellRow, at: number, seconds: number): void {
  let bucket = 0
  while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket++
  row[at + bucket] = (row[at + bucket] as number) + 1
  const sum = at + HISTOGRAM_CELLS - 1
  row[sum] = (row[sum] as number) + seconds
}

export function add(row: CellRow, cell: number, count: number): void {
  row[cell] = (row[cell] as number) + count
}

export const ofStatus = (status: number): number => (status === 429 ? 4 : Math.max(0, Math.floor(status / 100) - 2))
