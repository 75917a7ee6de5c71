// Keeps the tree of a store up to date from its commits, and saves it now and then, so that a start reads pages and the
// records behind them instead of every entry. The tree is there while the leaf key is; what is saved needs no key.
import type { KeyObject } from 'node:crypto'
import { setImmediate as nextLoop } from 'node:timers/promises'
import type { Clock } from '../../lib/world.ts'
import type { Backend, Checkpoint, SavedTree } from '../backend.ts'
import type { Position } from '../contract.ts'
import { type Change, StorageCorrupt, StorageError, StorageFull, StorageRefused, type TreeRoots } from '../contract.ts'
import { decodeRun } from './change-record.ts'
import { DEFAULT_RETENTION, forgettableIndex, keptCheckpoints, type Retention } from './retention.ts'
import { bucketKeyOf, faultOfPage, Tree } from './tree.ts'

/** Of which a start reads at most so many again, unless the process was killed while it saved. */
export const RECORDS_PER_CHECKPOINT = 20_000
const MS_PER_CHECKPOINT = 30_000
/** Read in one step; other work comes in between. */
const RECORDS_PER_STEP = 256
const LEAVES_PER_STEP = 1_000
/** Removed from the log in one step, each behind a commit. */
const RECORDS_FORGOTTEN_PER_STEP = 1_000

/** One tree, from the moment the key is there until it goes. */
type Kept = {
  readonly bucketKey: KeyObject
  tree: Tree
  /** Of the last record that is in the tree. */
  index: number
  chain: Buffer
  isReady: boolean
  isDropped: boolean
  /** What is saved is not an earlier state of this tree. */
  isNew: boolean
  savedIndex: number
  savedAtMs: number
  loading: Promise<void>
}

export type TreeKeeperOptions = { readonly clock: Clock; readonly retention?: Retention }

export class TreeKeeper {
  readonly #backend: Backend
  readonly #clock: Clock
  readonly #retention: Retention
  /** Of the last commit that was published. */
  readonly #committedIndex: () => number
  #kept: Kept | undefined
  #checkpoints: Checkpoint[] | undefined
  /** The index from which on it is looked again whether records can go. */
  #lookAgainAt = 0

  constructor(backend: Backend, { clock, retention = DEFAULT_RETENTION }: TreeKeeperOptions, committed: () => number) {
    this.#backend = backend
    this.#clock = clock
    this.#retention = retention
    this.#committedIndex = committed
  }

