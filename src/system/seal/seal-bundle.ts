// The seal of a cluster as another cluster of its set gets it: at activation, and with each rekey. With it the receiver
// opens all data of the set, so it is as secret as the root key. It travels sealed for one receiver (hpke.ts).
//
//   bundle   format u8 = 1 | id length u8 | id | type u8 (1 shamir, 2 static) | shares u8 | threshold u8 | root key 32
//            | proof length u16 | proof (share-proof.ts) | backup length u32 | backup (shares-backup.ts; empty: none)
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import { hpkeOpen, hpkeSeal, X25519_BYTES, type X25519Key } from '../../crypto/primitives/hpke.ts'
import { freshBytes } from '../../crypto/primitives/random-bytes.ts'
import { Secret } from '../../crypto/primitives/secret.ts'
import { secretBytes } from '../../crypto/primitives/secret-bytes.ts'
import type { Random } from '../../lib/world.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { RecordReader } from '../../storage/log/record-reader.ts'
import { SHARED_KEY_BYTES, type ShareConfig } from './key-shares.ts'
import { isSealId, SEAL_ID_BYTES } from './seal-config.ts'
import { decodeProof, encodeProof, isKnownProof, type ShareProof, wipeProof } from './share-proof.ts'
import { SHARES_BACKUP, type SharesBackup } from './shares-backup.ts'

/**
 * The seal of a primary. Its secrets print as nothing. Its holder calls `wipeBundle` when it is done with it.
 */
export type SealBundle = {
  /** Names its shares (seal-config.ts). */
  readonly id: string
  /** The primary's seal. With 'static' the shares are those of its recovery key. */
  readonly type: 'shamir' | 'static'
  readonly shareConfig: ShareConfig
  readonly rootKey: Secret
  readonly proof: ShareProof
  /** The encrypted shares of the last rekey, if its caller asked for a backup. */
  readonly backup: SharesBackup | undefined
}

