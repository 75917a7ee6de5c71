// Reads all metrics at one moment: adds up the rows of the threads, and joins what is computed only now.
import type { Endpoint } from '../api/endpoint.ts'
import { type Namespaces, ROOT_ID } from '../api/namespace.ts'
import {
  CELL,
  type CellRow,
  endpointAt,
  FIRST_SERVING_ROW,
  HISTOGRAM,
  HISTOGRAM_CELLS,
  LINKING_ROW,
  type MetricMemory,
  namespaceAt,
  rowCount,
  rowOf,
  STATUS_CLASSES,
  WATCHING_ROW,
  WRITING_ROW,
} from './cells.ts'
import {
  BUCKETS,
  type CellName,
  type COMPUTED,
  FAMILIES,
  type Family,
  type HistogramName,
  type Labels,
  OF_NAMESPACES,
} from './families.ts'
import { placedIds, REST_PLACE, ROOT_PLACE } from './namespace-places.ts'

/** A histogram's counts, each of its own bucket alone (not cumulative); the last bucket has no bound. */
export type Distribution = { readonly counts: readonly number[]; readonly sum: number }
/** One value of a metric, with the labels that tell it from the others. */
export type Sample = { readonly labels: Labels; readonly value: number | Distribution }
/** A metric with its values. */
export type Reading = { readonly name: string; readonly family: Family; readonly samples: readonly Sample[] }

/** Values of the computed metrics. An undefined one cannot be determined now, and its metric is left out. */
export type Computed = Readonly<Record<keyof typeof COMPUTED, number | undefined>>

/** Returns the value of the label `thread` for a row. */
export function threadName(row: number): string {
  if (row === WATCHING_ROW) return 'watching'
  if (row === LINKING_ROW) return 'linking'
  return row === WRITING_ROW ? 'writing' : `serving-${row - FIRST_SERVING_ROW}`
}

/** What the columns are named after. */
type MetricNames = {
  readonly endpoints: readonly Endpoint[]
  readonly namespaces: Pick<Namespaces, 'byId'>
}

/**
 * Reads every metric that has a value, in the order of FAMILIES. Threads go on counting meanwhile, so numbers may
 * differ by the requests of that moment.
 */
export function readMetrics(
  memory: MetricMemory,
  { endpoints, namespaces }: MetricNames,
  computed: Computed,
): Reading[] {
  const rows = Array.from({ length: rowCount(memory) }, (_, row) => rowOf(memory, row))
  const total = sumOf(rows)
  const places = placesOf(memory, namespaces)
  return Object.entries(FAMILIES).flatMap(([name, family]) => {
    const samples = samplesOf(name, family, { rows, total, endpoints, places, computed })
    return samples.length === 0 ? [] : [{ name, family, samples }]
  })
}

type Source = {
  readonly rows: readonly CellRow[]
  readonly total: CellRow
  readonly endpoints: readonly Endpoint[]
  readonly places: Places
  readonly computed: Computed
}

function samplesOf(name: string, family: Family, source: Source): Sample[] {
  if (Object.hasOwn(source.computed, name)) {
    const value = source.computed[name as keyof Computed]
    return value === undefined ? [] : [{ labels: {}, value }]
  }
  if (Object.hasOwn(OF_NAMESPACES, name)) return ofNamespaces(source)
  if (family.cells === undefined) return ofEndpoints(family, source)
  return Object.entries(family.cells).flatMap(([cell, labels]) => {
    const valueIn = (row: CellRow): number | Distribution =>
      family.kind === 'histogram'
        ? distribution(row, HISTOGRAM[cell as HistogramName])
        : (row[CELL[cell as CellName]] as number)
    if (family.perThread !== true) {
      const value = valueIn(source.total)
      return Number.isNaN(value) ? [] : [{ labels, value }]
    }
    return source.rows
      .map((row, at) => ({ labels: { ...labels, thread: threadName(at) }, value: valueIn(row) }))
      .filter(({ value }) => (typeof value === 'number' ? value > 0 : totalCount(value) > 0))
  })
}

/** Samples by endpoint, only for endpoints that were called: of some hundreds most never are. */
function ofEndpoints(family: Family, { total, endpoints }: Source): Sample[] {
  return [undefined, ...endpoints].flatMap((endpoint, index): Sample[] => {
    const at = endpointAt(index - 1)
    const id = { endpoint: endpoint?.id ?? 'none' }
    if (family.kind === 'histogram') {
      const value = distribution(total, at + STATUS_CLASSES.length)
      return totalCount(value) === 0 ? [] : [{ labels: id, value }]
    }
    return byStatus(total, at, id)
  })
}

type Places = readonly (readonly [name: string, place: number])[]

/** The columns of namespaces by the names in labels. One that is gone has no name any more, and is left out. */
function placesOf(memory: MetricMemory, namespaces: Pick<Namespaces, 'byId'>): Places {
  const named = [...placedIds(memory.namespaces)].flatMap(([id, place]) => {
    const path = namespaces.byId(id)?.path
    return path === undefined ? [] : [[path.slice(0, -1), place] as const]
  })
  // No namespace may be called like the root, or like the rest.
  return [[ROOT_ID, ROOT_PLACE], ...named, ['*', REST_PLACE]]
}

const ofNamespaces = ({ total, places }: Source): Sample[] =>
  places.flatMap(([namespace, place]) => byStatus(total, namespaceAt(place), { namespace }))

/** Counts of answers by status, without those of which there were none. */
const byStatus = (total: CellRow, at: number, labels: Labels): Sample[] =>
  STATUS_CLASSES.map((status, which) => ({
    labels: { ...labels, status },
    value: total[at + which] as number,
  })).filter(({ value }) => value > 0)

/** NaN stands for what is not known: a sum is unknown where every row is. */
function sumOf(rows: readonly CellRow[]): CellRow {
  const total = new Float64Array(rows[0]?.length ?? 0).fill(Number.NaN)
  for (const row of rows) {
    for (let at = 0; at < row.length; at++) {
      const [sum, more] = [total[at] as number, row[at] as number]
      if (!Number.isNaN(more)) total[at] = Number.isNaN(sum) ? more : sum + more
    }
  }
  return total
}

function distribution(row: CellRow, at: number): Distribution {
  return {
    counts: [...row.subarray(at, at + BUCKETS.length + 1)],
    sum: row[at + HISTOGRAM_CELLS - 1] as number,
  }
}

/** Number of observations in the distribution. */
export const totalCount = ({ counts }: Distribution): number => counts.reduce((sum, count) => sum + count, 0)

/** Number of requests answered since the start, over all threads, endpoints and statuses. */
export function requestsAnswered(memory: MetricMemory, endpoints: number): number {
  let total = 0
  for (let number = 0; number < rowCount(memory); number++) {
    const row = rowOf(memory, number)
    for (let index = -1; index < endpoints; index++) {
      for (let status = 0; status < STATUS_CLASSES.length; status++) total += row[endpointAt(index) + status] as number
    }
  }
  return total
}
