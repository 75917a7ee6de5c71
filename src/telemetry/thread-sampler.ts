// What a thread looks at in itself from time to time, instead of at each request: whether its timers are late, and how
// large its heap and its queues are.
import { getHeapStatistics } from 'node:v8'
import type { Timer, World } from '../lib/world.ts'
import { CELL, type CellRow, HISTOGRAM, observe } from './cells.ts'

const LOOK_EVERY_MS = 100
/** Looks at the rest after so many at the timers. */
const REST_EVERY = 10

/** `look` writes further figures of the thread into its row, once a second. Runs until the thread ends. */
export function sampleThread({ clock, timers }: World, row: CellRow, look: () => void): { stop(): void } {
  let count = 0
  let timer: Timer
  const plan = (): void => {
    const dueMs = clock.monotonicMs() + LOOK_EVERY_MS
    timer = timers.after(LOOK_EVERY_MS, () => {
      observe(row, HISTOGRAM.loopDelay, Math.max(0, clock.monotonicMs() - dueMs) / 1000)
      if (++count % REST_EVERY === 0) {
        row[CELL.heapUsed] = getHeapStatistics().used_heap_size
        look()
      }
      plan()
    })
  }
  plan()
  return { stop: () => timer.cancel() }
}
