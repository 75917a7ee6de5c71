// Counts the live root tokens. Each can do everything, so on most days there should be none (threats T-17, P-33).

import type { World } from '../lib/world.ts'
import { decodeTokenEntry, isExpired, isRoot } from './token-entry.ts'
import { ID_FOLDER } from './token-keys.ts'
import type { TokenStore } from './token-store.ts'

const PAGE = 200
/** Tokens looked at in one count: about a second of work, in pages that let other requests run in between. */
const MOST_LOOKED_AT = 50_000

/** The answer of `countRootTokens`. */
export type RootTokenCount = {
  readonly found: number
  /** Tokens that were looked at. */
  readonly looked: number
  /** True if there are more tokens than were looked at. */
  readonly isPartial: boolean
}

/** Counts stored root tokens. Batch tokens are left out: they are not stored, and are never root. */
export async function countRootTokens(
  { view }: TokenStore,
  { clock, timers }: World,
  most = MOST_LOOKED_AT,
): Promise<RootTokenCount> {
  const nowMs = clock.nowMs()
  let found = 0
  let looked = 0
  for (let after = ''; ; ) {
    const names = await view.list(ID_FOLDER, { after, limit: PAGE })
    for (const name of names) {
      if (looked === most) return { found, looked, isPartial: true }
      looked++
      const bytes = await view.get(ID_FOLDER + name)
      const entry = bytes && decodeTokenEntry(bytes)
      if (entry !== undefined && isRoot(entry) && !isExpired(entry, nowMs)) found++
    }
    if (names.length < PAGE) return { found, looked, isPartial: false }
    after = names.at(-1) ?? ''
    await timers.sleep(0)
  }
}
