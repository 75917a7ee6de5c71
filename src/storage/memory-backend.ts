// Entries and log in memory: for tests, and for servers that need not remember. The backend stays usable after `close`,
// so that a test can open it again as it would a file.
import { strict as assert } from 'node:assert'
import {
  type Backend,
  type BackendSnapshot,
  type BackendView,
  type BucketStep,
  type Checkpoint,
  FIRST_EPOCH,
  MAX_RUN_BYTES,
  type SavedTree,
  type TreeSave,
} from './backend.ts'
import { childNames } from './child-names.ts'
import type {
  BucketRow,
  ChangeOperation,
  Entry,
  EntryHead,
  StoredEntry as KeptEntry,
  KeyLeaf,
  LogRecord,
  TreePage,
} from './contract.ts'
import { compareKeys, justAfter, laterKey, prefixEnd } from './key-order.ts'
import { type EncodedChange, NO_ORIGINS } from './log/change-record.ts'
import { firstHistory, isGone, withHistory } from './log/histories.ts'
import { laterOrigins, movedOn, moveOf } from './log/move.ts'
import { keptCheckpoints } from './log/retention.ts'
import type { History, LogHold, Origin, Position } from './peer-log.ts'

type StoredEntry = EntryHead & { readonly value: Buffer }

/** Entries by key, and their keys in order. No entry is changed in place, so copying both tables copies everything. */
class Entries {
  readonly byKey: Map<string, StoredEntry>
  readonly keys: string[]

  constructor(byKey = new Map<string, StoredEntry>(), keys: string[] = []) {
    this.byKey = byKey
    this.keys = keys
  }

  copy(): Entries {
    return new Entries(new Map(this.byKey), this.keys.slice())
  }

