// Lists a folder without walking the subfolders: after the first key of a subfolder the search jumps to the end of it.
import { compareKeys, folderEnd, justAfter } from './key-order.ts'

/** Stored keys in order, from `from` on (inclusive), at most `limit`. All of them are in the folder that is listed. */
export type KeysFrom = (from: string, limit: number) => readonly string[]

/** Keys read in one step at most, to bound what is read in vain. */
const LARGEST_PAGE = 256

/** At most `limit` names of direct children of `prefix` that sort after `after`. Names of subfolders end in '/'. */
export function childNames(keysFrom: KeysFrom, prefix: string, after: string, limit: number): string[] {
  const names: string[] = []
  let from = after === '' ? prefix : justAfter(prefix + after)
  let pageSize = Math.min(limit, 2)
  while (names.length < limit) {
    const page = keysFrom(from, pageSize)
    let useful = 0
    for (const key of page) {
      if (names.length === limit) return names
      if (compareKeys(key, from) < 0) continue
      const slash = key.indexOf('/', prefix.length)
      from = slash === -1 ? justAfter(key) : folderEnd(key.slice(0, slash + 1))
      const name = key.slice(prefix.length, slash === -1 ? undefined : slash + 1)
      useful++
      if (after === '' || compareKeys(name, after) > 0) names.push(name)
    }
    if (page.length < pageSize) break
    pageSize = nextPageSize(pageSize, useful)
  }
  return names
}

/** Pages grow over siblings, and shrink over deep folders, where only the first key of a page is of use. */
function nextPageSize(pageSize: number, useful: number): number {
  if (useful === pageSize) return Math.min(pageSize * 2, LARGEST_PAGE)
  return useful * 2 < pageSize ? Math.max(pageSize >> 1, 1) : pageSize
}
