// The primary's end of a link by which a secondary has requests carried out. What is asked goes to the owner as it
// came, and answers go back in the order in which there are some.
//
// Little is kept for a secondary, however it behaves: of what it asks no more than asking-limits.ts says, and of
// answers that it does not read so much that nothing further is begun.
import { ProtocolFault } from '../protocol/frames.ts'
import { MAX_ANSWER_BYTES, type Message, type MessageKind } from '../protocol/messages.ts'
import { MAX_ASKED, MAX_ASKED_BYTES, MAX_UNSENT_ANSWER_BYTES } from './asking-limits.ts'
import { beatsWithoutLog } from './beats.ts'
import type { LinkEndParts } from './end-parts.ts'
import { type AdmittedSecondary, admitted, welcomeOf } from './greeting.ts'
import { Heartbeat } from './heartbeat.ts'
import type { MessageLink } from './message-link.ts'
import { RefusedPeer, refusedMessage } from './refusals.ts'
import type { ServedLink } from './served-links.ts'
import type { ServedPeer } from './served-peer.ts'

const FROM_SECONDARY: ReadonlySet<MessageKind> = new Set(['ask', 'beat', 'fault'])
/**
 * Of a question that was answered the secondary may know before this end does, and asks the next: so here there may be
 * twice as many, which is a bound as well.
 */
const MAX_OPEN = 2 * MAX_ASKED
const NO_BODY = Buffer.alloc(0)

type Answered = Omit<Message<'answered'>, 'kind' | 'number'>

/** One link. */
export class AskingSecondary implements ServedLink {
  readonly peer: ServedPeer
  readonly #parts: LinkEndParts
  readonly #link: MessageLink
  readonly #onAdmitted: () => void
  readonly #heartbeat: Heartbeat
  /** Rejects with the reason for which this end gives the link up. */
  readonly #stopped = Promise.withResolvers<never>()
  #isOver = false
  /** Questions whose answers are not sent. */
  #open = 0
  /** Bytes of those that the owner has. */
  #askedBytes = 0
  #unsentBytes = 0

  /** `onAdmitted` is called when the secondary is known to be one that may ask. */
  constructor(parts: LinkEndParts, link: MessageLink, peer: ServedPeer, onAdmitted: () => void) {
    this.#parts = parts
    this.#link = link
    this.peer = peer
    this.#onAdmitted = onAdmitted
    this.#stopped.promise.catch(() => {})
    this.#heartbeat = new Heartbeat({ ...parts, link, says: beatsWithoutLog(parts.facts), onBeat: () => {} })
  }

  async run(): Promise<void> {
    try {
      await this.#serve()
    } catch (cause) {
      await this.#end(cause as Error)
    }
  }

  disconnect(why: string): void {
    this.#isOver = true
    this.#link.destroy(why)
    this.#stopped.reject(new Error(why))
  }

  replaced(): void {
    this.#isOver = true
    this.#stopped.reject(new RefusedPeer(refusedMessage('replaced', 'Another link of this secondary has taken over')))
  }

  async #serve(): Promise<never> {
    const { log } = this.#parts
    const admission = await admitted(this.#parts, this.#link, this.peer.set)
    // It may have been disconnected meanwhile.
    if (this.#isOver) return this.#stopped.promise
    this.#onAdmitted()
    this.#link.accept(FROM_SECONDARY)
    await this.#link.send(welcomeOf(this.#parts, admission.protocol))
    this.#heartbeat.start()
    log('info', 'A secondary hands requests over', this.#fields())
    return Promise.race([this.#receive(admission), this.#stopped.promise])
  }

  async #receive({ arrival }: AdmittedSecondary): Promise<never> {
    for (;;) {
      const { message } = await this.#link.next()
      if (message.kind === 'beat') this.#heartbeat.received(message)
      else if (message.kind === 'ask' && !this.#isOver) void this.#asked(arrival, message)
    }
  }

  async #asked(arrival: AdmittedSecondary['arrival'], { number, call, body }: Message<'ask'>): Promise<void> {
    if (this.#open >= MAX_OPEN || this.#askedBytes + body.length > MAX_ASKED_BYTES) {
      this.#stopped.reject(new ProtocolFault('damaged', 'A secondary has asked for more than may be asked at once'))
      return
    }
    this.#open++
    if (this.#unsentBytes >= MAX_UNSENT_ANSWER_BYTES) return this.#answer(number, { how: 'busy', body: NO_BODY })
    this.#askedBytes += body.length
    const answered = await this.#carriedOut(arrival, call, body)
    this.#askedBytes -= body.length
    await this.#answer(number, answered)
  }

  async #carriedOut(arrival: AdmittedSecondary['arrival'], call: string, body: Buffer): Promise<Answered> {
    const { owner, log } = this.#parts
    try {
      const answer = await owner.handed(arrival, call, body)
      if (answer.length <= MAX_ANSWER_BYTES) return { how: 'answer', body: answer }
      log('error', 'An answer is too long to be sent to a secondary', { ...this.#fields(), bytes: answer.length })
    } catch (cause) {
      log('warn', 'What a secondary asked has no answer', { ...this.#fields(), why: (cause as Error).message })
    }
    return { how: 'lost', body: NO_BODY }
  }

  async #answer(number: number, answered: Answered): Promise<void> {
    const { length } = answered.body
    this.#unsentBytes += length
    try {
      await this.#link.send({ kind: 'answered', number, ...answered })
    } catch (cause) {
      this.#stopped.reject(cause)
    } finally {
      this.#unsentBytes -= length
      this.#open--
    }
  }

  async #end(cause: Error): Promise<void> {
    this.#isOver = true
    this.#heartbeat.stop()
    const refused = cause instanceof RefusedPeer ? cause.sent : undefined
    const what = refused === undefined ? 'A secondary hands no requests over any more' : 'A secondary was refused'
    this.#parts.log(refused === undefined ? 'info' : 'warn', what, { ...this.#fields(), why: cause.message })
    if (refused === undefined) await this.#link.fail(cause)
    else await this.#link.hangUp(refused, cause.message)
  }

  #fields(): Record<string, string> {
    return { family: this.peer.set.family, secondary: this.peer.id }
  }
}
