// The description of a key that clients read (Interface 2.3). It comes from the header and from public halves, so it
// holds nothing secret.
import type { Answer } from '../../api/request.ts'
import { anything, flag, group, integer, mapOf, optional, type Shapes, text } from '../../api/shape.ts'
import type { KeyType, PublicPart } from '../../crypto/key-types/key-type.ts'
import { formatRfc3339 } from '../../lib/rfc3339.ts'
import { USUAL_LEAST_MAC_BYTES } from './mac.ts'
import type { LoadedRing, LoadedVersion } from './ring/loaded-ring.ts'
import { schemeOf } from './ring/managed-type.ts'
import type { BackupNote, Kdf, VersionHeader } from './ring/ring-header.ts'

const NOTE: Shapes = { time: text('RFC 3339'), version: integer('The latest version then') }

/** The shape of an answer that describes a key. */
export const KEY_DESCRIPTION: Shapes = {
  name: text('Name of the key'),
  type: text('Type of the key'),
  derived: flag('Each request gives a context, from which the key for it is derived'),
  exportable: flag('Can be exported'),
  allow_plaintext_backup: flag('Can be backed up in plaintext'),
  deletion_allowed: flag('Can be deleted'),
  imported_key: flag('Was imported'),
  soft_deleted: flag('Is marked as deleted'),
  supports_encryption: flag('Encrypts'),
  supports_decryption: flag('Decrypts'),
  supports_signing: flag('Signs'),
  supports_derivation: flag('Can be made with derivation'),
  latest_version: integer('The version that encrypts'),
  min_available_version: integer('Older versions were deleted for good; 0: none was'),
  min_decryption_version: integer('Older versions decrypt nothing'),
  min_encryption_version: integer('Older versions encrypt nothing; 0: no bound is set'),
  auto_rotate_period: integer('Seconds after which it is rotated; 0: only when asked to'),
  keys: mapOf(
    anything('Creation time in seconds since the epoch; of a key pair an object with name, public_key, creation_time'),
    'The versions that can be used, by number',
  ),
  min_mac_length: optional(integer('Of a key that makes CMACs: bytes of the shortest that verify takes')),
  key_size: optional(integer('Bytes of a key, of types that come in several sizes')),
  imported_key_allow_rotation: optional(flag('Of an imported key: whether it can be rotated')),
  backup_info: optional(group(NOTE, 'When it was last backed up')),
  restore_info: optional(group(NOTE, 'When it was last restored')),
  encryption_counts: optional(
    mapOf(
      integer('Messages'),
      'In reads: what each version encrypted at most, of types whose nonces are good for 2^32 messages',
    ),
  ),
  kdf: optional(text('How keys are derived, with derivation')),
  kdf_mode: optional(text('Of keys whose kdf is older than HKDF')),
  convergent_encryption: optional(flag('Equal plaintexts under one context give equal ciphertexts, with derivation')),
  convergent_encryption_version: optional(integer('-1: each version has its own, the current one')),
}

/** Returns the answer that describes a key; see `describeKey` for `context`. */
export const describedKey = (name: string, ring: LoadedRing, context?: Buffer): Answer => ({
  data: describeKey(name, ring, context),
})

/** Wire value: each version has its own convergent algorithm. */
const CONVERGENT_BY_VERSION = -1

/** Returns the members of the description. A key pair with derivation shows the public keys for `context`. */
export function describeKey(name: string, ring: LoadedRing, context?: Buffer): object {
  const { header, type } = ring
  const { cipher, derivation, signing } = type
  const scheme = schemeOf(header)
  const encrypts = cipher !== undefined || scheme === 'aes-gcm' || scheme === 'rsa-oaep'
  return {
    name,
    type: header.type,
    derived: header.derived,
    exportable: header.exportable,
    allow_plaintext_backup: header.allowPlaintextBackup,
    deletion_allowed: header.deletionAllowed,
    imported_key: header.imported,
    soft_deleted: header.softDeleted,
    supports_encryption: encrypts,
    supports_decryption: encrypts,
    supports_signing: signing !== undefined,
    supports_derivation: derivation !== undefined,
    latest_version: header.latestVersion,
    min_available_version: header.minAvailableVersion,
    min_decryption_version: header.minDecryptionVersion,
    min_encryption_version: header.minEncryptionVersion,
    auto_rotate_period: header.autoRotatePeriodSeconds,
    keys: describeVersions(ring, context),
    ...(type.cmac === undefined ? {} : { min_mac_length: header.minMacBytes ?? USUAL_LEAST_MAC_BYTES }),
    ...(header.keySizeBytes > 0 ? { key_size: header.keySizeBytes } : {}),
    ...(header.imported ? { imported_key_allow_rotation: header.allowImportedRotation } : {}),
    ...(header.backup === undefined ? {} : { backup_info: describeNote(header.backup) }),
    ...(header.restore === undefined ? {} : { restore_info: describeNote(header.restore) }),
    ...(header.derived ? { ...KDF_NAMES[header.kdf], convergent_encryption: header.convergent } : {}),
    ...(header.convergent ? { convergent_encryption_version: CONVERGENT_BY_VERSION } : {}),
  }
}

/** Wire values. */
const KDF_NAMES: Readonly<Record<Kdf, object>> = {
  hkdf: { kdf: 'hkdf_sha256' },
  counter: { kdf: 'hmac-sha256-counter', kdf_mode: 'hmac-sha256-counter' },
}

const describeNote = ({ atMs, nanos, version }: BackupNote): object => ({ time: formatRfc3339(atMs, nanos), version })

/**
 * Returns the versions that can still be used, by number: the creation time in seconds, or for a key pair an object
 * with the public key, in which the time is a text.
 */
function describeVersions(
  { header, type, versions }: LoadedRing,
  context: Buffer | undefined,
): Record<string, number | object> {
  const described: Record<string, number | object> = {}
  for (const version of versions) {
    const { createdAtMs } = version.header
    described[version.number] =
      type.publicPart === undefined
        ? Math.floor(createdAtMs / 1000)
        : header.derived
          ? describePair(type.publicPart.name, derivedPublicKey(type, version, context), version.header)
          : describedPair(type.publicPart, version)
  }
  return described
}

/** Descriptions that were made before. Every rotation describes the key, which may have thousands of versions. */
const describedPairs = new WeakMap<LoadedVersion, object>()

function describedPair({ name, text }: PublicPart, version: LoadedVersion): object {
  const known = describedPairs.get(version) ?? Object.freeze(describePair(name, text(version.key), version.header))
  describedPairs.set(version, known)
  return known
}

function describePair(name: string, publicKey: string, header: VersionHeader): object {
  return {
    name,
    public_key: publicKey,
    certificate_chain: certificateChain(header),
    creation_time: formatRfc3339(header.createdAtMs, header.createdNanos),
  }
}

/** Returns '' without a context, and if there is no private half to derive from. */
function derivedPublicKey({ derivation, publicPart }: KeyType, version: LoadedVersion, context: Buffer = NONE): string {
  if (derivation === undefined || publicPart === undefined || version.isPublic || context.length === 0) return ''
  return publicPart.text(derivation.derive(version.key, context))
}

const NONE = Buffer.alloc(0)

/** Returns the chain in PEM, the leaf first; '' if there is none. */
export function certificateChain({ certificates = [] }: VersionHeader): string {
  return certificates.map(pemOf).join('\n')
}

function pemOf(base64: string): string {
  // RFC 7468 section 2: lines of 64 characters.
  const lines = base64.match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----'].join('\n')
}
