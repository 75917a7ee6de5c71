// Turns finished transactions into changes: a group of them becomes one durable step of the backend. Only one group is
// under way at a time (commit-queue.ts sees to that), so indexes and the chain are assigned without races.
//
//   heads of the written keys ─▶ check the reads ─▶ leaves, records, chain ─▶ onCommitting ─▶ append ─▶ tree, listeners
import { strict as assert } from 'node:assert'
import type { KeyObject } from 'node:crypto'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { type Clock, eventLoop, type Ticks, type Timers } from '../../lib/world.ts'
import type { Backend } from '../backend.ts'
import { CommitWaiters } from '../commit-waiters.ts'
import type { Adopted, AdoptedChange, AdoptOptions, Change, ChangeOperation, EntryHead, MayWrite } from '../contract.ts'
import {
  HistoryGone,
  Sealed,
  StorageClosed,
  StorageFailed,
  StorageFull,
  StorageRefused,
  WriteNotAllowed,
} from '../errors.ts'
import { type EncodedChange, encodeChange, NO_ORIGINS } from '../log/change-record.ts'
import { nextHistory } from '../log/histories.ts'
import { leafOf, NO_LEAF } from '../log/leaf.ts'
import { LogKeeper, type LogKeeperOptions } from '../log/log-keeper.ts'
import { laterOrigins, movedOn, moveOf } from '../log/move.ts'
import { RecentChanges } from '../log/recent-changes.ts'
import { TreeKeeper } from '../log/tree-keeper.ts'
import type { History, NewHistory, Origin, Position } from '../peer-log.ts'
import { adoptedChanges, changeOfState, keysOfState, newChanges, PeerFault, requireApart } from './adoption.ts'
import { type Heads, moveHeads } from './heads.ts'
import type { OpenTransaction, Write } from './open-transaction.ts'
import type { ReadSet } from './read-set.ts'

/**
 * The index of the change, undefined if nothing was changed. `lost`: another commit changed something that the
 * transaction read, so it must run again. An error is final.
 */
export type CommitOutcome = { readonly index: number | undefined } | 'lost' | Error

/** What a store is given from outside. Callbacks run on the thread of the store and must not throw. */
export type CommitterOptions = LogKeeperOptions & {
  /** Missing: those of the event loop. */
  readonly ticks?: Ticks
  /** For a purge that has to wait; missing: it looks again in the next tick. */
  readonly timers?: Pick<Timers, 'after'>
  /** Called once when nothing more can be written: the process should end (threats P-02). */
  readonly onFatal?: (error: Error) => void
  /**
   * Called before changes up to this index are written. Other connections to the store may see them from then on,
   * before any listener is told. The write may also fail; the index then comes again.
   */
  readonly onCommitting?: (index: number) => void
  /** Called for each group that became durable: its number of changes, and how long the device took. */
  readonly onCommitted?: (transactions: number, ms: number) => void
  /** Called with the last index of a group once it is durable and all listeners have heard of it. */
  readonly onPublished?: (index: number) => void
}

const ALL_WRITABLE: MayWrite = () => true

/** A group while it is prepared. `history` begins with the only transaction of the group. */
type Group = {
  readonly heads: Heads
  readonly encoded: EncodedChange[]
  readonly history: History | undefined
}

/** Where a change will stand. */
type Place = Pick<Change, 'index' | 'epoch' | 'beginsHistory'> & { readonly previousChain: Buffer }

/**
 * Writes groups of transactions. Once a write has failed for another reason than a full device, every further one fails
 * with StorageFailed: after a failed flush it is unknown what the device holds (threats P-02).
 */
export class Committer {
  readonly #backend: Backend
  readonly #clock: Clock
  readonly #onFatal: (error: Error) => void
  readonly #onCommitting: (index: number) => void
  readonly #onCommitted: (transactions: number, ms: number) => void
  readonly #onPublished: (index: number) => void
  readonly #recent: RecentChanges
  readonly #waiters = new CommitWaiters()
  readonly #listeners: ((change: Change) => void)[] = []
  readonly treeKeeper: TreeKeeper
  #position: Position
  readonly logKeeper: LogKeeper
  #leafKey: KeyObject | undefined
  #mayWrite: MayWrite = ALL_WRITABLE
  #keyGeneration = 0
  /** Writes of an older generation do not run again: they were made under keys of which nothing is left. */
  #oldestGeneration = 0
  #failure: Error | undefined
  #underWay: Promise<unknown> = Promise.resolve()

