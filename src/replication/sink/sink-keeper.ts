// What a sink asks, answered by the store itself: on the thread that writes.
import type { AdoptOptions, Store, Transaction } from '../../storage/contract.ts'
import type { Origin, ReplicationFamily } from '../../storage/peer-log.ts'
import type { Place } from '../protocol/messages.ts'
import { receivedChange } from '../protocol/sent-records.ts'
import { treeKeeper } from '../source/source-keeper.ts'
import type { SinkBatch, SinkKeeper, Transfer } from './sink-parts.ts'

/** What is done in the same durable step as what a sink takes. */
export type TakenWith = {
  /** Prepares what the changes need before they can be seen (`AdoptOptions.prepare`). */
  readonly prepare?: AdoptOptions['prepare']
  /** Notes what is running; undefined: nothing. */
  readonly note: (tx: Transaction, transfer: Transfer | undefined) => Promise<void>
  /** As `SinkKeeper.mend`. */
  readonly mend: () => Promise<void>
}

/** The verbs of a store that a sink needs. */
export type SinkingStore = Pick<Store, 'adopt' | 'tree' | 'image' | 'roots'>

/** The keeper of one family over a store. */
export function sinkKeeper(
  store: SinkingStore,
  family: ReplicationFamily,
  { prepare, note, mend }: TakenWith,
): SinkKeeper {
  const { tree, keysIn, root } = treeKeeper(store, family)
  return {
    take: ({ mode, after, records, at, state, transfer }: SinkBatch) => {
      const changes = records.map(({ historyId, record }) => receivedChange(record, family, historyId))
      return store.adopt(changes, {
        mode,
        after: { family, historyId: after.historyId, index: after.index },
        at: originOf(family, at),
        ...(state && { state }),
        ...(prepare && { prepare }),
        also: (tx) => note(tx, transfer),
      })
    },
    tree: async () => (await tree()).tree,
    keysIn: async (buckets) => (await keysIn(buckets)).keys,
    root: async () => (await root()).root,
    mend,
  }
}

function originOf(family: ReplicationFamily, { historyId, index, chain }: Place): Origin {
  return { family, historyId, index, chain }
}
