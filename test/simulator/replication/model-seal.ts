// The seal of a simulated cluster: what its store is opened with. Unlike a real one it needs no shares: the root key
// lies in its store in clear, so a cluster that starts is open. Keys of a primary replace it as they do in a server.

import { Secret } from '../../../src/crypto/primitives/secret.ts'
import { exportSecret, importSecret } from '../../../src/crypto/primitives/secret-key.ts'
import type { Random } from '../../../src/lib/world.ts'
import { Barrier } from '../../../src/storage/barrier.ts'
import { type ReadStore, type Store, systemScope, type Transaction } from '../../../src/storage/contract.ts'
import { encodeKeyring, firstKeyring } from '../../../src/storage/keyring.ts'
import type { SealBundle } from '../../../src/system/seal/seal-bundle.ts'
import { decodeSealConfig, encodeSealConfig, SEAL_CONFIG } from '../../../src/system/seal/seal-config.ts'
import {
  CLUSTER,
  KEYRING,
  openWithRootKey,
  putRecord,
  ROOT_KEY,
  readRecord,
  SEAL_FOLDER,
} from '../../../src/system/seal/seal-records.ts'

const KEY_BYTES = 32
const SHARES = { shares: 1, threshold: 1 }

/** Makes the records of a new cluster. */
export async function initialise(store: Store, name: string, random: Random, nowMs: number): Promise<void> {
  const rootKey = random.bytes(KEY_BYTES)
  const leafKey = random.bytes(KEY_BYTES)
  const keyring = firstKeyring(random, random.bytes(KEY_BYTES), nowMs)
  const barrier = new Barrier(random, keyring)
  store.setLeafKey(leafKey)
  await store.transaction(async (tx) => {
    const behindBarrier = (path: string, value: Buffer): void =>
      tx.put(systemScope, SEAL_FOLDER + path, barrier.seal(SEAL_FOLDER + path, value))
    putRecord(tx, random, KEYRING, importSecret(rootKey), encodeKeyring(keyring))
    tx.put(systemScope, ROOT_KEY, rootKey)
    behindBarrier('leaf-key', leafKey)
    behindBarrier('cluster', CLUSTER.encode({ name, id: random.uuid() }))
    putSealId(tx, random.uuid())
  })
}

/** What opens a store. */
export async function openedKeys(store: ReadStore, random: Random) {
  return openWithRootKey(store, importSecret(await readRecord(store, ROOT_KEY)), random)
}

/** Id of the shares. */
export async function sealId(store: ReadStore): Promise<string> {
  return decodeSealConfig(await readRecord(store, SEAL_CONFIG)).id
}

/** Stores the id of the shares; of a root key that comes from a primary, too. */
export function putSealId(tx: Transaction, id: string): void {
  tx.put(systemScope, SEAL_CONFIG, encodeSealConfig({ ...SHARES, id }))
}

/** Stores the root key of a primary. */
export function putRootKey(tx: Transaction, { rootKey, id }: SealBundle): void {
  tx.put(systemScope, ROOT_KEY, Buffer.from(rootKey.reveal()))
  putSealId(tx, id)
}

/** The seal as secondaries get it. */
export function bundleOf(rootKey: Parameters<typeof exportSecret>[0], id: string): SealBundle {
  const proof = { kind: 'key', key: new Secret(Buffer.alloc(KEY_BYTES, 7)) } as const
  return {
    id,
    type: 'static',
    shareConfig: SHARES,
    rootKey: new Secret(exportSecret(rootKey)),
    proof,
    backup: undefined,
  }
}
