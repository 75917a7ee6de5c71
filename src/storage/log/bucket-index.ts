// Leads from buckets of the tree to the keys in them, without a look at every key. Rows are appended for keys that
// come, some hundred at a time, and none is removed when a key goes: so an entry costs no page of its own. Keys that
// came since then are in memory. A reader takes only what is there, and compares it with the digests of the tree
// (keys-in-buckets.ts), so nothing is lost if rows are missing.
//
// As many of the oldest rows are looked at as are added. Those whose key is still there go to the end, so the rows stay
// fewer than twice the keys, and one key does not gather rows.
import type { Backend } from '../backend.ts'
import { type BucketRow, StorageFull } from '../contract.ts'

/** Keys that are added in one step between two commits: about a millisecond. */
const ROWS_PER_STEP = 200
/** So many more old rows than new ones are looked at, so that rows of one key melt away. */
const SWEPT_BESIDE = 32

/** The index of one tree, from the moment its key is set. */
export class BucketIndex {
  readonly #backend: Pick<Backend, 'clearBuckets' | 'addBuckets'>
  /** Keys that have no row yet, with their buckets. */
  #recent = new Map<string, number>()

  constructor(backend: Pick<Backend, 'clearBuckets' | 'addBuckets'>) {
    this.#backend = backend
  }

  /** Keys that have no row yet, as a copy. */
  recent(): ReadonlyMap<string, number> {
    return new Map(this.#recent)
  }

  /** Takes a key that came. Again does no harm. */
  add({ key, bucket }: BucketRow): void {
    this.#recent.set(key, bucket)
  }

  /** Takes a key that went. Its row, if it has one, stays until it is swept. */
  remove(key: string): void {
    this.#recent.delete(key)
  }

  /** Forgets all rows: every key will be added again. @throws what the backend throws, as the other verbs do */
  async clear(): Promise<void> {
    this.#recent.clear()
    await this.#unlessFull(() => this.#backend.clearBuckets())
  }

  /** Makes rows of the keys in memory, if they are many enough for a step. */
  async rest(): Promise<void> {
    if (this.#recent.size >= ROWS_PER_STEP) await this.store()
  }

  /** Makes rows of the keys in memory. */
  async store(): Promise<void> {
    if (this.#recent.size === 0) return
    const rows = [...this.#recent].map(([key, bucket]): BucketRow => ({ key, bucket }))
    await this.#unlessFull(async () => {
      await this.#backend.addBuckets(rows, rows.length + SWEPT_BESIDE)
      for (const { key } of rows) this.#recent.delete(key)
    })
  }

  /** Makes rows of keys that come one after the other, since there were none. */
  async fill(rows: readonly BucketRow[]): Promise<void> {
    await this.#unlessFull(() => this.#backend.addBuckets(rows, 0))
  }

  /** A full device refuses commits by itself. What is derived waits until there is space. */
  async #unlessFull(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof StorageFull)) throw error
    }
  }
}
