// A backend whose appends wait or fail when they are told to, as those of a device do.
import type { Backend } from '../../src/storage/backend.ts'
import { StorageFull } from '../../src/storage/errors.ts'

export class Faults {
  /** Thrown by the next append, which then writes nothing. */
  next: Error | undefined
  /** Thrown by the next append behind its write, as where the answer of the device is lost. */
  behind: Error | undefined
  /** Thrown when holds of the log are stored next. */
  nextHold: Error | undefined
  appends = 0
  /** So many appends still pass, and the one after them is refused; undefined: all pass. */
  passing: number | undefined
  /** The tree is not saved, as where the process is killed before. */
  savesFail = false
  /** How often leaves were read from a snapshot. */
  leafRuns = 0
  /** No row of a bucket is stored, as where the device is full for a while. */
  bucketsFail = false
  /** What the next steps of erasing come to. */
  readonly eraseSteps: ('more' | 'held' | Error)[] = []
  /** What stands behind the store that was opened last. */
  backend: Backend | undefined
  #gate = Promise.withResolvers<void>()

  constructor() {
    this.release()
  }

  /** Appends that begin after this wait until `release` before they write. */
  hold(): void {
    this.#gate = Promise.withResolvers()
  }

  release(): void {
    this.#gate.resolve()
  }

  released(): Promise<void> {
    return this.#gate.promise
  }
}

export function faultyBackend(backend: Backend, faults: Faults): Backend {
  faults.backend = backend
  return {
    get: (key) => backend.get(key),
    list: (prefix, after, limit) => backend.list(prefix, after, limit),
    scan: (prefix, after, limit) => backend.scan(prefix, after, limit),
    heads: (keys) => backend.heads(keys),
    position: () => backend.position(),
    histories: () => backend.histories(),
    records: (index, limit) => backend.records(index, limit),
    snapshot: async () => {
      const snapshot = await backend.snapshot()
      return {
        ...snapshot,
        leaves: (after, limit) => {
          faults.leafRuns++
          return snapshot.leaves(after, limit)
        },
      }
    },
    leaves: (after, limit) => backend.leaves(after, limit),
    stored: (after, bytes) => backend.stored(after, bytes),
    countKeys: (after, limit) => backend.countKeys(after, limit),
    setLeaves: (leaves) => backend.setLeaves(leaves),
    savedTree: () => backend.savedTree(),
    checkpoints: () => backend.checkpoints(),
    firstIndex: () => backend.firstIndex(),
    indexBefore: (count) => backend.indexBefore(count),
    logBytesBetween: (after, upTo) => backend.logBytesBetween(after, upTo),
    holds: () => backend.holds(),
    saveHolds: async (holds) => {
      const fault = faults.nextHold
      faults.nextHold = undefined
      if (fault !== undefined) throw fault
      await backend.saveHolds(holds)
    },
    saveTree: async (save) => {
      if (faults.savesFail) throw new StorageFull('Told to fail')
      return backend.saveTree(save)
    },
    clearBuckets: () => backend.clearBuckets(),
    addBuckets: async (step) => {
      if (faults.bucketsFail) throw new StorageFull('Told to fail')
      await backend.addBuckets(step)
    },
    forgetRecords: (index, limit) => backend.forgetRecords(index, limit),
    dropGoneBuckets: (after, limit) => backend.dropGoneBuckets(after, limit),
    erase: async () => {
      const step = faults.eraseSteps.shift()
      if (step instanceof Error) throw step
      return step ?? backend.erase()
    },
    flushErased: () => backend.flushErased(),
    close: () => backend.close(),
    append: async (changes, origins, buckets) => {
      faults.appends++
      await faults.released()
      const fault = faults.next
      faults.next = undefined
      if (fault !== undefined) throw fault
      if (faults.passing === 0) {
        faults.passing = undefined
        throw new StorageFull('Told to fail')
      }
      if (faults.passing !== undefined) faults.passing--
      await backend.append(changes, origins, buckets)
      const lost = faults.behind
      faults.behind = undefined
      if (lost !== undefined) throw lost
    },
  }
}
