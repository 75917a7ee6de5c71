// What a transaction has read: a later commit that would have changed one of the answers makes it lose.
import { compareKeys } from '../key-order.ts'

/** A key that a commit changed; `appears` where it came or went, so that a list of names may differ. */
export type TouchedKey = { readonly key: string; readonly appears: boolean }

type Range = {
  readonly prefix: string
  readonly after: string
  readonly last: string | undefined
  readonly namesOnly: boolean
}

export class ReadSet {
  readonly #keys = new Set<string>()
  readonly #ranges: Range[] = []

  addKey(key: string): void {
    this.#keys.add(key)
  }

  addNames(prefix: string): void {
    this.#ranges.push({ prefix, after: '', last: undefined, namesOnly: true })
  }

  /** The entries behind `after`, up to and including `last`; without it, up to the end of the prefix. */
  addEntries(prefix: string, after: string, last: string | undefined): void {
    this.#ranges.push({ prefix, after, last, namesOnly: false })
  }

  isTouchedBy({ key, appears }: TouchedKey): boolean {
    if (this.#keys.has(key)) return true
    return this.#ranges.some(({ prefix, after, last, namesOnly }) => {
      if (namesOnly) return appears && key.startsWith(prefix)
      if (!key.startsWith(prefix) || compareKeys(key, after) <= 0) return false
      return last === undefined || compareKeys(key, last) <= 0
    })
  }
}
