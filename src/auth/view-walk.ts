// Walks through stored names without a transaction. Names that come or go meanwhile may be missed, or be gone when they
// are used.
import type { Timers } from '../lib/world.ts'
import type { View } from '../storage/sealed-storage.ts'

const PAGE = 500

/** Lists all keys below `folder`, which ends in '/', in pages that may be empty. */
export async function* leavesBelow(view: View, folder: string): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const names = await view.list(folder, { after, limit: PAGE })
    yield names.filter((name) => !name.endsWith('/')).map((name) => folder + name)
    for (const name of names) if (name.endsWith('/')) yield* leavesBelow(view, folder + name)
    if (names.length < PAGE) return
    after = names.at(-1) ?? ''
  }
}

/** Counts the keys below `folder`. Yields after each page, so that other requests run in between. */
export async function countBelow(view: View, folder: string, timers: Timers): Promise<number> {
  let count = 0
  for await (const page of leavesBelow(view, folder)) {
    count += page.length
    if (page.length === PAGE) await timers.sleep(0)
  }
  return count
}
