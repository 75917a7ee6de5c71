// The primary's end of a link: sends one secondary the log, and entries where the log is not enough. All that is sent
// goes through one loop, so that entries always follow the log up to the place that they are as of.
//
//   messages of the secondary ──▶ tasks ┐
//   pieces of a copy ───────────────────┼──▶ loop ──▶ log up to a place, then what is as of it ──▶ send
//   commits ──▶ wake ───────────────────┘
//
// It has no socket, thread or timer.
import { strict as assert } from 'node:assert'
import { dataKeysOver } from '../../storage/classes.ts'
import type { LogRecord, PageAddress, Snapshot, TreeBucket } from '../../storage/contract.ts'
import { HistoryGone } from '../../storage/errors.ts'
import { chainOf } from '../../storage/log/change-record.ts'
import { Tree } from '../../storage/log/tree.ts'
import { Bell } from '../bell.ts'
import { digestsOf, isCompared, pagesOf } from '../protocol/comparison.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message, Place, SentEntry } from '../protocol/messages.ts'
import { digestOfReach, haveSameDigest } from '../reach.ts'
import { type Decision, decide, type SecondaryStanding } from './decision.ts'
import { HeldLog } from './held-log.ts'
import { bytesOfEntries, placeOf, valuesOf } from './reading.ts'
import { ReachGrew, SentLog } from './sent-log.ts'
import { type FromSecondary, SecondaryRefused, type SourceParts } from './source-parts.ts'
import { Window } from './window.ts'

/** Scopes whose pages one message tells, 256 at most of each. */
const SCOPES_AT_ONCE = 1_024
/** Stands for a tree that is being asked for. */
const NO_TREE = new Tree()
/** Questions of a secondary that may wait. It asks one at a time. */
const MAX_TASKS = 8
/** Bytes of these behind which none is taken any more: one question may have 80 MiB, and usual ones a few. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024
/** Comparisons that a secondary may ask for over one link: each takes a copy of the tree. */
const MAX_COMPARISONS = 4

/** Where the secondary and this cluster parted. */
type Parted = Pick<Extract<Decision, { readonly kind: 'difference' }>, 'fork'>

const WENT_ON = 'The secondary has changes that this cluster never had, or has no more'
const SHORTENED = 'The log was shortened before all of it was sent'
const REACH_CHANGED = 'What the filter of the secondary lets it have is another than before'

/** One secondary, for as long as its link holds. */
export class LogSource {
  readonly #parts: SourceParts
  readonly #window: Window
  readonly #log: SentLog
  readonly #held: HeldLog
  readonly #bell = new Bell()
  readonly #tasks: { readonly bytes: number; readonly run: () => Promise<void> }[] = []
  /** Key behind which the copy goes on; undefined while none is running. */
  #copyAfter: string | undefined
  /** Key of the last entry that was sent of it: names of entries that are not for the secondary stay here. */
  #copyTold = ''
  /** Entries of all classes when the copy began, for who watches it. */
  #totalEntries = 0
  /** The tree that is being compared. */
  #tree: Tree | undefined
  #course = 0
  #comparisons = 0
  #isRootDue = false
  /**
   * Where the last transfer ended: what is acknowledged up to there may have been acknowledged in it. Infinity while
   * one is running, and until the secondary is told where it ended; -1 if there was none.
   */
  #transferEnd = Number.POSITIVE_INFINITY
  /** Index up to which the secondary surely has all, while it has no transfer. */
  #has: number | undefined
  /** Index of the last commit that is known of: the log is not read for more. */
  #committed: number
  #cause: Error | undefined

  private constructor(parts: SourceParts, sent: Place) {
    this.#parts = parts
    this.#committed = sent.index
    this.#window = new Window(parts.limits.windowBytes)
    this.#log = new SentLog(parts, sent, (message, bytes) => this.#sendCounted(message, bytes))
    this.#held = new HeldLog(parts, () => this.#copyAfter !== undefined || this.#tree !== undefined)
  }

