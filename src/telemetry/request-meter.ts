// Counts the requests of one thread: an addition where one begins, three where it ends.
import type { Endpoint } from '../api/endpoint.ts'
import { add, CELL, type CellRow, observe, ofStatus, STATUS_CLASSES } from './cells.ts'

export class RequestMeter {
  readonly #row: CellRow
  readonly #places: ReadonlyMap<Endpoint | undefined, number>

  constructor(row: CellRow, places: ReadonlyMap<Endpoint | undefined, number>) {
    this.#row = row
    this.#places = places
  }

  begun(): void {
    add(this.#row, CELL.inFlight, 1)
  }

  /** `endpoint` is undefined where none was found. */
  ended(endpoint: Endpoint | undefined, status: number, seconds: number): void {
    const row = this.#row
    const at = this.#places.get(endpoint) ?? (this.#places.get(undefined) as number)
    add(row, CELL.inFlight, -1)
    add(row, at + ofStatus(status), 1)
    observe(row, at + STATUS_CLASSES.length, seconds)
  }
}
