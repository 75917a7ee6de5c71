// The backend over tables in memory: for tests, and for servers that need not remember. It stays usable after `close`,
// so that a test can open it again as it would a file.
import { strict as assert } from 'node:assert'
import {
  type Backend,
  type BackendSnapshot,
  type BackendView,
  type BucketStep,
  type Checkpoint,
  type EraseStep,
  FIRST_EPOCH,
  MAX_RUN_BYTES,
  type SavedTree,
  type TreeSave,
} from './backend.ts'
import { childNames } from './child-names.ts'
import type { Entry, EntryHead, KeyLeaf, LogRecord, StoredEntry } from './contract.ts'
import { justAfter, laterKey, prefixEnd } from './key-order.ts'
import { type EncodedChange, NO_ORIGINS } from './log/change-record.ts'
import { firstHistory, isGone } from './log/histories.ts'
import { type Entries, MemoryTables } from './memory-tables.ts'
import type { History, LogHold, Origin, Position } from './peer-log.ts'

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

function leavesOf(entries: Entries, after: string, limit: number): KeyLeaf[] {
  const found: KeyLeaf[] = []
  for (const key of entries.keysBetween(justAfter(after), undefined, Number.POSITIVE_INFINITY)) {
    const { class: storageClass, leaf } = entries.byKey.get(key) ?? assert.fail(key)
    if (storageClass !== 'ignored') found.push({ key, class: storageClass, leaf })
    if (found.length === limit) break
  }
  return found
}

function storedOf(entries: Entries, after: string, bytes: number): StoredEntry[] {
  const found: StoredEntry[] = []
  let size = 0
  for (const key of entries.keysBetween(justAfter(after), undefined, Number.POSITIVE_INFINITY)) {
    if (size >= bytes) break
    const entry = entries.byKey.get(key) ?? assert.fail(key)
    found.push({ key, ...entry, value: Buffer.from(entry.value) })
    size += key.length + entry.value.length
  }
  return found
}

/** The tables of a new store. */
export function emptyTables(historyId: Buffer): MemoryTables {
  return new MemoryTables({ index: 0, histories: [firstHistory(historyId, FIRST_EPOCH, 0)] })
}

/** The backend of the store in memory. It is as durable as the object: nothing fails, nothing is checked again. */
export class MemoryBackend implements Backend {
  readonly #tables: MemoryTables
  readonly #view = viewOf(() => this.#tables.entries)
  readonly get = this.#view.get
  readonly list = this.#view.list
  readonly scan = this.#view.scan
  readonly close = this.#view.close

  /** Over the tables that are given, or as a new store with this history. */
  constructor(begun: Buffer | MemoryTables) {
    this.#tables = begun instanceof MemoryTables ? begun : emptyTables(begun)
  }

  /** `position` without a promise, to make a store at once (memory-store.ts). */
  get positionNow(): Position {
    return this.#tables.position
  }

  async position(): Promise<Position> {
    return this.#tables.position
  }

  async histories(): Promise<readonly History[]> {
    return this.#tables.histories
  }

  async heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]> {
    return keys.map((key) => this.#tables.entries.byKey.get(key))
  }

  async append(
    changes: readonly EncodedChange[],
    origins: readonly Origin[] = NO_ORIGINS,
    buckets?: BucketStep,
  ): Promise<void> {
    this.#tables.append(changes, origins, buckets)
  }

  async records(index: number, limit: number): Promise<LogRecord[] | undefined> {
    const { position, histories } = this.#tables
    const lastIndex = position.index
    const firstIndex = this.#tables.firstIndex()
    if (index > lastIndex || isGone(index, { firstIndex, lastIndex }, () => histories)) return undefined
    const { log } = this.#tables
    const run: LogRecord[] = []
    let bytes = 0
    for (
      let at = this.#tables.recordsUpTo(index);
      at < log.length && run.length < limit && bytes < MAX_RUN_BYTES;
      at++
    ) {
      const { index: number, record } = log[at] ?? assert.fail('the log has no holes')
      run.push({ index: number, record: Buffer.from(record) })
      bytes += record.length
    }
    return run
  }

  async leaves(after: string, limit: number): Promise<KeyLeaf[]> {
    return leavesOf(this.#tables.entries, after, limit)
  }

  async stored(after: string, bytes: number): Promise<StoredEntry[]> {
    return storedOf(this.#tables.entries, after, bytes)
  }

  async countKeys(after: string, limit: number): ReturnType<Backend['countKeys']> {
    const keys = this.#tables.entries.keysBetween(justAfter(after), undefined, limit)
    return { count: keys.length, last: keys.at(-1) ?? '' }
  }

  async setLeaves(leaves: readonly Pick<KeyLeaf, 'key' | 'leaf'>[]): Promise<void> {
    this.#tables.setLeaves(leaves)
  }

  async savedTree(): Promise<SavedTree | undefined> {
    const { tree } = this.#tables
    return tree && { ...tree, pages: [...tree.pages.values()] }
  }

  async saveTree(save: TreeSave): Promise<Checkpoint> {
    return this.#tables.saveTree(save)
  }

  async clearBuckets(): Promise<void> {
    this.#tables.clearBuckets()
  }

  async addBuckets(step: BucketStep): Promise<void> {
    this.#tables.addBuckets(step)
  }

  async checkpoints(): Promise<Checkpoint[]> {
    return this.#tables.checkpoints.slice()
  }

  async firstIndex(): Promise<number> {
    return this.#tables.firstIndex()
  }

  async indexBefore(count: number): Promise<number> {
    return this.#tables.log.at(-1 - count)?.index ?? 0
  }

  async logBytesBetween(after: number, upTo: number): Promise<number> {
    const { log } = this.#tables
    const between = log.slice(this.#tables.recordsUpTo(after), this.#tables.recordsUpTo(upTo))
    return between.reduce((sum, { record }) => sum + record.length, 0)
  }

  async holds(): Promise<LogHold[]> {
    return this.#tables.holds.slice()
  }

  async saveHolds(holds: readonly LogHold[]): Promise<void> {
    this.#tables.saveHolds(holds)
  }

  async forgetRecords(index: number, limit: number): Promise<void> {
    this.#tables.forgetRecords(index, limit)
  }

  async dropGoneBuckets(): Promise<undefined> {
    this.#tables.dropGoneBuckets()
  }

  /** What the tables no longer lead to is gone. */
  async erase(): Promise<EraseStep> {
    return 'done'
  }

  async flushErased(): Promise<void> {}

  async snapshot(): Promise<BackendSnapshot> {
    const { position, histories, buckets: rows } = this.#tables
    const entries = this.#tables.sharedEntries()
    const leaves = async (after: string, limit: number) => leavesOf(entries, after, limit)
    const stored = async (after: string, bytes: number) => storedOf(entries, after, bytes)
    const count = async (): Promise<number> => entries.keys.length
    const heads = async (keys: readonly string[]) => keys.map((key) => entries.byKey.get(key))
    const bucketKeys = async (buckets: readonly number[]) => {
      const wanted = new Set(buckets)
      return { keys: rows.filter(({ bucket }) => wanted.has(bucket)).map(({ key }) => key), next: undefined }
    }
    const of = { index: position.index, position, histories }
    return { ...viewOf(() => entries), ...of, leaves, stored, count, heads, bucketKeys }
  }
}
