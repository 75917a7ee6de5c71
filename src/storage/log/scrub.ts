// Goes over all entries of a store, and compares the tree that is kept with the one that they make (rebuilt-tree.ts).
// Each step reads a few entries between two groups of commits. So commits wait for a step at most, and no view of the
// store is held, which would let its journal grow.
//
//   scan ─ steps, by key ─▶ rebuilt tree ◀─ commits      compare ─ by scope ─▶ report, or new pages ─▶ save
//
// A reindex that gives entries new leaves makes the saved tree void first: after a crash the tree is then that of the
// leaves as they are stored, and never one of half of them.
import type { KeyObject } from 'node:crypto'
import type { Ticks } from '../../lib/world.ts'
import type { Backend } from '../backend.ts'
import { mountOfKey } from '../classes.ts'
import type {
  CheckedClass,
  KeyLeaf,
  NamedKeys,
  Reindexed,
  ReindexOptions,
  ScrubProgress,
  StoredEntry,
  TreeClass,
  TreeReport,
  WrongPage,
} from '../contract.ts'
import { compareKeys } from '../key-order.ts'
import { LEAF_BYTES, leafOf, NO_LEAF } from './leaf.ts'
import type { RebuiltTree } from './rebuilt-tree.ts'
import { TREE_CLASSES, type Tree } from './tree.ts'

/** Entries are read up to so many bytes in one step: some milliseconds of hashing. */
const BYTES_PER_STEP = 64 * 1024
/** Leaves that are read in one step, where values are not looked at. */
const LEAVES_PER_STEP = 500
/** Keys that are counted in one step. */
const KEYS_PER_COUNT = 10_000
/** Keys that a report names. */
const MAX_NAMED = 8

/** The tree that is kept, as a scrub works on it. Each verb throws StorageRefused once the leaf key is taken away. */
export type ScrubbedTree = {
  readonly leafKey: KeyObject
  readonly rebuilt: RebuiltTree
  /** The tree as it is now. */
  tree(): Tree
  /** Index of the last commit that both trees have. */
  index(): number
  /** Puts another tree in its place. */
  replace(tree: Tree): void
  /** Makes sure that a start does not use the tree that is saved. */
  voidSave(): Promise<void>
  /** The next save stores the tree whole. */
  saveWhole(): void
  /** Saves now. @throws StorageFull */
  save(): Promise<void>
}

/** What a scrub works with. */
export type ScrubParts = {
  readonly backend: Pick<Backend, 'leaves' | 'stored' | 'countKeys' | 'setLeaves'>
  readonly ticks: Ticks
  /** Runs work between two groups of commits. @throws StorageClosed */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>
  /** Runs what writes. @throws StorageFull, StorageFailed */
  readonly beside: (work: () => Promise<void>) => Promise<void>
  readonly onProgress?: ((progress: ScrubProgress) => void) | undefined
}

/** Counts keys, and keeps the first of them by name. */
class Named {
  #count = 0
  readonly #named: string[] = []

  add(key: string): void {
    this.#count++
    if (this.#named.length < MAX_NAMED) this.#named.push(key)
  }

  get keys(): NamedKeys {
    return { count: this.#count, named: this.#named.slice() }
  }
}

/** One run over the entries of a store. */
export class Scrub {
  readonly #scrubbed: ScrubbedTree
  readonly #parts: ScrubParts
  #entries = 0
  #total = 0
  readonly #wrong = new Named()
  readonly #repaired = new Named()

  constructor(scrubbed: ScrubbedTree, parts: ScrubParts) {
    this.#scrubbed = scrubbed
    this.#parts = parts
  }

  /** Compares, and changes nothing. */
  async check(): Promise<TreeReport> {
    await this.#count()
    await this.#scan(() => this.#values(() => false, false))
    const pages = { replicated: new Map<number, WrongPage>(), local: new Map<number, WrongPage>() }
    const wrongRoots = new Set<TreeClass>()
    await this.#eachScope((storageClass, scope) => {
      const { tree, rebuilt } = this.#scrubbed
      const kept = tree()
      const stale = kept.staleHashes(storageClass, scope)
      if (stale.isScope) wrongRoots.add(storageClass)
      for (const page of stale.pages) addTo(pages[storageClass], page, [], true)
      for (const { page, place } of kept.scopeDifferences(rebuilt.tree, storageClass, scope)) {
        addTo(pages[storageClass], page, [place], false)
      }
    })
    const roots = this.#scrubbed.tree().roots()
    const checked = (storageClass: TreeClass): CheckedClass => ({
      root: roots[storageClass],
      isRootWrong: wrongRoots.has(storageClass),
      wrongPages: [...pages[storageClass].values()].sort((a, b) => a.page - b.page),
    })
    const classes = { replicated: checked('replicated'), local: checked('local') }
    return { index: this.#scrubbed.index(), entries: this.#entries, classes, wrongEntries: this.#wrong.keys }
  }

  /** Makes the tree anew. */
  async reindex({ mode, skipFlush, mayRepair }: ReindexOptions): Promise<Reindexed> {
    await this.#count()
    await this.#scan(() => (mode === 'leaves' ? this.#leaves() : this.#values(mayRepair, true)))
    let buckets = 0
    await this.#eachScope((storageClass, scope) => {
      buckets += this.#takeOver(storageClass, scope)
    })
    if (mode === 'whole') this.#scrubbed.replace(this.#scrubbed.rebuilt.tree)
    this.#scrubbed.saveWhole()
    if (!skipFlush) await this.#flush()
    const { keys: repaired } = this.#repaired
    return { index: this.#scrubbed.index(), entries: this.#entries, buckets, repaired, left: this.#wrong.keys }
  }

