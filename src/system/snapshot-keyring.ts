// What of a snapshot can be opened before it is restored. One of this cluster: with the root key, which never changes.
// One of another cluster: only where a static key of this server opens it, as it would after the restore.
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../crypto/aead.ts'
import type { Random } from '../lib/world.ts'
import { Barrier } from '../storage/barrier.ts'
import { StorageCorrupt } from '../storage/contract.ts'
import type { Keyring } from '../storage/keyring.ts'
import { decodeSealConfig, SEAL_CONFIG } from './seal-config.ts'
import { KEYRING, openKeyring, openRootKey, ROOT_KEY } from './seal-records.ts'

export type SnapshotKeyring = {
  /** By stored key; the records that opening needs among them. */
  readonly records: ReadonlyMap<string, Buffer>
  /** Undefined where the snapshot is of another cluster. */
  readonly ours: { readonly rootKey: KeyObject; readonly keyring: Keyring | undefined } | undefined
  /** @throws AutoSealFailed where this server was not given the key */
  readonly autoKey: (keyId: string) => KeyObject
  readonly random: Random
}

/**
 * A barrier that opens the entries of the snapshot, with the keys of today where its day had none; undefined where
 * nobody but the holders of its shares can tell.
 * @throws StorageCorrupt where a key of this server should open it and does not; AutoSealFailed
 */
export function openSnapshotKeyring({ records, ours, autoKey, random }: SnapshotKeyring): Barrier | undefined {
  const record = (path: string): Buffer => records.get(path) ?? Buffer.alloc(0)
  const { keyId } = decodeSealConfig(record(SEAL_CONFIG))
  const found =
    keyId === undefined
      ? undefined
      : opened(`the static key "${keyId}"`, 'root key', () => openRootKey(autoKey(keyId), record(ROOT_KEY)))
  const rootKey = ours?.rootKey ?? found
  if (rootKey === undefined) return undefined
  const of = ours === undefined ? 'its root key' : 'the root key of this cluster'
  const { activeTerm, terms } = opened(of, 'keyring', () => openKeyring(rootKey, record(KEYRING)))
  return new Barrier(random, { activeTerm, terms: new Map([...(ours?.keyring?.terms ?? []), ...terms]) })
}

function opened<T>(key: string, what: string, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed)) throw cause
    throw new StorageCorrupt(`The ${what} of the snapshot does not open with ${key}`)
  }
}
