// Samples a thread from time to time, instead of at each request: the lateness of its timers, the size of its heap and
// of its queues.
import { getHeapStatistics } from 'node:v8'
import type { Timer, World } from '../lib/world.ts'
import { CELL, type CellRow, HISTOGRAM, observe } from './cells.ts'

const SAMPLE_EVERY_MS = 100
/** Everything but the timers is sampled once in so many rounds: once a second. */
const REST_EVERY = 10

/**
 * Samples until it is stopped, at the latest when the thread ends. `sample` writes further figures into the row, once a
 * second.
 */
export function sampleThread({ clock, timers }: World, row: CellRow, sample: () => void): { stop(): void } {
  let count = 0
  let timer: Timer
  const plan = (): void => {
    const dueMs = clock.monotonicMs() + SAMPLE_EVERY_MS
    timer = timers.after(SAMPLE_EVERY_MS, () => {
      observe(row, HISTOGRAM.loopDelay, Math.max(0, clock.monotonicMs() - dueMs) / 1000)
      if (++count % REST_EVERY === 0) {
        row[CELL.heapUsed] = getHeapStatistics().used_heap_size
        sample()
      }
      plan()
    })
  }
  plan()
  return { stop: () => timer.cancel() }
}