  async #flush(): Promise<void> {
    this.#tell('flushing')
    await this.#parts.alone(() => this.#parts.beside(() => this.#scrubbed.save()))
  }

  /** An estimate for the progress: commits go on. */
  async #count(): Promise<void> {
    const { backend, ticks } = this.#parts
    for (let after = ''; ; await ticks.next()) {
      const { count, last } = await this.#parts.alone(() => backend.countKeys(after, KEYS_PER_COUNT))
      this.#total += count
      after = last
      if (count < KEYS_PER_COUNT) return this.#tell('building')
    }
  }

  /** Takes entries, until a step returns undefined: that was all. */
  async #scan(step: () => Promise<string | undefined>): Promise<void> {
    const { alone, ticks } = this.#parts
    const { rebuilt } = this.#scrubbed
    while (rebuilt.upTo !== undefined) {
      await alone(async () => rebuilt.passed(await step()))
      this.#tell('building')
      await ticks.next()
    }
  }

  async #leaves(): Promise<string | undefined> {
    const { rebuilt, tree } = this.#scrubbed
    const leaves = await this.#parts.backend.leaves(rebuilt.upTo ?? '', LEAVES_PER_STEP)
    // Refuses where the key was taken away.
    tree()
    for (const entry of leaves) {
      if (usable(entry.leaf) !== entry.leaf) this.#wrong.add(entry.key)
      rebuilt.take(entry, usable(entry.leaf))
    }
    this.#entries += leaves.length
    return leaves.length < LEAVES_PER_STEP ? undefined : leaves.at(-1)?.key
  }

  /** Looks at the stored bytes, too. With `keepsLeaf` an entry that is not repaired keeps the leaf that it has. */
  async #values(mayRepair: (entry: StoredEntry) => boolean, keepsLeaf: boolean): Promise<string | undefined> {
    const { rebuilt, tree, leafKey } = this.#scrubbed
    const entries = await this.#parts.backend.stored(rebuilt.upTo ?? '', BYTES_PER_STEP)
    tree()
    const repaired: (KeyLeaf & { readonly own: Buffer })[] = []
    for (const entry of entries) {
      const { class: storageClass, key, leaf, value } = entry
      this.#entries++
      if (storageClass === 'ignored') continue
      const own = leafOf(leafKey, storageClass, mountOfKey(key), key, value)
      const stored = { class: storageClass, key, leaf }
      if (own.equals(leaf)) rebuilt.take(stored, own)
      else if (mayRepair(entry)) repaired.push({ ...stored, own })
      else {
        this.#wrong.add(key)
        rebuilt.take(stored, keepsLeaf ? usable(leaf) : own)
      }
    }
    await this.#repair(repaired)
    return entries.at(-1)?.key
  }

  /** Stores new leaves. The tree that is kept had the old ones, if it was right. */
  async #repair(entries: readonly (KeyLeaf & { readonly own: Buffer })[]): Promise<void> {
    if (entries.length === 0) return
    const { backend, beside } = this.#parts
    const { voidSave, rebuilt, tree } = this.#scrubbed
    await beside(async () => {
      await voidSave()
      await backend.setLeaves(entries.map(({ key, own }) => ({ key, leaf: own })))
    })
    for (const { own, ...entry } of entries) {
      rebuilt.exchange(tree(), { ...entry, leaf: usable(entry.leaf) }, own)
      rebuilt.take({ ...entry, leaf: own }, own)
      this.#repaired.add(entry.key)
    }
  }

  /** Commits change both trees alike, so each scope can be looked at for itself. */
  async #eachScope(look: (storageClass: TreeClass, scope: string) => void): Promise<void> {
    const { tree, rebuilt } = this.#scrubbed
    for (const storageClass of TREE_CLASSES) {
      const names = new Set([...tree().scopes(storageClass), ...rebuilt.tree.scopes(storageClass)])
      for (const scope of [...names].sort(compareKeys)) {
        look(storageClass, scope)
        await this.#parts.ticks.next()
      }
    }
    // What was found stands for a tree that is still there.
    tree()
  }

  /** Pages in which the trees differ come from the rebuilt one. Returns the number of buckets. */
  #takeOver(storageClass: TreeClass, scope: string): number {
    const kept = this.#scrubbed.tree()
    const { tree } = this.#scrubbed.rebuilt
    const differences = kept.scopeDifferences(tree, storageClass, scope)
    for (const page of new Set(differences.map((bucket) => bucket.page))) {
      kept.change(tree.page({ class: storageClass, scope, page }))
    }
    kept.forgetHashes(storageClass, scope)
    return differences.length
  }

  #tell(stage: ScrubProgress['stage']): void {
    this.#parts.onProgress?.({ stage, done: this.#entries, total: Math.max(this.#total, this.#entries) })
  }
}

/** The stored leaf, as far as it can be one. */
const usable = (leaf: Buffer): Buffer => (leaf.length === LEAF_BYTES ? leaf : NO_LEAF)

function addTo(pages: Map<number, WrongPage>, page: number, places: readonly number[], isHashWrong: boolean): void {
  const before = pages.get(page)
  const all = new Set([...(before?.places ?? []), ...places])
  pages.set(page, {
    page,
    isHashWrong: isHashWrong || before?.isHashWrong === true,
    places: [...all].sort((a, b) => a - b),
  })
}
