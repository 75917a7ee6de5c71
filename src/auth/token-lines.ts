// Remembers long lines of ancestors that were found alive. A request of a far descendant then costs no more than one of
// a near one. New tokens have at most MOST_ANCESTORS; those of older stores may have any number.
import type { TokenEntry } from './token-entry.ts'

/**
 * Ancestors that a new token may have. No use is known that needs more than a few, and checking each one costs some 5
 * µs (2,276 took 12 ms).
 */
export const MOST_ANCESTORS = 100
/** Ancestors that are checked one by one with each request. The ones above them are looked up here. */
export const WALKED_ANCESTORS = 16
/** Ancestors remembered at once; beyond that everything is forgotten and found again. */
const MOST_KEPT = 20_000

/**
 * A known line from one ancestor to the top: how long all of it lives, the mount of the login that it began with, and
 * the namespaces of its tokens.
 */
type Line = {
  readonly untilMs: number
  readonly mount: { readonly uuid: string; readonly namespaceId: string } | undefined
  readonly namespaces: readonly string[]
}

/** What must be there for a token to live, besides the tokens of its line. */
export type LineGrounds = {
  /** Whether the mount of a login is there, and in the namespace of the tokens that it gave. */
  readonly isMounted: (mountUuid: string, namespaceId: string) => boolean
  readonly isInNamespace: (namespaceId: string) => boolean
}

type Ancestor = { readonly id: string; readonly entry: TokenEntry }

/**
 * The remembered lines of one thread. A change of any stored token on a line must reach `changed`, or a dead token
 * would pass.
 */
export class TokenLines {
  readonly #lines = new Map<string, Line>()

  /** True if the token and all its ancestors are known to be alive. False means unknown: the caller must look. */
  isAlive(id: string, nowMs: number, { isMounted, isInNamespace }: LineGrounds): boolean {
    const line = this.#lines.get(id)
    if (line === undefined || nowMs >= line.untilMs || !line.namespaces.every(isInNamespace)) return false
    return line.mount === undefined || isMounted(line.mount.uuid, line.mount.namespaceId)
  }

  /** Remembers a line: tokens from one ancestor to the top, each the child of the next, all alive now. */
  keep(line: readonly Ancestor[]): void {
    if (this.#lines.size + line.length > MOST_KEPT) this.clear()
    let above: Line = { untilMs: Number.POSITIVE_INFINITY, mount: undefined, namespaces: [] }
    for (const { id, entry } of line.toReversed()) {
      const untilMs = 'atMs' in entry.expiry ? Math.min(entry.expiry.atMs, above.untilMs) : above.untilMs
      const { namespace } = entry
      const namespaces = above.namespaces.includes(namespace) ? above.namespaces : [...above.namespaces, namespace]
      const mount = entry.login === null ? above.mount : { uuid: entry.login.mountUuid, namespaceId: namespace }
      above = { untilMs, mount, namespaces }
      this.#lines.set(id, above)
    }
  }

  /** Forgets all lines if the changed token is on one. */
  changed(id: string): void {
    if (this.#lines.has(id)) this.clear()
  }

  /** Forgets everything, at seal and when caches are reset. */
  clear(): void {
    this.#lines.clear()
  }
}
