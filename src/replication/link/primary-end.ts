// The links of secondaries at their primary: who is connected, whom a new link replaces, and who is cut off.
import type { Link, LinkIdentity } from '../../lib/links.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { setOfServerName } from '../set/peer-name.ts'
import { AskingSecondary } from './asking-secondary.ts'
import type { PrimaryParts } from './end-parts.ts'
import { letIn } from './letting-in.ts'
import { ACTIVATION_PROTOCOL, ASKING_PROTOCOL, FOLLOWING_PROTOCOLS, keyOfPeer } from './link-protocols.ts'
import type { PrimaryPart, SecondaryStatus } from './link-sides.ts'
import { MessageLink } from './message-link.ts'
import { ProgressTelling } from './progress-telling.ts'
import { keyOfArrival, MAX_OF_ONE, OTHERS_OF_ID, ServedLinks } from './served-links.ts'
import { isSameSecondary, keyOfSet, type ServedPeer, secondaryIn, turnAway, turnAwayForNow } from './served-peer.ts'
import { type RememberedSecondary, ServedSecondary } from './served-secondary.ts'

/** Clusters that are being let in at once. */
export const MAX_LETTING_IN = 16
/** Secondaries whose last state is remembered: more than a registry has. */
const MAX_REMEMBERED = 1_024
const NOTHING = new Set<never>()

type LettingIn = ServedPeer & { readonly link: MessageLink }

/** All links of secondaries to this node. */
export class PrimaryEnd {
  readonly #parts: PrimaryParts
  #sets: ReadonlyMap<string, PrimaryPart> = new Map()
  readonly #following = new ServedLinks<ServedSecondary>({
    onAdmitted: (key, served) => this.#remember(key, served),
    onLeft: (key, served) => {
      if (this.#remembered.get(key) !== served) return
      this.#remembered.set(key, served.left)
      this.#tellProgress(served)
    },
  })
  readonly #asking = new ServedLinks<AskingSecondary>()
  /** Clusters that are let in, by secondary and certificate, as links that greet. */
  readonly #lettingIn = new Map<string, LettingIn>()
  /** The last states of those that were connected. */
  readonly #remembered = new Map<string, RememberedSecondary>()

  readonly #progress: ProgressTelling

  constructor(parts: PrimaryParts) {
    this.#parts = parts
    this.#progress = new ProgressTelling(parts.owner)
  }

  /** Takes over what this node is primary of. Links of other sets are broken off. */
  play(parts: readonly PrimaryPart[]): void {
    const before = this.#sets
    this.#sets = new Map(parts.map((part) => [keyOfSet(part.set), part]))
    this.#breakOff(({ set }) => !this.#sets.has(keyOfSet(set)), 'this cluster is no primary of the set any more')
    for (const [key, { peer }] of this.#remembered) {
      if (!this.#sets.has(keyOfSet(peer.set))) this.#remembered.delete(key)
    }
    for (const served of this.#following.admitted) {
      const key = keyOfSet(served.peer.set)
      if (!haveSameTrust(before.get(key), this.#sets.get(key))) served.trustChanged()
      this.#tellProgress(served)
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
    if (id === undefined) turnAway(messages, 'other-set', 'The certificate is not that of a secondary of this set')
    else if (peer.protocol === ACTIVATION_PROTOCOL) this.#letIn(messages, { set, id })
    else if (peer.protocol === FOLLOWING_PROTOCOLS[set.family]) this.#follow(messages, { set, id })
    else if (peer.protocol === ASKING_PROTOCOL && set.family === 'performance') this.#ask(messages, { set, id })
    else turnAway(messages, 'other-set', `This set does not use ${peer.protocol}`)
  }

  /** The seal was rekeyed. */
  sealChanged(): void {
    for (const served of this.#following.admitted) served.sealChanged()
  }

  get status(): readonly SecondaryStatus[] {
    return [...this.#remembered.values()].map(({ status }) => status)
  }

  #follow(link: MessageLink, peer: ServedPeer): void {
    this.#following.serve(link, peer, (onAdmitted) => {
      const served: ServedSecondary = new ServedSecondary(this.#parts, link, peer, onAdmitted, () => {
        // Another link may have taken the place of this one.
        if (this.#remembered.get(keyOfPeer(peer.set, peer.id)) === served) this.#tellProgress(served)
      })
      return served
    })
  }

  #ask(link: MessageLink, peer: ServedPeer): void {
    this.#asking.serve(link, peer, (onAdmitted) => new AskingSecondary(this.#parts, link, peer, onAdmitted))
  }

  /** Only of those that writes wait for. */
  #tellProgress({ peer, has, sealId }: ServedSecondary): void {
    const isAwaited = this.#sets.get(keyOfSet(peer.set))?.synchronous?.includes(peer.id)
    if (isAwaited) this.#progress.tell([peer.id, has, sealId])
  }

  #remember(key: string, served: ServedSecondary): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, served)
    this.#tellProgress(served)
    const [oldest = ''] = this.#remembered.keys()
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(oldest)
  }

  #letIn(link: MessageLink, peer: ServedPeer): void {
    const key = keyOfArrival(keyOfPeer(peer.set, peer.id), link)
    const others = [...this.#lettingIn.values()].filter((one) => isSameSecondary(one, peer)).length
    if (!this.#lettingIn.has(key) && others >= MAX_OF_ONE) {
      turnAwayForNow(link, OTHERS_OF_ID)
      return
    }
    if (!this.#lettingIn.has(key) && this.#lettingIn.size >= MAX_LETTING_IN) {
      turnAwayForNow(link, `This node lets ${MAX_LETTING_IN} other clusters in now: try again soon`)
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
    this.#following.breakOff(isMeant, why)
    this.#asking.breakOff(isMeant, why)
    for (const one of this.#lettingIn.values()) if (isMeant(one)) one.link.destroy(why)
  }
}

const trustText = (part: PrimaryPart | undefined): string | undefined =>
  part?.identity.trusted.map((one) => one.toString('base64')).join()

const haveSameTrust = (one: PrimaryPart | undefined, other: PrimaryPart | undefined): boolean =>
  trustText(one) === trustText(other)
