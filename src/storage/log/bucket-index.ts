// Leads from buckets of the tree to the keys in them, without a look at every key. Rows are appended for keys that
// come, some hundred with one commit, and none is removed when a key goes: so an entry costs no page of its own. Keys
// that came since then are in memory. A reader takes only what is there, and compares it with the digests of the tree
// (keys-in-buckets.ts), so nothing is lost if rows are missing.
//
// For each key that goes two of the oldest rows are looked at: those whose key is still there go to the end. So there
// are about twice as many rows as keys at most, and one key does not gather rows.
import type { Backend, BucketStep } from '../backend.ts'
import type { BucketRow } from '../contract.ts'
import { StorageFull } from '../errors.ts'

/** Keys that come or go until rows are made of them in the next commit, which takes about a millisecond longer. */
const KEYS_PER_STEP = 200
/** Old rows that are looked at for each key that went. With one the rows of gone keys would never become fewer. */
const SWEPT_PER_KEY = 2

/** The index of one tree, from the moment its key is set. */
export class BucketIndex {
  readonly #backend: Pick<Backend, 'clearBuckets' | 'addBuckets'>
  /** Keys that have no row yet, with their buckets. */
  #recent = new Map<string, number>()
  /** Keys with a row that went since rows were looked at. */
  #gone = 0

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
    if (!this.#recent.delete(key)) this.#gone++
  }

  /** Forgets all rows: every key will be added again. @throws what the backend throws, as the other verbs do */
  async clear(): Promise<void> {
    this.#recent.clear()
    await this.#unlessFull(() => this.#backend.clearBuckets())
  }

  /** What the next commit is to write beside its changes, once that is enough for a step. `stored` tells of it. */
  due(): BucketStep | undefined {
    return this.#recent.size + this.#gone >= KEYS_PER_STEP ? this.#step() : undefined
  }

  /** The step is durable. */
  stored({ rows, swept }: BucketStep): void {
    for (const { key } of rows) this.#recent.delete(key)
    this.#gone -= swept / SWEPT_PER_KEY
  }

  /** Makes rows of the keys in memory. */
  async store(): Promise<void> {
    const step = this.#step()
    await this.#unlessFull(async () => {
      await this.#backend.addBuckets(step)
      this.stored(step)
    })
  }

  #step(): BucketStep {
    const rows = [...this.#recent].map(([key, bucket]): BucketRow => ({ key, bucket }))
    return { rows, swept: this.#gone * SWEPT_PER_KEY }
  }

  /** Makes rows of keys that come one after the other, since there were none. */
  async fill(rows: readonly BucketRow[]): Promise<void> {
    await this.#unlessFull(() => this.#backend.addBuckets({ rows, swept: 0 }))
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
