// The reading half of a store, over any backend: checks arguments, refuses every verb after close, decodes the log.
import type { BackendSnapshot, BackendView, ReadBackend } from './backend.ts'
import type {
  BucketKeys,
  Change,
  Entry,
  EntryHead,
  KeyLeaf,
  ListOptions,
  LogRecord,
  Reader,
  ReadStore,
  Snapshot,
  StoredEntry,
} from './contract.ts'
import { HistoryGone, StorageClosed, StorageRefused } from './errors.ts'
import { decodeRun } from './log/change-record.ts'
import type { History, Position } from './peer-log.ts'

/** Refuses a text with a lone surrogate: it would become another text on its way to the device (threats N-18). */
function requireText(text: string): void {
  if (!text.isWellFormed()) throw new StorageRefused('A key or prefix is not well-formed text')
}

function requirePrefix(prefix: string): void {
  requireText(prefix)
  if (prefix !== '' && !prefix.endsWith('/')) throw new StorageRefused(`The prefix "${prefix}" does not end in '/'`)
}

function requireLimit(limit: number): void {
  if (!(limit >= 0 && (Number.isInteger(limit) || limit === Number.POSITIVE_INFINITY))) {
    throw new StorageRefused(`A limit is a whole number that is not negative, ${limit} is not`)
  }
}

/** The verbs of `Reader` with their checks, over a view. `requireOpen` throws StorageClosed once the view is closed. */
export class CheckedReader implements Reader {
  readonly #view: BackendView
  readonly #requireOpen: () => void

  constructor(view: BackendView, requireOpen: () => void) {
    this.#view = view
    this.#requireOpen = requireOpen
  }

  async get(key: string): Promise<Buffer | undefined> {
    this.#requireOpen()
    requireText(key)
    return this.#view.get(key)
  }

  async list(prefix: string, { after = '', limit = Number.POSITIVE_INFINITY }: ListOptions = {}): Promise<string[]> {
    this.#requireOpen()
    requirePrefix(prefix)
    requireText(after)
    requireLimit(limit)
    return this.#view.list(prefix, after, limit)
  }

  async scan(prefix: string, after: string, limit: number): Promise<Entry[]> {
    this.#requireOpen()
    requirePrefix(prefix)
    requireText(after)
    requireLimit(limit)
    return this.#view.scan(prefix, after, limit)
  }
}

class OpenSnapshot extends CheckedReader implements Snapshot {
  readonly index: number
  readonly position: Position
  readonly histories: readonly History[]
  readonly close: () => Promise<void>
  readonly #view: BackendSnapshot
  readonly #requireOpen: () => void

  constructor(view: BackendSnapshot, requireOpen: () => void, close: () => Promise<void>) {
    super(view, requireOpen)
    this.index = view.index
    this.position = view.position
    this.histories = view.histories
    this.close = close
    this.#view = view
    this.#requireOpen = requireOpen
  }

  async count(): Promise<number> {
    this.#requireOpen()
    return this.#view.count()
  }

  async leaves(after: string, limit: number): Promise<KeyLeaf[]> {
    this.#requireOpen()
    requireText(after)
    requireLimit(limit)
    return this.#view.leaves(after, Math.min(limit, Number.MAX_SAFE_INTEGER))
  }

  async heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]> {
    this.#requireOpen()
    keys.forEach(requireText)
    return this.#view.heads(keys)
  }

  async bucketKeys(buckets: readonly number[], after: number): Promise<BucketKeys> {
    this.#requireOpen()
    return this.#view.bucketKeys(buckets, after)
  }

  async stored(after: string, bytes: number): Promise<StoredEntry[]> {
    this.#requireOpen()
    return this.#view.stored(after, bytes)
  }
}

/** The store of a thread that does not write, over any backend. It closes the backend and all snapshots with itself. */
export class BackendReadStore extends CheckedReader implements ReadStore {
  readonly #backend: ReadBackend
  readonly #snapshots = new Set<Snapshot>()
  #isOpen = true
  #closed: Promise<void> | undefined

  constructor(backend: ReadBackend) {
    super(backend, () => this.requireOpen())
    this.#backend = backend
  }

  async lastIndex(): Promise<number> {
    this.requireOpen()
    return (await this.#backend.position()).index
  }

  async position(): Promise<Position> {
    this.requireOpen()
    return this.#backend.position()
  }

  async histories(): Promise<readonly History[]> {
    this.requireOpen()
    return this.#backend.histories()
  }

  async changesSince(index: number, limit: number): Promise<Change[]> {
    return decodeRun(await this.records(index, limit))
  }

  async records(index: number, limit: number): Promise<LogRecord[]> {
    this.requireOpen()
    requireLimit(index)
    requireLimit(limit)
    const records = await this.#backend.records(index, limit)
    if (records === undefined) throw new HistoryGone(`The log does not hold what follows index ${index}`)
    return records
  }

  async snapshot(): Promise<Snapshot> {
    this.requireOpen()
    const view = await this.#backend.snapshot()
    let isOpen = true
    const requireOpen = () => {
      if (!isOpen) throw new StorageClosed('The snapshot is closed')
    }
    const close = async () => {
      if (!isOpen) return
      isOpen = false
      this.#snapshots.delete(snapshot)
      await view.close()
    }
    const snapshot = new OpenSnapshot(view, requireOpen, close)
    this.#snapshots.add(snapshot)
    return snapshot
  }

  /** Refuses new verbs at once. A second call waits for the first. */
  close(): Promise<void> {
    this.#isOpen = false
    this.#closed ??= this.shutDown()
    return this.#closed
  }

  /** Runs once, when every new verb is refused already. */
  protected async shutDown(): Promise<void> {
    for (const snapshot of this.#snapshots) await snapshot.close()
    await this.#backend.close()
  }

  protected requireOpen(): void {
    if (!this.#isOpen) throw new StorageClosed('The store is closed')
  }
}
