// The secondary's end of a link by which its primary carries out requests, from its greeting to its end.
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message, MessageKind } from '../protocol/messages.ts'
import { MAX_ASKED, MAX_ASKED_BYTES } from './asking-limits.ts'
import { beatsWithoutLog } from './beats.ts'
import type { LinkEndParts } from './end-parts.ts'
import { greetPrimary, outOfPlace } from './greeting.ts'
import { Heartbeat } from './heartbeat.ts'
import type { AskOutcome, SecondaryPart, ShownStanding } from './link-sides.ts'
import type { MessageLink } from './message-link.ts'
import { RefusedByPrimary } from './refusals.ts'

/** The kinds of message that a secondary takes. */
export const KINDS_OF_ANSWERS: ReadonlySet<MessageKind> = new Set(['welcome', 'refused', 'answered', 'beat', 'fault'])

type Waiting = { readonly bytes: number; readonly resolve: (asked: AskOutcome) => void }

/** What one link needs besides what all have. */
export type AnsweringPrimaryParts = LinkEndParts & {
  readonly part: SecondaryPart
  /** The key that this secondary was let in with. */
  readonly shown: ShownStanding
  /** Called when the primary has taken this secondary. */
  readonly onWelcome: () => void
}

/** One link. */
export class AnsweringPrimary {
  readonly #parts: AnsweringPrimaryParts
  readonly #link: MessageLink
  readonly #heartbeat: Heartbeat
  readonly #stopped = Promise.withResolvers<never>()
  /** Questions without an answer, also those that nobody waits for any more: the primary has them all the same. */
  readonly #waiting = new Map<number, Waiting>()
  #waitingBytes = 0
  #last = 0
  #isWelcome = false

  constructor(parts: AnsweringPrimaryParts, link: MessageLink) {
    this.#parts = parts
    this.#link = link
    this.#stopped.promise.catch(() => {})
    this.#heartbeat = new Heartbeat({ ...parts, link, says: beatsWithoutLog(parts.facts), onBeat: () => {} })
  }

  /** Takes questions until the link is over. @throws the cause */
  async run(): Promise<never> {
    try {
      return await Promise.race([this.#serve(), this.#stopped.promise])
    } catch (cause) {
      this.#isWelcome = false
      this.#heartbeat.stop()
      for (const { resolve } of this.#waiting.values()) resolve({ kind: 'silent' })
      this.#waiting.clear()
      await this.#link.fail(cause as Error)
      throw cause
    }
  }

  /** As LinkControl. What is above the limits is not asked. */
  ask(call: string, body: Buffer): Promise<AskOutcome> {
    if (!this.#isWelcome) return Promise.resolve({ kind: 'no-link' })
    const isFull = this.#waiting.size >= MAX_ASKED || this.#waitingBytes + body.length > MAX_ASKED_BYTES
    if (isFull) return Promise.resolve({ kind: 'busy' })
    const number = ++this.#last
    const { promise, resolve } = Promise.withResolvers<AskOutcome>()
    this.#waiting.set(number, { bytes: body.length, resolve })
    this.#waitingBytes += body.length
    this.#link.send({ kind: 'ask', number, call, body }).catch((cause: Error) => this.stop(cause))
    return promise
  }

  /** Gives the link up for this cause. */
  stop(cause: Error): void {
    this.#link.destroy(cause.message)
    this.#stopped.reject(cause)
  }

  async #serve(): Promise<never> {
    const { part, shown, onWelcome } = this.#parts
    const log = { epoch: 0, histories: [], applied: undefined, isParted: false, transfer: undefined, reach: undefined }
    await greetPrimary(this.#parts, this.#link, part, { ...log, ...shown, sealId: '' })
    this.#isWelcome = true
    this.#heartbeat.start()
    onWelcome()
    for (;;) {
      const { message } = await this.#link.next()
      if (message.kind === 'answered') this.#answered(message)
      else if (message.kind === 'beat') this.#heartbeat.received(message)
      else throw message.kind === 'refused' ? new RefusedByPrimary(message) : outOfPlace(message)
    }
  }

  #answered({ number, how, body }: Message<'answered'>): void {
    const one = this.#waiting.get(number)
    if (one === undefined) throw new ProtocolFault('damaged', 'The primary answers what it was not asked')
    this.#waiting.delete(number)
    this.#waitingBytes -= one.bytes
    if (how === 'answer') one.resolve({ kind: 'answer', body })
    else one.resolve({ kind: how === 'busy' ? 'busy' : 'silent' })
  }
}
