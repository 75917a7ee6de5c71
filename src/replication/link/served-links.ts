// The links of one service that secondaries have to their primary: how many there may be, whom a new link replaces, and
// who is cut off.
import { sha256 } from '../../crypto/primitives/digest.ts'
import { keyOfPeer } from './link-protocols.ts'
import type { MessageLink } from './message-link.ts'
import { isSameSecondary, type ServedPeer, turnAwayForNow } from './served-peer.ts'

/** Secondaries that have a link of one service at once, of all sets together. */
export const MAX_FOLLOWING = 64

/** The primary's end of a link, to those who keep count of such ends. */
export interface ServedLink {
  readonly peer: ServedPeer
  /** Serves until the link is over. Never rejects. */
  run(): Promise<void>
  /** Breaks the link off: nothing more is sent over it, and nothing is asked of the owner for it. */
  disconnect(why: string): void
  /** Another link of the same secondary takes the place of this one. */
  replaced(): void
}

/** Told of links that come and go. `key` is one that no other secondary has. */
export type ServedLinksParts<S> = {
  readonly onAdmitted?: (key: string, served: S) => void
  readonly onLeft?: (key: string, served: S) => void
}

/** All links of one service. */
export class ServedLinks<S extends ServedLink> {
  readonly #parts: ServedLinksParts<S>
  /**
   * Links that greet, by secondary and certificate. One that was not judged yet gives way to another of its own
   * certificate alone: who was revoked would push its successor aside.
   */
  readonly #greeting = new Map<string, S>()
  /** The link that was admitted last, by secondary. */
  readonly #admitted = new Map<string, S>()

  constructor(parts: ServedLinksParts<S> = {}) {
    this.#parts = parts
  }

  /** Those that were admitted. */
  get admitted(): Iterable<S> {
    return this.#admitted.values()
  }

  /** Takes a link; `begin` is given what is to be called when the secondary is known to be one of the set. */
  serve(link: MessageLink, peer: ServedPeer, begin: (onAdmitted: () => void) => S): void {
    const key = keyOfPeer(peer.set, peer.id)
    const arrival = keyOfArrival(key, link)
    const others = [...this.#greeting.values()].filter((one) => isSameSecondary(one.peer, peer)).length
    const isKnown = this.#greeting.has(arrival) || (this.#admitted.has(key) && others === 0)
    if (!this.#greeting.has(arrival) && others >= MAX_OF_ONE) {
      turnAwayForNow(link, OTHERS_OF_ID)
      return
    }
    if (!isKnown && this.#greeting.size + this.#admitted.size >= MAX_FOLLOWING) {
      turnAwayForNow(link, `This node serves ${MAX_FOLLOWING} secondaries already`)
      return
    }
    const served = begin(() => this.#wasAdmitted(key, arrival, served))
    // One that did not end its greeting before it came again has given that up.
    this.#greeting.get(arrival)?.disconnect('the secondary has come again')
    this.#greeting.set(arrival, served)
    void served.run().then(() => {
      if (this.#greeting.get(arrival) === served) this.#greeting.delete(arrival)
      if (this.#admitted.get(key) === served) this.#admitted.delete(key)
      this.#parts.onLeft?.(key, served)
    })
  }

  /** Breaks off the links of those that are meant. */
  breakOff(isMeant: (peer: ServedPeer) => boolean, why: string): void {
    for (const served of [...this.#greeting.values(), ...this.#admitted.values()]) {
      if (isMeant(served.peer)) served.disconnect(why)
    }
  }

  #wasAdmitted(key: string, arrival: string, served: S): void {
    if (this.#greeting.get(arrival) === served) this.#greeting.delete(arrival)
    this.#admitted.get(key)?.replaced()
    this.#admitted.set(key, served)
    this.#parts.onAdmitted?.(key, served)
  }
}

/** Of the links that are not judged yet, and clusters that are let in, those of one id: old certificates are many. */
export const MAX_OF_ONE = 4
/** What one link above it hears. */
export const OTHERS_OF_ID = 'Others come with certificates of this id: try again soon, or use another id'

/** A text for the links of one certificate of a secondary. */
export const keyOfArrival = (key: string, { peer }: MessageLink): string =>
  `${key} ${sha256(peer.certificate).toString('base64')}`
