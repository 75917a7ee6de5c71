// Turns finished transactions into changes: one group of them becomes one durable step of the backend. Only one group
// is under way at a time (commit-queue.ts sees to that), so indexes and the chain are assigned without races.
import { strict as assert } from 'node:assert'
import type { KeyObject } from 'node:crypto'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import type { Clock } from '../../lib/world.ts'
import type { Backend } from '../backend.ts'
import type { EntryHead, Position } from '../contract.ts'
import { type Change, type ChangeOperation, Sealed, StorageFailed, StorageFull, StorageRefused } from '../contract.ts'
import { type EncodedChange, encodeChange } from '../log/change-record.ts'
import { leafOf, NO_LEAF } from '../log/leaf.ts'
import { RecentChanges } from '../log/recent-changes.ts'
import type { Retention } from '../log/retention.ts'
import { TreeKeeper } from '../log/tree-keeper.ts'
import type { OpenTransaction, Write } from './open-transaction.ts'
import type { ReadSet } from './read-set.ts'

/** Lost: something it read was changed by another commit, and it must run again. */
export type CommitOutcome = 'committed' | 'lost' | Error

export type CommitterOptions = {
  readonly clock: Clock
  /** Called once when nothing more can be written: the process should end (threats P-02). */
  readonly onFatal?: (error: Error) => void
  /**
   * Called before changes up to this index are written. Whoever reads the store elsewhere may see them from then on,
   * before any listener is told. They may also fail.
   */
  readonly onCommitting?: (index: number) => void
  /** Hears of each group that became durable: how many transactions, and how long the disk took. */
  readonly onCommitted?: (transactions: number, ms: number) => void
  /** How far back the log is kept; DEFAULT_RETENTION where it is missing. */
  readonly retention?: Retention
}

/** Entries as they will be behind the changes of the group so far. */
type Heads = Map<string, EntryHead | undefined>

export class Committer {
  readonly #backend: Backend
  readonly #clock: Clock
  readonly #onFatal: (error: Error) => void
  readonly #onCommitting: (index: number) => void
  readonly #onCommitted: (transactions: number, ms: number) => void
  readonly #recent: RecentChanges
  readonly #listeners: ((change: Change) => void)[] = []
  readonly #epoch: number
  readonly treeKeeper: TreeKeeper
  #index: number
  #chain: Buffer
  #leafKey: KeyObject | undefined
  #failure: Error | undefined
  #underWay: Promise<unknown> = Promise.resolve()

