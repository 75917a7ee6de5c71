// A link as a stream of messages in both directions. Messages are sent one behind the other, frame by frame, each when
// the link has room: so little is kept for a peer that reads slowly. They are received one by one, when they are asked
// for: a peer that sends faster than it is heard is held up.
import { type Link, LinkClosed, type LinkPeer } from '../../lib/links.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
import type { Count } from '../counts.ts'
import { FrameReader, ProtocolFault, type RawMessage } from '../protocol/frames.ts'
import { decodeMessage, encodeMessage, kindOf, type Message, type MessageKind, mostOf } from '../protocol/messages.ts'
import type { LinkTimes } from './link-times.ts'

/** A message that came, and how many bytes it had. */
export type ReceivedMessage<K extends MessageKind = MessageKind> = {
  readonly message: Message<K>
  readonly bytes: number
}

/** The other end has said that it gives the link up, and why. */
export class PeerHungUp extends Error {
  override name = 'PeerHungUp'
  readonly reason: Message<'fault'>['reason']
  constructor({ reason, sentence }: Message<'fault'>) {
    super(onOneLine(sentence))
    this.reason = reason
  }
}

/** What a message link needs besides its link. */
export type MessageLinkParts = {
  readonly world: Pick<World, 'clock' | 'timers'>
  readonly times: Pick<LinkTimes, 'closingMs'>
  /** Counts the bytes of both directions. */
  readonly count: Count
}

/** Control characters of a peer's sentence would change lines of a log or a terminal. */
export const onOneLine = (sentence: string): string => sentence.replace(/\p{Cc}+/gu, ' ')

/** One link. It is given up by `destroy`, `hangUp` or `fail`, and closed when `next` rejects. */
export class MessageLink {
  readonly #link: Link
  readonly #parts: MessageLinkParts
  readonly #reader: FrameReader
  readonly #pieces: AsyncIterator<Buffer>
  readonly #sending = new OneAtATime()
  #accepted: ReadonlySet<MessageKind>
  #raw: RawMessage[] = []
  #receivedAtMs: number

  /** Only the kinds of `accepted` are read, so that a peer can make this end keep no more than the longest of them. */
  constructor(link: Link, parts: MessageLinkParts, accepted: ReadonlySet<MessageKind>) {
    this.#link = link
    this.#parts = parts
    this.#accepted = accepted
    this.#reader = new FrameReader((type) => this.#mostOf(type))
    this.#pieces = link.incoming[Symbol.asyncIterator]()
    this.#receivedAtMs = parts.world.clock.monotonicMs()
  }

  get peer(): LinkPeer {
    return this.#link.peer
  }

  /** When bytes came last, or else when the link was made, on the monotonic clock. */
  get receivedAtMs(): number {
    return this.#receivedAtMs
  }

  /** Resolves when nothing can be sent or received any more. */
  get closed(): Promise<unknown> {
    return this.#link.closed
  }

  /** From now on these kinds are read. */
  accept(kinds: ReadonlySet<MessageKind>): void {
    this.#accepted = kinds
  }

  /** Sends behind what was given before; resolves when the link takes more. @throws LinkClosed */
  send(message: Message): Promise<void> {
    return this.#sending.run(async () => {
      for (const frame of encodeMessage(message)) {
        await this.#link.send(frame)
        this.#parts.count('sentBytes', frame.length)
      }
    })
  }

  /**
   * The next message, which is of an accepted kind. One caller at a time.
   * @throws ProtocolFault, PeerHungUp, LinkClosed
   */
  async next(): Promise<ReceivedMessage> {
    for (;;) {
      const raw = this.#raw.shift()
      if (raw !== undefined) return this.#decoded(raw)
      const { done, value } = await this.#pieces.next()
      if (done) throw new LinkClosed({ how: 'ended', why: 'the other end has ended it' })
      this.#receivedAtMs = this.#parts.world.clock.monotonicMs()
      this.#parts.count('receivedBytes', value.length)
      this.#raw = this.#reader.push(value)
    }
  }

  /** As `next`, for kinds that alone are accepted now. If none comes within this time, the link is destroyed. */
  async only<K extends MessageKind>(kinds: K | readonly K[], withinMs: number): Promise<Message<K>> {
    this.accept(new Set<MessageKind>([...(typeof kinds === 'string' ? [kinds] : kinds), 'fault']))
    const { message } = await this.nextWithin(withinMs)
    return message as Message<K>
  }

  /** As `next`. If nothing comes within this time, the link is destroyed. */
  async nextWithin(withinMs: number): Promise<ReceivedMessage> {
    const why = `the other end said nothing for ${withinMs / 1_000} s`
    const deadline = this.#parts.world.timers.after(withinMs, () => this.destroy(why))
    try {
      return await this.next()
    } finally {
      deadline.cancel()
    }
  }

  /** Breaks the link off at once. */
  destroy(why: string): void {
    this.#link.destroy(why)
  }

  /** Sends the last message, and gives the link up; a peer that does not read it is waited for shortly. */
  async hangUp(last: Message, why: string): Promise<void> {
    const { world, times } = this.#parts
    const deadline = world.timers.after(times.closingMs, () => this.destroy(why))
    this.send(last).then(
      () => this.#link.end(),
      () => this.destroy(why),
    )
    await this.#link.closed
    deadline.cancel()
  }

  /** Gives the link up for this cause, which a peer that is at fault is told. */
  async fail(cause: Error): Promise<void> {
    if (!(cause instanceof ProtocolFault)) return this.destroy(cause.message)
    await this.hangUp({ kind: 'fault', reason: cause.reason, sentence: cause.message }, cause.message)
  }

  #mostOf(type: number): number | undefined {
    const kind = kindOf(type)
    if (kind === undefined || this.#accepted.has(kind)) return mostOf(type)
    throw new ProtocolFault('damaged', `A message "${kind}" has no place here`)
  }

  #decoded(raw: RawMessage): ReceivedMessage {
    const message = decodeMessage(raw)
    // It was on its way when another kind was waited for.
    if (!this.#accepted.has(message.kind)) {
      throw new ProtocolFault('damaged', `A message "${message.kind}" has no place here`)
    }
    if (message.kind === 'fault') throw new PeerHungUp(message)
    return { message, bytes: raw.payload.length }
  }
}
