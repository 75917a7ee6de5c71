// Which keys open a snapshot before it is restored. A snapshot that this cluster sealed opens with the root key, which
// never changes. The header is not trusted for that: anyone can write one. A snapshot of another cluster opens only if
// a static key of this server opens it, as it would after the restore.
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../crypto/primitives/aead.ts'
import type { Random } from '../lib/world.ts'
import { Barrier } from '../storage/barrier.ts'
import { StorageCorrupt } from '../storage/errors.ts'
import { type Keyring, replacedBy } from '../storage/keyring.ts'
import { decodeSealConfig, SEAL_CONFIG } from './seal/seal-config.ts'
import {
  FORMER_KEYS,
  KEYRING,
  openKeyring,
  openRootKey,
  REPLACED_KEYS,
  ROOT_KEY,
  withFormerKeys,
} from './seal/seal-records.ts'

/** A snapshot's own key records, and the keys of this server to try on them. */
export type SnapshotKeyring = {
  /** Records of the snapshot by stored key; those that opening needs are among them. */
  readonly records: ReadonlyMap<string, Buffer>
  readonly ours: { readonly rootKey: KeyObject; readonly keyring: Keyring | undefined }
  /** Whether the header names this cluster; a claim, not a proof. */
  readonly saysOurs: boolean
  /** Returns the static key of that id. @throws AutoSealFailed if this server was not given it */
  readonly autoKey: (keyId: string) => KeyObject
  readonly random: Random
}

/**
 * Returns a barrier that opens the entries of the snapshot. In a snapshot of this cluster it has today's keys too, for
 * entries whose key the snapshot lacks. Undefined if only holders of shares can open the snapshot.
 * @throws StorageCorrupt if a key of this server should open it and does not; AutoSealFailed
 */
export function openSnapshotKeyring(snapshot: SnapshotKeyring): Barrier | undefined {
  const { ours, saysOurs, random } = snapshot
  // The root key of this cluster is tried whatever the header says, so a forged header changes nothing.
  const own = ifRightKey(() => keyringOf(snapshot, ours.rootKey))
  if (own !== undefined) return new Barrier(random, ours.keyring === undefined ? own : replacedBy(ours.keyring, own))
  if (saysOurs) throw doesNotOpen('keyring', 'the root key of this cluster')
  const found = foundRootKey(snapshot)
  if (found === undefined) return undefined
  const keyring = ifRightKey(() => keyringOf(snapshot, found))
  if (keyring === undefined) throw doesNotOpen('keyring', 'its root key')
  return new Barrier(random, keyring)
}

/** The snapshot's keyring with its former keys. @throws AuthenticationFailed if `rootKey` is another key */
function keyringOf(snapshot: SnapshotKeyring, rootKey: KeyObject): Keyring {
  const keyring = openKeyring(rootKey, recordOf(snapshot, KEYRING))
  const { records } = snapshot
  return withFormerKeys(keyring, rootKey, {
    [FORMER_KEYS]: records.get(FORMER_KEYS),
    [REPLACED_KEYS]: records.get(REPLACED_KEYS),
  })
}

/** The snapshot's root key, by a static key; undefined if shares open it. @throws StorageCorrupt, AutoSealFailed */
function foundRootKey(snapshot: SnapshotKeyring): KeyObject | undefined {
  const { keyId } = decodeSealConfig(recordOf(snapshot, SEAL_CONFIG))
  if (keyId === undefined) return undefined
  const rootKey = ifRightKey(() => openRootKey(snapshot.autoKey(keyId), recordOf(snapshot, ROOT_KEY)))
  if (rootKey === undefined) throw doesNotOpen('root key', `the static key "${keyId}"`)
  return rootKey
}

/** A record of the snapshot; empty if the snapshot lacks it, and then neither decoded nor opened. */
const recordOf = ({ records }: SnapshotKeyring, path: string): Buffer => records.get(path) ?? Buffer.alloc(0)

/** Undefined if the key is a wrong one; other errors pass through. */
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