  /**
   * Serves a secondary that stands there until `end` is called or the link ends. `started` gets the source as soon as
   * it takes messages. @throws SecondaryRefused, what `send` rejects with, and the cause that `end` was given
   */
  static async serve(
    parts: SourceParts,
    standing: SecondaryStanding,
    started: (source: LogSource) => void,
  ): Promise<never> {
    const decision = await decide(parts.store, standing, parts)
    if (decision.kind === 'refused') throw new SecondaryRefused(decision.code, decision.sentence)
    const source = new LogSource(parts, placeOf(await parts.store.position()))
    started(source)
    await source.#begin(decision, standing.reach)
    return source.#run()
  }

  /** Index up to which the secondary was sent the log. */
  get sentIndex(): number {
    return this.#log.sent.index
  }

  /**
   * Takes a message of the secondary, of so many bytes. @throws ProtocolFault for one that fits nothing that was sent,
   * and if it asks too much at once
   */
  received(message: FromSecondary, bytes: number): void {
    if (message.kind === 'ack') this.#acknowledged(message)
    else this.#ask(message, bytes)
    this.#bell.ring()
  }

  #ask(message: Exclude<FromSecondary, { readonly kind: 'ack' }>, bytes: number): void {
    if (this.#tasks.length === MAX_TASKS)
      throw new ProtocolFault('damaged', `A secondary asks more than ${MAX_TASKS} things at once`)
    if (this.#tasks.reduce((sum, task) => sum + task.bytes, 0) > MAX_WAITING_BYTES)
      throw new ProtocolFault('damaged', `The questions of a secondary have more than ${MAX_WAITING_BYTES} bytes`)
    this.#tasks.push({ bytes, run: () => this.#answer(message) })
  }

  /**
   * Sends the root of the tree behind the log up to its place. A secondary that stands there compares it. What it has
   * is held no more.
   */
  tellRoot(): void {
    this.#holdSoon()
    this.#isRootDue = true
    this.#bell.ring()
  }

  /** The secondary says that what it has is whole, and as of this index. */
  isWholeAt(index: number): void {
    // What it said in front of the transfer came before the transfer could end.
    if (index >= this.#transferEnd && index <= this.#log.sent.index) this.#hasUpTo(index)
  }

  /** Ends the source: `serve` rejects with the cause. */
  end(cause: Error): void {
    this.#cause ??= cause
    this.#bell.ring()
  }

  /** `told`: digest of what the secondary was told last that it is to have. */
  async #begin(decision: Exclude<Decision, { readonly kind: 'refused' }>, told: Buffer | undefined): Promise<void> {
    await this.#log.judge()
    const isNews = !haveSameDigest(digestOfReach(this.#log.reach), told)
    const isAnew = decision.kind === 'copy' && decision.from === undefined
    if (isNews && !isAnew && decision.kind !== 'difference') return this.#compare(REACH_CHANGED)
    if (decision.kind === 'stream') return this.#stream(decision.after)
    if (decision.kind === 'copy') return this.#copy(decision.after, decision.from)
    const sentence = decision.isUndone ? WENT_ON : 'The log does not reach back to where the secondary stands'
    return this.#compare(sentence, decision)
  }

  async #run(): Promise<never> {
    this.#followCommits().catch((cause: Error) => this.end(cause))
    try {
      for (;;) {
        if (this.#cause !== undefined) throw this.#cause
        if (await this.#turn()) await this.#bell.rung()
      }
    } catch (cause) {
      this.end(cause as Error)
      throw cause
    }
  }

  async #followCommits(): Promise<void> {
    for (; this.#cause === undefined; this.#bell.ring()) {
      this.#committed = await this.#parts.store.committedAfter(this.#committed)
    }
  }

  /** Does the next thing; true if there is nothing to do. */
  async #turn(): Promise<boolean> {
    try {
      const task = this.#tasks.shift()
      if (task !== undefined) await task.run()
      else if (!this.#window.isOpen) return true
      else if (this.#copyAfter !== undefined) await this.#sendPiece(this.#copyAfter)
      // In a transfer the root has a meaning of its own: all was sent.
      else if (this.#isRootDue && this.#tree === undefined) await this.#sendRoot()
      else if (this.#log.sent.index >= this.#committed) return true
      else return !(await this.#log.sendRun(Number.POSITIVE_INFINITY))
    } catch (cause) {
      if (cause instanceof ReachGrew) await this.#compare(REACH_CHANGED)
      else if (cause instanceof HistoryGone) await this.#compare(SHORTENED)
      else throw cause
    }
    return false
  }

  async #stream(after: Place): Promise<void> {
    this.#log.sent = after
    this.#transferEnd = -1
    this.#hasUpTo(after.index)
    await this.#held.from(after.index)
    const isNewest = (await this.#parts.store.position()).historyId.equals(after.historyId)
    const followed = isNewest ? this.#parts.followed : undefined
    const course = { what: 'stream', from: after, isAnew: false, after: '', sentence: '', fork: undefined } as const
    await this.#beginCourse({ ...course, followed })
  }

  async #copy(after: string, from: Place | undefined): Promise<void> {
    this.#log.sent = from ?? this.#log.sent
    this.#copyAfter = after
    this.#copyTold = after
    await this.#held.from(this.#log.sent.index)
    this.#totalEntries = (await this.#viewed((snapshot) => snapshot.count())).found
    const isAnew = from === undefined
    this.#parts.count('copies', 1)
    const followed = isAnew ? this.#parts.followed : undefined
    await this.#beginCourse({
      what: 'copy',
      from: this.#log.sent,
      isAnew,
      after,
      sentence: '',
      fork: undefined,
      followed,
    })
  }

  /** The secondary has the log up to the tree by comparing it: nothing before is sent any more. */
  async #compare(sentence: string, { fork }: Parted = {}): Promise<void> {
    this.#copyAfter = undefined
    this.#transferEnd = Number.POSITIVE_INFINITY
    this.#hasUpTo(undefined)
    const { at, dataKeys } = await this.#takeTree()
    this.#log.sent = at
    // What was written up to there is not looked at any more, and may have changed what the secondary is to have.
    await this.#log.judge()
    this.#parts.count('comparisons', 1)
    const { followed } = this.#parts
    await this.#beginCourse({ what: 'difference', from: at, isAnew: true, after: '', sentence, fork, followed })
    // Before any of the log: what is written meanwhile may be sealed under a key that the secondary does not have yet.
    if (dataKeys.length > 0)
      await this.#sendCounted(
        { kind: 'values', at, entries: dataKeys, gone: [], isLast: false },
        bytesOfEntries(dataKeys),
      )
  }

  async #beginCourse(course: Omit<Message<'course'>, 'kind' | 'number' | 'reach'>): Promise<void> {
    this.#course++
    const reach = this.#parts.reach && course.isAnew ? { only: this.#log.reach } : undefined
    await this.#parts.send({ kind: 'course', number: this.#course, ...course, reach })
  }

  /** Takes the tree to compare, and gives the place that it is as of, with the data keys there. */
  async #takeTree(): Promise<{ readonly at: Place; readonly dataKeys: readonly SentEntry[] }> {
    const { store, keeper } = this.#parts
    for (;;) {
      this.#tree = NO_TREE
      await this.#held.from((await store.position()).index)
      const before = await this.#dataKeys()
      const { index, tree } = await keeper.tree()
      this.#tree = tree
      const [at, dataKeys] = [await this.#placeAt(index), await this.#dataKeys()]
      const isAsOf = before.length === dataKeys.length && before.every(({ leaf }, i) => dataKeys[i]?.leaf.equals(leaf))
      // The log may be shortened beyond its hold, where that has reached its cap.
      if (at !== undefined && isAsOf) return { at, dataKeys }
    }
  }

  async #dataKeys(): Promise<readonly SentEntry[]> {
    const keys = dataKeysOver(this.#parts.family)
    const { found } = await this.#viewed((snapshot) => valuesOf(snapshot, keys, Number.POSITIVE_INFINITY))
    return found.entries.flatMap((entry) => this.#log.sentEntry(entry))
  }

  /** Calls `read` with a view of the store, and sends the log up to that view before what comes of it. */
  async #asOfNow<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<{ readonly at: Place; readonly read: T }> {
    // Most of the log first: what was read is kept in memory until the log behind it is sent.
    await this.#log.sendTo((await this.#parts.store.position()).index)
    const { position, found } = await this.#viewed(read)
    await this.#log.sendTo(position.index)
    return { at: placeOf(position), read: found }
  }

  async #viewed<T>(read: (snapshot: Snapshot) => Promise<T>) {
    const snapshot = await this.#parts.store.snapshot()
    try {
      return { position: snapshot.position, found: await read(snapshot) }
    } finally {
      await snapshot.close()
    }
  }