  apply({ kind, class: storageClass, key, newLeaf, value }: ChangeOperation): void {
    const at = this.#position(key)
    if (kind === 'delete') {
      assert(this.byKey.delete(key), 'a delete is logged only where there is an entry')
      this.keys.splice(at, 1)
      return
    }
    if (!this.byKey.has(key)) this.keys.splice(at, 0, key)
    this.byKey.set(key, { class: storageClass, leaf: Buffer.from(newLeaf), value: Buffer.from(value) })
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

function viewOf(entries: () => Entries): BackendView {
  return {
    get: async (key) => {
      const entry = entries().byKey.get(key)
      return entry && Buffer.from(entry.value)
    },
    list: async (prefix, after, limit) => {
      const end = prefixEnd(prefix)
      return childNames((from, count) => entries().keysBetween(from, end, count), prefix, after, limit)
    },
    scan: async (prefix, after, limit) => {
      const { byKey } = entries()
      const keys = entries().keysBetween(laterKey(prefix, justAfter(after)), prefixEnd(prefix), limit)
      return keys.map((key): Entry => ({ key, value: Buffer.from(byKey.get(key)?.value ?? assert.fail(key)) }))
    },
    close: async () => {},
  }
}

/** The backend of the store in memory. It is as durable as the object: nothing fails, nothing is checked again. */
export class MemoryBackend implements Backend {
  #entries = new Entries()
  /** True if a snapshot looks at the same tables: the next append copies them first. */
  #isShared = false
  #position: Position
  #histories: readonly History[]
  #log: LogRecord[] = []
  #tree:
    | {
        readonly index: number
        readonly chain: Buffer
        readonly version: number
        readonly pages: Map<string, TreePage>
      }
    | undefined
  #checkpoints: Checkpoint[] = []
  #holds: readonly LogHold[] = []
  #buckets: readonly BucketRow[] = []
  readonly #view = viewOf(() => this.#entries)
  readonly get = this.#view.get
  readonly list = this.#view.list
  readonly scan = this.#view.scan
  readonly close = this.#view.close

  constructor(historyId: Buffer) {
    const at = { index: 0, lastReplicatedIndex: 0, lastLocalIndex: 0, origins: NO_ORIGINS }
    this.#position = { ...at, chain: historyId, epoch: FIRST_EPOCH, historyId }
    this.#histories = [firstHistory(historyId, FIRST_EPOCH, 0)]
  }

  /** `position` without a promise, to make a store at once (memory-store.ts). */
  get positionNow(): Position {
    return this.#position
  }

  async position(): Promise<Position> {
    return this.#position
  }

  async histories(): Promise<readonly History[]> {
    return this.#histories
  }

  async heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]> {
    return keys.map((key) => this.#entries.byKey.get(key))
  }

  async append(
    changes: readonly EncodedChange[],
    origins: readonly Origin[] = NO_ORIGINS,
    buckets?: BucketStep,
  ): Promise<void> {
    if (changes.length > 0) this.#add(changes)
    if (buckets !== undefined) await this.addBuckets(buckets)
    this.#position = { ...this.#position, origins: laterOrigins(this.#position.origins, origins) }
  }

  #add(changes: readonly EncodedChange[]): void {
    if (this.#isShared) this.#entries = this.#entries.copy()
    this.#isShared = false
    const move = moveOf(changes)
    assert(move?.from === this.#position.index, 'changes follow each other and the position')
    for (const { change, record, history } of changes) {
      for (const operation of change.operations) this.#entries.apply(operation)
      this.#log.push({ index: change.index, record })
      if (history !== undefined) this.#histories = withHistory(this.#histories, history)
    }
    this.#position = movedOn(this.#position, move)
  }

  async records(index: number, limit: number): Promise<LogRecord[] | undefined> {
    const lastIndex = this.#position.index
    const log = { firstIndex: this.#firstIndex(), lastIndex }
    if (index > lastIndex || isGone(index, log, () => this.#histories)) return undefined
    const run: LogRecord[] = []
    let bytes = 0
    for (
      let at = this.#recordsUpTo(index);
      at < this.#log.length && run.length < limit && bytes < MAX_RUN_BYTES;
      at++
    ) {
      const { index: number, record } = this.#log[at] ?? assert.fail('the log has no holes')
      run.push({ index: number, record: Buffer.from(record) })
      bytes += record.length
    }
    return run
  }

  async savedTree(): Promise<SavedTree | undefined> {
    return this.#tree && { ...this.#tree, pages: [...this.#tree.pages.values()] }
  }

  async saveTree({ index, chain, version, pages, isWhole, savedAtMs }: TreeSave): Promise<Checkpoint> {
    const kept = isWhole ? new Map<string, TreePage>() : new Map(this.#tree?.pages)
    for (const page of pages) {
      const address = `${page.class} ${page.scope} ${page.page}`
      if (page.digests.length === 0) kept.delete(address)
      else kept.set(address, page)
    }
    const before = this.#checkpoints.at(-1)?.index ?? 0
    const since = this.#log.filter((record) => record.index > before && record.index <= index)
    const logBytes = since.reduce((sum, { record }) => sum + record.length, 0)
    const checkpoint = { index, logBytes, savedAtMs }
    this.#tree = { index, chain, version, pages: kept }
    this.#checkpoints.push(checkpoint)
    return checkpoint
  }

  async clearBuckets(): Promise<void> {
    this.#buckets = []
  }

  async addBuckets({ rows, swept }: BucketStep): Promise<void> {
    const old = this.#buckets.slice(0, swept).filter(({ key }) => this.#entries.byKey.has(key))
    const kept = new Map([...old, ...rows].map((row) => [row.key, row]))
    // A new list: snapshots keep the one that they have.
    this.#buckets = [...this.#buckets.slice(swept), ...kept.values()]
  }

  async checkpoints(): Promise<Checkpoint[]> {
    return this.#checkpoints.slice()
  }

  async firstIndex(): Promise<number> {
    return this.#firstIndex()
  }

  async indexBefore(count: number): Promise<number> {
    return this.#log.at(-1 - count)?.index ?? 0
  }

  async logBytesBetween(after: number, upTo: number): Promise<number> {
    const between = this.#log.slice(this.#recordsUpTo(after), this.#recordsUpTo(upTo))
    return between.reduce((sum, { record }) => sum + record.length, 0)
  }

  async holds(): Promise<LogHold[]> {
    return this.#holds.slice()
  }

  async saveHolds(holds: readonly LogHold[]): Promise<void> {
    this.#holds = holds
  }

  async forgetRecords(index: number, limit: number): Promise<void> {
    this.#log = this.#log.slice(Math.min(this.#recordsUpTo(index), limit))
    this.#checkpoints = keptCheckpoints(this.#checkpoints, this.#firstIndex())
  }

  async snapshot(): Promise<BackendSnapshot> {
    const entries = this.#entries
    this.#isShared = true
    const leaves = async (after: string, limit: number): Promise<KeyLeaf[]> => {
      const found: KeyLeaf[] = []
      for (const key of entries.keysBetween(justAfter(after), undefined, Number.POSITIVE_INFINITY)) {
        const { class: storageClass, leaf } = entries.byKey.get(key) ?? assert.fail(key)
        if (storageClass !== 'ignored') found.push({ key, class: storageClass, leaf })
        if (found.length === limit) break
      }
      return found
    }
    const stored = async (after: string, bytes: number): Promise<KeptEntry[]> => {
      const found: KeptEntry[] = []
      let size = 0
      for (const key of entries.keysBetween(justAfter(after), undefined, Number.POSITIVE_INFINITY)) {
        if (size >= bytes) break
        const entry = entries.byKey.get(key) ?? assert.fail(key)
        found.push({ key, ...entry, value: Buffer.from(entry.value) })
        size += key.length + entry.value.length
      }
      return found
    }
    const position = this.#position
    const histories = this.#histories
    const count = async (): Promise<number> => entries.keys.length
    const heads = async (keys: readonly string[]) => keys.map((key) => entries.byKey.get(key))
    const rows = this.#buckets
    const bucketKeys = async (buckets: readonly number[]) => {
      const wanted = new Set(buckets)
      return { keys: rows.filter(({ bucket }) => wanted.has(bucket)).map(({ key }) => key), next: undefined }
    }
    const of = { index: position.index, position, histories }
    return { ...viewOf(() => entries), ...of, leaves, stored, count, heads, bucketKeys }
  }

  /** Number of records up to this index. Indexes have jumps, so it is searched for. */
  #recordsUpTo(index: number): number {
    let low = 0
    let high = this.#log.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#log[middle]?.index ?? 0) <= index) low = middle + 1
      else high = middle
    }
    return low
  }

  #firstIndex(): number {
    return this.#log[0]?.index ?? this.#position.index + 1
  }
}
