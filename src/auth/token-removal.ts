// Removes tokens with everything that depends on them. The first commit ends the token and all its descendants, because
// a token whose parent is missing is dead. The rest is tidying up, in pages of bounded size. Unfinished work is noted
// in storage, so that a stop in between leaves nothing behind for ever.
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { decodeTokenEntry, encodeTokenEntry, type TokenEntry } from './token-entry.ts'
import { GONE_FOLDER, goneKey, idKey, indexKeys, PARENT_FOLDER, parentKey } from './token-keys.ts'

/**
 * Removes, in the transaction, what belongs to a token; paths are relative to root/sys/. Must write a bounded amount:
 * returns false if more is left, and is then called again in another transaction.
 */
export type Belongings = (tx: ViewTransaction, tokenId: string) => Promise<boolean>

/** Tokens removed in one transaction: enough to share its sync, few enough that other writes run in between. */
const TOKENS_PAGE = 64
/**
 * A transaction that has made this many writes takes no further token. The last one may add writes for CHILDREN_PAGE
 * children.
 */
const MOST_WRITES = 600
const WRITES_PER_TOKEN = 6
const WRITES_PER_CHILD = 2
const CHILDREN_PAGE = 100
const NOTHING = Buffer.alloc(0)

/**
 * Removes tokens, for revocation, expiry and tidying. Every path ends here, so a token never leaves its children or
 * belongings.
 */
export class TokenRemoval {
  readonly #view: View
  readonly #accessorKey: (entry: TokenEntry) => string
  readonly #belongings: Belongings[] = []

  /** `view` is the folder root/sys/. */
  constructor(view: View, accessorKey: (entry: TokenEntry) => string) {
    this.#view = view
    this.#accessorKey = accessorKey
  }

  /** Adds to what is removed with each token. Called while the server is put together. */
  addBelongings(belongings: Belongings): void {
    this.#belongings.push(belongings)
  }

  /** Removes tokens and all their descendants; resolves when they are gone. Unknown ids are no error. */
  async removeAll(ids: readonly string[]): Promise<void> {
    const named = new Set(ids)
    const pending = [...named]
    const below: string[] = []
    // All named tokens are dead after the first commits, even if something below one of them cannot be removed.
    while (pending.length > 0) {
      const page = pending.splice(-TOKENS_PAGE)
      for (const id of await this.#view.transaction((tx) => this.removeSome(tx, page)))
        (named.has(id) ? pending : below).push(id)
    }
    while (below.length > 0) {
      const page = below.splice(-TOKENS_PAGE)
      below.push(...(await this.#view.transaction((tx) => this.#removeLines(tx, page))))
    }
  }

  /**
   * Like `removeSome`, but goes on with the descendants: otherwise a line of many generations would cost a commit for
   * each.
   */
  async #removeLines(tx: ViewTransaction, ids: readonly string[]): Promise<readonly string[]> {
    const unfinished: string[] = []
    const pending = [...ids]
    let writes = 0
    for (let removed = 0; removed < TOKENS_PAGE && writes < MOST_WRITES; removed++) {
      const id = pending.pop()
      if (id === undefined) break
      const next = await this.remove(tx, id)
      writes += WRITES_PER_TOKEN + WRITES_PER_CHILD * next.length
      // The rest of the token itself needs another transaction.
      for (const each of next) (each === id ? unfinished : pending).push(each)
    }
    return [...unfinished, ...pending]
  }

  /**
   * Removes as many tokens as one transaction should. Returns those that still are to be removed, children among them.
   */
  async removeSome(tx: ViewTransaction, ids: readonly string[]): Promise<readonly string[]> {
    const left: string[] = []
    let writes = 0
    for (const [at, id] of ids.entries()) {
      if (writes >= MOST_WRITES) return [...left, ...ids.slice(at)]
      const next = await this.remove(tx, id)
      writes += WRITES_PER_TOKEN + WRITES_PER_CHILD * next.length
      left.push(...next)
    }
    return left
  }

  /** Lists tokens whose removal began and did not end: after `after`, at most `limit`. */
  begun(after: string, limit: number): Promise<string[]> {
    return this.#view.list(GONE_FOLDER, { after, limit })
  }

  /**
   * Removes one token. Returns those that still are to be removed: its children, and itself if it has more of them or
   * belongings.
   */
  async remove(tx: ViewTransaction, id: string): Promise<readonly string[]> {
    const bytes = await tx.get(idKey(id))
    if (bytes !== undefined) this.#dropEntry(tx, id, decodeTokenEntry(bytes))
    const children = await tx.list(`${PARENT_FOLDER}${id}/`, { limit: CHILDREN_PAGE })
    for (const child of children) {
      tx.delete(parentKey(id, child))
      tx.put(goneKey(child), NOTHING)
    }
    let isDone = children.length < CHILDREN_PAGE
    for (const belongings of this.#belongings) if (!(await belongings(tx, id))) isDone = false
    if (isDone) {
      tx.delete(goneKey(id))
      return children
    }
    tx.put(goneKey(id), NOTHING)
    return [...children, id]
  }

  #dropEntry(tx: ViewTransaction, id: string, entry: TokenEntry): void {
    tx.delete(idKey(id))
    tx.delete(this.#accessorKey(entry))
    for (const key of indexKeys(id, entry)) tx.delete(key)
  }

  /**
   * Removes the token alone; its children become orphans. Many children become so page by page, before the token goes.
   */
  async removeOrphaning(id: string): Promise<void> {
    for (let more = true; more; ) {
      more = await this.#view.transaction(async (tx) => {
        const children = await tx.list(`${PARENT_FOLDER}${id}/`, { limit: CHILDREN_PAGE })
        for (const child of children) await this.#orphan(tx, id, child)
        if (children.length === CHILDREN_PAGE) return true
        const left = await this.remove(tx, id)
        return left.length > 0
      })
    }
  }

  async #orphan(tx: ViewTransaction, parent: string, child: string): Promise<void> {
    tx.delete(parentKey(parent, child))
    const bytes = await tx.get(idKey(child))
    if (bytes === undefined) return
    tx.put(idKey(child), encodeTokenEntry({ ...decodeTokenEntry(bytes), parent: '' }))
  }
}
