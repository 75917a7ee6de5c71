// The links of secondaries at their primary: who is connected, whom a new link replaces, and who is cut off.
import { sha256 } from '../../crypto/primitives/digest.ts'
import type { Link, LinkIdentity } from '../../lib/links.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { peerOfUri, type SetName, setOfServerName } from '../set/peer-name.ts'
import type { PrimaryParts } from './end-parts.ts'
import { letIn } from './letting-in.ts'
import { ACTIVATION_PROTOCOL, FOLLOWING_PROTOCOLS, keyOfPeer } from './link-protocols.ts'
import type { PrimaryPart, SecondaryStatus } from './link-sides.ts'
import { MessageLink } from './message-link.ts'
import { type RefusedCode, refusedMessage } from './refusals.ts'
import { type RememberedSecondary, type ServedPeer, ServedSecondary } from './served-secondary.ts'

/** Secondaries that follow at once, of all sets together. */
export const MAX_FOLLOWING = 64
/** Clusters that are being let in at once. */
export const MAX_LETTING_IN = 16
/** Of the links that are not judged yet, and clusters that are let in, those of one id: old certificates are many. */
const MAX_OF_ONE = 4
/** Secondaries whose last state is remembered: more than a registry has. */
const MAX_REMEMBERED = 1_024
const BUSY_RETRY_MS = 5_000
const OTHERS_OF_ID = 'Others come with certificates of this id: try again soon, or use another id'
const NOTHING = new Set<never>()

type LettingIn = ServedPeer & { readonly link: MessageLink }

/** All links of secondaries to this node. */
export class PrimaryEnd {
  readonly #parts: PrimaryParts
  #sets: ReadonlyMap<string, PrimaryPart> = new Map()
  /**
   * Links that greet, and clusters that are let in, by secondary and certificate. One that was not judged yet gives way
   * to another of its own certificate alone: who was revoked would push its successor aside.
   */
  readonly #greeting = new Map<string, ServedSecondary>()
  readonly #lettingIn = new Map<string, LettingIn>()
  /** The link that was admitted last, by secondary. */
  readonly #following = new Map<string, ServedSecondary>()
  /** The last states of those that were connected. */
  readonly #remembered = new Map<string, RememberedSecondary>()

  constructor(parts: PrimaryParts) {
    this.#parts = parts
  }

