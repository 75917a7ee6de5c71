// What this thread sees of the state of other clusters, and how it waits for it.
import type { NodeRole } from '../api/node-role.ts'
import { Consistency } from '../core/consistency.ts'
import { Arrivals, type Progress } from '../replication/consistency/arrivals.ts'
import { IndexKey } from '../replication/consistency/index-key.ts'
import { DEFAULT_CONSISTENCY } from '../replication/consistency/settings.ts'
import type { StorageRoom } from './build-storage.ts'
import type { NodeParts, ToWriter } from './node-parts.ts'

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
  return new Consistency({
    settings,
    key: new IndexKey(storage.storage, invalidation),
    arrivals: new Arrivals(progress, world.timers),
    nodeRole,
    clusterId,
    store,
    catchUp: () => writer?.catchUp(),
  })
}

function committedAfter(writer: ToWriter | undefined, index: number): Promise<number> {
  if (writer === undefined) throw new Error('A thread that does not write has a link to the one that does')
  return writer.committedAfter(index)
}
