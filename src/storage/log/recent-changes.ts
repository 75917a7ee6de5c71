// The keys that the last commits changed, by index. A finishing transaction is checked against them. The memory is
// bounded, in keys and in time: a transaction that began before the oldest remembered change counts as having lost.
import type { ReadSet, TouchedKey } from '../commit/read-set.ts'

/** About 10 MB of keys at the longest; thousands of commits. */
export const MAX_REMEMBERED_KEYS = 65_536
/** Longer than a transaction runs. A store with little to do would keep the keys of hours, each for nothing. */
export const REMEMBERED_MS = 60_000

type RecentChange = { readonly index: number; readonly keys: readonly TouchedKey[]; readonly atMs: number }
/** In the place of what is forgotten, until the list is made shorter. */
const FORGOTTEN: RecentChange = { index: 0, keys: [], atMs: 0 }

/** Changes that are durable, and those that are being written. Only the writing thread has one. */
export class RecentChanges {
  readonly #maxKeys: number
  #changes: RecentChange[] = []
  #forgotten = 0
  #keyCount = 0
  /** Changes up to this index are no longer known. */
  #floor: number

  constructor(lastIndex: number, maxKeys = MAX_REMEMBERED_KEYS) {
    this.#floor = lastIndex
    this.#maxKeys = maxKeys
  }

  /**
   * Adds a change before it is written: a transaction of the same group may have read what it changes. `atMs` is now,
   * by a clock that only goes on.
   */
  add(index: number, keys: readonly TouchedKey[], atMs: number): void {
    this.#changes.push({ index, keys, atMs })
    this.#keyCount += keys.length
  }

  /** Removes what was added after `index`: it was not written. */
  takeBackAfter(index: number): void {
    for (let last = this.#changes.at(-1); last !== undefined && last.index > index; last = this.#changes.at(-1)) {
      this.#changes.pop()
      this.#keyCount -= last.keys.length
    }
  }

  /**
   * Forgets the oldest changes while they are too many or too old; never one after `committedIndex`, which may be taken
   * back.
   */
  trim(committedIndex: number, nowMs: number): void {
    for (;;) {
      const oldest = this.#changes[this.#forgotten]
      if (oldest === undefined || oldest.index > committedIndex) break
      if (this.#keyCount <= this.#maxKeys && nowMs - oldest.atMs <= REMEMBERED_MS) break
      this.#changes[this.#forgotten++] = FORGOTTEN
      this.#keyCount -= oldest.keys.length
      this.#floor = oldest.index
    }
    if (this.#forgotten * 2 < this.#changes.length) return
    this.#changes = this.#changes.slice(this.#forgotten)
    this.#forgotten = 0
  }

  /** True if something read since `start` may have changed. What is being written now counts as changed. */
  touchedSince(start: number, reads: ReadSet): boolean {
    if (start < this.#floor) return true
    for (let at = this.#changes.length - 1; at >= this.#forgotten; at--) {
      const change = this.#changes[at]
      if (change === undefined || change.index <= start) return false
      if (change.keys.some((key) => reads.isTouchedBy(key))) return true
    }
    return false
  }
}
