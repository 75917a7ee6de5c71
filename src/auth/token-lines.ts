// Long lines of ancestors that were found alive, so that a token far below costs no more a request than one near the
// top. New tokens have at most MOST_ANCESTORS; those of older stores may have any number.
import type { TokenEntry } from './token-entry.ts'

/**
 * A token may have so many ancestors: no use is known that needs more than a few, and each of them costs the one who
 * looks along all of them some 5 µs (2,276 took 12 ms).
 */
export const MOST_ANCESTORS = 100
/** Ancestors that are looked at one by one with each request; what is above them is kept. */
export const WALKED_ANCESTORS = 16
const MOST_KEPT = 20_000

/** From one ancestor to the top: until when all live, and which login they come from. */
type Line = { readonly untilMs: number; readonly mountUuid: string | undefined }

type Ancestor = { readonly id: string; readonly entry: TokenEntry }

export class TokenLines {
  readonly #lines = new Map<string, Line>()

  /** Whether the token with this storage name and all above it are known to be alive; false: look. */
  isAlive(id: string, nowMs: number, isMounted: (mountUuid: string) => boolean): boolean {
    const line = this.#lines.get(id)
    return line !== undefined && nowMs < line.untilMs && (line.mountUuid === undefined || isMounted(line.mountUuid))
  }

  /** `line`: tokens from one ancestor to the top, each the child of the next, all alive now. */
  keep(line: readonly Ancestor[]): void {
    if (this.#lines.size + line.length > MOST_KEPT) this.clear()
    let above: Line = { untilMs: Number.POSITIVE_INFINITY, mountUuid: undefined }
    for (const { id, entry } of line.toReversed()) {
      const untilMs = 'atMs' in entry.expiry ? Math.min(entry.expiry.atMs, above.untilMs) : above.untilMs
      above = { untilMs, mountUuid: entry.login?.mountUuid ?? above.mountUuid }
      this.#lines.set(id, above)
    }
  }

  /** The stored token has changed: lines through it are looked at anew. */
  changed(id: string): void {
    if (this.#lines.has(id)) this.clear()
  }

  clear(): void {
    this.#lines.clear()
  }
}
