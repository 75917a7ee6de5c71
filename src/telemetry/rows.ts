// Assigns rows of the shared memory to serving threads.
import { clearGauges, FIRST_SERVING_ROW, type MetricMemory, rowCount, rowOf } from './cells.ts'

/** The free rows. The watching thread has the only one, since it starts and replaces the threads. */
export class Rows {
  readonly #memory: MetricMemory
  readonly #taken = new Set<number>()

  constructor(memory: MetricMemory) {
    this.#memory = memory
  }

  /**
   * Returns the first free row, so a thread that replaces a dead one continues its row.
   * @throws Error if none is free
   */
  take(): number {
    for (let row = FIRST_SERVING_ROW; row < rowCount(this.#memory); row++) {
      if (this.#taken.has(row)) continue
      this.#taken.add(row)
      return row
    }
    throw new Error('There are more threads than rows of numbers')
  }

  /** Frees the row of a thread that ended: counters stay, gauges become 0. */
  giveBack(row: number): void {
    clearGauges(rowOf(this.#memory, row))
    this.#taken.delete(row)
  }
}
