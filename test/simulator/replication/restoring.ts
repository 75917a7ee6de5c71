// The restore of a snapshot at a simulated primary: the tables of a store that begins a child of its history, as
// src/storage/snapshot makes them, with what the cluster is in its sets now (src/assembly/restored-replication.ts).
import { strict as assert } from 'node:assert'
import { isOfReplication, keptReplication } from '../../../src/assembly/restored-replication.ts'
import { importSecret } from '../../../src/crypto/primitives/secret-key.ts'
import { HISTORY_ID_BYTES } from '../../../src/storage/backend.ts'
import { Barrier } from '../../../src/storage/barrier.ts'
import type { StoredEntry } from '../../../src/storage/contract.ts'
import { indexOfOtherData, withHistory } from '../../../src/storage/log/histories.ts'
import { MemoryTables } from '../../../src/storage/memory-tables.ts'
import type { History, Position } from '../../../src/storage/peer-log.ts'
import { KEY_USE } from '../../../src/system/seal/key-use.ts'
import { SEAL_CONFIG } from '../../../src/system/seal/seal-config.ts'
import { KEYRING, openKeyring, ROOT_KEY, readRecord } from '../../../src/system/seal/seal-records.ts'
import type { Life, SimulatedCluster } from './simulated-cluster.ts'

/** What a store was. */
export type TakenSnapshot = {
  readonly position: Position
  readonly histories: readonly History[]
  readonly entries: readonly StoredEntry[]
}

const PERFORMANCE_FOLDER = 'root/core/replication/performance/'

export async function takeSnapshot({ store }: Life): Promise<TakenSnapshot> {
  const snapshot = await store.snapshot()
  const { position, histories } = snapshot
  const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
  await snapshot.close()
  return { position, histories, entries }
}

/** Restores it. */
export async function restore(cluster: SimulatedCluster, taken: TakenSnapshot): Promise<void> {
  const life = cluster.life ?? assert.fail('it runs')
  await cluster.replace(async () => {
    const { random, clock } = life.world
    const present = await takeSnapshot(life)
    const index = indexOfOtherData(Math.max(present.position.index, taken.position.index))
    const { historyId: id, index: parentIndex, chain } = taken.position
    const child = {
      id: random.bytes(HISTORY_ID_BYTES),
      epoch: present.position.epoch + 1,
      startIndex: index + 1,
      parent: { id, index: parentIndex, chain },
      startedAtMs: Math.floor(clock.nowMs()),
    }
    const entries = await entriesOf(life, taken, present)
    return new MemoryTables({ index, histories: withHistory(taken.histories, child) }, entries)
  })
}

async function entriesOf(life: Life, taken: TakenSnapshot, now: TakenSnapshot): Promise<readonly StoredEntry[]> {
  const { store, barrier, world } = life
  const rootKey = importSecret(await readRecord(store, ROOT_KEY))
  const keyring = openKeyring(
    rootKey,
    taken.entries.find(({ key }) => key === KEYRING)?.value ?? assert.fail('a keyring'),
  )
  const restored = new Barrier(world.random, keyring)
  const kept = await keptReplication(store, barrier, restored, taken.histories)
  const ofSeal = now.entries.filter(({ key }) => isOfSeal(key))
  const old = taken.entries.filter(({ key }) => key !== KEY_USE && !isOfSeal(key) && !isOfReplication(key))
  // What a cluster is in its performance set is of class local, and comes back as it was.
  const ofPerformance = taken.entries.filter(({ key }) => key.startsWith(PERFORMANCE_FOLDER))
  return [...old, ...kept, ...ofPerformance, ...ofSeal]
}

const isOfSeal = (key: string): boolean => key === ROOT_KEY || key === SEAL_CONFIG
