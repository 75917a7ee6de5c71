// The peers of a primary, and how a link of one is refused before anything is heard of it.
import { peerOfUri, type SetName } from '../set/peer-name.ts'
import { keyOfPeer } from './link-protocols.ts'
import type { MessageLink } from './message-link.ts'
import { type RefusedCode, refusedMessage } from './refusals.ts'

/** A secondary, as the primary knows it by its certificate. */
export type ServedPeer = { readonly set: SetName; readonly id: string }

const BUSY_RETRY_MS = 5_000

/** A text that no other set has. */
export const keyOfSet = (set: SetName): string => keyOfPeer(set, '')

/** True if both are the same id in the same set. */
export const isSameSecondary = (one: ServedPeer, other: ServedPeer): boolean =>
  one.id === other.id && keyOfSet(one.set) === keyOfSet(other.set)

/** The id of the one secondary of the set that the names are those of; undefined if they are of anything else. */
export function secondaryIn(set: SetName, names: readonly string[]): string | undefined {
  const name = names.length === 1 ? peerOfUri(names[0] ?? '') : undefined
  return name?.role === 'secondary' && keyOfSet(name) === keyOfSet(set) ? name.id : undefined
}

/** Says no, and hangs up. */
export function turnAway(link: MessageLink, code: RefusedCode, sentence: string, retryAfterMs = 0): void {
  void link.hangUp(refusedMessage(code, sentence, retryAfterMs), sentence)
}

/** Says that the peer is to come again. */
export const turnAwayForNow = (link: MessageLink, sentence: string): void =>
  turnAway(link, 'busy', sentence, BUSY_RETRY_MS)
