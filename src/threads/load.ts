// What the threads that have slow work and those that do it know of each other at once, in memory that they share:
// hints, read without a message.

/** How many workers do short jobs, once they are started. */
const WORKERS = 0
/** The number of the last job of all clients. */
export const LAST_JOB = 1
/** From here on one number for each worker. */
export const FIRST_SLOT = 2
/** A worker has a slot that the dead one before it had not: jobs on their way to that one are counted there. */
export const SLOTS = 1_024
/** From here on, in the same order, the number of the job that the worker is at. */
const FIRST_BEGUN = FIRST_SLOT + SLOTS
/** From here on a number for each client: FREE, or TAKEN and how much it splits, or would have split. */
const FIRST_SEAT = FIRST_BEGUN + SLOTS
const SEATS = 1_024
const FREE = 0
const TAKEN = 1

export type Load = Int32Array<SharedArrayBuffer>

export function newLoad(workers: number): Load {
  const load: Load = new Int32Array(new SharedArrayBuffer((FIRST_SEAT + SEATS) * Int32Array.BYTES_PER_ELEMENT))
  Atomics.store(load, WORKERS, workers)
  return load
}

export const workersOf = (load: Load): number => Atomics.load(load, WORKERS)

/** The slot of the `nth` worker, with nothing on its way to it. */
export function takeSlot(load: Load, nth: number): number {
  const slot = FIRST_SLOT + (nth % SLOTS)
  Atomics.store(load, slot, 0)
  Atomics.store(load, slot + SLOTS, 0)
  return slot
}

/** Jobs of all clients that are on their way to the worker, or that it does. One may be done before it is counted. */
export const depthOf = (load: Load, slot: number): number => Math.max(0, Atomics.load(load, slot))

export function jobSent(load: Load, slot: number): void {
  Atomics.add(load, slot, 1)
}

/** Of no other job that is under way, whichever thread has it; never 0. After 2^32 of them the numbers begin anew. */
export function newJobId(load: Load): number {
  // The memory holds numbers of 32 bits with a sign, and so must be what is compared with it.
  const id = (Atomics.add(load, LAST_JOB, 1) + 1) | 0
  return id === 0 ? newJobId(load) : id
}

/** Said by the worker, with the number of the job; 0: it is at none. */
export function nowAt(load: Load, slot: number, id: number): void {
  Atomics.store(load, slot + SLOTS, id)
}

/** Whether the worker, which has ended, was at the job of that number. */
export const wasAt = (load: Load, slot: number, id: number): boolean => Atomics.load(load, slot + SLOTS) === id

export function jobDone(load: Load, slot: number): void {
  Atomics.sub(load, slot, 1)
}

/** A seat for one more client, which splits nothing yet. */
export function takeSeat(load: Load): number {
  for (let seat = FIRST_SEAT; seat < FIRST_SEAT + SEATS; seat++) {
    if (Atomics.compareExchange(load, seat, FREE, TAKEN) === FREE) return seat
  }
  throw new RangeError(`More than ${SEATS} threads have slow work`)
}

/** The client is no more: what it had begun to split nobody ends. */
export function leaveSeat(load: Load, seat: number): void {
  Atomics.store(load, seat, FREE)
}

export function beginSplit(load: Load, seat: number): void {
  Atomics.add(load, seat, 1)
}

/** How much is split, or would have been, besides what the one who asks is at. */
export function othersSplitting(load: Load): number {
  let splitting = 0
  for (let seat = FIRST_SEAT; seat < FIRST_SEAT + SEATS; seat++) {
    splitting += Math.max(0, Atomics.load(load, seat) - TAKEN)
  }
  return splitting - 1
}

export function endSplit(load: Load, seat: number): void {
  Atomics.sub(load, seat, 1)
}
