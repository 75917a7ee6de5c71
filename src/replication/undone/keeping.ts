// Keeps the records that are about to be undone. The log is read in order, and what is found goes into pages, each in
// one durable step with the head, which says how far that is: after a crash it goes on from there. Other writes come in
// between, and none of them is one of these records: the cluster serves no client meanwhile.
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/world.ts'
import { type LogRecord, type Store, systemScope } from '../../storage/contract.ts'
import { HistoryGone } from '../../storage/errors.ts'
import { decodeChange } from '../../storage/log/change-record.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { Place } from '../protocol/messages.ts'
import { sentRecord } from '../protocol/sent-records.ts'
import {
  headKey,
  pageKey,
  readHead,
  readHeads,
  UNDONE_HEAD,
  type Undone,
  type UndoneHead,
  undoneBehind,
  type Vault,
} from './undone-records.ts'

/** How much is kept. */
export type UndoneLimits = {
  /** A page is stored when it has so many bytes; a longer record has one of its own. */
  readonly pageBytes: number
  /** Of one record. What is longer cannot be stored with what it is sealed in. */
  readonly recordBytes: number
  /** Of all sets together. */
  readonly totalBytes: number
}

/** The limits of all servers but those of tests. The log is not kept for much longer than the total either. */
export const UNDONE_LIMITS: UndoneLimits = {
  pageBytes: 1024 * 1024,
  recordBytes: 63 * 1024 * 1024,
  totalBytes: 1024 * 1024 * 1024,
}

/** The parts that keeping works with. */
export type KeepingParts = {
  readonly store: Pick<Store, 'get' | 'list' | 'position' | 'histories' | 'records' | 'retained' | 'transaction'>
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Log
  readonly limits: UndoneLimits
  /** The set that the cluster is in. */
  readonly setId: string
  /** `core/keyring` as it is stored. */
  readonly keyring: Buffer
}

/** Records of the log that are read at once. */
const RECORDS_AT_ONCE = 64

/**
 * Keeps what this cluster has behind the fork, if anything. Does nothing for what is kept already. Afterwards the
 * records may be undone.
 */
export async function keepUndone(parts: KeepingParts, family: ReplicationFamily, fork: Place): Promise<void> {
  const { store, vault, log } = parts
  const histories = await store.histories()
  const undone = undoneBehind(
    fork,
    family,
    await store.position(),
    histories.map(({ id }) => id),
  )
  if (undone === undefined) return
  const before = await readHead(store, vault, undone.id)
  if (before?.isWhole) return
  logKept(log, undone.id, await new Keeping(parts, family, fork, undone).run(before))
}

function logKept(log: Log, id: string, { records, leftOut, missingUpTo, firstIndex, lastIndex }: UndoneHead): void {
  if (records > 0) {
    const told = { id, records, first_index: firstIndex, last_index: lastIndex }
    log('warn', 'Records that the new primary does not have are undone here, and were kept aside', told)
  }
  if (leftOut > 0) {
    log('warn', 'Some of the undone records are not kept: there is no room for more', { id, left_out: leftOut })
  }
  if (missingUpTo > 0) {
    const told = { id, missing_up_to: missingUpTo }
    log('warn', 'Undone records may be missing: the log does not reach back to where both clusters parted', told)
  }
}

/** One set that is being kept. */
class Keeping {
  readonly #parts: KeepingParts
  readonly #family: ReplicationFamily
  readonly #fork: Place
  readonly #undone: Undone
  /** What is not stored yet. */
  #page: Buffer[] = []
  #pageBytes = 0
  #pageIndex = 0
  /** Bytes of other sets. */
  #otherBytes = 0
  #isFull = false
  /** A record that the primary has was seen, so none is missing before the first that it does not have. */
  #isConnected: boolean

  constructor(parts: KeepingParts, family: ReplicationFamily, fork: Place, undone: Undone) {
    this.#parts = parts
    this.#family = family
    this.#fork = fork
    this.#undone = undone
    this.#isConnected = undone.isOwnLog
  }

