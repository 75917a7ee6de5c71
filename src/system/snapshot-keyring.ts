// What of a snapshot can be opened before it is restored. What this cluster sealed: with the root key, which never
// changes, whatever its header says, which anybody can write. What another cluster sealed: only where a static key of
// this server opens it, as it would after the restore.
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../crypto/primitives/aead.ts'
import type { Random } from '../lib/world.ts'
import { Barrier } from '../storage/barrier.ts'
import { StorageCorrupt } from '../storage/contract.ts'
import type { Keyring } from '../storage/keyring.ts'
import { decodeSealConfig, SEAL_CONFIG } from './seal/seal-config.ts'
import { KEYRING, openKeyring, openRootKey, ROOT_KEY } from './seal/seal-records.ts'

export type SnapshotKeyring = {
  /** By stored key; the records that opening needs among them. */
  readonly records: ReadonlyMap<string, Buffer>
  readonly ours: { readonly rootKey: KeyObject; readonly keyring: Keyring | undefined }
  /** By its header. */
  readonly saysOurs: boolean
  /** @throws AutoSealFailed where this server was not given the key */
  readonly autoKey: (keyId: string) => KeyObject
  readonly random: Random
}

/**
 * A barrier that opens the entries of the snapshot, with the keys of today where its day had none; undefined where
 * nobody but the holders of its shares can tell.
 * @throws StorageCorrupt where a key of this server should open it and does not; AutoSealFailed
 */
export function openSnapshotKeyring(snapshot: SnapshotKeyring): Barrier | undefined {
  const { ours, saysOurs, random } = snapshot
  const record = recordOf(snapshot, KEYRING)
  const found = foundRootKey(snapshot)
  const own = ifRightKey(() => openKeyring(ours.rootKey, record))
  if (own !== undefined) {
    return new Barrier(random, { ...own, terms: new Map([...(ours.keyring?.terms ?? []), ...own.terms]) })
  }
  if (saysOurs) throw doesNotOpen('keyring', 'the root key of this cluster')
  if (found === undefined) return undefined
  const keyring = ifRightKey(() => openKeyring(found, record))
  if (keyring === undefined) throw doesNotOpen('keyring', 'its root key')
  return new Barrier(random, keyring)
}

/** Undefined where it is opened by shares. @throws StorageCorrupt, AutoSealFailed */
function foundRootKey(snapshot: SnapshotKeyring): KeyObject | undefined {
  const { keyId } = decodeSealConfig(recordOf(snapshot, SEAL_CONFIG))
  if (keyId === undefined) return undefined
  const rootKey = ifRightKey(() => openRootKey(snapshot.autoKey(keyId), recordOf(snapshot, ROOT_KEY)))
  if (rootKey === undefined) throw doesNotOpen('root key', `the static key "${keyId}"`)
  return rootKey
}

const recordOf = ({ records }: SnapshotKeyring, path: string): Buffer => records.get(path) ?? Buffer.alloc(0)

function ifRightKey<T>(open: () => T): T | undefined {
  try {
    return open()
  } catch (cause) {
    if (cause instanceof AuthenticationFailed) return undefined
    throw cause
  }
}

const doesNotOpen = (what: string, key: string): StorageCorrupt =>
  new StorageCorrupt(`The ${what} of the snapshot does not open with ${key}`)