  constructor(backend: Backend, position: Position, options: CommitterOptions) {
    const { clock, onFatal, onCommitting } = options
    this.#backend = backend
    this.#clock = clock
    this.#onFatal = onFatal ?? (() => {})
    this.#onCommitting = onCommitting ?? (() => {})
    this.#onCommitted = options.onCommitted ?? (() => {})
    this.#index = position.index
    this.#chain = position.chain
    this.#epoch = position.epoch
    this.#recent = new RecentChanges(position.index)
    this.treeKeeper = new TreeKeeper(backend, options, () => this.#index)
  }

  /** Of the last change that is durable and known to every listener. */
  get committedIndex(): number {
    return this.#index
  }

  onCommit(listener: (change: Change) => void): void {
    this.#listeners.push(listener)
  }

  setLeafKey(key: Buffer | undefined): void {
    this.#leafKey = key && importSecret(key)
    this.treeKeeper.setLeafKey(this.#leafKey)
  }

  isTouchedSince(start: number, reads: ReadSet): boolean {
    return this.#recent.touchedSince(start, reads)
  }

  /** Resolves when the group that is being written is durable or has failed. */
  async settled(): Promise<void> {
    await this.#underWay
  }

  /** One outcome for each transaction, in order. Called again only after it has resolved; it never rejects. */
  commit(transactions: readonly OpenTransaction[]): Promise<CommitOutcome[]> {
    const outcomes = this.#commit(transactions)
    this.#underWay = outcomes
    return outcomes
  }

  /** What is due between two groups and holds up no transaction of the last one. */
  async rest(): Promise<void> {
    if (this.#failure !== undefined) return
    try {
      await this.treeKeeper.rest()
    } catch (error) {
      this.#end(asError(error))
    }
  }

  /** Saves what the tree has not saved yet, unless the store has stopped writing. */
  async close(): Promise<void> {
    if (this.#failure === undefined) await this.treeKeeper.close()
  }

  async #commit(transactions: readonly OpenTransaction[]): Promise<CommitOutcome[]> {
    if (this.#failure !== undefined) return transactions.map(() => failed(this.#failure))
    const encoded: EncodedChange[] = []
    let outcomes: CommitOutcome[]
    try {
      const heads = await this.#headsOf(transactions)
      outcomes = transactions.map((transaction) => this.#prepare(transaction, heads, encoded))
    } catch (error) {
      // Nothing was written: what the entries are now could not be read.
      this.#recent.takeBackAfter(this.#index)
      return transactions.map(() => asError(error))
    }
    if (encoded.length === 0) return outcomes
    this.#onCommitting(this.#index + encoded.length)
    const startedMs = this.#clock.monotonicMs()
    try {
      await this.#backend.append(encoded)
    } catch (cause) {
      this.#recent.takeBackAfter(this.#index)
      const error = cause instanceof StorageFull ? cause : this.#end(asError(cause))
      return outcomes.map((outcome) => (outcome === 'committed' ? error : outcome))
    }
    this.#onCommitted(encoded.length, this.#clock.monotonicMs() - startedMs)
    this.#publish(encoded)
    return outcomes
  }

  async #headsOf(transactions: readonly OpenTransaction[]): Promise<Heads> {
    const keys = [...new Set(transactions.flatMap(({ writes }) => [...writes.keys()]))]
    const heads = await this.#backend.heads(keys)
    return new Map(keys.map((key, at) => [key, heads[at]]))
  }

  #prepare(transaction: OpenTransaction, heads: Heads, encoded: EncodedChange[]): CommitOutcome {
    if (this.#recent.touchedSince(transaction.startIndex, transaction.reads)) return 'lost'
    const operations: ChangeOperation[] = []
    try {
      for (const write of transaction.writes.values()) {
        const operation = this.#operationOf(write, heads.get(write.key))
        if (operation !== undefined) operations.push(operation)
      }
    } catch (error) {
      return asError(error)
    }
    if (operations.length > 0) this.#assign(operations, heads, encoded)
    return 'committed'
  }

  /** Undefined for a delete of what is not there. */
  #operationOf(write: Write, head: EntryHead | undefined): ChangeOperation | undefined {
    if (write.class !== 'ignored' && this.#leafKey === undefined) {
      throw new Sealed(`The key ${write.key} cannot be written before the leaf key is set`)
    }
    if (head !== undefined && head.class !== write.class) {
      throw new StorageRefused(`The key ${write.key} is ${head.class} and cannot be written as ${write.class}`)
    }
    if (write.kind === 'delete' && head === undefined) return undefined
    return { ...write, oldLeaf: head?.leaf ?? NO_LEAF, newLeaf: this.#newLeaf(write) }
  }

  #newLeaf({ kind, class: storageClass, scope, key, value }: Write): Buffer {
    if (kind === 'delete' || storageClass === 'ignored' || this.#leafKey === undefined) return NO_LEAF
    return leafOf(this.#leafKey, storageClass, scope.mount, key, value)
  }

  #assign(operations: readonly ChangeOperation[], heads: Heads, encoded: EncodedChange[]): void {
    const index = this.#index + encoded.length + 1
    const draft = { index, epoch: this.#epoch, committedAtMs: Math.floor(this.#clock.nowMs()), operations }
    encoded.push(encodeChange(draft, encoded.at(-1)?.change.chain ?? this.#chain))
    this.#recent.add(
      index,
      operations.map(({ kind, key }) => ({ key, appears: (kind === 'put') !== (heads.get(key) !== undefined) })),
    )
    for (const { kind, key, class: storageClass, newLeaf } of operations) {
      heads.set(key, kind === 'put' ? { class: storageClass, leaf: newLeaf } : undefined)
    }
  }

  #publish(encoded: readonly EncodedChange[]): void {
    const last = encoded.at(-1)?.change ?? assert.fail('a group that was written is not empty')
    this.#index = last.index
    this.#chain = last.chain
    this.#recent.trim(last.index)
    for (const { change } of encoded) {
      this.treeKeeper.committed(change)
      for (const listener of this.#listeners) {
        try {
          listener(change)
        } catch (error) {
          this.#end(asError(error))
        }
      }
    }
  }

  #end(cause: Error): StorageFailed {
    if (this.#failure === undefined) {
      this.#failure = cause
      this.#onFatal(cause)
    }
    return failed(this.#failure)
  }
}

function failed(cause: Error | undefined): StorageFailed {
  return new StorageFailed('A write could not be made durable, so nothing more is written', { cause })
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('Something that is no error was thrown', { cause })
}
