// Overwrites what deleted entries and records left in the files of the store: SQLite only marks their pages and cells
// as free, and leaves copies behind in pages whose cells it moves. One pass goes over the file in steps, and commits
// come in between:
//
//   journal moved into the file ─▶ pages overwritten, step by step ─▶ … ─▶ journal moved once more, what it had
//   overwritten ─▶ file flushed ─▶ cache of the connection dropped ─▶ journal emptied
//
// Only checkpoints change the file, and they are made on this thread. So from one in which all of the journal was moved
// to the next the file is one state of the store, and what belongs to no cell of that state can be overwritten: no
// reader stands before it, and what came behind it is in the journal. Pages that are moved from there into the file are
// noted and overwritten once more, since a commit may move a page with all that is in it. So behind the last checkpoint
// nothing is left of what was deleted before the pass.
//
// Bytes that belong to no cell mean nothing to SQLite, so readers may go on. A write of them that is cut off leaves
// their neighbours as they are; SQLite itself relies on that (https://www.sqlite.org/psow.html).
import { fdatasync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { StorageError, StorageRefused } from '../errors.ts'
import { PageSet } from './page-set.ts'
import { BUSY_TIMEOUT_MS } from './sqlite-connection.ts'
import { JournalPages } from './sqlite-journal.ts'
import { dropKept } from './sqlite-migration.ts'
import {
  type ByteRange,
  FIRST_AMBIGUOUS_PAGE,
  type Overflow,
  overflowsOf,
  treePageOf,
  unusedOf,
} from './sqlite-pages.ts'

/** Reads, writes and looks at pages in one step: some ten milliseconds. */
const WORK_PER_STEP = 1_500
/** Pages that are read at once. */
const PAGES_PER_READ = 256
const PAGE_COUNT_AT = 28
const FIRST_TRUNK_AT = 32
const FILE_HEADER_BYTES = 100

/** The file as the last checkpoint left it: its pages, and those that nothing uses. A trunk lists some of them. */
type FileState = {
  readonly pages: number
  readonly leaves: Pick<PageSet, 'has'>
  readonly trunks: ReadonlyMap<number, number>
}

const flush = promisify(fdatasync)

/**
 * Handles by device and number of the file. They are never closed, as a process that closes a file loses the locks that
 * SQLite has on it.
 */
const handles = new Map<string, number>()

function handleOf(path: string): number {
  const { dev, ino } = statSync(path)
  const handle = handles.get(`${dev} ${ino}`) ?? openSync(path, 'r+')
  handles.set(`${dev} ${ino}`, handle)
  return handle
}

/** One pass over the files of a store. The connection is the only one that writes. */
export class Eraser {
  readonly #path: string
  readonly #handle: number
  readonly #pageBytes: number
  /** Bytes of a page without those that SQLite reserves. */
  readonly #usable: number
  readonly #zeros: Buffer
  readonly #journal: JournalPages
  /** Pages that commits have written since they were overwritten last. */
  readonly #changed = new Set<number>()
  /** Undefined once a checkpoint may have changed the file. */
  #state: FileState | undefined
  #next = 1
  #work = 0

  /** @throws the system's error */
  constructor(path: string) {
    this.#path = path
    this.#handle = handleOf(path)
    const header = this.#read(0, FILE_HEADER_BYTES)
    this.#pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
    this.#usable = this.#pageBytes - header.readUInt8(20)
    this.#zeros = Buffer.alloc(this.#pageBytes)
    this.#journal = new JournalPages(path)
  }

  /** Called before each checkpoint that another makes: the next commit may begin the journal anew. */
  noteJournal(): void {
    for (const page of this.#journal.takeNew()) this.#changed.add(page)
    this.#state = undefined
  }

  /** Resolves when what was overwritten so far is durable. Others may work meanwhile. */
  async flush(): Promise<void> {
    await flush(this.#handle)
  }

  /**
   * Works for a short while. `held`: a reader keeps an old state of the store, so that the journal cannot be moved or
   * emptied; to be called again later. @throws the error of SQLite or of the system
   */
  step(connection: DatabaseSync): 'more' | 'held' | 'done' {
    this.#work = 0
    const state = this.#state ?? this.#moved(connection)
    if (state === undefined) return 'held'
    while (this.#next <= state.pages && this.#work < WORK_PER_STEP) this.#eraseSome(state)
    if (this.#next <= state.pages) return 'more'
    const last = this.#moved(connection)
    if (last === undefined) return 'held'
    this.#eraseChanged(last)
    return this.#next <= last.pages || this.#changed.size > 0 ? 'more' : this.#end(connection)
  }

  /** Moves the journal into the file; undefined if a reader needs what the file has. */
  #moved(connection: DatabaseSync): FileState | undefined {
    this.noteJournal()
    if (!isMoved(connection)) return undefined
    const header = this.#read(0, FILE_HEADER_BYTES)
    const pages = header.readUInt32BE(PAGE_COUNT_AT)
    if (pages >= FIRST_AMBIGUOUS_PAGE) throw new StorageRefused(`${this.#path} is too large to be purged`)
    this.#state = { pages, ...this.#freePages(header.readUInt32BE(FIRST_TRUNK_AT), pages) }
    return this.#state
  }

  #eraseChanged(state: FileState): void {
    for (const page of this.#changed) {
      if (this.#work >= WORK_PER_STEP) return
      if (page <= state.pages) this.#erase(page, this.#readPages(page, 1), state)
      this.#changed.delete(page)
    }
  }

  #end(connection: DatabaseSync): 'held' | 'done' {
    dropKept(this.#path)
    fsyncSync(this.#handle)
    // Or the next commit would write pages as they were before.
    connection.exec('PRAGMA shrink_memory')
    return isEmptied(connection) ? 'done' : 'held'
  }

  #eraseSome(state: FileState): void {
    const count = Math.min(PAGES_PER_READ, state.pages - this.#next + 1)
    const bytes = this.#readPages(this.#next, count)
    for (let at = 0; at < count && this.#work < WORK_PER_STEP; at++) {
      this.#erase(this.#next, bytes.subarray(at * this.#pageBytes, (at + 1) * this.#pageBytes), state)
      this.#next++
    }
  }

  /** Overwrites what a page holds beside its cells, and behind the ends of its payloads in other pages. */
  #erase(page: number, bytes: Buffer, { leaves, trunks }: FileState): void {
    this.#work++
    const listed = trunks.get(page)
    if (leaves.has(page)) this.#zero(page, bytes, { from: 0, to: this.#pageBytes })
    else if (listed !== undefined) this.#zero(page, bytes, { from: 8 + 4 * listed, to: this.#usable })
    else this.#eraseUnused(page, bytes)
  }

  #eraseUnused(page: number, bytes: Buffer): void {
    const tree = treePageOf(bytes, this.#usable, page === 1)
    if (tree === undefined) return
    for (const span of unusedOf(tree) ?? []) this.#zero(page, bytes, span)
    for (const overflow of overflowsOf(tree)) this.#eraseBehind(overflow)
  }

  /** Overwrites what stands behind a payload in the last page of its chain. */
  #eraseBehind({ first, bytes }: Overflow): void {
    const room = this.#usable - 4
    let page = first
    let left = bytes
    for (; left > room && page !== 0; left -= room) {
      page = this.#read((page - 1) * this.#pageBytes, 4).readUInt32BE(0)
      this.#work++
    }
    if (page === 0 || left === room) return
    this.#zero(page, this.#readPages(page, 1), { from: 4 + left, to: this.#usable })
  }

  #zero(page: number, bytes: Buffer, { from, to }: ByteRange): void {
    if (bytes.compare(this.#zeros, 0, to - from, from, to) === 0) return
    this.#work++
    writeSync(this.#handle, this.#zeros, 0, to - from, (page - 1) * this.#pageBytes + from)
  }

  #freePages(firstTrunk: number, pages: number): Omit<FileState, 'pages'> {
    const leaves = new PageSet(pages)
    const trunks = new Map<number, number>()
    for (let trunk = firstTrunk; trunk !== 0 && trunk <= pages && !trunks.has(trunk); ) {
      const bytes = this.#readPages(trunk, 1)
      const listed = Math.min(bytes.readUInt32BE(4), this.#usable / 4 - 2)
      trunks.set(trunk, listed)
      for (let at = 0; at < listed; at++) leaves.add(bytes.readUInt32BE(8 + 4 * at))
      trunk = bytes.readUInt32BE(0)
    }
    return { leaves, trunks }
  }

  #readPages(first: number, count: number): Buffer {
    this.#work++
    return this.#read((first - 1) * this.#pageBytes, count * this.#pageBytes)
  }

  #read(position: number, count: number): Buffer {
    const bytes = Buffer.alloc(count)
    for (let read = 0; read < count; ) {
      const got = readSync(this.#handle, bytes, read, count - read, position + read)
      if (got === 0) throw new StorageError(`${this.#path} is shorter than its header says`)
      read += got
    }
    return bytes
  }
}

/** Moves the journal into the file as far as readers allow. True if all of it is there, durably. */
function isMoved(connection: DatabaseSync): boolean {
  const { log, checkpointed } = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {}
  return log === checkpointed
}

/** Empties the journal unless a reader needs it. It does not wait for one: the thread would stand still. */
function isEmptied(connection: DatabaseSync): boolean {
  connection.exec('PRAGMA busy_timeout = 0')
  try {
    return connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}
