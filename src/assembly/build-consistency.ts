// What this thread sees of the state of other clusters, and how it waits for it.
import type { NodeRole } from '../api/node-role.ts'
import { Consistency } from '../core/consistency.ts'
import { CORE_FOLDER } from '../core/mount-entries.ts'
import { decodeBase64 } from '../lib/base64.ts'
import { Arrivals, type Progress } from '../replication/consistency/arrivals.ts'
import { IndexKey } from '../replication/consistency/index-key.ts'
import { DEFAULT_CONSISTENCY } from '../replication/consistency/settings.ts'
import { readParted } from '../replication/set/changing-hands.ts'
import { SETS_FOLDER } from '../replication/set/records.ts'
import { transferPath } from '../replication/set/transfer-note.ts'
import { systemScope } from '../storage/contract.ts'
import type { StorageRoom } from './build-storage.ts'
import { readLostWrites } from './lost-writes.ts'
import type { NodeParts, ToWriter } from './node-parts.ts'

const TRANSFER = SETS_FOLDER + transferPath('performance')

type Rooms = {
  readonly storage: StorageRoom
  readonly nodeRole: () => NodeRole
  readonly clusterId: () => string
  /** The link to the writing thread; undefined if this is it. */
  readonly writer: ToWriter | undefined
}

/** Builds it. A thread that serves reads the position from the store, and only for requests that ask for a state. */
export function buildConsistency(
  { world, store, consistency: settings = DEFAULT_CONSISTENCY }: NodeParts,
  { storage, nodeRole, clusterId, writer }: Rooms,
): Consistency {
  const { writes, invalidation } = storage
  const progress: Progress =
    writes === undefined
      ? { position: () => store.position(), committedAfter: (index) => committedAfter(writer, index) }
      : { position: () => writes.positionNow(), committedAfter: (index) => writes.committedAfter(index) }
  const core = storage.storage.view(systemScope, CORE_FOLDER)
  const sets = storage.storage.view(systemScope, SETS_FOLDER)
  return new Consistency({
    settings,
    key: new IndexKey(storage.storage, invalidation),
    arrivals: new Arrivals(progress, world.timers),
    nodeRole,
    clusterId,
    store,
    lostWrites: () => readLostWrites(core),
    ownHistory: async () => {
      const { isOwnLog = false, historyId = null } = (await readParted(sets, 'performance')) ?? {}
      return isOwnLog && historyId !== null ? decodeBase64(historyId) : undefined
    },
    isWhole: async () => (await store.get(TRANSFER)) === undefined,
    catchUp: () => writer?.catchUp(),
  })
}

function committedAfter(writer: ToWriter | undefined, index: number): Promise<number> {
  if (writer === undefined) throw new Error('A thread that does not write has a link to the one that does')
  return writer.committedAfter(index)
}
