// Stores made by older versions have no indexes of ends and leases. They get them once, when they are opened.
import type { View } from '../storage/sealed-storage.ts'
import { decodeTokenEntry } from './token-entry.ts'
import { ID_FOLDER, INDEXED_PATH, indexKeys } from './token-keys.ts'

const PAGE = 500
const NOTHING = Buffer.alloc(0)

/**
 * Adds the indexes, unless they were added before. Runs before requests are served, where tokens may be written; an
 * interrupted run starts again from the beginning.
 */
export async function addMissingIndexes(view: View): Promise<void> {
  if ((await view.get(INDEXED_PATH)) !== undefined) return
  for (let after: string | undefined = ''; after !== undefined; ) after = await addPage(view, after)
  await view.transaction(async (tx) => tx.put(INDEXED_PATH, NOTHING))
}

/** Indexes one page of tokens. Returns the last key of the page; undefined after the last page. */
function addPage(view: View, after: string): Promise<string | undefined> {
  return view.transaction(async (tx) => {
    const entries = await tx.scan(ID_FOLDER, after, PAGE)
    for (const { key, value } of entries) {
      for (const index of indexKeys(key.slice(ID_FOLDER.length), decodeTokenEntry(value))) tx.put(index, NOTHING)
    }
    return entries.length === PAGE ? entries.at(-1)?.key : undefined
  })
}
