// Counts the requests of one thread: one addition when a request begins, three when it ends.
import type { Endpoint } from '../api/endpoint.ts'
import { add, CELL, type CellRow, observe, ofStatus, STATUS_CLASSES } from './cells.ts'

/** Counts into the row of its thread. `columns` comes from `endpointColumns`. */
export class RequestMeter {
  readonly #row: CellRow
  readonly #columns: ReadonlyMap<Endpoint | undefined, number>

  constructor(row: CellRow, columns: ReadonlyMap<Endpoint | undefined, number>) {
    this.#row = row
    this.#columns = columns
  }

  /** Counts a request that began; `ended` must follow exactly once. */
  begun(): void {
    add(this.#row, CELL.inFlight, 1)
  }

  /** Counts the answer. `endpoint` is undefined if the request found none. */
  ended(endpoint: Endpoint | undefined, status: number, seconds: number): void {
    const row = this.#row
    const at = this.#columns.get(endpoint) ?? (this.#columns.get(undefined) as number)
    add(row, CELL.inFlight, -1)
    add(row, at + ofStatus(status), 1)
    observe(row, at + STATUS_CLASSES.length, seconds)
  }
}
