// Bugs that a set for performance could have, planted between the parts of the program: a run must find each. `seed` is
// one that does, and `finds` the beginning of what it says.
import { strict as assert } from 'node:assert'
import type { LinkOwner } from '../../../src/replication/link/link-sides.ts'
import { peerSegment } from '../../../src/replication/set/peer-name.ts'
import { registryFolder, SECONDARY_ENTRY, SETS_FOLDER } from '../../../src/replication/set/records.ts'
import type { SinkBatch } from '../../../src/replication/sink/sink-parts.ts'
import { type Adopted, systemScope } from '../../../src/storage/contract.ts'
import { decodeChange, encodeChange } from '../../../src/storage/log/change-record.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'
import { runPerformance } from './performance-run.ts'
import { findSeeds, type PlantedBug, relabelled } from './planted-bugs.ts'
import { LOCAL_MOUNT, mountScope } from './set-clients.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { Seams } from './simulated-set.ts'

/** What comes over one family is taken in another way. */
const taking = (
  family: ReplicationFamily,
  taken: (
    take: (batch: SinkBatch) => Promise<Adopted>,
    batch: SinkBatch,
    cluster: SimulatedCluster,
  ) => Promise<Adopted>,
): Seams => ({
  owner: (owner, cluster) => ({
    ...owner,
    take: (of, batch) => {
      const take = (changed: SinkBatch): Promise<Adopted> => owner.take(of, changed)
      return of === family ? taken(take, batch, cluster) : take(batch)
    },
  }),
})

/** Takes an entry away that the primary does not have. */
async function removeOwn(cluster: SimulatedCluster): Promise<void> {
  const { keys } = cluster.set.watcher.knownOf(cluster).entries
  const own = keys.find((key) => key.startsWith(`root/logical/${LOCAL_MOUNT}/`))
  if (own === undefined) return
  await cluster.withoutGate(async () => {
    await cluster.life?.store.transaction(async (tx) => tx.delete(mountScope(LOCAL_MOUNT), own))
  })
}

/** The place in the log of the other family is that of the next record. */
const furtherOn = (batch: SinkBatch): SinkBatch => ({
  ...batch,
  records: batch.records.map(({ record, ...each }) => {
    const change = decodeChange(record, 'sent record')
    const origins = change.origins.map((one) => ({ ...one, index: one.index + 1 }))
    return { ...each, record: encodeChange({ ...change, origins }, Buffer.alloc(16)).record }
  }),
})

/** Whoever comes for performance is let in. */
const lettingIn = (owner: LinkOwner, { life }: SimulatedCluster): LinkOwner => ({
  ...owner,
  admit: async (arrival, ...shown) => {
    const answer = await owner.admit(arrival, ...shown)
    if (!('refused' in answer) || arrival.set.family === 'dr' || life === undefined) return answer
    return { epoch: 0, histories: await life.store.histories(), abandoned: [], followed: [] }
  },
})

/** A performance secondary that was revoked, and comes, is one of the set again. */
function takingBack(owner: LinkOwner, cluster: SimulatedCluster): LinkOwner {
  const entries = new Map<string, Buffer>()
  return {
    ...owner,
    admit: async (arrival, ...shown) => {
      const answer = await owner.admit(arrival, ...shown)
      const { store, barrier } = cluster.life ?? assert.fail('it is on')
      const key = SETS_FOLDER + registryFolder('performance') + peerSegment(arrival.id)
      const stored = arrival.set.family === 'performance' ? await store.get(key) : undefined
      if (stored === undefined) return answer
      const now = barrier.open(key, stored)
      if (!('refused' in answer)) entries.set(arrival.id, now)
      const before = entries.get(arrival.id)
      if (before === undefined || SECONDARY_ENTRY.decode(now).state !== 'revoked') return answer
      await store.transaction(async (tx) => tx.put(systemScope, key, barrier.seal(key, before)))
      return owner.admit(arrival, ...shown)
    },
  }
}

export const PERFORMANCE_BUGS: readonly PlantedBug[] = [
  {
    name: 'entries of class local are sent for performance',
    seams: relabelled('local', 'replicated'),
    seed: 2,
    finds: 'I8',
  },
  {
    name: 'a comparison takes an entry away that is of a performance secondary alone',
    seams: taking('performance', async (take, batch, cluster) => {
      const outcome = await take(batch)
      if (batch.state !== undefined && outcome.kind === 'adopted') await removeOwn(cluster)
      return outcome
    }),
    seed: 3,
    finds: 'I10',
  },
  {
    name: 'the place in the log of one family moves with that of the other',
    seams: taking('dr', (take, batch) => take(furtherOn(batch))),
    seed: 30,
    finds: 'I5',
  },
  {
    name: 'a performance secondary that was revoked is let in',
    seams: { owner: (owner, cluster) => lettingIn(owner, cluster) },
    seed: 1,
    finds: 'I17',
  },
  {
    name: 'a performance secondary that was revoked is one of the set again when it comes',
    seams: { owner: takingBack },
    seed: 1,
    finds: 'I17',
  },
]

// node performance-bugs.ts [MOST [FIRST [TEXT]]]: as failover-bugs.ts.
if (import.meta.main) await findSeeds(PERFORMANCE_BUGS, runPerformance)
