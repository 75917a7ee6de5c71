// What the threads that have slow work and those that do it know of each other at once, in memory that they share:
// hints, read without a message.

/** How many workers do short jobs, once they are started. */
const WORKERS = 0
/** How many clients are at work that they split, or would have split. */
const SPLITTING = 1
/** From here on one number for each worker. */
export const FIRST_SLOT = 2
/** A worker has a slot that the dead one before it had not: jobs on their way to that one are counted there. */
const SLOTS = 1_024

export type Load = Int32Array<SharedArrayBuffer>

export function newLoad(workers: number): Load {
  const load: Load = new Int32Array(new SharedArrayBuffer((FIRST_SLOT + SLOTS) * Int32Array.BYTES_PER_ELEMENT))
  Atomics.store(load, WORKERS, workers)
  return load
}

export const workersOf = (load: Load): number => Atomics.load(load, WORKERS)

/** The slot of the `nth` worker, with nothing on its way to it. */
export function takeSlot(load: Load, nth: number): number {
  const slot = FIRST_SLOT + (nth % SLOTS)
  Atomics.store(load, slot, 0)
  return slot
}

/** Jobs of all clients that are on their way to the worker, or that it does. One may be done before it is counted. */
export const depthOf = (load: Load, slot: number): number => Math.max(0, Atomics.load(load, slot))

export function jobSent(load: Load, slot: number): void {
  Atomics.add(load, slot, 1)
}

export function jobDone(load: Load, slot: number): void {
  Atomics.sub(load, slot, 1)
}

export function beginSplit(load: Load): void {
  Atomics.add(load, SPLITTING, 1)
}

/** How many are at it besides the one who asks. */
export const othersSplitting = (load: Load): number => Atomics.load(load, SPLITTING) - 1

export function endSplit(load: Load): void {
  Atomics.sub(load, SPLITTING, 1)
}