  /** Takes over what this node is primary of. Links of other sets are broken off. */
  play(parts: readonly PrimaryPart[]): void {
    const before = this.#sets
    this.#sets = new Map(parts.map((part) => [keyOfSet(part.set), part]))
    this.#breakOff(({ set }) => !this.#sets.has(keyOfSet(set)), 'this cluster is no primary of the set any more')
    for (const [key, { peer }] of this.#remembered) {
      if (!this.#sets.has(keyOfSet(peer.set))) this.#remembered.delete(key)
    }
    for (const served of this.#following.values()) {
      const key = keyOfSet(served.peer.set)
      if (!haveSameTrust(before.get(key), this.#sets.get(key))) served.trustChanged()
    }
  }

  /** Breaks off all links that were accepted. */
  closeAll(why: string): void {
    this.#breakOff(() => true, why)
  }

  /** Breaks off the links of a secondary. */
  disconnect(family: ReplicationFamily, id: string): void {
    this.#breakOff((peer) => peer.set.family === family && peer.id === id, 'the secondary was disconnected')
  }

  /** As whom this node answers. */
  identityFor(serverName: string): LinkIdentity | undefined {
    return this.#partOf(serverName)?.identity
  }

  /** Takes a link whose peer is proven. */
  accept(link: Link): void {
    const { peer } = link
    const set = this.#partOf(peer.serverName)?.set
    if (set === undefined) {
      link.destroy('this set is not served any more')
      return
    }
    const messages = new MessageLink(link, { ...this.#parts, count: this.#parts.counts(set.family) }, NOTHING)
    const id = secondaryIn(set, peer.names)
    if (id === undefined) refuse(messages, 'other-set', 'The certificate is not that of a secondary of this set')
    else if (peer.protocol === ACTIVATION_PROTOCOL) this.#letIn(messages, { set, id })
    else if (peer.protocol === FOLLOWING_PROTOCOLS[set.family]) this.#serve(messages, { set, id })
    else refuse(messages, 'other-set', `This set does not use ${peer.protocol}`)
  }

  /** The seal was rekeyed. */
  sealChanged(): void {
    for (const served of this.#following.values()) served.sealChanged()
  }

  get status(): readonly SecondaryStatus[] {
    return [...this.#remembered.values()].map(({ status }) => status)
  }

  #serve(link: MessageLink, peer: ServedPeer): void {
    const key = keyOfPeer(peer.set, peer.id)
    const arrival = keyOfArrival(key, link)
    const others = countOf(
      peer,
      [...this.#greeting.values()].map((one) => one.peer),
    )
    const isKnown = this.#greeting.has(arrival) || (this.#following.has(key) && others === 0)
    if (!this.#greeting.has(arrival) && others >= MAX_OF_ONE) {
      refuse(link, 'busy', OTHERS_OF_ID)
      return
    }
    if (!isKnown && this.#greeting.size + this.#following.size >= MAX_FOLLOWING) {
      refuse(link, 'busy', `This node serves ${MAX_FOLLOWING} secondaries already`)
      return
    }
    const served = new ServedSecondary(this.#parts, link, peer, () => this.#admitted(key, arrival, served))
    // One that did not end its greeting before it came again has given that up.
    this.#greeting.get(arrival)?.disconnect('the secondary has come again')
    this.#greeting.set(arrival, served)
    void served.run().then(() => {
      if (this.#greeting.get(arrival) === served) this.#greeting.delete(arrival)
      if (this.#following.get(key) === served) this.#following.delete(key)
      if (this.#remembered.get(key) === served) this.#remembered.set(key, served.left)
    })
  }

  #admitted(key: string, arrival: string, served: ServedSecondary): void {
    if (this.#greeting.get(arrival) === served) this.#greeting.delete(arrival)
    this.#following.get(key)?.replaced()
    this.#following.set(key, served)
    this.#remembered.delete(key)
    this.#remembered.set(key, served)
    const [oldest = ''] = this.#remembered.keys()
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(oldest)
  }

  #letIn(link: MessageLink, peer: ServedPeer): void {
    const key = keyOfArrival(keyOfPeer(peer.set, peer.id), link)
    if (!this.#lettingIn.has(key) && countOf(peer, [...this.#lettingIn.values()]) >= MAX_OF_ONE) {
      refuse(link, 'busy', OTHERS_OF_ID)
      return
    }
    if (!this.#lettingIn.has(key) && this.#lettingIn.size >= MAX_LETTING_IN) {
      refuse(link, 'busy', `This node lets ${MAX_LETTING_IN} other clusters in now: try again soon`)
      return
    }
    this.#lettingIn.get(key)?.link.destroy('the secondary has come again')
    const one = { ...peer, link }
    this.#lettingIn.set(key, one)
    void letIn(this.#parts, link, peer.set).then(() => {
      if (this.#lettingIn.get(key) === one) this.#lettingIn.delete(key)
    })
  }

  #partOf(serverName: string): PrimaryPart | undefined {
    const set = setOfServerName(serverName)
    return set && this.#sets.get(keyOfSet(set))
  }

  #breakOff(isMeant: (peer: ServedPeer) => boolean, why: string): void {
    for (const served of [...this.#greeting.values(), ...this.#following.values()]) {
      if (isMeant(served.peer)) served.disconnect(why)
    }
    for (const one of this.#lettingIn.values()) if (isMeant(one)) one.link.destroy(why)
  }
}

function refuse(link: MessageLink, code: RefusedCode, sentence: string): void {
  const retryAfterMs = code === 'busy' ? BUSY_RETRY_MS : 0
  void link.hangUp(refusedMessage(code, sentence, retryAfterMs), sentence)
}

const trustText = (part: PrimaryPart | undefined): string | undefined =>
  part?.identity.trusted.map((one) => one.toString('base64')).join()

const haveSameTrust = (one: PrimaryPart | undefined, other: PrimaryPart | undefined): boolean =>
  trustText(one) === trustText(other)

/** The id of the one secondary of the set that the names are those of; undefined if they are of anything else. */
function secondaryIn(set: SetName, names: readonly string[]): string | undefined {
  const name = names.length === 1 ? peerOfUri(names[0] ?? '') : undefined
  return name?.role === 'secondary' && keyOfSet(name) === keyOfSet(set) ? name.id : undefined
}

const countOf = ({ set, id }: ServedPeer, peers: readonly ServedPeer[]): number =>
  peers.filter((one) => one.id === id && keyOfSet(one.set) === keyOfSet(set)).length

const keyOfArrival = (key: string, { peer }: MessageLink): string =>
  `${key} ${sha256(peer.certificate).toString('base64')}`

const keyOfSet = (set: SetName): string => keyOfPeer(set, '')
