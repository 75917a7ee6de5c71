// What a store in memory holds, and how each write alters it. No write waits, so none is ever seen in part. The backend
// in memory reads and writes one of these; the simulated disk (test/simulator) keeps one that its crashes cut off.
import { strict as assert } from 'node:assert'
import type { BucketStep, Checkpoint, SavedTree, TreeSave } from './backend.ts'
import type { BucketRow, ChangeOperation, EntryHead, KeyLeaf, LogRecord, StoredEntry, TreePage } from './contract.ts'
import { compareKeys } from './key-order.ts'
import { type EncodedChange, NO_ORIGINS } from './log/change-record.ts'
import { withHistory } from './log/histories.ts'
import { laterOrigins, movedOn, moveOf } from './log/move.ts'
import { keptCheckpoints } from './log/retention.ts'
import type { History, LogHold, Origin, Position } from './peer-log.ts'

type KeptEntry = EntryHead & { readonly value: Buffer }

/** Entries by key, and their keys in order. No entry is changed in place, so copying both tables copies everything. */
export class Entries {
  readonly byKey: Map<string, KeptEntry>
  readonly keys: string[]

  constructor(byKey = new Map<string, KeptEntry>(), keys: string[] = []) {
    this.byKey = byKey
    this.keys = keys
  }

  copy(): Entries {
    return new Entries(new Map(this.byKey), this.keys.slice())
  }

  apply({ kind, class: storageClass, key, newLeaf, value }: ChangeOperation): void {
    if (kind === 'put') this.set(key, { class: storageClass, leaf: Buffer.from(newLeaf), value: Buffer.from(value) })
    else assert(this.remove(key), 'a delete is logged only where there is an entry')
  }

