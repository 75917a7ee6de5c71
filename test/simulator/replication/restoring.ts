// The restore of a snapshot at a simulated primary: the tables of a store that begins a child of its history, as
// src/storage/snapshot makes them, with what the cluster is in its sets now (src/assembly/restored-replication.ts).
import { strict as assert } from 'node:assert'
import type { KeyObject } from 'node:crypto'
import { isOfReplication, keptReplication } from '../../../src/assembly/restored-replication.ts'
import { importSecret } from '../../../src/crypto/primitives/secret-key.ts'
import type { World } from '../../../src/lib/world.ts'
import { HISTORY_ID_BYTES } from '../../../src/storage/backend.ts'
import { Barrier } from '../../../src/storage/barrier.ts'
import type { Store, StoredEntry } from '../../../src/storage/contract.ts'
import { indexOfOtherData, withHistory } from '../../../src/storage/log/histories.ts'
import { MemoryTables } from '../../../src/storage/memory-tables.ts'
import type { History, Position } from '../../../src/storage/peer-log.ts'
import { KEY_USE } from '../../../src/system/seal/key-use.ts'
import { SEAL_CONFIG } from '../../../src/system/seal/seal-config.ts'
import { KEYRING, openKeyring, ROOT_KEY, readRecord } from '../../../src/system/seal/seal-records.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'

/** What a store was. */
export type TakenSnapshot = {
  readonly position: Position
  readonly histories: readonly History[]
  readonly entries: readonly StoredEntry[]
}

const LEAF_KEY = 'root/core/leaf-key'

export async function takeSnapshot({ store }: Pick<RestoredLife, 'store'>): Promise<TakenSnapshot> {
  const snapshot = await store.snapshot()
  const { position, histories } = snapshot
  const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
  await snapshot.close()
  return { position, histories, entries }
}

/** What the restore of a snapshot needs of a server that runs. */
export type RestoredLife = {
  readonly store: Pick<Store, 'snapshot' | 'get' | 'scan' | 'histories'>
  readonly barrier: Barrier
  readonly world: Pick<World, 'random' | 'clock'>
  /** Missing: a simulated cluster keeps it in clear. */
  readonly rootKey?: KeyObject
}

/** Restores it. */
export async function restore(cluster: SimulatedCluster, taken: TakenSnapshot): Promise<void> {
  const life = cluster.life ?? assert.fail('it runs')
  await cluster.replace(() => restoredTables(life, taken))
}

/** The tables of the store when it is restored. */
export async function restoredTables(life: RestoredLife, taken: TakenSnapshot): Promise<MemoryTables> {
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
}

async function entriesOf(
  { store, barrier, world, rootKey: known }: RestoredLife,
  taken: TakenSnapshot,
  now: TakenSnapshot,
): Promise<readonly StoredEntry[]> {
  const rootKey = known ?? importSecret(await readRecord(store, ROOT_KEY))
  const keyring = openKeyring(
    rootKey,
    taken.entries.find(({ key }) => key === KEYRING)?.value ?? assert.fail('a keyring'),
  )
  const restored = new Barrier(world.random, keyring)
  const leafRecord = taken.entries.find(({ key }) => key === LEAF_KEY)?.value ?? assert.fail('a leaf key')
  const leafKey = importSecret(restored.open(LEAF_KEY, leafRecord))
  const { entries: kept } = await keptReplication(store, barrier, {
    barrier: restored,
    leafKey,
    histories: taken.histories,
  })
  const ofSeal = now.entries.filter(({ key }) => isOfSeal(key))
  const old = taken.entries.filter(({ key }) => key !== KEY_USE && !isOfSeal(key) && !isOfReplication(key))
  return [...old, ...kept, ...ofSeal]
}

const isOfSeal = (key: string): boolean => key === ROOT_KEY || key === SEAL_CONFIG
