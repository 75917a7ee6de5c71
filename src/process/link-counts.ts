// Where the thread that has the links to other clusters keeps what they count.
import type { LinkCounts } from '../replication/counts.ts'
import { add, CELL, type CellRow } from '../telemetry/cells.ts'

/** Counts in the row of this thread. */
export const linkCounts =
  (row: CellRow): LinkCounts =>
  (family) =>
  (what, by) =>
    add(row, CELL[`${family}.${what}`], by)
