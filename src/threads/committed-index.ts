// The last committed change, for threads that wait for one. The writer raises this counter after a commit, when the
// change is durable and its own listeners have heard of it. The counter of change-follower.ts is raised before, so that
// no thread answers from a cache that is older than what another has shown. For waiting that is too early: the commit
// may still fail, and a waiter that was told of it would have been told too much. So there are two.
//
// The thread that has the links to other clusters waits here, for what it sends to secondaries.
import { CommitWaiters } from '../storage/commit-waiters.ts'
import { StorageClosed } from '../storage/errors.ts'

/** The whole index in shared memory, since waiting needs its order, or CLOSED; then how often it became CLOSED. */
export type CommittedIndex = BigInt64Array<SharedArrayBuffer>

/**
 * Stands in the counter while no other thread may use the store: before the start, during a restore or an activation,
 * and once nothing more is written, since a write failed or the server stops.
 */
const CLOSED = -1n
/** Where it stands how often the store was closed: the next one may be open before a thread sees CLOSED. */
const PUT_AWAY = 1

/** Makes the counter; the watching thread hands it to all others. */
export function newCommittedIndex(): CommittedIndex {
  const committed = new BigInt64Array(new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT))
  committed[0] = CLOSED
  return committed
}

/** Called on the writing thread when the other threads may use the store, which stands at `index`. */
export function tellOpened(committed: CommittedIndex, index: number): void {
  Atomics.store(committed, 0, BigInt(index))
  Atomics.notify(committed, 0)
}

/**
 * Called on the writing thread when changes up to `index` were published. Nothing is told of those that are made while
 * the other threads may not use the store.
 */
export function tellCommitted(committed: CommittedIndex, index: number): void {
  if (Atomics.load(committed, 0) !== CLOSED) tellOpened(committed, index)
}

/**
 * Called on the writing thread when the other threads must let go of the store, and when nothing more is written.
 * Waiters are told StorageClosed.
 */
export function tellClosed(committed: CommittedIndex): void {
  Atomics.store(committed, 0, CLOSED)
  Atomics.add(committed, PUT_AWAY, 1n)
  Atomics.notify(committed, 0)
}

/** Waits on one thread for commits of the writer. However many wait, a group of commits wakes the thread once. */
export class CommittedFollower {
  readonly #committed: CommittedIndex
  /** All of them wait for the store that is open after it was closed `#putAway` times. */
  #waiters = new CommitWaiters()
  #putAway = 0n
  #isFollowing = false

  constructor(committed: CommittedIndex) {
    this.#committed = committed
  }

  /**
   * Resolves with the last committed index once it is above `index`.
   * @throws StorageClosed if no store is open to this thread, or when the open one is closed or takes no more writes
   */
  after(index: number): Promise<number> {
    const committed = this.#look()
    if (committed === CLOSED) return Promise.reject(closed())
    const waiting = this.#waiters.after(index, Number(committed))
    if (this.#waiters.size > 0 && !this.#isFollowing) void this.#follow(committed)
    return waiting
  }

  async #follow(from: bigint): Promise<void> {
    this.#isFollowing = true
    for (let seen = from; this.#waiters.size > 0; ) {
      const changed = Atomics.waitAsync(this.#committed, 0, seen)
      // Another store may have come to the same index since the last look.
      if (Atomics.load(this.#committed, PUT_AWAY) === this.#putAway) await changed.value
      seen = this.#look()
      if (seen !== CLOSED) this.#waiters.wake(Number(seen))
    }
    this.#isFollowing = false
  }

  /** Reads the counter. Waiters for a store that was closed are told so. */
  #look(): bigint {
    let [putAway, seen] = [0n, CLOSED]
    // The writer sets CLOSED before it counts, so an index between two equal counts is of the store that they name.
    do {
      putAway = Atomics.load(this.#committed, PUT_AWAY)
      seen = Atomics.load(this.#committed, 0)
    } while (putAway !== Atomics.load(this.#committed, PUT_AWAY))
    if (seen === CLOSED || putAway !== this.#putAway) {
      this.#waiters.close(closed())
      this.#waiters = new CommitWaiters()
    }
    this.#putAway = putAway
    return seen
  }
}

function closed(): StorageClosed {
  return new StorageClosed('The store is closed, or being replaced')
}
