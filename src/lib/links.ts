// Links to peer clusters: byte streams, each with a peer that is proven by its certificate. They are the only way by
// which a node reaches a peer cluster or is reached by one. Frames, messages, heartbeats and the issuing of
// certificates are above (src/replication).
import type { KeyObject } from 'node:crypto'

/** Who a node is on the links of one set and family. */
export type LinkIdentity = {
  /** Private key of the certificate. */
  readonly key: KeyObject
  /** DER. One of `trusted` has issued it. */
  readonly certificate: Buffer
  /**
   * Authorities in DER. A peer's certificate is issued by one of them itself. There are two while one follows another:
   * certificates then name their authority by its key (RFC 5280 section 4.2.1.1), if both have one name.
   */
  readonly trusted: readonly Buffer[]
}

/** Where a node listens, or is reached. */
export type LinkAddress = { readonly host: string; readonly port: number }

/** As what a node dials. */
export type Dialing = {
  readonly identity: LinkIdentity
  /** Sent in clear (SNI). It selects the set and family at the peer, whose certificate is for this name (DNS). */
  readonly serverName: string
  /** Sent in clear (ALPN). It selects the service. */
  readonly protocol: string
}

/** The limits of one dial, and of the link that it makes. */
export type DialLimits = {
  /** For all of it: name, connection, proof, acceptance. Missing: DIAL_MS. */
  readonly timeoutMs?: number
  /** Ends the dial: it fails as 'broken'. The link that it has made is the caller's to end. */
  readonly signal?: AbortSignal
  /** Missing: MOST_UNSENT_BYTES. */
  readonly mostUnsentBytes?: number
}

/** What a node serves at an address. */
export type Serving = {
  /**
   * Asked at each handshake, so that it may change meanwhile; undefined: that name is not served. As long as nothing
   * has changed it gives the same object, which is parsed once.
   */
  identities(serverName: string): LinkIdentity | undefined
  readonly protocols: readonly string[]
  /** Called with each link whose peer is proven. Whether this peer may come is judged there. */
  accept(link: Link): void
  readonly limits?: Partial<ServingLimits>
}

/** Limits of what has not proven yet who it is, and of links. */
export type ServingLimits = {
  /** Handshakes under way at once. The oldest of the address with the most makes room for a further one. */
  readonly halfOpen: number
  /** Of these, from one address (IPv6: network of 64 bits). More are turned away. */
  readonly halfOpenOfOne: number
  /** A handshake that takes longer is broken off. */
  readonly handshakeMs: number
  readonly mostUnsentBytes: number
}

/** How long a dial may take, if its caller says nothing. */
export const DIAL_MS = 10_000
/** Bytes of a link that may wait to be sent: two of the largest frames. */
export const MOST_UNSENT_BYTES = 8 << 20
/** The limits where the caller gives none. A handshake holds some 150 KiB at most: a chain of 100 KiB, and buffers. */
export const SERVING_LIMITS: ServingLimits = {
  halfOpen: 128,
  halfOpenOfOne: 16,
  handshakeMs: 10_000,
  mostUnsentBytes: MOST_UNSENT_BYTES,
}

/** An open port. */
export interface Listening {
  readonly port: number
  /** Frees the port, and breaks off handshakes. Links stay. */
  close(): void
}

/** The parts of world.ts that links need. */
export type LinkParts = {
  readonly clock: { nowMs(): number }
  readonly timers: { after(delayMs: number, work: () => void): { cancel(): void } }
}

/** The network of peers, as rooms are handed it. */
export interface Links {
  /** @throws LinkFailed */
  dial(to: LinkAddress, as: Dialing, limits?: DialLimits): Promise<Link>
  /** Port 0 is any free one. @throws the error of the system, such as EADDRINUSE */
  listen(at: LinkAddress, serving: Serving): Promise<Listening>
}

/** What is known of the other end of a link. */
export type LinkPeer = {
  /** DER. It was valid, and from one of the trusted authorities, when the link was made. */
  readonly certificate: Buffer
  /** The URIs that the certificate is for. */
  readonly names: readonly string[]
  readonly serverName: string
  readonly protocol: string
  /** IP address; of a dialed peer the host that was dialed. */
  readonly address: string
}

/** How a link came to its end: both sides were done, this side broke it off, or the peer or the network did. */
export type LinkEnd = { readonly how: 'ended' | 'destroyed' | 'lost'; readonly why: string }

/**
 * A byte stream to a proven peer. What was sent may arrive in other pieces. Neither side sees when the other is gone.
 */
export interface Link {
  readonly peer: LinkPeer
  /**
   * Takes the bytes, which belong to the link from then on. Resolves when there is room for more: who waits for it
   * holds little memory, however slowly the peer reads.
   * @throws LinkFull if too much waits already; none of these bytes are sent, and the link stays
   * @throws LinkClosed
   */
  send(bytes: Buffer): Promise<void>
  /**
   * What the peer sent. While it is not read, the peer can send little more. It ends when the peer has ended, which
   * alone does not prove that nothing is missing; this side has then ended too: what waits is still sent, and no more
   * is taken. One reader at a time; one that stops may go on later. @throws LinkClosed
   */
  readonly incoming: AsyncIterable<Buffer>
  /**
   * Sends what waits, then tells the peer that this is all. The link ends when the peer's bytes are read to their end.
   */
  end(): void
  /** Breaks the link off at once. The peer sees that it is lost, not a reason: what it is to know is sent before. */
  destroy(why: string): void
  /** Never rejects. A link that the peer has ended closes when it is read to its end. */
  readonly closed: Promise<LinkEnd>
}

/**
 * Why there is no link. `unreachable`: no such name, or no way there. `refused`: nothing listens. `timeout`: no answer
 * in time. `foreign`: what answers is no peer: plain HTTP, or a load balancer that ends TLS. `untrusted`: the peer's
 * certificate is not from a trusted authority, or for another name. `clock`: a certificate is not valid yet, or no
 * longer. `rejected`: the peer does not serve this name and protocol, or does not take this certificate. `broken`: the
 * network.
 */
export type LinkFailure =
  | 'unreachable'
  | 'refused'
  | 'timeout'
  | 'foreign'
  | 'untrusted'
  | 'clock'
  | 'rejected'
  | 'broken'

/** A dial that made no link. Its message names the address. */
export class LinkFailed extends Error {
  override name = 'LinkFailed'
  readonly reason: LinkFailure

  constructor(reason: LinkFailure, { host, port }: LinkAddress, what: string) {
    super(`${host.includes(':') ? `[${host}]` : host}:${port} ${what}`)
    this.reason = reason
  }
}

/** The link has ended, so that nothing can be sent or read. */
export class LinkClosed extends Error {
  override name = 'LinkClosed'
  readonly end: LinkEnd

  constructor(end: LinkEnd) {
    super(`The link is closed: ${end.why}`)
    this.end = end
  }
}

/** Too much waits to be sent. */
export class LinkFull extends Error {
  override name = 'LinkFull'

  constructor(unsentBytes: number) {
    super(`${unsentBytes} bytes wait to be sent, and the peer does not read`)
  }
}