/** Why a bundle is not taken; the message tells no byte of it. */
export class BundleRefused extends Error {
  override name = 'BundleRefused'
  /** 'version': a newer program made it. 'damaged': no program did, or it is not for us. 'set': of another root key. */
  readonly reason: 'version' | 'damaged' | 'set'
  constructor(reason: BundleRefused['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const FORMAT = 1
const TYPES = ['shamir', 'static'] as const
const ROOT_KEY_BYTES = 32
/** A proof is a key or a record of a key; a newer form may be longer. */
export const MAX_PROOF_BYTES = 1024
/** 255 shares, each for an RSA key of 8,192 bits (pgp.ts), in hexadecimal: some 620 KiB. */
export const MAX_BACKUP_BYTES = 1024 * 1024
const HEAD_BYTES = 1 + 1 + 1 + 1 + 1 + ROOT_KEY_BYTES + 2 + 4
/** Longest encoded bundle. */
export const MAX_BUNDLE_BYTES = HEAD_BYTES + SEAL_ID_BYTES + MAX_PROOF_BYTES + MAX_BACKUP_BYTES
const DOMAIN = Buffer.from('keywright seal bundle\0')

/** The bundle's bytes; the caller wipes them. */
export function encodeBundle({ id, type, shareConfig, rootKey, proof, backup }: SealBundle): Buffer {
  const proofBytes = encodeProof(proof)
  const backupBytes = backup === undefined ? Buffer.alloc(0) : SHARES_BACKUP.encode(backup)
  const out = secretBytes(HEAD_BYTES + id.length + proofBytes.length + backupBytes.length)
  let at = out.writeUInt8(FORMAT)
  at = out.writeUInt8(id.length, at)
  at += out.write(id, at, 'latin1')
  at = out.writeUInt8(TYPES.indexOf(type) + 1, at)
  at = out.writeUInt8(shareConfig.shares, at)
  at = out.writeUInt8(shareConfig.threshold, at)
  at += rootKey.reveal().copy(out, at)
  at = out.writeUInt16BE(proofBytes.length, at)
  at += proofBytes.copy(out, at)
  at = out.writeUInt32BE(backupBytes.length, at)
  backupBytes.copy(out, at)
  proofBytes.fill(0)
  return out
}

/** Reads a bundle; the caller wipes the bytes, and the bundle. @throws BundleRefused */
export function decodeBundle(bytes: Buffer): SealBundle {
  if (bytes.length === 0 || bytes.length > MAX_BUNDLE_BYTES)
    throw new BundleRefused('damaged', `A seal bundle has 1 to ${MAX_BUNDLE_BYTES} bytes`)
  if (bytes[0] !== FORMAT)
    throw new BundleRefused('version', 'The seal bundle has an unknown format: a newer version made it')
  try {
    return readBundle(new RecordReader(bytes, 'seal bundle'))
  } catch (cause) {
    if (cause instanceof StorageCorrupt) throw new BundleRefused('damaged', cause.message)
    throw cause
  }
}

function readBundle(reader: RecordReader): SealBundle {
  reader.u8('format')
  const id = reader.bytes(reader.u8('length of the id'), 'id').toString('latin1')
  if (id !== '' && !isSealId(id)) throw reader.fault('its id is no UUID')
  const type = TYPES[reader.u8('type') - 1]
  if (type === undefined) throw new BundleRefused('version', 'The seal bundle names an unknown type of seal')
  const shareConfig = { shares: reader.u8('shares'), threshold: reader.u8('threshold') }
  if (shareConfig.threshold < 1 || shareConfig.threshold > shareConfig.shares)
    throw reader.fault('its threshold does not fit its shares')
  const rootKey = reader.bytes(ROOT_KEY_BYTES, 'root key')
  const proofBytes = readProof(reader, type)
  const backup = readBackup(reader)
  if (!reader.atEnd) throw reader.fault('something follows it')
  // Secrets are copied last, so that no error leaves one behind.
  const proof = decodeProof(proofBytes)
  return { id, type, shareConfig, rootKey: new Secret(rootKey), proof, backup }
}

function readProof(reader: RecordReader, type: SealBundle['type']): Buffer {
  const length = reader.u16('length of the proof')
  if (length > MAX_PROOF_BYTES) throw reader.fault(`its proof is above ${MAX_PROOF_BYTES} bytes`)
  const proof = reader.bytes(length, 'proof')
  if (!isKnownProof(proof)) throw new BundleRefused('version', 'The seal bundle has an unknown proof of its shares')
  // A cluster with unseal shares does not know the key that they give.
  if (type === 'shamir' && proof.length === SHARED_KEY_BYTES) throw reader.fault('its proof does not go with its type')
  return proof
}

function readBackup(reader: RecordReader): SharesBackup | undefined {
  const length = reader.u32('length of the backup')
  if (length > MAX_BACKUP_BYTES) throw reader.fault(`its backup is above ${MAX_BACKUP_BYTES} bytes`)
  return length === 0 ? undefined : SHARES_BACKUP.decode(reader.bytes(length, 'backup'))
}

/** Overwrites the bundle's secrets. */
export function wipeBundle({ rootKey, proof }: SealBundle): void {
  rootKey.wipe()
  wipeProof(proof)
}

/**
 * Seals the bundle for the holder of an X25519 key. `context` names the link that it travels on: the set, the family
 * and the receiver. A bundle that was recorded on another link then opens nothing.
 */
export function sealBundle(bundle: SealBundle, publicKey: Buffer, context: Buffer, random: Random): Buffer {
  const encoded = encodeBundle(bundle)
  const seed = freshBytes((count) => random.bytes(count), X25519_BYTES)
  try {
    return hpkeSeal(publicKey, seed, encoded, { info: Buffer.concat([DOMAIN, context]) })
  } finally {
    encoded.fill(0)
    seed.fill(0)
  }
}

/** Opens what `sealBundle` returned; the caller wipes the bundle. @throws BundleRefused */
export function openBundle(key: X25519Key, sealed: Buffer, context: Buffer): SealBundle {
  let encoded: Buffer | undefined
  try {
    encoded = hpkeOpen(key, sealed, { info: Buffer.concat([DOMAIN, context]) })
    return decodeBundle(encoded)
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed)) throw cause
    throw new BundleRefused('damaged', 'The seal bundle was not sealed for this cluster on this link, or was changed')
  } finally {
    encoded?.fill(0)
  }
}
