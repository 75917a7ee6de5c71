// Stores that an older version made have no index of ends and leases: they get it once, when they are opened.
import type { View } from '../storage/sealed-storage.ts'
import { decodeTokenEntry } from './token-entry.ts'
import { ID_FOLDER, INDEXED_PATH, indexKeys } from './token-keys.ts'

const PAGE = 500
const NOTHING = Buffer.alloc(0)

/**
 * Where tokens may be written, before requests are served. One look where it was done before. After a stop in between
 * it begins anew.
 */
export async function addMissingIndexes(view: View): Promise<void> {
  if ((await view.get(INDEXED_PATH)) !== undefined) return
  for (let after: string | undefined = ''; after !== undefined; ) after = await addPage(view, after)
  await view.transaction(async (tx) => tx.put(INDEXED_PATH, NOTHING))
}

/** The last key of the page; undefined where it was the last page. */
function addPage(view: View, after: string): Promise<string | undefined> {
  return view.transaction(async (tx) => {
    const entries = await tx.scan(ID_FOLDER, after, PAGE)
    for (const { key, value } of entries) {
      for (const index of indexKeys(key.slice(ID_FOLDER.length), decodeTokenEntry(value))) tx.put(index, NOTHING)
    }
    return entries.length === PAGE ? entries.at(-1)?.key : undefined
  })
}
