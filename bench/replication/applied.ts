// A helper that looks each millisecond at the store of a secondary, as any thread of its server that reads does: how
// much of the log of its primary is applied there. The server knows nothing of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { locationIn } from '../../src/storage/drivers.ts'
import type { ReplicationFamily } from '../../src/storage/peer-log.ts'
import { help, machineMs } from './helpers.ts'

/** What was seen: the index up to which all was applied, and when that was first seen. */
export type Applied = { readonly seenMs: Float64Array; readonly indexes: Float64Array }

/** Whose store is looked at, and in which family it follows. */
export type Watched = { readonly directory: string; readonly family: ReplicationFamily }

let stop: () => Promise<Applied> = () => Promise.reject(new Error('nothing was begun'))

const CALLS = {
  begin: async ({ directory, family }: Watched): Promise<void> => {
    const reader = await locationIn(directory).openReader()
    const [seenMs, indexes]: [number[], number[]] = [[], []]
    let isOver = false
    const watch = async (): Promise<void> => {
      // Once more behind the end: what was applied just before it counts as well.
      for (let isLast = false; !isLast; await sleep(1)) {
        isLast = isOver
        const index = (await reader.position()).origins.find((origin) => origin.family === family)?.index ?? 0
        if (index === indexes.at(-1)) continue
        seenMs.push(machineMs())
        indexes.push(index)
      }
      await reader.close()
    }
    const watching = watch()
    watching.catch(() => {})
    stop = async () => {
      isOver = true
      await watching
      return { seenMs: new Float64Array(seenMs), indexes: new Float64Array(indexes) }
    }
  },
  end: () => stop(),
}

/** The calls of this helper. */
export type AppliedCalls = typeof CALLS

/** When all up to the index was seen to be applied; NaN: it was not. */
export function seenAt({ seenMs, indexes }: Applied, index: number): number {
  let [low, high] = [0, indexes.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((indexes[middle] ?? 0) >= index) high = middle
    else low = middle + 1
  }
  return seenMs[low] ?? Number.NaN
}

if (import.meta.main) help(CALLS)
