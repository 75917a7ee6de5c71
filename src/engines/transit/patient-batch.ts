// Batches of which each item is quick work, or is done elsewhere: there may be a hundred thousand items, and other
// requests are let in between.
import type { Item } from '../../api/fields.ts'
import { AT_ONCE, type BatchRun, type Failed, requireSome, Tally, type Work } from './batch.ts'
import { SLICE_MS, type Timed } from './time-slice.ts'

/**
 * Runs `work` for each item: at once where all of it is quickly done here.
 * @throws Refusal for no items at all
 */
export function runPatiently<R>(
  items: readonly Item[],
  work: Work<R | Promise<R>>,
  failed: Failed<R>,
  world: Timed['world'],
): BatchRun<R> | Promise<BatchRun<R>> {
  requireSome(items)
  const tally = new Tally(failed)
  const results: R[] = []
  const elsewhere: Promise<void>[] = []
  const begunMs = world.clock.monotonicMs()
  let next = 0
  const keep = async (at: number, result: Promise<R>): Promise<void> => {
    results[at] = await result
  }
  /** Whether all is done. */
  const takeSlice = (): boolean => {
    const end = world.clock.monotonicMs() + SLICE_MS
    while (next < items.length && elsewhere.length < AT_ONCE) {
      const at = next++
      const item = items[at] ?? {}
      const result = tally.resultWhenDone(item, (reference) => work(item, reference))
      if (result instanceof Promise) elsewhere.push(keep(at, result))
      else results[at] = result
      if (world.clock.monotonicMs() >= end) break
    }
    return next === items.length && elsewhere.length === 0
  }
  const goOn = async (): Promise<BatchRun<R>> => {
    let heldSinceMs = begunMs
    do {
      const waits: Promise<void>[] = elsewhere.splice(0)
      // What is said to be elsewhere may be done here after all: to wait for that lets nobody in.
      const isOver = world.clock.monotonicMs() >= heldSinceMs + SLICE_MS
      if (isOver || waits.length === 0) waits.push(world.timers.sleep(0))
      await Promise.all(waits)
      if (isOver) heldSinceMs = world.clock.monotonicMs()
    } while (!takeSlice())
    return tally.run(results)
  }
  return takeSlice() ? tally.run(results) : goOn()
}