  setLeafKey(leafKey: KeyObject | undefined): void {
    if (this.#kept !== undefined) this.#kept.isDropped = true
    if (leafKey === undefined) {
      this.#kept = undefined
      return
    }
    const kept: Kept = {
      bucketKey: bucketKeyOf(leafKey),
      tree: new Tree(),
      index: 0,
      chain: Buffer.alloc(0),
      isReady: false,
      isDropped: false,
      isNew: true,
      savedIndex: 0,
      savedAtMs: this.#clock.monotonicMs(),
      loading: Promise.resolve(),
    }
    kept.loading = this.#load(kept)
    // Whoever asks for the tree is told; until then nobody waits.
    kept.loading.catch(() => {})
    this.#kept = kept
  }

  /** A commit, in order. While the tree is being loaded it is read from the log instead. */
  committed(change: Change): void {
    const kept = this.#kept
    if (kept?.isReady === true && change.index > kept.index) take(kept, change)
  }

  /** Between two commits: saves the tree and shortens the log where it is time. Throws what the backend throws. */
  async rest(): Promise<void> {
    const kept = this.#kept
    if (kept?.isReady !== true) return
    const isDue =
      kept.index - kept.savedIndex >= RECORDS_PER_CHECKPOINT ||
      (kept.index > kept.savedIndex && this.#clock.monotonicMs() - kept.savedAtMs >= MS_PER_CHECKPOINT)
    try {
      if (isDue) await this.#save(kept)
      if (kept.index >= this.#lookAgainAt) await this.#shorten(kept.index)
    } catch (error) {
      // Commits are told so themselves; what is derived waits until there is space.
      if (!(error instanceof StorageFull)) throw error
      kept.isNew = true
    }
  }

  /** @throws StorageRefused while there is no leaf key; what kept the tree from being loaded */
  async tree(): Promise<{ readonly index: number; readonly tree: Tree }> {
    const { index, tree } = await this.#ready()
    return { index, tree: tree.copy() }
  }

  /** As `tree`, without copying it. */
  async roots(): Promise<TreeRoots & { readonly index: number }> {
    const { index, tree } = await this.#ready()
    return { index, ...tree.roots() }
  }

  /** Saves what is not saved yet. The tree is derived, so a failure here loses nothing. */
  async close(): Promise<void> {
    const kept = this.#kept
    this.#kept = undefined
    if (kept === undefined) return
    if (!kept.isReady) kept.isDropped = true
    await kept.loading.catch(() => {})
    try {
      if (kept.isReady && kept.index > kept.savedIndex) await this.#save(kept)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
    }
  }

  async #ready(): Promise<Kept> {
    const kept = this.#kept
    if (kept === undefined) throw new StorageRefused('The tree is kept only while the leaf key is set')
    await kept.loading
    if (kept.isDropped) throw new StorageRefused('The leaf key was taken away while the tree was read')
    return kept
  }

  async #load(kept: Kept): Promise<void> {
    await nextLoop()
    const position = await this.#backend.position()
    const saved = await this.#usableSave(position)
    if (saved === undefined) await this.#rebuild(kept)
    else {
      for (const page of saved.pages) kept.tree.load(page)
      Object.assign(kept, { index: saved.index, chain: saved.chain, isNew: false, savedIndex: saved.index })
    }
    // Ready at once when nothing is left to read: no commit may come in between.
    while (!kept.isDropped && kept.index < this.#committedIndex()) await this.#replay(kept)
    kept.isReady = !kept.isDropped
  }

  /** What was saved of this very log, and from where the log still goes on. */
  async #usableSave(position: Position): Promise<SavedTree | undefined> {
    const saved = await this.#backend.savedTree()
    if (saved === undefined || saved.pages.some((page) => faultOfPage(page) !== undefined)) return undefined
    return (await this.#chainAt(saved.index, position))?.equals(saved.chain) === true ? saved : undefined
  }

  async #chainAt(index: number, position: Position): Promise<Buffer | undefined> {
    if (index === position.index) return position.chain
    if (index === 0) return position.historyId
    const [record] = decodeRun((await this.#backend.records(index - 1, 1)) ?? [])
    return record?.chain
  }

  /** From the leaves that are stored with the entries. */
  async #rebuild(kept: Kept): Promise<void> {
    const snapshot = await this.#backend.snapshot()
    try {
      let after = ''
      while (!kept.isDropped) {
        const leaves = await snapshot.leaves(after, LEAVES_PER_STEP)
        for (const { class: storageClass, key, leaf } of leaves) kept.tree.add(storageClass, key, leaf, kept.bucketKey)
        after = leaves.at(-1)?.key ?? ''
        if (leaves.length < LEAVES_PER_STEP) break
        await nextLoop()
      }
      kept.index = snapshot.index
      kept.chain = (await this.#chainAt(snapshot.index, await this.#backend.position())) ?? kept.chain
    } finally {
      await snapshot.close()
    }
  }

  async #replay(kept: Kept): Promise<void> {
    const records = await this.#backend.records(kept.index, RECORDS_PER_STEP)
    if (records === undefined || records.length === 0) {
      throw new StorageCorrupt(`The log lacks the records behind ${kept.index}, which the tree needs`)
    }
    for (const change of decodeRun(records)) take(kept, change)
    await nextLoop()
  }

  async #save(kept: Kept): Promise<void> {
    const { index, chain, isNew } = kept
    const changed = kept.tree.takeChangedPages()
    const pages = isNew ? kept.tree.pages() : changed
    const savedAtMs = Math.floor(this.#clock.nowMs())
    // Until it is known to have worked, the next one saves all of it.
    kept.isNew = true
    const checkpoint = await this.#backend.saveTree({ index, chain, pages, isWhole: isNew, savedAtMs })
    Object.assign(kept, { isNew: false, savedIndex: index, savedAtMs: this.#clock.monotonicMs() })
    this.#checkpoints?.push(checkpoint)
  }

  async #shorten(lastIndex: number): Promise<void> {
    this.#checkpoints ??= await this.#backend.checkpoints()
    const upTo = forgettableIndex(this.#checkpoints, lastIndex, this.#clock.nowMs(), this.#retention)
    if (upTo > 0) await this.#backend.forgetRecords(upTo, RECORDS_FORGOTTEN_PER_STEP)
    const first = await this.#backend.firstIndex()
    this.#checkpoints = keptCheckpoints(this.#checkpoints, first)
    this.#lookAgainAt = first <= upTo ? 0 : lastIndex + RECORDS_FORGOTTEN_PER_STEP
  }
}

function take(kept: Kept, change: Change): void {
  kept.tree.apply(change.operations, kept.bucketKey)
  kept.index = change.index
  kept.chain = change.chain
}
