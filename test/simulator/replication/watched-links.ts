// The links of a simulated cluster, with a look at each message that it sends over them.
import type { Link, Links } from '../../../src/lib/links.ts'
import { FrameReader, type RawMessage } from '../../../src/replication/protocol/frames.ts'
import { kindOf, type MessageKind, mostOf } from '../../../src/replication/protocol/messages.ts'
import { peerOfUri } from '../../../src/replication/set/peer-name.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'

/** A message that was handed to a link. */
export type SentOver = {
  readonly kind: MessageKind
  readonly raw: RawMessage
  /** The id of the secondary at the other end; undefined where that end is a primary. */
  readonly to: string | undefined
  readonly family: ReplicationFamily
  /** The protocol of the link. */
  readonly protocol: string
  /** Messages of each kind that went over this link before, this one included. */
  readonly counts: ReadonlyMap<MessageKind, number>
}

/** Calls `look` for each message that is sent, and `heard` when anything arrives. */
export function watchedLinks(links: Links, look: (sent: SentOver) => void, heard: () => void): Links {
  const watched = (link: Link): Link => {
    const { send, peer, incoming } = link
    Object.defineProperty(link, 'incoming', { value: heardOf(incoming, heard) })
    const reader = new FrameReader(mostOf)
    const counts = new Map<MessageKind, number>()
    const named = peerOfUri(peer.names[0] ?? '')
    const to = named?.role === 'secondary' ? named.id : undefined
    const family = named?.family ?? 'dr'
    link.send = (bytes) => {
      for (const raw of reader.push(Buffer.from(bytes))) {
        const kind = kindOf(raw.type)
        if (kind === undefined) continue
        counts.set(kind, (counts.get(kind) ?? 0) + 1)
        look({ kind, raw, to, family, protocol: peer.protocol, counts })
      }
      return send.call(link, bytes)
    }
    return link
  }
  return {
    dial: async (...dialed) => watched(await links.dial(...dialed)),
    listen: (at, serving) => links.listen(at, { ...serving, accept: (link) => serving.accept(watched(link)) }),
  }
}

function heardOf(incoming: AsyncIterable<Buffer>, heard: () => void): AsyncIterable<Buffer> {
  const pieces = incoming[Symbol.asyncIterator]()
  const next = async () => {
    const piece = await pieces.next()
    heard()
    return piece
  }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}
