// One chain as whoever verifies a log sees it: line after line, with what does not fit.
import { importPublicKey, isSignatureOf } from '../crypto/text-signature.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import type { LineHead } from './line-head.ts'
import { SIGNATURE, SIGNED_FOR } from './line-stream.ts'

/** A line of a log, in its place. */
export type PlacedLine = {
  readonly place: string
  readonly head: LineHead
  /** What is hashed. */
  readonly text: string
  readonly hash: string
  readonly members: JsonObject
}

export type Fault = (place: string, what: string) => void

type KeyObject = NonNullable<ReturnType<typeof importPublicKey>>

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
  /** Lines behind the last signature that holds. */
  unsigned = 0
  readonly #fault: Fault
  #key: KeyObject | undefined
  readonly #isKeyGiven: boolean
  /** A line that the one behind it does not name: which of the two was changed, the next link tells. */
  #suspect: string | undefined

  constructor(line: PlacedLine, key: KeyObject | undefined, fault: Fault) {
    this.id = line.head.stream
    this.firstSeq = line.head.seq
    this.firstPlace = line.place
    this.firstTime = line.head.time
    this.#key = key
    this.#isKeyGiven = key !== undefined
    this.#fault = fault
  }

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
    if (head.type === 'chain') this.#takeMark(line)
    else {
      this.entries++
      this.unsigned++
      if (head.seq === 0) this.#fault(place, `chain ${this.id} does not begin with its start`)
    }
  }

  /** No line follows. */
  finish(): void {
    this.#settleSuspect()
  }

  #followLink(fits: boolean): void {
    if (fits) this.#settleSuspect()
    else if (this.#suspect === undefined) this.#suspect = this.lastPlace
    else {
      // Neither link of the line in between holds.
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

  #takeStart(seq: number, place: string, { device, thread, public_key: key }: JsonObject): void {
    if (seq !== 0) this.#fault(place, `chain ${this.id} starts a second time`)
    this.device = typeof device === 'string' ? device : ''
    this.thread = typeof thread === 'string' ? thread : ''
    if (!this.#isKeyGiven && typeof key === 'string') this.#key = importPublicKey(key)
  }

  #isSigned(text: string, { signature }: JsonObject): boolean {
    if (typeof signature !== 'string' || this.#key === undefined) return false
    const signed = text.slice(0, text.lastIndexOf(SIGNATURE))
    // Nothing else stands behind it.
    if (text !== `${signed}${SIGNATURE}${signature}"}`) return false
    return isSignatureOf(this.#key, SIGNED_FOR + signed, signature)
  }
}

/** Chains that a start found before it: `found` of its line. */
export function foundBy({ members }: PlacedLine): { stream: string; seq: number; hash: string }[] {
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
