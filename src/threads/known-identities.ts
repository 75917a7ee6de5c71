// Identities of links on a thread that is told of them by messages. Each message brings new objects, and links parse
// an identity anew whenever it is another object (lib/links.ts, Serving). So one that has not changed is the one of
// before.
import type { LinkIdentity } from '../lib/links.ts'
import type { LinkState } from '../replication/link/link-sides.ts'

/** The identities of the last state. */
export class KnownIdentities {
  #known: readonly LinkIdentity[] = []

  /** Returns the state, with identities of the last one where they are the same. */
  kept(state: LinkState): LinkState {
    const parts = state.parts.map((part) => {
      const identity = this.#known.find((known) => isSame(known, part.identity)) ?? part.identity
      return { ...part, identity }
    })
    this.#known = parts.map(({ identity }) => identity)
    return { ...state, parts }
  }
}

/** A certificate is for one key, so the keys of equal ones are the same. */
function isSame(one: LinkIdentity, other: LinkIdentity): boolean {
  return (
    one.certificate.equals(other.certificate) &&
    one.trusted.length === other.trusted.length &&
    one.trusted.every((each, at) => other.trusted[at]?.equals(each))
  )
}
