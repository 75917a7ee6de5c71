// A store that another can replace while everything that holds it goes on holding it: for the restore of a snapshot.
// After `putAway`, until `putBack`, every verb throws StorageClosed.
import type {
  Adopted,
  AdoptedChange,
  AdoptOptions,
  Change,
  Committed,
  Entry,
  ListOptions,
  LogRecord,
  MayWrite,
  ReadStore,
  Reindexed,
  ReindexOptions,
  Snapshot,
  Store,
  Transaction,
} from './contract.ts'
import { StorageClosed } from './errors.ts'
import type { History, LogHold, NewHistory, Position } from './peer-log.ts'

/** Passes each verb on to the store of the moment. Without a store in the constructor it begins as put away. */
export class ReplaceableReader<S extends ReadStore = ReadStore> implements ReadStore {
  #store: S | undefined

  constructor(store?: S) {
    this.#store = store
  }

  protected get store(): S {
    if (this.#store === undefined) throw new StorageClosed('The store is being replaced')
    return this.#store
  }

  /** The store of the moment; undefined while there is none. */
  protected get present(): S | undefined {
    return this.#store
  }

  /** Closes the store of the moment; resolves when it has no connection open here. */
  async putAway(): Promise<void> {
    const store = this.#store
    this.#store = undefined
    await store?.close()
  }

  /** Takes an open store, which it will close. */
  putBack(store: S): void {
    this.#store = store
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.store.get(key)
  }

  async list(prefix: string, options?: ListOptions): Promise<string[]> {
    return this.store.list(prefix, options)
  }

  async scan(prefix: string, after: string, limit: number): Promise<Entry[]> {
    return this.store.scan(prefix, after, limit)
  }

  async lastIndex(): Promise<number> {
    return this.store.lastIndex()
  }

  async position(): Promise<Position> {
    return this.store.position()
  }

  async histories(): Promise<readonly History[]> {
    return this.store.histories()
  }

  async changesSince(index: number, limit: number): Promise<Change[]> {
    return this.store.changesSince(index, limit)
  }

  async records(index: number, limit: number): Promise<LogRecord[]> {
    return this.store.records(index, limit)
  }

  async snapshot(): Promise<Snapshot> {
    return this.store.snapshot()
  }

  async close(): Promise<void> {
    await this.#store?.close()
  }
}

/**
 * A replaceable `Store`. Listeners of commits and the gate of writes move on to the new store; the leaf key has to be
 * set again.
 */
export class ReplaceableStore extends ReplaceableReader<Store> implements Store {
  readonly #listeners: ((change: Change) => void)[] = []
  #mayWrite: MayWrite | undefined

  override putBack(store: Store): void {
    // Before the store is reachable: no commit may pass a listener or the gate by.
    for (const listener of this.#listeners) store.onCommit(listener)
    if (this.#mayWrite !== undefined) void store.setWritable(this.#mayWrite)
    super.putBack(store)
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.store.transaction(work)
  }

  async commit<T>(work: (tx: Transaction) => Promise<T>): Promise<Committed<T>> {
    return this.store.commit(work)
  }

  async adopt(changes: readonly AdoptedChange[], options: AdoptOptions): Promise<Adopted> {
    return this.store.adopt(changes, options)
  }

  positionNow(): Position {
    return this.store.positionNow()
  }

  async committedAfter(index: number): Promise<number> {
    return this.store.committedAfter(index)
  }

  async beginHistory<T>(work: (tx: Transaction) => Promise<T>, next: NewHistory): Promise<T> {
    return this.store.beginHistory(work, next)
  }

  onCommit(listener: (change: Change) => void): void {
    this.store.onCommit(listener)
    this.#listeners.push(listener)
  }

  setLeafKey(key: Buffer | undefined): void {
    this.store.setLeafKey(key)
  }

  /** Noted while there is no store too: the role of a node may change during a restore. */
  async setWritable(mayWrite: MayWrite): Promise<void> {
    this.#mayWrite = mayWrite
    await this.present?.setWritable(mayWrite)
  }

  async keysReplaced(running: 'again' | 'refused'): Promise<void> {
    await this.store.keysReplaced(running)
  }

  async roots(...wanted: Parameters<Store['roots']>): ReturnType<Store['roots']> {
    return this.store.roots(...wanted)
  }

  async scopes(): ReturnType<Store['scopes']> {
    return this.store.scopes()
  }

  async rootsNow(): ReturnType<Store['rootsNow']> {
    return this.store.rootsNow()
  }

  async tree(): ReturnType<Store['tree']> {
    return this.store.tree()
  }

  async image(): ReturnType<Store['image']> {
    return this.store.image()
  }

  async checkTree(...input: Parameters<Store['checkTree']>): ReturnType<Store['checkTree']> {
    return this.store.checkTree(...input)
  }

  async reindex(options: ReindexOptions): Promise<Reindexed> {
    return this.store.reindex(options)
  }

  async hold(hold: LogHold): Promise<void> {
    return this.store.hold(hold)
  }

  async release(name: string): Promise<void> {
    return this.store.release(name)
  }

  async purge(upTo: number): Promise<void> {
    return this.store.purge(upTo)
  }

  async retained(): ReturnType<Store['retained']> {
    return this.store.retained()
  }
}
