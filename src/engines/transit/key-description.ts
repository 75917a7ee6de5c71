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

const NOTE: Shapes = { time: text('Time, RFC 3339'), version: integer('Latest key version at that time') }

/** The shape of an answer that describes a key. */
export const KEY_DESCRIPTION: Shapes = {
  name: text('Name of the key'),
  type: text('Type of the key'),
  derived: flag('Whether a separate key is derived for each context'),
  exportable: flag('Whether the key can be exported'),
  allow_plaintext_backup: flag('Whether the key can be backed up in plaintext'),
  deletion_allowed: flag('Whether the key can be deleted'),
  imported_key: flag('Whether the key was imported'),
  soft_deleted: flag('Whether the key is soft-deleted'),
  supports_encryption: flag('Whether the key can encrypt'),
  supports_decryption: flag('Whether the key can decrypt'),
  supports_signing: flag('Whether the key can sign'),
  supports_derivation: flag('Whether keys of this type can be created with derived'),
  latest_version: integer('Highest key version, which encrypts and signs by default'),
  min_available_version: integer('Lowest version still stored: older ones were trimmed; 0: none were trimmed'),
  min_decryption_version: integer('Lowest version that can decrypt and verify'),
  min_encryption_version: integer('Lowest version that can encrypt, sign and make MACs; 0: no minimum'),
  auto_rotate_period: integer('Rotation interval in seconds; 0: no automatic rotation'),
  keys: mapOf(
    anything(
      'Creation time in seconds since the epoch; for a key pair, an object with name, public_key, certificate_chain ' +
        'and creation_time (RFC 3339)',
    ),
    'Usable key versions, by version number',
  ),
  min_mac_length: optional(integer('CMAC keys only: length in bytes of the shortest CMAC that verify accepts')),
  key_size: optional(integer('Key size in bytes; only for key types with a variable size')),
  imported_key_allow_rotation: optional(flag('Imported keys only: whether the key can be rotated')),
  backup_info: optional(group(NOTE, 'Last backup; absent if there was none')),
  restore_info: optional(group(NOTE, 'Last restore; absent if there was none')),
  encryption_counts: optional(
    mapOf(
      integer('Number of messages'),
      'Upper bound on the messages that each version has encrypted; only in reads, and only for key types that are ' +
        'limited to 2^32 messages per version',
    ),
  ),
  kdf: optional(text('Key derivation function; derived keys only')),
  kdf_mode: optional(text('Only for derived keys whose kdf predates HKDF')),
  convergent_encryption: optional(
    flag('Whether equal plaintexts with the same context give equal ciphertexts; derived keys only'),
  ),
  convergent_encryption_version: optional(integer('Always -1: each key version has its own algorithm version')),
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
