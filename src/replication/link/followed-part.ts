// What changes in the part of a secondary, and what makes it another one.
import type { SecondaryPart } from './link-sides.ts'

/** True if both are in the same set, with the same id and the same primary: each has an authority of its own. */
export function isSamePart(own: SecondaryPart, other: SecondaryPart): boolean {
  const isSameAuthority = own.identity.trusted.some((one) => other.identity.trusted.some((each) => each.equals(one)))
  const isSameSet = own.set.setId === other.set.setId && own.set.family === other.set.family
  return isSameSet && own.id === other.id && isSameAuthority
}

/** Whether the leaf, and the addresses of the primary, are other ones; `isElsewhere`: the one that an operator gave. */
export function changesIn(from: SecondaryPart, to: SecondaryPart) {
  const isRenewed = !from.identity.certificate.equals(to.identity.certificate)
  const isElsewhere = from.addresses[0] !== to.addresses[0]
  return { isRenewed, isElsewhere, isMoved: from.addresses.join() !== to.addresses.join() }
}

/** True if a link that was dialed as the one part is of no use to the other. */
export function isStaleFor(dialed: SecondaryPart, now: SecondaryPart): boolean {
  const { isRenewed, isElsewhere } = changesIn(dialed, now)
  return isRenewed || isElsewhere
}

/** True if there is something to try at once for the other part, however a link of the one part ended. */
export function isNewFor(dialed: SecondaryPart, now: SecondaryPart): boolean {
  const { isRenewed, isMoved } = changesIn(dialed, now)
  return isRenewed || isMoved
}
