// What a transaction has read. A later commit that would have changed one of the answers makes the transaction lose.
// Ranges are remembered, not only keys: an entry that appears where a list or scan looked changes the answer too.
import { compareKeys } from '../key-order.ts'

/** A key that a commit changed. `appears` is true if its entry came or went, so that a list of names may differ. */
export type TouchedKey = { readonly key: string; readonly appears: boolean }

/** A part of the keys that was read: all below `prefix` that sort after `after`, up to and including `last`. */
type Range = {
  readonly prefix: string
  readonly after: string
  readonly last: string | undefined
  readonly namesOnly: boolean
}

/** The reads of one transaction. It may name more than was read, never less: that costs a retry at worst. */
export class ReadSet {
  readonly #keys = new Set<string>()
  readonly #ranges: Range[] = []

  addKey(key: string): void {
    this.#keys.add(key)
  }

  /** Remembers a list of names. A page counts as the whole list, wherever it began and ended. */
  addNames(prefix: string): void {
    this.#ranges.push({ prefix, after: '', last: undefined, namesOnly: true })
  }

  /** Remembers a scan: entries after `after`, up to and including `last`, or up to the end of the prefix without it. */
  addEntries(prefix: string, after: string, last: string | undefined): void {
    this.#ranges.push({ prefix, after, last, namesOnly: false })
  }

  /** True if the change of this key may have changed something that was read. */
  isTouchedBy({ key, appears }: TouchedKey): boolean {
    if (this.#keys.has(key)) return true
    return this.#ranges.some(({ prefix, after, last, namesOnly }) => {
      if (namesOnly) return appears && key.startsWith(prefix)
      if (!key.startsWith(prefix) || compareKeys(key, after) <= 0) return false
      return last === undefined || compareKeys(key, last) <= 0
    })
  }
}