  constructor(backend: Backend, position: Position, options: CommitterOptions) {
    const { clock, ticks = eventLoop, onFatal, onCommitting } = options
    this.#backend = backend
    this.#clock = clock
    this.#onFatal = onFatal ?? (() => {})
    this.#onCommitting = onCommitting ?? (() => {})
    this.#onCommitted = options.onCommitted ?? (() => {})
    this.#onPublished = options.onPublished ?? (() => {})
    this.#position = position
    this.#recent = new RecentChanges(position.index)
    this.logKeeper = new LogKeeper(backend, options)
    const committedIndex = (): number => this.committedIndex
    this.treeKeeper = new TreeKeeper({ backend, clock, ticks, log: this.logKeeper, committedIndex })
  }

  /** Index of the last durable change. Listeners are told of it within the same tick. */
  get committedIndex(): number {
    return this.#position.index
  }

  /** Where the store stands behind that change. */
  get position(): Position {
    return this.#position
  }

  /** The id of the present history. */
  get historyId(): Buffer {
    return this.#position.historyId
  }

  onCommit(listener: (change: Change) => void): void {
    this.#listeners.push(listener)
  }

  /** Resolves with the last index once it is above `index`; `Store.committedAfter` says the rest. */
  committedAfter(index: number): Promise<number> {
    return this.#waiters.after(index, this.committedIndex)
  }

