// A change of identities in two halves: first what the set of clusters shares, then what belongs to this cluster alone.
// They never share a transaction, since a secondary has the first half done by its primary. What is refused for the set
// has then changed nothing here. A crash between the halves leaves what counts for nothing: an entity without its
// alias, an alias without its entity, a local one that the first half has retired (records.ts), or a membership without
// its entity or whose alias is gone or has another stamp. The same is left on a cluster that gets the first half from
// another one. The sweep removes it (alias-sweep.ts).
//
// A later transaction refuses only where nothing of the change counts yet, so that a refusal means that nothing was
// done. What the first one made for it is taken back (`ifRefused`).
import { Refusal } from '../api/errors.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'

/** What the second transaction does. It finds the present state anew, and bears to be done twice. */
export type LocalHalf = (tx: ViewTransaction) => Promise<void>

/** The transaction of the first half. It writes nothing below `local-identity/`. */
export type Halves = ViewTransaction & {
  /** Has work done in the second transaction, in the order of the calls. */
  readonly later: (work: LocalHalf) => void
  /** Has work done in a third transaction, for the set again: what the second one makes needless. */
  readonly atLast: (work: LocalHalf) => void
  /** Has work done for the set again if the second transaction is refused: it takes back what the first one made. */
  readonly ifRefused: (work: LocalHalf) => void
}

/** Runs `work`, and behind its commit what it left for later. Returns what `work` returns. */
export async function inHalves<T>(view: View, work: (tx: Halves) => Promise<T>): Promise<T> {
  let halves: LocalHalf[] = []
  let last: LocalHalf[] = []
  let back: LocalHalf[] = []
  const result = await view.transaction((tx) => {
    // A transaction that lost a race runs again.
    halves = []
    last = []
    back = []
    return work({
      ...tx,
      later: (half) => void halves.push(half),
      atLast: (half) => void last.push(half),
      ifRefused: (half) => void back.push(half),
    })
  })
  try {
    await inOne(view, halves)
  } catch (error) {
    // What is not refused but fails may have been stored all the same.
    if (error instanceof Refusal) await inOne(view, back)
    throw error
  }
  await inOne(view, last)
  return result
}

async function inOne(view: View, all: readonly LocalHalf[]): Promise<void> {
  if (all.length === 0) return
  await view.transaction(async (tx) => {
    for (const half of all) await half(tx)
  })
}
