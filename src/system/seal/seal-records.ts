// The records that lead from the unseal key to the keyring, as they lie in storage:
//
//   root/core/root-key       the root key, sealed by the unseal key
//   root/core/keyring        the data keys (keyring.ts), sealed by the root key
//   root/core/former-keys    data keys of keyrings that were replaced, sealed by the root key
//   root/core/replaced-keys  likewise, of a DR secondary alone: former-keys is that of its primary
//   root/core/recovery-key   sealed by the root key: what the shares of the recovery key must give (share-proof.ts)
//   root/core/leaf-key       behind the barrier: the key of the leaves (docs/storage-format.md)
//   root/core/cluster        behind the barrier: name and id of this cluster
import type { KeyObject } from 'node:crypto'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { text } from '../../lib/member-kinds.ts'
import type { Random } from '../../lib/world.ts'
import { Barrier, openRecord, sealRecord } from '../../storage/barrier.ts'
import { type Reader, type ReadStore, systemScope, type Transaction } from '../../storage/contract.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import {
  decodeFormerKeys,
  decodeKeyring,
  encodeFormerKeys,
  type FormerKeys,
  type Keyring,
  replacedBy,
} from '../../storage/keyring.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'

/** Folder of everything here, and of the view on what lies behind the barrier. */
export const SEAL_FOLDER = 'root/core/'
/** Where the root key is stored, sealed by the shared or the static key. */
export const ROOT_KEY = 'root/core/root-key'
/** Key of the recovery key's record; only with a static seal. */
export const RECOVERY_KEY = 'root/core/recovery-key'
/** Where the data keys are stored, sealed by the root key. */
export const KEYRING = 'root/core/keyring'
/** Where data keys are stored that only open, sealed by the root key; missing if there are none. */
export const FORMER_KEYS = 'root/core/former-keys'
/**
 * Where a secondary for disaster recovery keeps the data keys that its primary has no more, sealed by the root key;
 * missing if there are none. Until a comparison with that primary has ended, entries here are still sealed by them.
 */
export const REPLACED_KEYS = 'root/core/replaced-keys'
/** NIST SP 800-38D section 8.2.2: a random nonce of 96 bits. Few records are ever sealed by these keys. */
const NONCE_BYTES = 12

/** The record of the cluster: its name, which operators choose, and its id, by which snapshots know it. */
export const CLUSTER = storedRecord('The record of the cluster', { name: text, id: text }, 'dropped')
/** Name and id of the cluster, known once the server is unsealed. */
export type Cluster = RecordOf<typeof CLUSTER>

/** What unsealing yields, for the barrier and store of this thread and of the others. The caller wipes `leafKey`. */
export type OpenedKeys = { readonly keyring: Keyring; readonly leafKey: Buffer; readonly cluster: Cluster }

/** Seals and stores a record that is not behind the barrier. It is bound to its path, so records cannot be swapped. */
export function putRecord(tx: Transaction, random: Random, path: string, key: KeyObject, plaintext: Buffer): void {
  tx.put(systemScope, path, sealedRecord(random, path, key, plaintext))
}

/** Such a record as it is stored. */
export function sealedRecord(random: Random, path: string, key: KeyObject, plaintext: Buffer): Buffer {
  return sealRecord(key, 0, path, random.bytes(NONCE_BYTES), plaintext)
}

/** Opens the root key. @throws AuthenticationFailed if `unsealKey` is another key */
export function openRootKey(unsealKey: KeyObject, record: Buffer): KeyObject {
  const bytes = openRecord(unsealKey, 0, ROOT_KEY, record)
  const rootKey = importSecret(bytes)
  bytes.fill(0)
  return rootKey
}

/** Opens the keyring. @throws AuthenticationFailed if `rootKey` is another key */
export function openKeyring(rootKey: KeyObject, record: Buffer): Keyring {
  const encoded = openRecord(rootKey, 0, KEYRING, record)
  const keyring = decodeKeyring(encoded)
  encoded.fill(0)
  return keyring
}

type FormerRecord = typeof FORMER_KEYS | typeof REPLACED_KEYS

/** Opens former keys. @throws AuthenticationFailed if `rootKey` is another key */
export function openFormerKeys(rootKey: KeyObject, record: Buffer, path: FormerRecord = FORMER_KEYS): FormerKeys {
  const encoded = openRecord(rootKey, 0, path, record)
  const former = decodeFormerKeys(encoded)
  encoded.fill(0)
  return former
}

/** Stores former keys in the place of those that were stored. */
export function putFormerKeys(
  tx: Transaction,
  random: Random,
  rootKey: KeyObject,
  former: FormerKeys,
  path: FormerRecord = FORMER_KEYS,
): void {
  const encoded = encodeFormerKeys(former)
  putRecord(tx, random, path, rootKey, encoded)
  encoded.fill(0)
}

/**
 * Opens the keyring as it is stored, with its former keys.
 * @throws AuthenticationFailed if `rootKey` is another key, StorageCorrupt if there is no keyring
 */
export async function storedKeyring(reader: Pick<Reader, 'get'>, rootKey: KeyObject): Promise<Keyring> {
  const keyring = openKeyring(rootKey, await readRecord(reader, KEYRING))
  return withFormerKeys(keyring, rootKey, {
    [FORMER_KEYS]: await reader.get(FORMER_KEYS),
    [REPLACED_KEYS]: await reader.get(REPLACED_KEYS),
  })
}

/** The keyring with its former keys, as far as they are stored. @throws AuthenticationFailed for another root key */
export function withFormerKeys(
  keyring: Keyring,
  rootKey: KeyObject,
  records: Readonly<Partial<Record<FormerRecord, Buffer | undefined>>>,
): Keyring {
  let found = keyring
  for (const path of [FORMER_KEYS, REPLACED_KEYS] as const) {
    const record = records[path]
    if (record !== undefined) found = replacedBy({ ...found, former: openFormerKeys(rootKey, record, path) }, found)
  }
  return found
}

/**
 * Opens all records, from the unseal key on; the caller wipes the leaf key.
 * @throws AuthenticationFailed if it is another unseal key, StorageCorrupt if a record is missing
 */
export async function unsealStore(
  store: ReadStore,
  unsealKey: KeyObject,
  random: Random,
): Promise<OpenedKeys & { readonly rootKey: KeyObject }> {
  return openWithRootKey(store, openRootKey(unsealKey, await readRecord(store, ROOT_KEY)), random)
}

/** Opens all records behind the root key, as `unsealStore` does. @throws AuthenticationFailed, StorageCorrupt */
export async function openWithRootKey(
  store: ReadStore,
  rootKey: KeyObject,
  random: Random,
): Promise<OpenedKeys & { readonly rootKey: KeyObject }> {
  const keyring = await storedKeyring(store, rootKey)
  const barrier = new Barrier(random, keyring)
  const read = async (name: string) => barrier.open(SEAL_FOLDER + name, await readRecord(store, SEAL_FOLDER + name))
  const cluster = CLUSTER.decode(await read('cluster'))
  const leafKey = await read('leaf-key')
  return { rootKey, keyring, leafKey, cluster }
}

/** Reads a record as it is stored. @throws StorageCorrupt if it is missing */
export async function readRecord(store: Pick<Reader, 'get'>, path: string): Promise<Buffer> {
  const bytes = await store.get(path)
  if (bytes === undefined) throw new StorageCorrupt(`The store lacks ${path}`)
  return bytes
}
