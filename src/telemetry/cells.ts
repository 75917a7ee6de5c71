// Lays out the numbers in the memory that all threads share. Every thread has a row of its own and is the only one that
// counts in it, so counting is one addition, without a lock; a reader adds the rows up. A thread that replaces a dead
// one continues its row, so counters lose nothing.
//
// The numbers are 64-bit floats, exact up to 2^53, and aligned: no machine that this runs on reads half of one.
import type { Endpoint } from '../api/endpoint.ts'
import { BUCKETS, type CellName, type Family, type HistogramName, KEPT } from './families.ts'
import { newPlacedIds, type PlacedIds, REST_PLACE } from './namespace-places.ts'

/** Numbers of one histogram: a count for each bucket, a count of all that exceed the last bound, and the sum. */
export const HISTOGRAM_CELLS = BUCKETS.length + 2
/** Classes in which answers are counted. 429 has its own: it is about the pace of the caller, not about a mistake. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', '429'] as const
const ENDPOINT_CELLS = STATUS_CLASSES.length + HISTOGRAM_CELLS

const entries = Object.entries(KEPT) as [string, Family][]
const namesOf = (wanted: (family: Family) => boolean): string[] =>
  entries.filter(([, family]) => wanted(family)).flatMap(([, { cells = {} }]) => Object.keys(cells))
const scalars = namesOf(({ kind }) => kind !== 'histogram')
const histograms = namesOf(({ kind }) => kind === 'histogram')
const gauges = namesOf(({ kind }) => kind === 'gauge')
const unknowns: ReadonlySet<string> = new Set(namesOf(({ mayBeUnknown }) => mayBeUnknown === true))

/** Position of each counter or gauge in a row. */
export const CELL = Object.fromEntries(scalars.map((name, at) => [name, at])) as Readonly<Record<CellName, number>>
/** Position in a row of the first number of each histogram. */
export const HISTOGRAM = Object.fromEntries(
  histograms.map((name, at) => [name, scalars.length + at * HISTOGRAM_CELLS]),
) as Readonly<Record<HistogramName, number>>
const FIRST_NAMESPACE = scalars.length + histograms.length * HISTOGRAM_CELLS
const FIRST_ENDPOINT = FIRST_NAMESPACE + (REST_PLACE + 1) * STATUS_CLASSES.length

/** The numbers of one thread: a view of the shared memory, so writes are seen by all threads. */
export type CellRow = Float64Array

/** The memory as it is handed to a thread, which writes its own row and may read the others. */
export type MetricMemory = {
  readonly cells: Float64Array<SharedArrayBuffer>
  readonly rowCells: number
  /** The namespaces that have columns. */
  readonly namespaces: PlacedIds
}

/** Rows are fixed by thread: 0 watches, 1 writes, 2 has the links to other clusters, the others serve. */
export const WATCHING_ROW = 0
/** Row of the writing thread. */
export const WRITING_ROW = 1
/** Row of the thread that has the links to other clusters. */
export const LINKING_ROW = 2
/** First row of a serving thread; `Rows` assigns them. */
export const FIRST_SERVING_ROW = 3

/** Endpoints that the memory has room for. The watching thread makes it and need not load their tables. */
export const ENDPOINT_ROOM = 512

/**
 * Makes the memory for `endpoints` endpoints, all zeros but for gauges that may be unknown. One more column counts
 * requests that found no endpoint.
 */
export function newMetricMemory(endpoints: number, servingThreads: number): MetricMemory {
  const rowCells = FIRST_ENDPOINT + (endpoints + 1) * ENDPOINT_CELLS
  const rows = FIRST_SERVING_ROW + servingThreads
  const bytes = rows * rowCells * Float64Array.BYTES_PER_ELEMENT
  const memory = { cells: new Float64Array(new SharedArrayBuffer(bytes)), rowCells, namespaces: newPlacedIds() }
  for (let row = 0; row < rows; row++) clearGauges(rowOf(memory, row))
  return memory
}

/** Number of rows, and so of threads, that the memory was made for. */
export const rowCount = ({ cells, rowCells }: MetricMemory): number => cells.length / rowCells

/** Returns the row as a view, not as a copy. */
export function rowOf({ cells, rowCells }: MetricMemory, row: number): CellRow {
  return cells.subarray(row * rowCells, (row + 1) * rowCells)
}

/** Sets the gauges of a row to 0 or unknown: a thread that is gone has no connections. Its counters stay. */
export function clearGauges(row: CellRow): void {
  for (const name of gauges) row[CELL[name as CellName]] = unknowns.has(name) ? Number.NaN : 0
}

/** Sets a gauge that may be unknown. Undefined: it does not apply or is not known now, and is left out. */
export function setKnown(row: CellRow, cell: number, value: number | undefined): void {
  row[cell] = value ?? Number.NaN
}

/** Position in a row of the counts of a namespace (namespace-places.ts), one for each class of statuses. */
export const namespaceAt = (place: number): number => FIRST_NAMESPACE + place * STATUS_CLASSES.length

/**
 * Position in a row of an endpoint's numbers. `index` is its position in the list of all endpoints, or -1 for requests
 * that found none.
 */
export const endpointAt = (index: number): number => FIRST_ENDPOINT + (index + 1) * ENDPOINT_CELLS

/**
 * Positions of all endpoints. Threads agree on them because they all pass the same list.
 * @throws Error if there are more than ENDPOINT_ROOM
 */
export function endpointColumns(endpoints: readonly Endpoint[]): ReadonlyMap<Endpoint | undefined, number> {
  if (endpoints.length > ENDPOINT_ROOM) throw new Error('There are more endpoints than ENDPOINT_ROOM')
  const columns = endpoints.map((endpoint, index) => [endpoint, endpointAt(index)] as const)
  return new Map<Endpoint | undefined, number>([[undefined, endpointAt(-1)], ...columns])
}

/** Adds one observation to the histogram that begins at `at`. */
export function observe(row: CellRow, at: number, seconds: number): void {
  let bucket = 0
  while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket++
  row[at + bucket] = (row[at + bucket] as number) + 1
  const sum = at + HISTOGRAM_CELLS - 1
  row[sum] = (row[sum] as number) + seconds
}

/** Adds to one number of the row. Only the thread that owns the row may call it: the addition is not atomic. */
export function add(row: CellRow, cell: number, count: number): void {
  row[cell] = (row[cell] as number) + count
}

/** Index of a status in STATUS_CLASSES. */
export const ofStatus = (status: number): number => (status === 429 ? 4 : Math.max(0, Math.floor(status / 100) - 2))
