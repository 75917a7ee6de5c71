// The secondaries that writes wait for, as this server knows them by its records.
import { namedLog } from '../../lib/log.ts'
import { allSecondaries, readState, type SetReader } from '../../replication/set/records.ts'
import { NOT_SYNCHRONOUS } from '../../replication/synchronous/settings.ts'
import { SynchronousWrites } from '../../replication/synchronous/synchronous-writes.ts'
import type { Store } from '../../storage/contract.ts'
import { StorageClosed } from '../../storage/errors.ts'
import type { Seal } from '../../system/seal/seal.ts'
import type { WritingParts } from '../node-parts.ts'
import { holdOf } from './primary-side.ts'

/** The waiting of one server. It waits for nobody until its records are read. */
export function newSynchronousWrites(
  { world, log, store, links }: WritingParts,
  seal: Pick<Seal, 'id'>,
): SynchronousWrites {
  return new SynchronousWrites({
    world,
    log: namedLog(log, 'replication'),
    lastIndex: () => lastIndex(store),
    sealId: () => seal.id,
    settings: links?.synchronous ?? NOT_SYNCHRONOUS,
  })
}

function lastIndex(store: Pick<Store, 'positionNow'>): number | undefined {
  try {
    const { lastReplicatedIndex, lastLocalIndex } = store.positionNow()
    return Math.max(lastReplicatedIndex, lastLocalIndex)
  } catch (cause) {
    // Another store is taking its place.
    if (cause instanceof StorageClosed) return undefined
    throw cause
  }
}

/**
 * Ids of the secondaries that have had all once, by what is noted of them; undefined: this cluster is no primary for
 * disaster recovery. Only then is the log held for one that is not being copied, or is it noted how far it was.
 */
export async function secondariesWithAll(
  tx: SetReader,
  store: Pick<Store, 'retained'>,
): Promise<ReadonlySet<string> | undefined> {
  const state = await readState(tx, 'dr')
  if (state?.mode !== 'primary' || state.isFenced) return undefined
  const { holds } = await store.retained()
  const held = new Set(holds.filter(({ kind }) => kind === 'secondary').map(({ name }) => name))
  const active = (await allSecondaries(tx, 'dr')).filter((entry) => entry.state === 'active')
  const withAll = active.filter(({ id, acknowledged }) => acknowledged !== null || held.has(holdOf('dr', id)))
  return new Set(withAll.map(({ id }) => id))
}