  async #sendPiece(after: string): Promise<void> {
    const { at, read } = await this.#asOfNow((snapshot) => this.#pieceOf(snapshot, after))
    const stored = read.stored.flatMap((entry) => this.#log.sentEntry(entry))
    this.#copyAfter = read.stored.at(-1)?.key
    const isEnd = this.#copyAfter === undefined
    if (stored.length === 0 && !isEnd) return
    const entries = [...read.first.flatMap((entry) => this.#log.sentEntry(entry)), ...stored]
    const told = { after: this.#copyTold, upTo: isEnd ? undefined : (stored.at(-1)?.key ?? this.#copyTold) }
    this.#copyTold = told.upTo ?? this.#copyTold
    const totalEntries = this.#totalEntries
    await this.#sendCounted({ kind: 'piece', at, ...told, entries, totalEntries }, bytesOfEntries(entries))
    if (!isEnd) return
    await this.#sendRoot()
    await this.#held.again()
  }

  /**
   * The entries behind a key. The data keys come first of all: what a secondary has could not be read by a server that
   * begins in the middle of the copy, if it is sealed under one that was added since the secondary was let in.
   */
  async #pieceOf(snapshot: Snapshot, after: string) {
    const { family, limits } = this.#parts
    const stored = await snapshot.stored(after, limits.fullBytes)
    const isStored = new Set(stored.map(({ key }) => key))
    const wanted = this.#copyTold === '' ? dataKeysOver(family).filter((key) => !isStored.has(key)) : []
    return { first: (await valuesOf(snapshot, wanted, limits.fullBytes)).entries, stored }
  }

  async #sendRoot(): Promise<void> {
    this.#isRootDue = false
    const { reach } = this.#log
    const { index, root } = await this.#parts.keeper.root(reach)
    // The log may be further by now: then the next root is for the place behind it.
    if (index < this.#log.sent.index) return this.tellRoot()
    const at = await this.#log.sendTo(index)
    // A root over what the secondary was to have before is none of what it has.
    if (this.#log.reach !== reach) return this.#sendRoot()
    if (this.#transferEnd === Number.POSITIVE_INFINITY) this.#transferEnd = at.index
    await this.#parts.send({ kind: 'complete', at, root })
  }

  /** Nothing is written from now on: sends all of the log, and says so. */
  async #drain(number: number): Promise<void> {
    const { keeper, store, send } = this.#parts
    const grantsNothing = await keeper.drain()
    const at = await this.#log.sendTo((await store.position()).index)
    await send({ kind: 'drained', number, at, grantsNothing })
  }

  async #answer(message: Exclude<FromSecondary, { readonly kind: 'ack' }>): Promise<void> {
    if (message.kind === 'drain') return this.#drain(message.number)
    if (message.kind === 'resume') return this.#parts.keeper.resume()
    // It was asked before the secondary knew that another course has begun.
    if (message.course !== this.#course) return
    const { send } = this.#parts
    const { compared } = this.#log
    const isAllowed = (part: PageAddress): boolean => isCompared(compared, part)
    switch (message.kind) {
      case 'roots':
        return this.#sendPages(pagesOf(this.#compared(), compared, message.scopes))
      case 'pages-wanted':
        return send({ kind: 'digests', pages: digestsOf(this.#compared(), message.pages.filter(isAllowed)) })
      case 'buckets-wanted':
        return this.#sendListing(message.buckets.filter(isAllowed))
      case 'values-wanted':
        return this.#sendValues(message.keys)
      case 'root-wanted':
        this.#tree = undefined
        await this.#sendRoot()
        return this.#held.again()
      case 'compare':
        this.#parts.count('divergences', 1)
        if (++this.#comparisons > MAX_COMPARISONS) {
          throw new ProtocolFault('damaged', `A secondary asks for more than ${MAX_COMPARISONS} comparisons`)
        }
        return this.#compare(message.sentence)
    }
  }

  #compared(): Tree {
    if (this.#tree === undefined) throw new ProtocolFault('damaged', 'A secondary compares trees and was not asked to')
    return this.#tree
  }

  async #sendPages(scopes: Message<'pages'>['scopes']): Promise<void> {
    let part: Message<'pages'>['scopes'][number][] = []
    for (const scope of scopes) {
      part.push(scope)
      if (part.length < SCOPES_AT_ONCE) continue
      await this.#parts.send({ kind: 'pages', isLast: false, scopes: part })
      part = []
    }
    await this.#parts.send({ kind: 'pages', isLast: true, scopes: part })
  }

  async #sendListing(buckets: readonly TreeBucket[]): Promise<void> {
    const { index, keys: found } = await this.#parts.keeper.keysIn(buckets)
    if (index < this.#log.sent.index) return this.#sendListing(buckets)
    const at = await this.#log.sendTo(index)
    const keys = found.filter(({ key }) => this.#log.isReached(key))
    const { keysListed } = this.#parts.limits
    let told = 0
    do {
      const part = keys.slice(told, told + keysListed)
      told += part.length
      const isLast = told === keys.length
      await this.#sendCounted({ kind: 'listing', at, isLast, keys: part }, part.length * 100)
    } while (told < keys.length)
  }

  async #sendValues(keys: readonly string[]): Promise<void> {
    let left = keys
    while (left.length > 0) {
      const wanted = left.filter((key) => this.#log.isReached(key))
      const { at, read } = await this.#asOfNow((snapshot) => valuesOf(snapshot, wanted, this.#parts.limits.fullBytes))
      const { entries, gone, rest } = read
      left = rest
      const sent = entries.flatMap((entry) => this.#log.sentEntry(entry))
      const isLast = left.length === 0
      await this.#sendCounted({ kind: 'values', at, entries: sent, gone, isLast }, bytesOfEntries(sent))
    }
  }

  /** Waits while too much is under way. */
  async #sendCounted(message: Message, bytes: number): Promise<void> {
    while (!this.#window.isOpen) {
      await this.#bell.rung()
      if (this.#cause !== undefined) throw this.#cause
    }
    this.#window.sent(bytes)
    await this.#parts.send(message)
  }

  #acknowledged({ handled, durable }: Message<'ack'>): void {
    if (!this.#window.handled(handled) || durable > this.#log.sent.index) {
      throw new ProtocolFault('damaged', 'A secondary acknowledges what it was not sent')
    }
    if (durable > this.#transferEnd) this.#hasUpTo(durable)
    if (this.#held.isDue(durable)) this.#holdSoon()
  }

  #hasUpTo(index: number | undefined): void {
    const has = index === undefined ? undefined : Math.max(index, this.#has ?? 0)
    if (has === this.#has) return
    this.#has = has
    this.#parts.has?.(has)
  }

  #holdSoon(): void {
    this.#held.again().catch((cause: Error) => this.end(cause))
  }

  /** The place of a record; undefined if the log has it no more. */
  async #placeAt(index: number): Promise<Place | undefined> {
    const position = await this.#parts.store.position()
    if (position.index === index) return placeOf(position)
    const record = await this.#recordAt(index)
    if (record === undefined) return undefined
    const histories = await this.#parts.store.histories()
    const history = histories.findLast(({ startIndex }) => startIndex <= index) ?? assert.fail('it has a history')
    return { historyId: history.id, index, chain: Buffer.from(chainOf(record.record)) }
  }

  async #recordAt(index: number): Promise<LogRecord | undefined> {
    try {
      return (await this.#parts.store.records(index - 1, 1)).find((record) => record.index === index)
    } catch (cause) {
      if (cause instanceof HistoryGone) return undefined
      throw cause
    }
  }
}
