// The primary's end of one link tells its secondary which authorities of the set are trusted, and hears what that has
// stored. A certificate message without a leaf is the question; `trusts` is the answer.
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message } from '../protocol/messages.ts'
import { DueSender } from './due-sender.ts'
import type { Arrival, PrimaryOwner } from './link-sides.ts'

/** What telling needs. */
export type TrustTellingParts = {
  readonly owner: Pick<PrimaryOwner, 'trustFor' | 'trusts'>
  readonly arrival: Arrival
  readonly send: (message: Message<'certificate'>) => Promise<void>
}

/** Tells one secondary. */
export class TrustTelling {
  readonly #parts: TrustTellingParts
  readonly #sender: DueSender<Message<'certificate'>>
  /** Questions without an answer. */
  #asked = 0

  constructor(parts: TrustTellingParts) {
    this.#parts = parts
    this.#sender = new DueSender({ news: () => this.#news(), send: parts.send })
  }

  /** Tells it, if it does not trust what it should by its own word. @throws what the owner throws, and LinkClosed */
  due(): Promise<void> {
    return this.#sender.due()
  }

  /** Each answer may be stored, so there are no more of them than questions. @throws ProtocolFault */
  async answered({ fingerprints }: Message<'trusts'>): Promise<void> {
    if (this.#asked === 0) throw new ProtocolFault('damaged', 'A secondary says whom it trusts without being asked')
    this.#asked--
    const { owner, arrival } = this.#parts
    const copied = fingerprints.map((one) => Buffer.from(one))
    await owner.trusts(arrival, copied)
  }

  async #news(): Promise<Message<'certificate'> | undefined> {
    const { owner, arrival } = this.#parts
    const trusted = await owner.trustFor(arrival)
    if (trusted === undefined) return undefined
    this.#asked++
    return { kind: 'certificate', certificate: Buffer.alloc(0), trusted }
  }
}
