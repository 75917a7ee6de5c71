// The way of a seal from a primary to the clusters that follow it. A follower with a static key keeps that seal, and
// the primary's shares become its recovery shares. One with shares takes the primary's in the place of its own:
//
//   primary   follower   root key is opened by                 the shares
//   shamir    shamir     the primary's unseal key               unseal
//   shamir    static     the follower's static key              permit operations, as a recovery key's
//   static    static     the follower's static key              permit operations
//   static    shamir     the primary's recovery key             unseal
import type { KeyObject } from 'node:crypto'
import { Secret } from '../../crypto/primitives/secret.ts'
import { exportSecret, importSecret } from '../../crypto/primitives/secret-key.ts'
import type { Random } from '../../lib/world.ts'
import { type Barrier, openRecord } from '../../storage/barrier.ts'
import { type Reader, systemScope, type Transaction } from '../../storage/contract.ts'
import type { SealBundle } from './seal-bundle.ts'
import { decodeSealConfig, encodeSealConfig, SEAL_CONFIG, type SealConfig } from './seal-config.ts'
import { RECOVERY_KEY, ROOT_KEY, readRecord, SEAL_FOLDER, sealedRecord } from './seal-records.ts'
import { decodeProof, encodeProof, openedByShares, type ShareProof } from './share-proof.ts'
import { BACKUP_NAMES, SHARES_BACKUP, type SharesBackup } from './shares-backup.ts'

/** The static key that a cluster is opened by, and its id. */
export type OwnKey = { readonly keyId: string; readonly key: KeyObject }

type Gets = Pick<Reader, 'get'>

/** What a follower stores of a bundle. A value that is undefined stands for a record that goes. */
export type Handover = {
  readonly config: SealConfig
  readonly records: readonly { readonly key: string; readonly value: Buffer | undefined }[]
}

/** The seal of the cluster whose store `reader` reads; the caller wipes the bundle. @throws StorageCorrupt */
export async function bundleOf(reader: Gets, rootKey: KeyObject, barrier: Barrier): Promise<SealBundle> {
  const { keyId, id, shares, threshold } = decodeSealConfig(await readRecord(reader, SEAL_CONFIG))
  const type = keyId === undefined ? 'shamir' : 'static'
  const name = BACKUP_NAMES[type === 'shamir' ? 'unseal key' : 'recovery key']
  const backup = await backupOf(reader, SEAL_FOLDER + name, barrier)
  // Secrets are copied last, so that no error leaves one behind.
  const proof = await proofOf(reader, rootKey, type)
  const bytes = exportSecret(rootKey)
  const secret = new Secret(bytes)
  bytes.fill(0)
  return { id, type, shareConfig: { shares, threshold }, rootKey: secret, proof, backup }
}

async function proofOf(reader: Gets, rootKey: KeyObject, type: SealBundle['type']): Promise<ShareProof> {
  if (type === 'shamir') return { kind: 'root key', record: await readRecord(reader, ROOT_KEY) }
  return storedProof(reader, rootKey)
}

/** What the recovery shares of a cluster must give; the caller wipes it. @throws StorageCorrupt */
export async function storedProof(reader: Gets, rootKey: KeyObject): Promise<ShareProof> {
  const encoded = openRecord(rootKey, 0, RECOVERY_KEY, await readRecord(reader, RECOVERY_KEY))
  try {
    return decodeProof(encoded)
  } finally {
    encoded.fill(0)
  }
}

async function backupOf(reader: Gets, key: string, barrier: Barrier): Promise<SharesBackup | undefined> {
  const record = await reader.get(key)
  return record === undefined ? undefined : SHARES_BACKUP.decode(barrier.open(key, record))
}

/**
 * What a cluster stores to take the bundle over. `own` is its static key; undefined: shares open it. `barrier` seals
 * under the keyring that stands beside it.
 */
export function handoverTo(own: OwnKey | undefined, bundle: SealBundle, barrier: Barrier, random: Random): Handover {
  const { id, shareConfig, proof, backup } = bundle
  const rootKey = importSecret(bundle.rootKey.reveal())
  const { shares, threshold } = shareConfig
  const config: SealConfig = { shares, threshold, id, ...(own === undefined ? {} : { keyId: own.keyId }) }
  const openedBy =
    own === undefined
      ? openedByShares(proof, rootKey, random)
      : sealedRecord(random, ROOT_KEY, own.key, bundle.rootKey.reveal())
  const backups = Object.entries(BACKUP_NAMES).map(([kind, name]) => {
    const isOurs = kind === (own === undefined ? 'unseal key' : 'recovery key')
    const key = SEAL_FOLDER + name
    return { key, value: isOurs && backup !== undefined ? barrier.seal(key, SHARES_BACKUP.encode(backup)) : undefined }
  })
  const records = [
    { key: ROOT_KEY, value: openedBy },
    { key: SEAL_CONFIG, value: encodeSealConfig(config) },
    { key: RECOVERY_KEY, value: own === undefined ? undefined : recoveryRecord(proof, rootKey, random) },
    ...backups,
  ]
  return { config, records }
}

function recoveryRecord(proof: ShareProof, rootKey: KeyObject, random: Random): Buffer {
  const encoded = encodeProof(proof)
  try {
    return sealedRecord(random, RECOVERY_KEY, rootKey, encoded)
  } finally {
    encoded.fill(0)
  }
}

/** Writes what `handoverTo` returned. */
export function writeHandover(tx: Transaction, { records }: Handover): void {
  for (const { key, value } of records) {
    if (value === undefined) tx.delete(systemScope, key)
    else tx.put(systemScope, key, value)
  }
}
