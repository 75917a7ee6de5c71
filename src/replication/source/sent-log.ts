// The log as one secondary is sent it: up to which place, and which part of it. Where a filter keeps something from the
// secondary, no record goes before it is known that nothing up to it has changed what that is (source-reach.ts).
import { strict as assert } from 'node:assert'
import { SENT_CLASSES } from '../../storage/classes.ts'
import type { LogRecord, StoredEntry } from '../../storage/contract.ts'
import { HistoryGone } from '../../storage/errors.ts'
import { begunBy, chainOf } from '../../storage/log/change-record.ts'
import type { Compared } from '../protocol/comparison.ts'
import type { Message, Place, SentEntry } from '../protocol/messages.ts'
import { sentRecord } from '../protocol/sent-records.ts'
import type { SetReach } from '../reach.ts'
import { runOf, totalBytes } from './reading.ts'
import type { SourceParts } from './source-parts.ts'
import { type Changed, isOfPlaces, SourceReach } from './source-reach.ts'

/** Records that are read from the log at once. */
const RECORDS_AT_ONCE = 512

/** The secondary is to have what the log does not bring. */
export class ReachGrew extends Error {
  override name = 'ReachGrew'
}

/** The log of one link. */
export class SentLog {
  readonly #parts: SourceParts
  readonly #send: (message: Message, bytes: number) => Promise<void>
  /** Filters are of the family performance alone. */
  readonly #reach: SourceReach | undefined
  /** Up to here it was sent. Who begins another course sets it. */
  sent: Place

  /** `send` waits while too much is under way. */
  constructor(parts: SourceParts, sent: Place, send: (message: Message, bytes: number) => Promise<void>) {
    this.#parts = parts
    this.#send = send
    this.#reach = parts.reach && new SourceReach(parts.reach.filterKey)
    this.sent = sent
  }

  /** What the secondary is to have, as it was judged last; undefined: everything. */
  get reach(): SetReach | undefined {
    return this.#reach?.reach
  }

  /** The part of the tree that it is to have. */
  get compared(): Compared {
    return { family: this.#parts.family, isReached: this.#reach?.isScopeReached ?? (() => true) }
  }

  isReached(key: string): boolean {
    return this.#reach?.isKeyReached?.(key) !== false
  }

  /** The entry as it is sent; none if the secondary is not to have it. */
  sentEntry({ key, class: storageClass, leaf, value }: StoredEntry): readonly SentEntry[] {
    const isOver = storageClass !== 'ignored' && SENT_CLASSES[this.#parts.family].has(storageClass)
    return isOver && this.isReached(key) ? [{ key, class: storageClass, leaf, value }] : []
  }

  /**
   * Has it judged what the secondary is to have, as of now. `since` reads what is to come of places, up to an index.
   * @returns what was not known before
   */
  async judge(since: (index: number) => Promise<readonly LogRecord[]> = async () => []): Promise<Changed> {
    if (this.#reach === undefined || this.#parts.reach === undefined) return 'nothing'
    const judged = await this.#parts.reach.judge()
    return this.#reach.take(judged, await since(judged.index))
  }

  /** Sends the log up to this place. @throws as `sendRun` */
  async sendTo(index: number): Promise<Place> {
    while (this.sent.index < index) if (!(await this.sendRun(index))) throw ends(index)
    return this.sent
  }

  /** Sends some of the log, no record behind `last`; false if there is none. @throws HistoryGone, ReachGrew */
  async sendRun(last: number): Promise<boolean> {
    const { store, limits } = this.#parts
    const found = (await store.records(this.sent.index, RECORDS_AT_ONCE)).filter(({ index }) => index <= last)
    if (found.length === 0) return false
    const judged = this.#reach?.judgedOf(found) ?? found
    if (judged.length === 0) await this.#judgeAnew()
    else await this.#sendRecords(runOf(judged, limits.fullBytes))
    return true
  }

  /** The next record may change what the secondary is to have. */
  async #judgeAnew(): Promise<void> {
    const changed = await this.judge((index) => this.#placesTo(index))
    if (changed === 'grown') throw new ReachGrew('More is to be had than the log brings')
    if (changed === 'told') await this.#parts.send({ kind: 'reach', at: this.sent, only: this.reach })
  }

  /** The secondary may be far behind: of all that it was not sent yet, no more than this is kept in memory. */
  async #placesTo(last: number): Promise<readonly LogRecord[]> {
    const found: LogRecord[] = []
    for (let after = this.sent.index; after < last; ) {
      const some = await this.#parts.store.records(after, RECORDS_AT_ONCE)
      found.push(...some.filter(({ index, record }) => index <= last && isOfPlaces(record)))
      const newest = some.at(-1)
      if (newest === undefined) throw ends(last)
      after = newest.index
    }
    return found
  }

  async #sendRecords(read: readonly LogRecord[]): Promise<void> {
    const { family, count } = this.#parts
    const after = this.sent
    const newest = read.at(-1) ?? assert.fail('there is a record')
    const begun = read[0] && begunBy(read[0].record)
    const historyId = begun === undefined ? after.historyId : Buffer.from(begun)
    const isReached = this.#reach?.isKeyReached
    const records = read.map((each) => sentRecord(each, family, isReached)).filter((each) => each !== undefined)
    this.sent = { historyId, index: newest.index, chain: Buffer.from(chainOf(newest.record)) }
    const run = { kind: 'run', after: { historyId: after.historyId, index: after.index }, historyId, records } as const
    await this.#send({ ...run, at: this.sent }, totalBytes(records))
    count('sentRecords', records.length)
  }
}

const ends = (index: number): HistoryGone => new HistoryGone(`The log ends before record ${index}`)
