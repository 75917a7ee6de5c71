// How busy the pool is, as its workers and clients know it at once: numbers in shared memory, read without a message.
// They are hints: a reader may see them a moment late.
//
//    number     0          workers for short jobs
//    number     1          the last job id given out
//    numbers    2 …        for each worker: its jobs on lanes or being done     SLOTS
//    numbers 1026 …        for each worker: the id of the job it is at, or 0    SLOTS
//    numbers 2050 …        for each client: FREE, or TAKEN + its splits         SEATS

/** The number of workers for short jobs, started or not. */
const WORKERS = 0
/** The last job id that was given to any client. Exported for tests. */
export const LAST_JOB = 1
/** One number for each worker begins here. */
export const FIRST_SLOT = 2
/**
 * A new worker does not get the slot of the dead one before it: jobs on their way to that one are still counted there.
 */
export const SLOTS = 1_024
/** The ids of the jobs that workers are at begin here, in the order of the slots. */
const FIRST_BEGUN = FIRST_SLOT + SLOTS
/** One number for each client begins here: FREE, or TAKEN plus the work that it splits, or would split. */
const FIRST_SEAT = FIRST_BEGUN + SLOTS
/** More threads than any server has. */
const SEATS = 1_024
const FREE = 0
const TAKEN = 1

/** The shared memory; the process makes one for its pool. */
export type Load = Int32Array<SharedArrayBuffer>

/** Makes the memory for a pool with this many workers for short jobs. */
export function newLoad(workers: number): Load {
  const load: Load = new Int32Array(new SharedArrayBuffer((FIRST_SEAT + SEATS) * Int32Array.BYTES_PER_ELEMENT))
  Atomics.store(load, WORKERS, workers)
  return load
}

/** The number of workers for short jobs, started or not. */
export const workersOf = (load: Load): number => Atomics.load(load, WORKERS)

/** Returns the slot of the `nth` worker, cleared. After 1,024 workers slots are used again. */
export function takeSlot(load: Load, nth: number): number {
  const slot = FIRST_SLOT + (nth % SLOTS)
  Atomics.store(load, slot, 0)
  Atomics.store(load, slot + SLOTS, 0)
  return slot
}

/** Jobs of all clients that are on their way to the worker or being done; 0 at least. */
export const depthOf = (load: Load, slot: number): number => Math.max(0, Atomics.load(load, slot))

/** Called by the client that puts a job on the worker's lane. */
export function jobSent(load: Load, slot: number): void {
  Atomics.add(load, slot, 1)
}

/** Returns an id that no other job under way has, on any thread; never 0. The ids start over after 2^32. */
export function newJobId(load: Load): number {
  // Kept as a signed number of 32 bits, since `wasAt` compares it with one from the memory.
  const id = (Atomics.add(load, LAST_JOB, 1) + 1) | 0
  return id === 0 ? newJobId(load) : id
}

/** Called by the worker with the id of the job it begins, or 0 when it has ended it. Survives the worker's death. */
export function nowAt(load: Load, slot: number, id: number): void {
  Atomics.store(load, slot + SLOTS, id)
}

/** True if the worker, which has ended, was at this job. */
export const wasAt = (load: Load, slot: number, id: number): boolean => Atomics.load(load, slot + SLOTS) === id

/**
 * Called once for each job sent: by the worker when it is done or thrown away, by the client if it could not be sent.
 */
export function jobDone(load: Load, slot: number): void {
  Atomics.sub(load, slot, 1)
}

/** Returns a seat for one more client, which splits nothing yet. @throws RangeError if there are too many threads */
export function takeSeat(load: Load): number {
  for (let seat = FIRST_SEAT; seat < FIRST_SEAT + SEATS; seat++) {
    if (Atomics.compareExchange(load, seat, FREE, TAKEN) === FREE) return seat
  }
  throw new RangeError(`More than ${SEATS} threads have slow work`)
}

/** Frees the seat of a client that has ended, and forgets the splits that it left open. */
export function leaveSeat(load: Load, seat: number): void {
  Atomics.store(load, seat, FREE)
}

/** Called by a client that has work at hand which can be split. */
export function beginSplit(load: Load, seat: number): void {
  Atomics.add(load, seat, 1)
}

/** How much work all clients split, or could, not counting the caller's one. */
export function othersSplitting(load: Load): number {
  let splitting = 0
  for (let seat = FIRST_SEAT; seat < FIRST_SEAT + SEATS; seat++) {
    splitting += Math.max(0, Atomics.load(load, seat) - TAKEN)
  }
  return splitting - 1
}

/** Called once for each `beginSplit`, when all of that work is done. */
export function endSplit(load: Load, seat: number): void {
  Atomics.sub(load, seat, 1)
}
