// Which keys the last commits changed, by index: against these a finishing transaction is checked. Bounded; a
// transaction that began before the oldest one remembered counts as having lost.
import type { ReadSet, TouchedKey } from '../commit/read-set.ts'

/** About 10 MB of keys at the longest; thousands of commits. */
export const MAX_REMEMBERED_KEYS = 65_536

type RecentChange = { readonly index: number; readonly keys: readonly TouchedKey[] }

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

  add(index: number, keys: readonly TouchedKey[]): void {
    this.#changes.push({ index, keys })
    this.#keyCount += keys.length
  }

  /** Undoes what was added after `index`: it was not written. */
  takeBackAfter(index: number): void {
    for (let last = this.#changes.at(-1); last !== undefined && last.index > index; last = this.#changes.at(-1)) {
      this.#changes.pop()
      this.#keyCount -= last.keys.length
    }
  }

  /** Forgets the oldest of the changes up to `committedIndex`, as long as there are too many. */
  trim(committedIndex: number): void {
    while (this.#keyCount > this.#maxKeys) {
      const oldest = this.#changes[this.#forgotten]
      if (oldest === undefined || oldest.index > committedIndex) break
      this.#forgotten++
      this.#keyCount -= oldest.keys.length
      this.#floor = oldest.index
    }
    if (this.#forgotten * 2 < this.#changes.length) return
    this.#changes = this.#changes.slice(this.#forgotten)
    this.#forgotten = 0
  }

  /** Whether something read since `start` may have changed; what is being written now counts as changed. */
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
