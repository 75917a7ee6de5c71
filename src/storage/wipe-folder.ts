// Removes a folder of a view page by page.
import type { View } from './sealed-storage.ts'

/** Keys removed in one transaction. Bounds its memory, and how long the commits of others wait. */
const PAGE = 500

/** Removes all entries below `path`, which is empty or ends in a slash. They must be of one class. */
export async function wipeFolder(data: View, path: string): Promise<void> {
  for (let more = true; more; ) {
    more = await data.transaction(async (tx) => {
      const keys = await tx.keys(path, '', PAGE)
      for (const key of keys) tx.delete(key)
      return keys.length === PAGE
    })
  }
}
