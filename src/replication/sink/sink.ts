// The secondary's end of a link: applies what the primary sends, in the order in which it came. What was received and
// not applied yet is bounded by the window of the primary, which counts what is acknowledged here, and by a limit.
//
//   course 'stream'      runs are applied, each in one durable step, and must fit exactly
//   course 'copy'        runs and pieces are applied; runs are done over what the pieces brought
//   course 'difference'  comparison.ts finds what differs; runs are done over it as in a copy
//
// It has no socket, thread or timer.
import type { Adopted } from '../../storage/contract.ts'
import { Bell } from '../bell.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message, Place } from '../protocol/messages.ts'
import { Comparison } from './comparison.ts'
import { type FromPrimary, type SinkBatch, type SinkParts, SinkStopped, type Transfer } from './sink-parts.ts'

/** Comparisons that are asked for over one link. One mends any difference; more never would. */
const MAX_COMPARISONS = 2

const CHECK_PRIMARY =
  'the tree here was made anew, so check that of the primary with "merkle-check" there, and repair what it finds'

type Course = Message<'course'>['what']

/** One link to the primary. */
export class LogSink {
  readonly #parts: SinkParts
  readonly #bell = new Bell()
  readonly #received: { readonly message: FromPrimary; readonly bytes: number }[] = []
  /** Undefined until the primary has said what follows, and while it was asked for a comparison. */
  #course: Course | undefined
  #number = 0
  #at: Place | undefined
  /** Key up to which the copy has come. */
  #copied = ''
  #comparison: Comparison | undefined
  #comparisons = 0
  /** Goes to the owner with the next records: it is known from there on. */
  #followed: readonly Place[] | undefined
  #isComparisonDue = false
  #handled = 0
  /** True while a copy or a comparison is noted in the store. */
  #isOpen: boolean
  /** Bytes of the messages that wait. */
  #waiting = 0
  #entries = 0
  #totalEntries = 0
  #cause: Error | undefined

  constructor(parts: SinkParts) {
    this.#parts = parts
    this.#isOpen = parts.isOpen
  }

  /** Takes a message of the primary, of so many bytes. @throws ProtocolFault if it sends too much at once */
  received(message: FromPrimary, bytes: number): void {
    if (this.#waiting > this.#parts.limits.waitingBytes) {
      throw new ProtocolFault('damaged', `The primary sends more than ${this.#parts.limits.waitingBytes} bytes at once`)
    }
    this.#waiting += bytes
    this.#received.push({ message, bytes })
    this.#bell.ring()
  }

  /** Ends the sink: `run` rejects with the cause. What was received and not begun is dropped. */
  end(cause: Error): void {
    this.#cause ??= cause
    this.#bell.ring()
  }

