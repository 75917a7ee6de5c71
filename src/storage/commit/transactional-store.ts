// The store over any backend. Transactions run side by side without locks. Each remembers what it read and is checked
// when it commits; if another commit changed that meanwhile, it runs again on the new state
// (docs/decisions/0003-optimistic-transactions.md).
import { strict as assert } from 'node:assert'
import { AsyncLocalStorage } from 'node:async_hooks'
import { eventLoop, type Ticks } from '../../lib/world.ts'
import type { Backend } from '../backend.ts'
import type {
  Adopted,
  AdoptedChange,
  AdoptOptions,
  Change,
  Committed,
  MayWrite,
  Reindexed,
  ReindexOptions,
  ScrubProgress,
  Store,
  StoreImage,
  Transaction,
  TreeReport,
  TreeRoots,
} from '../contract.ts'
import { StorageRefused } from '../errors.ts'
import { keysIn } from '../log/keys-in-buckets.ts'
import { Purge } from '../log/purge.ts'
import { Scrub, type ScrubParts } from '../log/scrub.ts'
import type { Tree } from '../log/tree.ts'
import type { LogHold, NewHistory, Position, RetainedLog } from '../peer-log.ts'
import { BackendReadStore } from '../read-store.ts'
import { CommitQueue } from './commit-queue.ts'
import { type CommitOutcome, Committer, type CommitterOptions } from './committer.ts'
import { OpenTransaction } from './open-transaction.ts'

/** Options of every store, whatever its backend. */
export type StoreOptions = CommitterOptions

/** Races that a transaction may lose before it runs alone, with all other commits waiting: so it always ends. */
const MAX_RACES = 5

type Attempt<T> = Committed<T> | 'lost'

/** Marks calls that come from the work of a transaction, for as long as that work runs. */
const insideWork = new AsyncLocalStorage<{ isRunning: boolean }>()

/** `Store` for any backend. The backend must have no other writer while it is open. */
export class TransactionalStore extends BackendReadStore implements Store {
  readonly #backend: Backend
  readonly #ticks: Ticks
  readonly #committer: Committer
  readonly #queue: CommitQueue
  readonly #purge: Purge