  setLeafKey(key: Buffer | undefined): void {
    this.#leafKey = key && importSecret(key)
    this.treeKeeper.setLeafKey(this.#leafKey)
  }

  /** The one gate of all writes that this node begins. Resolves when no commit of before is under way. */
  async setWritable(mayWrite: MayWrite): Promise<void> {
    this.#mayWrite = mayWrite
    await this.settled()
  }

  /** How often keys were replaced while this store was open. */
  get keyGeneration(): number {
    return this.#keyGeneration
  }

  /** Ends transactions that may have sealed under replaced keys. Resolves when no commit of before is under way. */
  async keysReplaced(running: 'again' | 'refused'): Promise<void> {
    this.#keyGeneration++
    if (running === 'refused') this.#oldestGeneration = this.#keyGeneration
    await this.settled()
  }

  /** True if a change after `start`, durable or under way, may have changed something in `reads`. */
  isTouchedSince(start: number, reads: ReadSet): boolean {
    return this.#recent.touchedSince(start, reads)
  }

  /** Resolves when the group that is being written is durable or has failed. */
  async settled(): Promise<void> {
    await this.#underWay
  }

  /** One outcome for each transaction, in order; never rejects. Must not be called again before it has resolved. */
  commit(transactions: readonly OpenTransaction[]): Promise<CommitOutcome[]> {
    const outcomes = this.#commit(transactions)
    this.#underWay = outcomes
    return outcomes
  }

  /**
   * Applies changes of a peer as one group with what `runAlso` writes (`Store.adopt`). Called in an exclusive turn.
   * `runAlso` runs last before the write: it builds on what `prepare` has found.
   * @throws Sealed, StorageFull, StorageFailed, and what `prepare` and `runAlso` throw
   */
  adopt(
    changes: readonly AdoptedChange[],
    options: AdoptOptions,
    runAlso: () => Promise<OpenTransaction>,
  ): Promise<Adopted> {
    const adopted = this.#adopt(changes, options, runAlso)
    this.#underWay = adopted.catch(() => {})
    return adopted
  }

  /** Writes a transaction as the first change of a new history. It must be alone, as in `commit`. */
  beginHistory(transaction: OpenTransaction, next: NewHistory): Promise<CommitOutcome[]> {
    const outcomes = this.#commit([transaction], next)
    this.#underWay = outcomes
    return outcomes
  }

  /** Does what is due between two groups: saves the tree, shortens the log. The last group was answered before. */
  async rest(): Promise<void> {
    if (this.#failure !== undefined) return
    try {
      await this.treeKeeper.rest()
    } catch (error) {
      this.#end(asError(error))
    }
  }

  /** Ends all waiting, and saves the unsaved part of the tree unless the store has stopped writing. */
  async close(): Promise<void> {
    this.#waiters.close(new StorageClosed('The store is closed'))
    if (this.#failure !== undefined) return
    await this.treeKeeper.close()
    // A hold that stands too low only keeps the log for too long.
    await this.logKeeper.save().catch(() => {})
  }

  /** Runs a write of its own beside the log, between two commits. @throws StorageFull, and StorageFailed as a commit */
  async beside<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw failed(this.#failure)
    try {
      return await work()
    } catch (cause) {
      const isOurs = cause instanceof HistoryGone || cause instanceof StorageRefused || cause instanceof StorageFull
      throw isOurs ? cause : this.#end(asError(cause))
    }
  }

  async #commit(transactions: readonly OpenTransaction[], next?: NewHistory): Promise<CommitOutcome[]> {
    if (this.#failure !== undefined) return transactions.map(() => failed(this.#failure))
    const encoded: EncodedChange[] = []
    let outcomes: CommitOutcome[]
    try {
      const history = next && nextHistory(this.#position, next, this.#clock.nowMs())
      const heads = await this.#headsOf(transactions)
      const group = { heads, encoded, history }
      // What begins a history changes the role, which is what the gate goes by.
      const mayWrite = next === undefined ? this.#mayWrite : ALL_WRITABLE
      outcomes = transactions.map((transaction) => this.#prepare(transaction, group, mayWrite))
    } catch (error) {
      // Nothing was written: the entries as they are now could not be read.
      this.#recent.takeBackAfter(this.committedIndex)
      return transactions.map(() => asError(error))
    }
    if (encoded.length === 0) return outcomes
    try {
      await this.#write(encoded, NO_ORIGINS)
      return outcomes
    } catch (error) {
      return outcomes.map((outcome) => (outcome === 'lost' || outcome instanceof Error ? outcome : asError(error)))
    }
  }

  /** Makes the changes durable and tells of them. @throws StorageFull, StorageFailed: nothing may be told then */
  async #write(encoded: readonly EncodedChange[], origins: readonly Origin[]): Promise<void> {
    this.#onCommitting(encoded.at(-1)?.change.index ?? this.committedIndex)
    const startedMs = this.#clock.monotonicMs()
    const { buckets } = this.treeKeeper
    const step = buckets?.due()
    try {
      await this.#backend.append(encoded, origins, step)
      if (step !== undefined) buckets?.stored(step)
    } catch (cause) {
      this.#recent.takeBackAfter(this.committedIndex)
      throw cause instanceof StorageFull ? cause : this.#end(asError(cause))
    }
    this.#onCommitted(encoded.length, this.#clock.monotonicMs() - startedMs)
    this.#publish(encoded, origins)
  }

  async #adopt(
    changes: readonly AdoptedChange[],
    options: AdoptOptions,
    runAlso: () => Promise<OpenTransaction>,
  ): Promise<Adopted> {
    if (this.#failure !== undefined) throw failed(this.#failure)
    const leafKey = this.#leafKey
    if (leafKey === undefined) throw new Sealed('Changes of a peer cannot be checked before the leaf key is set')
    const fresh = newChanges(changes, options, this.#position.origins)
    if (fresh.kind === 'gap') return fresh
    const encoded: EncodedChange[] = []
    try {
      const { mode, after } = options
      const heads = await this.#headsAt([...keysOf(fresh.changes), ...keysOfState(options)])
      const all = [...fresh.changes, ...changeOfState(fresh.changes, options, heads, this.#clock.nowMs())]
      const adopted = adoptedChanges(all, { heads, leafKey, mode, family: after.family })
      if (all.length > 0) await options.prepare?.(all)
      const own = await runAlso()
      requireApart(own, heads)
      const group = { heads: new Map([...heads, ...(await this.#headsOf([own]))]), encoded, history: undefined }
      // First, since what it read is the state before the changes. A secondary of ours reads them in this order, too.
      const outcome = this.#prepare(own, group, ALL_WRITABLE)
      if (outcome instanceof Error) throw outcome
      assert(outcome !== 'lost', 'nobody else commits in an exclusive turn')
      for (const change of adopted) if (change.operations.length > 0) this.#assign(change, group)
    } catch (cause) {
      this.#recent.takeBackAfter(this.committedIndex)
      if (cause instanceof PeerFault) return cause.outcome
      throw cause
    }
    if (encoded.length > 0 || fresh.origins.length > 0) await this.#write(encoded, fresh.origins)
    return { kind: 'adopted', index: this.committedIndex }
  }

  async #headsOf(transactions: readonly OpenTransaction[]): Promise<Heads> {
    return this.#headsAt(transactions.flatMap(({ writes }) => [...writes.keys()]))
  }

  async #headsAt(some: readonly string[]): Promise<Heads> {
    const keys = [...new Set(some)]
    const heads = await this.#backend.heads(keys)
    return new Map(keys.map((key, at) => [key, heads[at]]))
  }

  #prepare(transaction: OpenTransaction, group: Group, mayWrite = this.#mayWrite): CommitOutcome {
    if (transaction.writes.size > 0 && transaction.keyGeneration < this.#oldestGeneration) {
      return new Sealed('The keys were replaced while the transaction ran')
    }
    if (this.#recent.touchedSince(transaction.startIndex, transaction.reads)) return 'lost'
    if (transaction.writes.size > 0 && transaction.keyGeneration < this.#keyGeneration) return 'lost'
    const operations: ChangeOperation[] = []
    try {
      for (const write of transaction.writes.values()) {
        // A delete of a missing entry too: where another node may write, it may be there.
        if (!mayWrite(write.class, write.key)) throw new WriteNotAllowed(write.class)
        const operation = this.#operationOf(write, group.heads.get(write.key))
        if (operation !== undefined) operations.push(operation)
      }
    } catch (error) {
      return asError(error)
    }
    if (operations.length === 0) return { index: undefined }
    const draft = { operations, origins: NO_ORIGINS, committedAtMs: Math.floor(this.#clock.nowMs()) }
    return { index: this.#assign(draft, group) }
  }

  /**
   * The operation of a write; undefined for deleting a missing entry.
   * @throws Sealed, StorageRefused
   */
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

  /** Gives the change its index and record, and makes later ones of the group see it. */
  #assign({ operations, origins, committedAtMs }: AdoptedChange, { heads, encoded, history }: Group): number {
    const place = history === undefined ? this.#nextPlace(encoded.at(-1)?.change ?? this.#position) : placeOf(history)
    const { previousChain, index, ...rest } = place
    const change = encodeChange({ index, ...rest, committedAtMs, origins, operations }, previousChain)
    encoded.push(history === undefined ? change : { ...change, history })
    this.#recent.add(
      index,
      operations.map(({ kind, key }) => ({ key, appears: (kind === 'put') !== (heads.get(key) !== undefined) })),
      this.#clock.monotonicMs(),
    )
    moveHeads(heads, operations)
    return index
  }

  /** A store that is new or restored has its history in the list; its first change names it nevertheless. */
  #nextPlace({ index, chain }: Pick<Position, 'index' | 'chain'>): Place {
    const { epoch, historyId } = this.#position
    const beginsHistory = chain.equals(historyId) ? historyId : undefined
    return { index: index + 1, epoch, beginsHistory, previousChain: chain }
  }

  /** Tells tree and listeners. All of it is durable, so an error here ends writing but changes no outcome. */
  #publish(encoded: readonly EncodedChange[], origins: readonly Origin[]): void {
    const move = moveOf(encoded)
    const moved = move === undefined ? this.#position : movedOn(this.#position, move)
    this.#position = { ...moved, origins: laterOrigins(moved.origins, origins) }
    this.#recent.trim(this.committedIndex, this.#clock.monotonicMs())
    for (const { change, record } of encoded) {
      this.logKeeper.committed(record.length)
      this.treeKeeper.committed(change)
      for (const listener of this.#listeners) {
        try {
          listener(change)
        } catch (error) {
          this.#end(asError(error))
        }
      }
    }
    this.#waiters.wake(this.committedIndex)
    this.#onPublished(this.committedIndex)
  }

  #end(cause: Error): StorageFailed {
    if (this.#failure === undefined) {
      this.#failure = cause
      this.#onFatal(cause)
      this.#waiters.close(failed(cause))
    }
    return failed(this.#failure)
  }
}

function placeOf({ startIndex, epoch, id }: History): Place {
  return { index: startIndex, epoch, beginsHistory: id, previousChain: id }
}

function keysOf(changes: readonly AdoptedChange[]): string[] {
  return changes.flatMap(({ operations }) => operations.map(({ key }) => key))
}

function failed(cause: Error | undefined): StorageFailed {
  return new StorageFailed('A write could not be made durable, so nothing more is written', { cause })
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('Something that is no error was thrown', { cause })
}
