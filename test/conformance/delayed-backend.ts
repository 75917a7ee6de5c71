// A backend whose answers come late and out of order, so that nothing above relies on a store that answers at once.
// Each answer is that of one moment between question and answer; appends take effect in the order of their calls.
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Backend, BackendSnapshot, BackendView } from '../../src/storage/backend.ts'
import type { SeededRandom } from './seeded-random.ts'

const MOST_TICKS = 3

class Delays {
  readonly #random: SeededRandom
  readonly #pending = new Set<Promise<unknown>>()

  constructor(random: SeededRandom) {
    this.#random = random
  }

  around<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#around(work)
    this.#pending.add(result)
    return result.finally(() => this.#pending.delete(result))
  }

  async finished(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
  }

  async #around<T>(work: () => Promise<T>): Promise<T> {
    await this.pause()
    try {
      return await work()
    } finally {
      await this.pause()
    }
  }

  async pause(): Promise<void> {
    for (let ticks = this.#random.below(MOST_TICKS + 1); ticks > 0; ticks--) await nextTick()
  }
}

function delayedView(view: BackendView, delays: Delays): BackendView {
  return {
    get: (key) => delays.around(() => view.get(key)),
    list: (prefix, after, limit) => delays.around(() => view.list(prefix, after, limit)),
    scan: (prefix, after, limit) => delays.around(() => view.scan(prefix, after, limit)),
    close: async () => {
      await delays.finished()
      await view.close()
    },
  }
}

export function delayedBackend(backend: Backend, random: SeededRandom): Backend {
  const delays = new Delays(random)
  let appended: Promise<void> = Promise.resolve()
  const oneByOne = async <T>(write: () => Promise<T>): Promise<T> => {
    const inOrder = appended.then(() => delays.pause()).then(write)
    appended = inOrder.then(
      () => {},
      () => {},
    )
    return inOrder.finally(() => delays.pause())
  }
  return {
    ...delayedView(backend, delays),
    append: (changes, origins, buckets) => oneByOne(() => backend.append(changes, origins, buckets)),
    setLeaves: (leaves) => oneByOne(() => backend.setLeaves(leaves)),
    leaves: (after, limit) => delays.around(() => backend.leaves(after, limit)),
    stored: (after, bytes) => delays.around(() => backend.stored(after, bytes)),
    countKeys: (after, limit) => delays.around(() => backend.countKeys(after, limit)),
    saveTree: (save) => oneByOne(() => backend.saveTree(save)),
    clearBuckets: () => oneByOne(() => backend.clearBuckets()),
    addBuckets: (step) => oneByOne(() => backend.addBuckets(step)),
    forgetRecords: (index, limit) => oneByOne(() => backend.forgetRecords(index, limit)),
    dropGoneBuckets: (after, limit) => oneByOne(() => backend.dropGoneBuckets(after, limit)),
    erase: () => oneByOne(() => backend.erase()),
    flushErased: () => delays.around(() => backend.flushErased()),
    saveHolds: (holds) => oneByOne(() => backend.saveHolds(holds)),
    holds: () => delays.around(() => backend.holds()),
    indexBefore: (count) => delays.around(() => backend.indexBefore(count)),
    logBytesBetween: (after, upTo) => delays.around(() => backend.logBytesBetween(after, upTo)),
    savedTree: () => delays.around(() => backend.savedTree()),
    checkpoints: () => delays.around(() => backend.checkpoints()),
    firstIndex: () => delays.around(() => backend.firstIndex()),
    heads: (keys) => delays.around(() => backend.heads(keys)),
    position: () => delays.around(() => backend.position()),
    histories: () => delays.around(() => backend.histories()),
    records: (index, limit) => delays.around(() => backend.records(index, limit)),
    snapshot: (): Promise<BackendSnapshot> =>
      delays.around(async () => {
        const snapshot = await backend.snapshot()
        const leaves = (after: string, limit: number) => delays.around(() => snapshot.leaves(after, limit))
        return {
          ...delayedView(snapshot, delays),
          index: snapshot.index,
          position: snapshot.position,
          histories: snapshot.histories,
          leaves,
          heads: (keys) => delays.around(() => snapshot.heads(keys)),
          bucketKeys: (buckets, after) => delays.around(() => snapshot.bucketKeys(buckets, after)),
          count: () => delays.around(() => snapshot.count()),
          stored: (after, bytes) => delays.around(() => snapshot.stored(after, bytes)),
        }
      }),
  }
}
