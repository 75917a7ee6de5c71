// Keeps the tree of a store up to date from its commits, and saves it now and then. So a start reads its pages and the
// records after them instead of every entry. The tree exists while the leaf key does; saved pages need no key.
//
//   setLeafKey ─▶ saved tree of this log? ─ yes ─▶ its pages  ─┐
//                                         └ no ──▶ all leaves ─┴▶ records up to the last commit ─▶ ready ─▶ commits
import type { KeyObject } from 'node:crypto'
import type { Clock, Ticks } from '../../lib/world.ts'
import type { Backend, SavedTree } from '../backend.ts'
import type { BucketRow, Change, KeyLeaf, TreeRoots } from '../contract.ts'
import { Sealed, StorageCorrupt, StorageError, StorageFull, StorageRefused } from '../errors.ts'
import type { Position } from '../peer-log.ts'
import { BucketIndex } from './bucket-index.ts'
import { decodeRun } from './change-record.ts'
import type { TreeImage } from './keys-in-buckets.ts'
import type { LogKeeper } from './log-keeper.ts'
import { RebuiltTree } from './rebuilt-tree.ts'
import type { ScrubbedTree } from './scrub.ts'
import { bucketKeyOf, faultOfPage, TREE_VERSION, Tree } from './tree.ts'

/** Records between two saves, so about as many as a start replays, unless the process was killed during a save. */
export const RECORDS_PER_CHECKPOINT = 20_000
/** A save is also due this long after the last one, if something was written. */
const MS_PER_CHECKPOINT = 30_000
/** Stands for a saved tree that is not to be used. */
const NO_VERSION = 0
/** Records and leaves read in one tick, so that requests come in between. */
const RECORDS_PER_STEP = 256
const LEAVES_PER_STEP = 1_000

/** One tree, from the moment its key is set until the key is taken away. */
type Kept = {
  readonly leafKey: KeyObject
  readonly bucketKey: KeyObject
  tree: Tree
  readonly buckets: BucketIndex
  /** Index and chain of the last record that is in the tree. */
  index: number
  chain: Buffer
  /** True once the tree has caught up with the commits: from then on they go straight into it. */
  isReady: boolean
  /** True once the key was taken away or the store closed: loading stops at its next step. */
  isDropped: boolean
  /** True if the saved pages are not an earlier state of this tree, so the next save writes all of them. */
  isNew: boolean
  savedIndex: number
  savedAtMs: number
  /** True if a start would not use what is saved. */
  isSaveVoid: boolean
  /** True if the tree was made anew since the last save. */
  isMended: boolean
  /** The tree that a scrub makes beside this one. */
  rebuilt: RebuiltTree | undefined
  loading: Promise<void>
}

/** What the tree needs of its store. `log` hears of each save, and is shortened behind it. */
export type TreeKeeperParts = {
  readonly backend: Backend
  readonly clock: Clock
  readonly ticks: Ticks
  readonly log: LogKeeper
  /** Index of the last published commit. */
  readonly committedIndex: () => number
}

/** The tree of one open store. Only the writing thread has one. */
export class TreeKeeper {
  readonly #backend: Backend
  readonly #clock: Clock
  readonly #ticks: Ticks
  readonly #log: LogKeeper
  readonly #committedIndex: () => number
  #kept: Kept | undefined

  constructor({ backend, clock, ticks, log, committedIndex }: TreeKeeperParts) {
    this.#backend = backend
    this.#clock = clock
    this.#ticks = ticks
    this.#log = log
    this.#committedIndex = committedIndex
  }