  /** Compares with the primary as soon as nothing else is being transferred. False: not over this link any more. */
  compareAgain(): boolean {
    if (this.#comparisons >= MAX_COMPARISONS) return false
    this.#isComparisonDue = true
    this.#bell.ring()
    return true
  }

  /**
   * Applies what comes until `end` is called. @throws the cause that it was given, SinkStopped, ProtocolFault for what
   * no primary sends, and what the store throws
   */
  async run(): Promise<never> {
    for (;;) {
      if (this.#cause !== undefined) throw this.#cause
      if (this.#isComparisonDue && this.#course === 'stream') {
        await this.#askForComparison('A check found that what is here may be wrong')
        continue
      }
      const message = this.#next()
      if (message === undefined) await this.#bell.rung()
      else await this.#handle(message)
    }
  }

  #next(): FromPrimary | undefined {
    const next = this.#received.shift()
    this.#waiting -= next?.bytes ?? 0
    return next?.message
  }

  async #handle(message: FromPrimary): Promise<void> {
    if (message.kind === 'course') return this.#begin(message)
    if (message.kind === 'reach') return this.#reached(message)
    if (this.#course === undefined) return this.#dropped(message)
    switch (message.kind) {
      case 'run':
        return this.#run(message)
      case 'piece':
        return this.#piece(message)
      case 'complete':
        return this.#complete(message)
      case 'drained':
        return this.#drained(message)
      default:
        return this.#compared(message)
    }
  }

  /** What was on its way when the primary was asked for a comparison. It counts as dealt with. */
  async #dropped({ kind }: FromPrimary): Promise<void> {
    if (this.#at === undefined) throw new ProtocolFault('damaged', `The primary sent "${kind}" before anything else`)
    if (kind === 'run' || kind === 'piece' || kind === 'listing' || kind === 'values') await this.#acknowledge(1)
  }

  /** What is to go goes at once, also where the rest of what comes is dropped until the trees are compared. */
  async #reached({ at, only }: Message<'reach'>): Promise<void> {
    const here = this.#place()
    if (this.#course !== undefined && !isSamePlace(here, at))
      throw new ProtocolFault('damaged', `The primary told what is to be had at place ${at.index} behind ${here.index}`)
    const transfer = this.#course === undefined ? ({ what: 'difference', after: '' } as const) : this.#transfer()
    await this.#mustTake({ mode: 'redo', after: here, records: [], at: here, transfer, reach: { only } })
  }

  async #begin({ number, what, from, isAnew, after, fork, followed, reach }: Message<'course'>): Promise<void> {
    this.#course = what
    this.#number = number
    this.#copied = after
    this.#entries = 0
    this.#totalEntries = 0
    this.#comparison = undefined
    if (what === 'stream' && this.#isOpen) {
      throw new ProtocolFault('damaged', 'The primary sends the log, and what is here is not whole')
    }
    this.#isOpen = what !== 'stream'
    const transfer = what === 'stream' ? undefined : { what, after }
    this.#followed = what === 'stream' ? followed : undefined
    const begun = { mode: 'anew', after: from, records: [], at: from, transfer } as const
    if (isAnew)
      await this.#mustTake({ ...begun, ...(followed && { followed }), ...(fork && { fork }), ...(reach && { reach }) })
    this.#at = from
    this.#tell()
    const { family, keeper, send, limits, count } = this.#parts
    if (what === 'copy') count('copies', 1)
    if (what !== 'difference') return
    count('comparisons', 1)
    this.#comparison = new Comparison({
      course: number,
      family,
      keeper,
      send,
      limits,
      take: (taken, differing) => this.#requireState(taken, differing),
    })
    await this.#comparison.begin()
  }

  async #run(first: Message<'run'>): Promise<void> {
    const runs = [first]
    for (let bytes = sizeOf(first); bytes < this.#parts.limits.joinedBytes; ) {
      const next = this.#received[0]?.message
      if (next?.kind !== 'run' || !isBehind(next, runs.at(-1))) break
      bytes += sizeOf(next)
      runs.push(next)
      this.#next()
    }
    const records = runs.flatMap(({ historyId, records }) => records.map((record) => ({ historyId, record })))
    const { at } = runs.at(-1) ?? first
    const mode = this.#course === 'stream' ? 'follow' : 'redo'
    const followed = mode === 'follow' && this.#followed !== undefined ? { followed: this.#followed } : {}
    const isTaken = await this.#take({ mode, after: first.after, records, at, transfer: this.#transfer(), ...followed })
    if (isTaken) {
      this.#at = at
      this.#followed = undefined
      this.#parts.count('appliedRecords', records.length)
    }
    await this.#acknowledge(runs.length)
  }

  async #piece({ at, after, upTo, entries, totalEntries }: Message<'piece'>): Promise<void> {
    if (this.#course !== 'copy' || after !== this.#copied) {
      throw new ProtocolFault('damaged', 'The primary sent a piece of a copy that does not follow the one before')
    }
    this.#copied = upTo ?? this.#copied
    this.#totalEntries = totalEntries
    await this.#requireState({ at, entries, gone: [] }, entries.length)
    await this.#acknowledge(1)
  }

  async #compared(message: Message<'pages' | 'digests' | 'listing' | 'values'>): Promise<void> {
    if (this.#comparison === undefined) {
      throw new ProtocolFault('damaged', `The primary sent "${message.kind}" without a comparison`)
    }
    await this.#comparison.received(message)
    if (message.kind === 'listing' || message.kind === 'values') await this.#acknowledge(1)
  }

  /** The root of the primary as of the place that was reached: at the end of a transfer, and from time to time. */
  async #complete({ at, root }: Message<'complete'>): Promise<void> {
    const here = this.#place()
    if (!isSamePlace(here, at)) {
      throw new ProtocolFault('damaged', `The primary sent a root of place ${at.index} behind place ${here.index}`)
    }
    if (this.#course !== 'stream' && !this.#isTransferred()) return
    if (this.#course === 'difference')
      await this.#mustTake({ mode: 'redo', after: at, records: [], at, transfer: this.#transfer(), isShown: true })
    if (!root.equals(await this.#parts.keeper.root())) {
      return this.#askForComparison('The tree is not that of the primary')
    }
    if (this.#course === 'stream') return
    await this.#mustTake({ mode: 'redo', after: at, records: [], at, transfer: undefined })
    this.#course = 'stream'
    this.#isOpen = false
    this.#comparison = undefined
    this.#tell()
  }

  /** The end of the primary's log: what came before is applied. In a transfer it means nothing. */
  async #drained({ number, at, grantsNothing }: Message<'drained'>): Promise<void> {
    const here = this.#place()
    if (this.#course === 'stream' && isSamePlace(here, at)) this.#parts.drained(number, grantsNothing)
  }

  #isTransferred(): boolean {
    return this.#course === 'copy' || this.#comparison?.isDone === true
  }

  async #askForComparison(sentence: string): Promise<void> {
    this.#parts.count('divergences', 1)
    if (++this.#comparisons > MAX_COMPARISONS) {
      throw new SinkStopped('divergence', `Comparing with the primary does not help: ${CHECK_PRIMARY}. ${sentence}`)
    }
    this.#course = undefined
    this.#comparison = undefined
    this.#isComparisonDue = false
    // The first did not help, so leaves or tree are not those of the entries: here, or at the primary.
    if (this.#comparisons > 1) await this.#parts.keeper.mend()
    await this.#parts.send({ kind: 'compare', course: this.#number, sentence })
  }

  /** Applies entries as of a place that the log has led to. */
  async #requireState(
    { at, ...state }: { readonly at: Place } & NonNullable<SinkBatch['state']>,
    counted: number,
  ): Promise<void> {
    await this.#mustTake({ mode: 'redo', after: at, records: [], at, state, transfer: this.#transfer() })
    this.#at = at
    this.#entries += counted
    this.#tell()
  }

  async #mustTake(taken: SinkBatch): Promise<void> {
    if (!(await this.#take(taken)))
      throw new SinkStopped('divergence', 'What the primary sent in a transfer does not fit')
  }

  /** False if the entries here are not those that the changes replace: a comparison was asked for. */
  async #take(taken: SinkBatch): Promise<boolean> {
    const outcome: Adopted = await this.#parts.keeper.take(taken)
    if (outcome.kind === 'adopted') return true
    if (outcome.kind === 'unknown') throw new SinkStopped('version', outcome.sentence)
    if (outcome.kind === 'gap') throw new SinkStopped('gap', outcome.sentence)
    if (taken.mode !== 'follow') {
      this.#parts.count('divergences', 1)
      throw new SinkStopped('divergence', `${outcome.sentence}: ${outcome.key}`)
    }
    await this.#askForComparison(`${outcome.sentence}: ${outcome.key}`)
    return false
  }

  #transfer(): Transfer | undefined {
    if (this.#course === 'copy') return { what: 'copy', after: this.#copied }
    return this.#course === 'difference' ? { what: 'difference', after: '' } : undefined
  }

  async #acknowledge(messages: number): Promise<void> {
    this.#handled += messages
    this.#tell()
    await this.#parts.send({ kind: 'ack', handled: this.#handled, durable: this.#place().index })
  }

  #place(): Place {
    if (this.#at === undefined) throw new ProtocolFault('damaged', 'The primary did not say what follows')
    return this.#at
  }

  #tell(): void {
    const { index } = this.#place()
    const what = this.#course ?? 'difference'
    this.#parts.progress({ what, index, entries: this.#entries, totalEntries: this.#totalEntries })
  }
}

const isSamePlace = (one: Place, other: Place): boolean =>
  one.index === other.index && one.historyId.equals(other.historyId)

/** True if nothing lies between the two. */
function isBehind({ after }: Message<'run'>, before: Message<'run'> | undefined): boolean {
  return before?.at.index === after.index && before.at.historyId.equals(after.historyId)
}

const sizeOf = ({ records }: Message<'run'>): number => records.reduce((sum, { length }) => sum + length, 0)
