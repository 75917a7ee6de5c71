// Batches whose items are quick work on this thread, or work that is done elsewhere. A batch may have a hundred
// thousand items, so other requests run in between (threats P-42).
import type { Item } from '../../api/fields.ts'
import { AT_ONCE, type BatchRun, type Failed, requireSome, Tally, type Work } from './batch.ts'
import { SLICE_MS, type Timed } from './time-slice.ts'

/**
 * Runs `work` for each item. Returns at once if all is done here within the first time slice, else a promise.
 * @throws Refusal for an empty batch
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
  /** Works until the slice is over, or enough is under way elsewhere. Returns true if all items are done. */
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
      // A promise may also stand for work on this thread, and waiting for that lets no other request in. Where a slice
      // leaves no promise behind, its time was over.
      const isOver = world.clock.monotonicMs() >= heldSinceMs + SLICE_MS
      if (isOver) waits.push(world.timers.sleep(0))
      await Promise.all(waits)
      if (isOver) heldSinceMs = world.clock.monotonicMs()
    } while (!takeSlice())
    return tally.run(results)
  }
  return takeSlice() ? tally.run(results) : goOn()
}
