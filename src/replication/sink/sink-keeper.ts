// What a sink asks, answered by the store itself: on the thread that writes.
import type { AdoptOptions, Store, Transaction } from '../../storage/contract.ts'
import type { Origin, ReplicationFamily } from '../../storage/peer-log.ts'
import type { Place } from '../protocol/messages.ts'
import { receivedChange } from '../protocol/sent-records.ts'
import { reachedKeys, type SetReach } from '../reach.ts'
import { treeKeeper } from '../source/source-keeper.ts'
import type { HeldBack } from './held-back.ts'
import type { SinkBatch, SinkKeeper } from './sink-parts.ts'

/** What is noted of it. */
export type SinkNote = Pick<SinkBatch, 'transfer' | 'reach'>

/** What is done in the same durable step as what a sink takes. */
export type TakenWith = {
  /** Prepares what the changes need before they can be seen (`AdoptOptions.prepare`). */
  readonly prepare?: AdoptOptions['prepare']
  /** Notes what is running (undefined: nothing), and news of what this cluster is to have. */
  readonly note: (tx: Transaction, taken: SinkNote) => Promise<void>
  /** What this cluster is to have, as it was noted last. */
  readonly reached: () => Promise<SetReach | undefined>
  /** Holds back what would be seen too early; undefined: nothing is. */
  readonly heldBack?: HeldBack
  /** As `SinkKeeper.mend`. */
  readonly mend: () => Promise<void>
}

/** The verbs of a store that a sink needs. */
export type SinkingStore = Pick<Store, 'adopt' | 'tree' | 'image' | 'roots'>

/** The keeper of one family over a store. */
export function sinkKeeper(
  store: SinkingStore,
  family: ReplicationFamily,
  { prepare, note, reached, heldBack, mend }: TakenWith,
): SinkKeeper {
  const { tree, keysIn, root } = treeKeeper(store, family)
  return {
    take: async ({ mode, after, records, at, state: told, transfer, reach, isShown }: SinkBatch) => {
      const came = records.map(({ historyId, record }) => receivedChange(record, family, historyId))
      if (mode === 'anew') heldBack?.clear()
      if (reach !== undefined) heldBack?.keepOnly(reachedKeys(reach.only))
      const taken = { changes: came, state: isShown ? shown(heldBack, told) : told }
      const isHeld = heldBack !== undefined && transfer?.what === 'difference' && !isShown
      const { changes, state } = isHeld ? await heldBack.without(taken) : taken
      return store.adopt(changes, {
        mode,
        after: { family, historyId: after.historyId, index: after.index },
        at: originOf(family, at),
        ...(state && { state }),
        ...(prepare && { prepare }),
        also: (tx) => note(tx, { transfer, ...(reach && { reach }) }),
      })
    },
    tree: async () => (await tree()).tree,
    keysIn: async (buckets) => (await keysIn(buckets)).keys,
    reached,
    root: async () => (await root(await reached())).root,
    mend,
  }
}

/** What was held back, with the rest. It is kept until another comparison begins. */
function shown(heldBack: HeldBack | undefined, state: AdoptOptions['state']): AdoptOptions['state'] {
  const entries = heldBack?.entries ?? []
  return entries.length === 0 ? state : { gone: [], ...state, entries: [...(state?.entries ?? []), ...entries] }
}

function originOf(family: ReplicationFamily, { historyId, index, chain }: Place): Origin {
  return { family, historyId, index, chain }
}
