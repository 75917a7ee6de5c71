// Which row of the shared memory belongs to which thread that serves.
import { clearGauges, FIRST_SERVING_ROW, type MetricMemory, rowCount, rowOf } from './cells.ts'

export class Rows {
  readonly #memory: MetricMemory
  readonly #taken = new Set<number>()

  constructor(memory: MetricMemory) {
    this.#memory = memory
  }

  /** The first that is free: the one of a thread that died, for the one that takes its place. */
  take(): number {
    for (let row = FIRST_SERVING_ROW; row < rowCount(this.#memory); row++) {
      if (this.#taken.has(row)) continue
      this.#taken.add(row)
      return row
    }
    throw new Error('There are more threads than rows of numbers')
  }

  /** Its thread has ended: what it counted stays, what it held is gone. */
  giveBack(row: number): void {
    clearGauges(rowOf(this.#memory, row))
    this.#taken.delete(row)
  }
}
