// A second tree, made of all entries in key order while commits go on. They change what was taken already; what was
// not is taken as they leave it. So at its end it is as of the last commit, and no view of the store was held for it.
import type { KeyObject } from 'node:crypto'
import type { ChangeOperation, KeyLeaf } from '../contract.ts'
import { compareKeys } from '../key-order.ts'
import { NO_LEAF } from './leaf.ts'
import { Tree } from './tree.ts'

/** The tree of entries up to some key. Between the reading of entries and `take` nothing may be committed. */
export class RebuiltTree {
  readonly tree = new Tree()
  readonly #bucketKey: KeyObject
  /** All keys up to this one were taken; undefined: all. */
  #upTo: string | undefined = ''
  /** Entries that have another leaf here than the one that is stored, and that the next change of them will name. */
  readonly #others = new Map<string, Buffer>()

  constructor(bucketKey: KeyObject) {
    this.#bucketKey = bucketKey
  }

  /** The key behind which entries are to be taken; undefined if all were. */
  get upTo(): string | undefined {
    return this.#upTo
  }

  /** Takes an entry with this leaf, whatever is stored as its leaf. An empty one stands for none. */
  take({ class: storageClass, key, leaf: stored }: KeyLeaf, leaf: Buffer): void {
    if (leaf.length > 0) this.tree.add(storageClass, key, leaf, this.#bucketKey)
    if (!leaf.equals(stored)) this.#others.set(key, leaf)
  }

  /** Gives an entry another leaf in a tree that may have had the stored one. */
  exchange(tree: Tree, { class: storageClass, key, leaf }: KeyLeaf, by: Buffer): void {
    if (leaf.length > 0) tree.add(storageClass, key, leaf, this.#bucketKey)
    tree.add(storageClass, key, by, this.#bucketKey)
  }

  /** All entries up to this key were taken, or all there are. */
  passed(upTo: string | undefined): void {
    this.#upTo = upTo
  }

  /** Takes a commit. */
  committed(operations: readonly ChangeOperation[]): void {
    const taken = operations.filter(({ key }) => this.#upTo === undefined || compareKeys(key, this.#upTo) <= 0)
    const own = taken.map((operation) => {
      const other = this.#others.get(operation.key)
      if (other === undefined) return operation
      this.#others.delete(operation.key)
      return { ...operation, oldLeaf: other.length === 0 ? NO_LEAF : other }
    })
    this.tree.apply(own, this.#bucketKey)
  }
}