  constructor(backend: Backend, position: Position, options: StoreOptions) {
    super(backend)
    this.#backend = backend
    this.#ticks = options.ticks ?? eventLoop
    this.#committer = new Committer(backend, position, options)
    this.#queue = new CommitQueue(this.#committer, this.#ticks)
    this.#purge = new Purge({
      backend,
      clock: options.clock,
      ticks: this.#ticks,
      timers: options.timers,
      tree: this.#committer.treeKeeper,
      log: this.#committer.logKeeper,
      alone: (work) => this.#aloneBeside(work),
      beside: (work) => this.#beside(work),
      transaction: (work) => this.transaction(work),
    })
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return (await this.commit(work)).result
  }

  async commit<T>(work: (tx: Transaction) => Promise<T>): Promise<Committed<T>> {
    assert(!insideWork.getStore()?.isRunning, 'the work of a transaction started another, and would wait for itself')
    for (let race = 0; race < MAX_RACES; race++) {
      const attempt = await this.#attempt(work, (finished) => this.#queue.commit(finished))
      if (attempt !== 'lost') return attempt
    }
    return this.#runAlone(work, (finished) => this.#committer.commit([finished]))
  }

  async beginHistory<T>(work: (tx: Transaction) => Promise<T>, next: NewHistory): Promise<T> {
    assert(!insideWork.getStore()?.isRunning, 'the work of a transaction started another, and would wait for itself')
    const { result } = await this.#runAlone(work, (finished) => this.#committer.beginHistory(finished, next))
    if (this.#committer.historyId.equals(next.id)) return result
    throw new StorageRefused('A new history begins with a change, and nothing changed')
  }

  async adopt(changes: readonly AdoptedChange[], options: AdoptOptions): Promise<Adopted> {
    assert(!insideWork.getStore()?.isRunning, 'the work of a transaction adopts changes, and would wait for itself')
    this.requireOpen()
    return this.#alone(async () => {
      this.requireOpen()
      return this.#committer.adopt(changes, options, async () => {
        const own = this.#begin()
        if (options.also !== undefined) await runWork(options.also, own)
        return own
      })
    })
  }

  positionNow(): Position {
    this.requireOpen()
    return this.#committer.position
  }

  async committedAfter(index: number): Promise<number> {
    this.requireOpen()
    return this.#committer.committedAfter(index)
  }

  onCommit(listener: (change: Change) => void): void {
    this.requireOpen()
    this.#committer.onCommit(listener)
  }

  setLeafKey(key: Buffer | undefined): void {
    this.requireOpen()
    this.#committer.setLeafKey(key)
  }

  async setWritable(mayWrite: MayWrite): Promise<void> {
    this.requireOpen()
    await this.#committer.setWritable(mayWrite)
  }

  async keysReplaced(running: 'again' | 'refused'): Promise<void> {
    // First: what waits to be committed is committed still while the store closes.
    const settled = this.#committer.keysReplaced(running)
    this.requireOpen()
    await settled
  }

  async roots(isWanted?: (scope: string) => boolean): Promise<TreeRoots & { readonly index: number }> {
    this.requireOpen()
    return this.#committer.treeKeeper.roots(isWanted)
  }

  async scopes(): Promise<readonly string[]> {
    this.requireOpen()
    return this.#committer.treeKeeper.scopes()
  }

  async rootsNow(): Promise<(TreeRoots & { readonly index: number }) | undefined> {
    this.requireOpen()
    return this.#committer.treeKeeper.rootsNow()
  }

  async tree(): Promise<{ readonly index: number; readonly tree: Tree }> {
    this.requireOpen()
    const { index, tree } = await this.#committer.treeKeeper.tree()
    return { index, tree }
  }

  async image(): Promise<StoreImage> {
    this.requireOpen()
    // Others may commit while the tree is being read.
    await this.#committer.treeKeeper.loaded()
    return this.#alone(async () => {
      const { index, ...image } = await this.#committer.treeKeeper.tree()
      const snapshot = await this.snapshot()
      assert.equal(snapshot.index, index, 'nobody commits in an exclusive turn')
      return { index, tree: image.tree, snapshot, keysIn: (buckets) => keysIn(snapshot, image, buckets) }
    })
  }

  checkTree(onProgress?: (progress: ScrubProgress) => void): Promise<TreeReport> {
    return this.#scrub(onProgress, (scrub) => scrub.check())
  }

  reindex(options: ReindexOptions): Promise<Reindexed> {
    return this.#scrub(options.onProgress, (scrub) => scrub.reindex(options))
  }

  async #scrub<T>(onProgress: ScrubParts['onProgress'], work: (scrub: Scrub) => Promise<T>): Promise<T> {
    this.requireOpen()
    const { treeKeeper } = this.#committer
    const alone = async <R>(step: () => Promise<R>): Promise<R> => {
      this.requireOpen()
      return this.#alone(step)
    }
    const beside = (write: () => Promise<void>) => this.#committer.beside(write)
    const parts = { backend: this.#backend, ticks: this.#ticks, alone, beside, onProgress }
    return treeKeeper.scrub((scrubbed) => work(new Scrub(scrubbed, parts)))
  }

  async hold(hold: LogHold): Promise<void> {
    this.requireOpen()
    const { logKeeper, committedIndex } = this.#committer
    if (await logKeeper.movesOn(hold)) return logKeeper.move(hold, committedIndex)
    await this.#alone(() => this.#committer.beside(() => logKeeper.hold(hold, committedIndex)))
  }

  async release(name: string): Promise<void> {
    this.requireOpen()
    await this.#alone(() => this.#committer.beside(() => this.#committer.logKeeper.release(name)))
  }

  async purge(upTo: number): Promise<void> {
    this.requireOpen()
    if (!Number.isSafeInteger(upTo) || upTo < 0 || upTo > this.#committer.committedIndex) {
      throw new StorageRefused(`The log cannot be purged up to ${upTo}: it ends at ${this.#committer.committedIndex}`)
    }
    await this.#purge.begin(upTo)
  }

  /** Goes on with a purge that an earlier process began. @throws what the backend throws, and StorageCorrupt */
  async resumePurge(): Promise<void> {
    await this.#purge.resume()
  }

  async retained(): Promise<RetainedLog> {
    this.requireOpen()
    const { logKeeper, committedIndex } = this.#committer
    return logKeeper.retained(committedIndex)
  }

  protected override async shutDown(): Promise<void> {
    await this.#queue.drained()
    await this.#committer.close()
    await super.shutDown()
  }

  async #runAlone<T>(
    work: (tx: Transaction) => Promise<T>,
    commit: (finished: OpenTransaction) => Promise<CommitOutcome[]>,
  ): Promise<Committed<T>> {
    return this.#alone(async () => {
      const attempt = await this.#attempt(work, async (finished) => {
        const [outcome] = await commit(finished)
        return outcome ?? assert.fail('one transaction has one outcome')
      })
      assert(attempt !== 'lost', 'nobody else commits in an exclusive turn')
      return attempt
    })
  }

  /** Runs `work` between two groups of commits. No other commit is made meanwhile. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const giveBack = await this.#queue.exclusiveCommit()
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  /** As `#beside`, between two groups of commits. */
  async #aloneBeside<T>(work: () => Promise<T>): Promise<T> {
    this.requireOpen()
    return this.#alone(() => this.#beside(work))
  }

  /** Runs what writes beside the log. @throws StorageClosed */
  async #beside<T>(work: () => Promise<T>): Promise<T> {
    this.requireOpen()
    return this.#committer.beside(work)
  }

  #begin(): OpenTransaction {
    const { committedIndex, keyGeneration } = this.#committer
    return new OpenTransaction(this, committedIndex, keyGeneration)
  }

  async #attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    commit: (finished: OpenTransaction) => Promise<CommitOutcome>,
  ): Promise<Attempt<T>> {
    this.requireOpen()
    const transaction = this.#begin()
    let result: T
    try {
      result = await runWork(work, transaction)
    } catch (error) {
      if (await this.#hasLost(transaction)) return 'lost'
      throw error
    }
    if (transaction.writes.size === 0) {
      return (await this.#hasLost(transaction)) ? 'lost' : { result, index: undefined }
    }
    this.requireOpen()
    const outcome = await commit(transaction)
    if (outcome instanceof Error) throw outcome
    return outcome === 'lost' ? outcome : { result, index: outcome.index }
  }

  /** True if the reads of a transaction that does not commit may have seen different states. */
  async #hasLost({ startIndex, reads }: OpenTransaction): Promise<boolean> {
    if (!this.#committer.isTouchedSince(startIndex, reads)) return false
    // What touched the reads may still be on its way to the device: the next attempt would only lose against it again.
    await this.#committer.settled()
    return true
  }
}

async function runWork<T>(work: (tx: Transaction) => Promise<T>, transaction: OpenTransaction): Promise<T> {
  const mark = { isRunning: true }
  try {
    return await insideWork.run(mark, () => work(transaction))
  } finally {
    mark.isRunning = false
    transaction.end()
  }
}

/** Opens the store over a backend, which it will close. @throws what the backend throws, and StorageCorrupt */
export async function openStore(backend: Backend, options: StoreOptions): Promise<Store> {
  const store = new TransactionalStore(backend, await backend.position(), options)
  await store.resumePurge()
  return store
}
