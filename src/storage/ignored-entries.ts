// Reads what a cluster keeps for itself: entries of class ignored.
import { mayHaveClass } from './classes.ts'
import type { Entry, Reader } from './contract.ts'

/** Entries read at once. */
const PAGE = 256

/** The entry of a key, or those of a folder that have class ignored: a folder inside it may have another class. */
export async function* ignoredBelow(reader: Pick<Reader, 'get' | 'scan'>, path: string): AsyncGenerator<Entry> {
  if (!path.endsWith('/')) {
    const value = await reader.get(path)
    if (value !== undefined) yield { key: path, value }
    return
  }
  let after = ''
  for (;;) {
    const page = await reader.scan(path, after, PAGE)
    for (const entry of page) if (mayHaveClass(entry.key, 'ignored')) yield entry
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last.key
  }
}