  /** Begins to load the tree; undefined drops it. Commits go on meanwhile; `tree` and `roots` wait for the end. */
  setLeafKey(leafKey: KeyObject | undefined): void {
    if (this.#kept !== undefined) this.#kept.isDropped = true
    if (leafKey === undefined) {
      this.#kept = undefined
      return
    }
    const kept: Kept = {
      leafKey,
      bucketKey: bucketKeyOf(leafKey),
      tree: new Tree(),
      buckets: new BucketIndex(this.#backend),
      index: 0,
      chain: Buffer.alloc(0),
      isReady: false,
      isDropped: false,
      isNew: true,
      savedIndex: 0,
      savedAtMs: this.#clock.monotonicMs(),
      isSaveVoid: false,
      isMended: false,
      rebuilt: undefined,
      loading: Promise.resolve(),
    }
    kept.loading = this.#load(kept)
    // `tree` and `roots` throw what failed here. Until then the rejection is unhandled, which would end the process.
    kept.loading.catch(() => {})
    this.#kept = kept
  }

  /** Takes a durable commit; called in order. While the tree is being loaded, commits are read from the log instead. */
  committed(change: Change): void {
    const kept = this.#kept
    if (kept?.isReady !== true || change.index <= kept.index) return
    take(kept, change)
    kept.rebuilt?.committed(change.operations)
  }

  /** Runs a scrub, one at a time. @throws StorageRefused, and what `work` throws */
  async scrub<T>(work: (scrubbed: ScrubbedTree) => Promise<T>): Promise<T> {
    const kept = await this.#ready()
    if (kept.rebuilt !== undefined) throw new StorageRefused('The tree is being checked or made anew already')
    const rebuilt = new RebuiltTree(kept.bucketKey)
    kept.rebuilt = rebuilt
    try {
      return await work(this.#scrubbed(kept, rebuilt))
    } finally {
      kept.rebuilt = undefined
    }
  }

  #scrubbed(kept: Kept, rebuilt: RebuiltTree): ScrubbedTree {
    const present = (): Kept => {
      if (kept !== this.#kept || kept.isDropped) throw new Sealed('The leaf key was taken away meanwhile')
      return kept
    }
    return {
      leafKey: kept.leafKey,
      rebuilt,
      tree: () => present().tree,
      index: () => present().index,
      replace: (tree) => {
        present().tree = tree
        // Commits would change the one tree twice.
        kept.rebuilt = new RebuiltTree(kept.bucketKey)
      },
      voidSave: () => this.#voidSave(present()),
      saveWhole: () => {
        Object.assign(present(), { isNew: true, isMended: true })
      },
      save: () => this.#save(present()),
    }
  }

  async #voidSave(kept: Kept): Promise<void> {
    if (kept.isSaveVoid) return
    const { index, chain } = kept
    kept.isNew = true
    const savedAtMs = Math.floor(this.#clock.nowMs())
    const save = { index, chain, version: NO_VERSION, pages: [], isWhole: false, savedAtMs }
    this.#log.saved(await this.#backend.saveTree(save))
    Object.assign(kept, { isSaveVoid: true, savedIndex: index })
  }

  /** What the next commit is to write beside its changes (bucket-index.ts). */
  get buckets(): Pick<BucketIndex, 'due' | 'stored'> | undefined {
    return this.#kept?.buckets
  }

  /**
   * Runs between two commits: saves the tree and shortens the log when that is due.
   * @throws what the backend throws, but for StorageFull
   */
  async rest(): Promise<void> {
    const kept = this.#kept
    if (kept?.isReady !== true) return
    const isDue =
      kept.index - kept.savedIndex >= RECORDS_PER_CHECKPOINT ||
      (hasNews(kept) && this.#clock.monotonicMs() - kept.savedAtMs >= MS_PER_CHECKPOINT)
    try {
      if (isDue) await this.#save(kept)
      await this.#log.shorten(kept.index)
    } catch (error) {
      // A full device refuses commits by itself. What is derived waits until there is space.
      if (!(error instanceof StorageFull)) throw error
      kept.isNew = true
    }
  }

  /** Resolves when the tree is there. Throws as `tree` does. */
  async loaded(): Promise<void> {
    await this.#ready()
  }

  /**
   * A copy of the tree, and what leads from its buckets to keys.
   * @throws StorageRefused while there is no leaf key, and what kept the tree from being loaded
   */
  async tree(): Promise<TreeImage & { readonly index: number }> {
    const { index, tree, bucketKey, buckets } = await this.#ready()
    const missed = (row: BucketRow): void => buckets.add(row)
    return { index, tree: tree.copy(), bucketKey, recent: buckets.recent(), missed, ticks: this.#ticks }
  }

  /** The roots of the tree, without copying it. Throws as `tree` does. */
  async roots(isWanted?: (scope: string) => boolean): Promise<TreeRoots & { readonly index: number }> {
    const { index, tree } = await this.#ready()
    return { index, ...tree.roots(isWanted) }
  }

  /** Names of the scopes that have replicated entries. Throws as `tree` does. */
  async scopes(): Promise<readonly string[]> {
    const { tree } = await this.#ready()
    return tree.scopes('replicated')
  }

  /** The roots, unless the tree would have to be waited for: it is being loaded, or there is no leaf key. */
  rootsNow(): (TreeRoots & { readonly index: number }) | undefined {
    const kept = this.#kept
    return kept?.isReady === true ? { index: kept.index, ...kept.tree.roots() } : undefined
  }

  /** Saves the tree as of now. Called between two commits. Throws as `tree` does, and what the backend throws. */
  async save(): Promise<void> {
    await this.#save(await this.#ready())
  }

  /** Saves the unsaved part. The tree is derived, so a failure of storage here loses nothing and is dropped. */
  async close(): Promise<void> {
    const kept = this.#kept
    this.#kept = undefined
    if (kept === undefined) return
    if (!kept.isReady) kept.isDropped = true
    await kept.loading.catch(() => {})
    try {
      if (kept.isReady && hasNews(kept)) await this.#save(kept)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
    }
  }

  async #ready(): Promise<Kept> {
    const kept = this.#kept
    if (kept === undefined) throw new Sealed('The tree is kept only while the leaf key is set')
    await kept.loading
    if (kept.isDropped) throw new Sealed('The leaf key was taken away while the tree was read')
    return kept
  }

  async #load(kept: Kept): Promise<void> {
    await this.#ticks.next()
    const position = await this.#backend.position()
    const saved = await this.#usableSave(position)
    if (saved === undefined) await this.#rebuild(kept)
    else {
      for (const page of saved.pages) kept.tree.load(page)
      Object.assign(kept, { index: saved.index, chain: saved.chain, isNew: false, savedIndex: saved.index })
    }
    const isBehind = () => !kept.isDropped && kept.index < this.#committedIndex()
    // Nothing is awaited between the last look at the index and `isReady`: a commit in between would be lost.
    for (let seen = this.#committedIndex(); isBehind(); ) {
      const last = this.#committedIndex()
      // What came during the last step, and more: commits that come as fast would never be caught up with. The bound is
      // for a new history, where indexes jump.
      await this.#replay(kept, RECORDS_PER_STEP + Math.min(last - seen, RECORDS_PER_CHECKPOINT))
      seen = last
      // Not behind the last step: the next commits would come in between.
      if (isBehind()) await this.#ticks.next()
    }
    kept.isReady = !kept.isDropped
  }

  /** The saved tree, if it is sound, of our scopes and of this very log: that has its chain at its index. */
  async #usableSave(position: Position): Promise<SavedTree | undefined> {
    const saved = await this.#backend.savedTree()
    if (saved?.version !== TREE_VERSION || saved.pages.some((page) => faultOfPage(page) !== undefined)) return undefined
    return (await this.#chainAt(saved.index, position))?.equals(saved.chain) === true ? saved : undefined
  }

  async #chainAt(index: number, position: Position): Promise<Buffer | undefined> {
    if (index === position.index) return position.chain
    if (index === 0) return position.historyId
    // Indexes jump: what stands behind the one before may be another.
    const [record] = decodeRun((await this.#backend.records(index - 1, 1)) ?? [])
    return record?.index === index ? record.chain : undefined
  }

  /** Builds the tree from the leaves that are stored with the entries. */
  async #rebuild(kept: Kept): Promise<void> {
    await kept.buckets.clear()
    const snapshot = await this.#backend.snapshot()
    try {
      let after = ''
      while (!kept.isDropped) {
        const leaves = await snapshot.leaves(after, LEAVES_PER_STEP)
        const add = ({ class: of, key, leaf }: KeyLeaf) => ({
          key,
          bucket: kept.tree.add(of, key, leaf, kept.bucketKey),
        })
        await kept.buckets.fill(leaves.map(add))
        after = leaves.at(-1)?.key ?? ''
        if (leaves.length < LEAVES_PER_STEP) break
        await this.#ticks.next()
      }
      kept.index = snapshot.index
      kept.chain = (await this.#chainAt(snapshot.index, await this.#backend.position())) ?? kept.chain
    } finally {
      await snapshot.close()
    }
  }

  async #replay(kept: Kept, limit: number): Promise<void> {
    const records = await this.#backend.records(kept.index, limit)
    if (records === undefined || records.length === 0) {
      throw new StorageCorrupt(`The log lacks the records behind ${kept.index}, which the tree needs`)
    }
    for (const change of decodeRun(records)) take(kept, change)
  }

  async #save(kept: Kept): Promise<void> {
    const { index, chain, isNew } = kept
    const changed = kept.tree.takeChangedPages()
    const pages = isNew ? kept.tree.pages() : changed
    const savedAtMs = Math.floor(this.#clock.nowMs())
    // Until this save is known to have worked, the next one writes all pages.
    kept.isNew = true
    // A start with this tree hears only of keys that came later.
    await kept.buckets.store()
    const checkpoint = await this.#backend.saveTree({
      index,
      chain,
      version: TREE_VERSION,
      pages,
      isWhole: isNew,
      savedAtMs,
    })
    Object.assign(kept, {
      isNew: false,
      isSaveVoid: false,
      isMended: false,
      savedIndex: index,
      savedAtMs: this.#clock.monotonicMs(),
    })
    this.#log.saved(checkpoint)
  }
}

/** Something is to be saved. */
const hasNews = (kept: Kept): boolean => kept.index > kept.savedIndex || kept.isSaveVoid || kept.isMended

function take(kept: Kept, change: Change): void {
  const { buckets } = kept
  kept.tree.apply(change.operations, kept.bucketKey, (key, bucket, isThere) => {
    if (isThere) buckets.add({ key, bucket })
    else buckets.remove(key)
  })
  kept.index = change.index
  kept.chain = change.chain
}
