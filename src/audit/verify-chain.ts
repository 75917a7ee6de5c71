// Checks one chain, line after line, and reports what does not fit.
import { importPublicKey, isSignatureOf } from '../crypto/signatures/text-signature.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import type { LineHead } from './line-head.ts'
import { MOST_UNSIGNED_LINES, SIGNATURE, SIGNED_FOR } from './line-stream.ts'

/** A line of a log, with its position in the files. */
export type PlacedLine = {
  readonly place: string
  /**
   * Text before the hashed part: the prefix of the device, or what a syslog server wrote.
   * Undefined if it is a torn piece.
   */
  readonly front: string | undefined
  readonly head: LineHead
  /** The hashed part, in latin1. */
  readonly text: string
  readonly hash: string
  readonly members: JsonObject
}

/** Reports a fault; `place` is file and line. */
export type ChainFault = (place: string, what: string) => void

/** Most different texts in front of lines that are kept: more of them are no prefixes. */
const MOST_FRONTS = 8

type KeyObject = NonNullable<ReturnType<typeof importPublicKey>>

/** The state of one chain during a verification. Its lines must be taken in the order of the log. */
export class ChainCheck {
  readonly id: string
  readonly firstSeq: number
  readonly firstPlace: string
  device = ''
  thread = ''
  entries = 0
  firstTime = ''
  lastTime = ''
  lastSeq = -1
  lastHash = ''
  lastPlace = ''
  isEnded = false
  /** Lines since the last valid signature. */
  unsigned = 0
  /** Prefix that the device puts before its lines; undefined if unknown. */
  prefix: string | undefined
  /** Each text in front of a line, and where it stood first. */
  readonly fronts = new Map<string, string>()
  readonly #fault: ChainFault
  #keys: readonly KeyObject[]
  readonly #areKeysGiven: boolean
  /**
   * Position of a line whose hash the next line does not contain. The following link
   * tells which of the two was changed.
   */
  #suspect: string | undefined

  /** Begins a check with the first line found. Without keys, the key in the chain's own start is used. */
  constructor(line: PlacedLine, keys: readonly KeyObject[], fault: ChainFault) {
    this.id = line.head.stream
    this.firstSeq = line.head.seq
    this.firstPlace = line.place
    this.firstTime = line.head.time
    this.#keys = keys
    this.#areKeysGiven = keys.length > 0
    this.#fault = fault
  }

  /** Checks the next line of the chain. */
  take(line: PlacedLine): void {
    const { head, place } = line
    if (this.lastSeq >= 0 && head.seq <= this.lastSeq) {
      this.#fault(
        place,
        `number ${head.seq} of chain ${this.id} stands behind number ${this.lastSeq}: moved, or put in`,
      )
      return
    }
    if (this.isEnded) this.#fault(place, `chain ${this.id} ended before`)
    const missing = this.lastSeq < 0 ? 0 : head.seq - this.lastSeq - 1
    if (missing > 0) {
      this.#settleSuspect()
      const which = missing === 1 ? `line ${head.seq - 1}` : `lines ${this.lastSeq + 1} to ${head.seq - 1}`
      this.#fault(place, `${which} of chain ${this.id} missing before it`)
    } else if (this.lastSeq >= 0) this.#followLink(head.prev === this.lastHash)
    else if (head.seq === 0 && head.prev !== '') this.#fault(place, `chain ${this.id} begins with a link to nothing`)
    this.lastSeq = head.seq
    this.lastHash = line.hash
    this.lastPlace = place
    this.lastTime = head.time
    const { front } = line
    if (front !== undefined && this.fronts.size < MOST_FRONTS && !this.fronts.has(front)) this.fronts.set(front, place)
    if (head.type === 'chain') this.#takeMark(line)
    else {
      this.entries++
      this.unsigned++
      if (head.seq === 0) this.#fault(place, `chain ${this.id} does not begin with its start`)
    }
  }

  /** Ends the check: no line follows. */
  finish(): void {
    this.#settleSuspect()
    if (this.unsigned > MOST_UNSIGNED_LINES)
      this.#fault(
        this.lastPlace,
        `the last ${this.unsigned} lines of chain ${this.id} have no signature, a server leaves ${MOST_UNSIGNED_LINES}`,
      )
  }

  /** A signed line of another chain contains the hash of this line, and so covers all up to it. */
  vouchFor(seq: number): void {
    if (seq === this.lastSeq) this.unsigned = 0
  }

  #followLink(fits: boolean): void {
    if (fits) this.#settleSuspect()
    else if (this.#suspect === undefined) this.#suspect = this.lastPlace
    else {
      // Neither link of the line between them holds.
      this.#fault(this.lastPlace, `a line of chain ${this.id} was changed`)
      this.#suspect = undefined
    }
  }

  #settleSuspect(): void {
    if (this.#suspect === undefined) return
    this.#fault(this.#suspect, `a line of chain ${this.id} was changed: the one behind it names another`)
    this.#suspect = undefined
  }

  #takeMark({ head, place, text, members }: PlacedLine): void {
    const { event } = members
    if (event === 'lost') {
      this.unsigned++
      return
    }
    if (head.seq === 0 && event !== 'start') this.#fault(place, `chain ${this.id} does not begin with its start`)
    if (event === 'start') this.#takeStart(head.seq, place, members)
    if (event === 'end') this.isEnded = true
    if (this.#isSigned(text, members)) this.unsigned = 0
    else {
      this.unsigned++
      this.#fault(place, `the signature of chain ${this.id} does not hold here`)
    }
  }

  #takeStart(seq: number, place: string, { device, thread, prefix, public_key: key }: JsonObject): void {
    if (seq !== 0) this.#fault(place, `chain ${this.id} starts a second time`)
    this.device = typeof device === 'string' ? device : ''
    this.thread = typeof thread === 'string' ? thread : ''
    this.prefix = typeof prefix === 'string' ? prefix : undefined
    if (this.#areKeysGiven || typeof key !== 'string') return
    const named = importPublicKey(key)
    this.#keys = named === undefined ? [] : [named]
  }

  #isSigned(text: string, { signature }: JsonObject): boolean {
    if (typeof signature !== 'string') return false
    const signed = text.slice(0, text.lastIndexOf(SIGNATURE))
    // The signature must be the last member, or text after it would be unsigned.
    if (text !== `${signed}${SIGNATURE}${signature}"}`) return false
    return this.#keys.some((key) => isSignatureOf(key, SIGNED_FOR + signed, signature))
  }
}

/** The end of a chain, as the start of a later one found it. */
export type FoundEnd = { readonly stream: string; readonly seq: number; readonly hash: string }

/** Returns the ends of earlier chains that a start lists in `found`; none for other lines. */
export function foundBy({ members }: PlacedLine): FoundEnd[] {
  const { event, found } = members
  if (event !== 'start' || !Array.isArray(found)) return []
  return found.flatMap((one) => {
    if (!isJsonObject(one)) return []
    const { stream, seq, hash } = one
    return typeof stream === 'string' && typeof seq === 'number' && typeof hash === 'string'
      ? [{ stream, seq, hash }]
      : []
  })
}
