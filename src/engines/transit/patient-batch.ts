// Batches of which each item is quick work, or is done elsewhere: there may be a hundred thousand items, and other
// requests are let in between.
import type { Item } from '../../api/fields.ts'
import type { World } from '../../lib/world.ts'
import { AT_ONCE, type BatchRun, type Failed, requireSome, Tally, type Work } from './batch.ts'

/** As long as one batch holds a thread that serves others too (threats P-42). */
const TURN_MS = 5

/**
 * Runs `work` for each item: at once where all of it is quickly done here.
 * @throws Refusal for no items at all
 */
export function runPatiently<R>(
  items: readonly Item[],
  work: Work<R | Promise<R>>,
  failed: Failed<R>,
  world: Pick<World, 'clock' | 'timers'>,
): BatchRun<R> | Promise<BatchRun<R>> {
  requireSome(items)
  const tally = new Tally(failed)
  const results: R[] = []
  const elsewhere: Promise<void>[] = []
  let next = 0
  const keep = async (at: number, result: Promise<R>): Promise<void> => {
    results[at] = await result
  }
  /** Whether all is done. */
  const takeTurn = (): boolean => {
    const end = world.clock.monotonicMs() + TURN_MS
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
    do {
      if (elsewhere.length > 0) await Promise.all(elsewhere.splice(0))
      else await world.timers.sleep(0)
    } while (!takeTurn())
    return tally.run(results)
  }
  return takeTurn() ? tally.run(results) : goOn()
}