  set(key: string, entry: KeptEntry): void {
    if (!this.byKey.has(key)) this.keys.splice(this.#position(key), 0, key)
    this.byKey.set(key, entry)
  }

  /** False if there was no such entry. */
  remove(key: string): boolean {
    if (!this.byKey.delete(key)) return false
    this.keys.splice(this.#position(key), 1)
    return true
  }

  keysBetween(from: string, end: string | undefined, limit: number): string[] {
    const start = this.#position(from)
    const stop = end === undefined ? this.keys.length : this.#position(end)
    return this.keys.slice(start, Math.min(stop, start + limit))
  }

  /** Position at which `key` is or would be inserted, by binary search. */
  #position(key: string): number {
    let low = 0
    let high = this.keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(this.keys[middle] ?? '', key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The pages of a saved tree, by class, scope and number. */
type KeptTree = Omit<SavedTree, 'pages'> & { readonly pages: ReadonlyMap<string, TreePage> }

/** Where a store without a log begins: the last of the histories is its present one. */
type Beginning = { readonly index: number; readonly histories: readonly History[] }

/** The whole content of one store. Only the verbs alter it. What its members lead to is never changed in place. */
export class MemoryTables {
  entries = new Entries()
  position: Position
  histories: readonly History[]
  log: LogRecord[] = []
  tree: KeptTree | undefined
  checkpoints: Checkpoint[] = []
  holds: readonly LogHold[] = []
  buckets: readonly BucketRow[] = []
  /** True if a snapshot looks at the same entries: the next append copies them first. */
  #isShared = false

  constructor({ index, histories }: Beginning, entries: readonly StoredEntry[] = []) {
    const present = histories.at(-1) ?? assert.fail('a store has a history')
    const at = { index, lastReplicatedIndex: index, lastLocalIndex: index, origins: NO_ORIGINS }
    this.position = { ...at, chain: present.id, epoch: present.epoch, historyId: present.id }
    this.histories = histories
    for (const { key, ...entry } of entries) this.entries.set(key, entry)
  }

  /** A copy that later writes to either do not alter in the other. */
  copy(): MemoryTables {
    const copy = new MemoryTables({ index: 0, histories: this.histories })
    copy.entries = this.entries.copy()
    copy.position = this.position
    copy.log = this.log.slice()
    copy.tree = this.tree
    copy.checkpoints = this.checkpoints.slice()
    copy.holds = this.holds
    copy.buckets = this.buckets
    return copy
  }

  /** The entries as they are now, for a view that later appends do not alter. */
  sharedEntries(): Entries {
    this.#isShared = true
    return this.entries
  }

  append(changes: readonly EncodedChange[], origins: readonly Origin[], buckets: BucketStep | undefined): void {
    if (changes.length > 0) this.#add(changes)
    if (buckets !== undefined) this.addBuckets(buckets)
    this.position = { ...this.position, origins: laterOrigins(this.position.origins, origins) }
  }

  setLeaves(leaves: readonly Pick<KeyLeaf, 'key' | 'leaf'>[]): void {
    this.#ownEntries()
    for (const { key, leaf } of leaves) {
      const entry = this.entries.byKey.get(key)
      if (entry !== undefined) this.entries.set(key, { ...entry, leaf })
    }
  }

  #ownEntries(): void {
    if (this.#isShared) this.entries = this.entries.copy()
    this.#isShared = false
  }

  #add(changes: readonly EncodedChange[]): void {
    const move = moveOf(changes)
    assert(move?.from === this.position.index, 'changes follow each other and the position')
    this.#ownEntries()
    for (const { change, record, history } of changes) {
      for (const operation of change.operations) this.entries.apply(operation)
      this.log.push({ index: change.index, record })
      if (history !== undefined) this.histories = withHistory(this.histories, history)
    }
    this.position = movedOn(this.position, move)
  }

  saveTree({ index, chain, version, pages, isWhole, savedAtMs }: TreeSave): Checkpoint {
    const kept = isWhole ? new Map<string, TreePage>() : new Map(this.tree?.pages)
    for (const page of pages) {
      const address = `${page.class} ${page.scope} ${page.page}`
      if (page.digests.length === 0) kept.delete(address)
      else kept.set(address, page)
    }
    this.tree = { index, chain, version, pages: kept }
    // Later checkpoints are of a log that is not this one. The last checkpoint is that of the saved tree.
    if (isWhole) this.checkpoints = this.checkpoints.filter((checkpoint) => checkpoint.index <= index)
    const last = this.checkpoints.at(-1)
    const since = this.log.filter((record) => record.index > (last?.index ?? 0) && record.index <= index)
    const logBytes = since.reduce((sum, { record }) => sum + record.length, 0)
    if (last?.index === index) this.checkpoints.splice(-1, 1, { ...last, savedAtMs })
    else this.checkpoints.push({ index, logBytes, savedAtMs })
    return { index, logBytes, savedAtMs }
  }

  clearBuckets(): void {
    this.buckets = []
  }

  addBuckets({ rows, swept }: BucketStep): void {
    const old = this.buckets.slice(0, swept).filter(({ key }) => this.entries.byKey.has(key))
    const kept = new Map([...old, ...rows].map((row) => [row.key, row]))
    // A new list: snapshots keep the one that they have.
    this.buckets = [...this.buckets.slice(swept), ...kept.values()]
  }

  dropGoneBuckets(): void {
    this.buckets = this.buckets.filter(({ key }) => this.entries.byKey.has(key))
  }

  saveHolds(holds: readonly LogHold[]): void {
    this.holds = holds
  }

  forgetRecords(index: number, limit: number): void {
    this.log = this.log.slice(Math.min(this.recordsUpTo(index), limit))
    this.checkpoints = keptCheckpoints(this.checkpoints, this.firstIndex())
  }

  /** Number of records up to this index. Indexes have jumps, so it is searched for. */
  recordsUpTo(index: number): number {
    let low = 0
    let high = this.log.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.log[middle]?.index ?? 0) <= index) low = middle + 1
      else high = middle
    }
    return low
  }

  firstIndex(): number {
    return this.log[0]?.index ?? this.position.index + 1
  }
}