  async run(before: UndoneHead | undefined): Promise<UndoneHead> {
    const { store, vault } = this.#parts
    const { id, endIndex } = this.#undone
    const others = (await readHeads(store, vault)).filter((one) => one.id !== id)
    this.#otherBytes = others.reduce((sum, { head }) => sum + head.bytes, 0)
    let head = before ?? this.#emptyHead()
    while (head.lookedUpTo < endIndex) {
      const records = await this.#read(head)
      head = records.head
      for (const record of records.found) {
        head = this.#taken(head, record)
        if (this.#pageBytes >= this.#parts.limits.pageBytes) await this.#store(head)
      }
    }
    const isUnknown = head.records === 0 && !this.#isConnected
    head = { ...head, isWhole: true, ...(isUnknown && { missingUpTo: endIndex }) }
    // Nothing is kept where there is nothing.
    if (head.records > 0 || head.missingUpTo > 0) await this.#store(head)
    return head
  }

  #emptyHead(): UndoneHead {
    const { clock, setId, keyring } = this.#parts
    const { isOwnLog } = this.#undone
    const { historyId, index, chain } = this.#fork
    return {
      family: this.#family,
      setId,
      atMs: Math.floor(clock.nowMs()),
      fork: { historyId: historyId.toString('base64'), index, chain: chain.toString('base64') },
      isOwnLog,
      isWhole: false,
      // Where another log stood in this one is not known.
      lookedUpTo: isOwnLog ? index : 0,
      records: 0,
      leftOut: 0,
      operations: 0,
      firstIndex: 0,
      lastIndex: 0,
      bytes: 0,
      missingUpTo: 0,
      keyring: keyring.toString('base64'),
    }
  }

  /** The next records of the log. What is gone is passed over, and noted. */
  async #read(head: UndoneHead): Promise<{ readonly head: UndoneHead; readonly found: readonly LogRecord[] }> {
    const { store } = this.#parts
    const { endIndex, isOwnLog } = this.#undone
    try {
      const found = (await store.records(head.lookedUpTo, RECORDS_AT_ONCE)).filter(({ index }) => index <= endIndex)
      return { head: found.length === 0 ? { ...head, lookedUpTo: endIndex } : head, found }
    } catch (cause) {
      if (!(cause instanceof HistoryGone)) throw cause
      const gone = Math.max((await store.retained()).firstIndex - 1, head.lookedUpTo + 1)
      const upTo = Math.min(gone, endIndex)
      const isMissed = isOwnLog || head.records > 0
      return { head: { ...head, lookedUpTo: upTo, ...(isMissed && { missingUpTo: upTo }) }, found: [] }
    }
  }

  /** What is known behind one more record. */
  #taken(head: UndoneHead, { index, record }: LogRecord): UndoneHead {
    const next = { ...head, lookedUpTo: index }
    const sent = sentRecord({ index, record }, this.#family)
    if (sent === undefined) return next
    const { origins, operations } = decodeChange(sent, `log record ${index}`)
    const origin = origins.find(({ family }) => family === this.#family)
    if (this.#undone.isOwnLog ? origin !== undefined : !this.#isBehindFork(origin)) return next
    const isFirst = head.records === 0
    const found = {
      ...next,
      records: head.records + 1,
      operations: head.operations + operations.length,
      firstIndex: isFirst ? index : head.firstIndex,
      lastIndex: index,
      missingUpTo: isFirst && !this.#isConnected ? index - 1 : head.missingUpTo,
    }
    if (!this.#hasRoom(head, sent.length)) return { ...found, leftOut: head.leftOut + 1 }
    if (this.#page.length === 0) this.#pageIndex = index
    this.#page.push(sent)
    this.#pageBytes += sent.length
    return { ...found, bytes: head.bytes + sent.length }
  }

  /** True for a record of the former primary that the new one does not have. */
  #isBehindFork(origin: Pick<Place, 'historyId' | 'index'> | undefined): boolean {
    if (origin === undefined || !origin.historyId.equals(this.#fork.historyId)) return false
    if (origin.index > this.#fork.index) return true
    this.#isConnected = true
    return false
  }

  /** Once all is full, what comes later is left out too, however short it is. */
  #hasRoom({ bytes }: UndoneHead, more: number): boolean {
    const { recordBytes, totalBytes } = this.#parts.limits
    if (more > recordBytes) return false
    this.#isFull ||= this.#otherBytes + bytes + more > totalBytes
    return !this.#isFull
  }

  async #store(head: UndoneHead): Promise<void> {
    const { store, vault } = this.#parts
    const { id } = this.#undone
    const key = pageKey(id, this.#pageIndex)
    const page = this.#page.length === 0 ? undefined : vault.seal(key, Buffer.concat(this.#page))
    const sealedHead = vault.seal(headKey(id), UNDONE_HEAD.encode(head))
    await store.transaction(async (tx) => {
      if (page !== undefined) tx.put(systemScope, key, page)
      tx.put(systemScope, headKey(id), sealedHead)
    })
    this.#page = []
    this.#pageBytes = 0
  }
}
