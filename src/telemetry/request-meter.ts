// Counts the requests of one thread: one addition when a request begins, four when it ends.
import type { Endpoint } from '../api/endpoint.ts'
import { add, CELL, type CellRow, namespaceAt, observe, ofStatus, STATUS_CLASSES } from './cells.ts'
import type { NamespacePlaces } from './namespace-places.ts'

/** What a request is counted by. */
type Counted = { readonly endpoint: Endpoint | undefined; readonly namespace: { readonly id: string } }

/** Counts into the row of its thread. `columns` comes from `endpointColumns`. */
export class RequestMeter {
  readonly #row: CellRow
  readonly #columns: ReadonlyMap<Endpoint | undefined, number>
  readonly #places: NamespacePlaces

  constructor(row: CellRow, columns: ReadonlyMap<Endpoint | undefined, number>, places: NamespacePlaces) {
    this.#row = row
    this.#columns = columns
    this.#places = places
  }

  /** Counts a request that began; `ended` must follow exactly once. */
  begun(): void {
    add(this.#row, CELL.inFlight, 1)
  }

  /** Counts the answer. `endpoint` is undefined if the request found none. */
  ended({ endpoint, namespace }: Counted, status: number, seconds: number): void {
    const row = this.#row
    const at = this.#columns.get(endpoint) ?? (this.#columns.get(undefined) as number)
    add(row, CELL.inFlight, -1)
    add(row, at + ofStatus(status), 1)
    add(row, namespaceAt(this.#places.of(namespace.id)) + ofStatus(status), 1)
    observe(row, at + STATUS_CLASSES.length, seconds)
  }
}
