// Writes a key ring as a backup: base64 of JSON, with the members and the order of the products whose API this is, so
// that they can restore it too. All secrets are in it in clear, and as text, which cannot be wiped: only keys with
// allow_plaintext_backup are written so.
import { fail } from '../../../api/errors.ts'
import type { RsaParts } from '../../../crypto/forms/material-form.ts'
import { crtParts } from '../../../crypto/forms/rsa-parts.ts'
import type { ListedKeyType } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { exactInteger } from '../../../lib/json.ts'
import { formatRfc3339 } from '../../../lib/rfc3339.ts'
import type { StoredRing, VersionSecrets } from '../ring/key-ring.ts'
import { publicPartOf } from '../ring/loaded-ring.ts'
import { type BackupNote, firstStoredVersion, type RingHeader, type VersionHeader } from '../ring/ring-header.ts'

/** The time that the other products write for "none". */
const NO_TIME = '0001-01-01T00:00:00Z'
const NANOS_PER_SECOND = 1_000_000_000n
/** Means that each version has its own. */
const CONVERGENT_BY_VERSION = -1

/** Returns the backup of a ring, which stays the caller's to wipe. @throws Refusal for a type that is not backed up */
export function writeBackup(name: string, ring: StoredRing): string {
  const { header, secrets } = ring
  const type = KEY_TYPES.get(header.type)
  if (type === undefined) throw fail('key_cannot', [`keys of type ${header.type} cannot be backed up`])
  const entries = secrets.map((one, index) => entryOf(type, header, index, one))
  const first = firstStoredVersion(header)
  const usable = entries.slice(header.minDecryptionVersion - first)
  const keys = Object.fromEntries(usable.map((entry, index) => [header.minDecryptionVersion + index, entry]))
  // Wire rule: the archive begins with an empty entry for version 0, until versions were trimmed.
  const archived = header.minAvailableVersion === 0 ? [NO_ENTRY, ...entries] : entries
  const policy = policyOf(name, header, type.backupId, keys)
  return Buffer.from(`${JSON.stringify({ policy, archived_keys: { keys: archived } })}\n`).toString('base64')
}

function policyOf(name: string, header: RingHeader, type: number, keys: object): object {
  return {
    name,
    ...(header.keySizeBytes > 0 ? { key_size: header.keySizeBytes } : {}),
    keys,
    derived: header.derived,
    kdf: header.derived && header.kdf === 'hkdf' ? 1 : 0,
    convergent_encryption: header.convergent,
    exportable: header.exportable,
    min_decryption_version: header.minDecryptionVersion,
    min_encryption_version: header.minEncryptionVersion,
    latest_version: header.latestVersion,
    archive_version: header.latestVersion,
    archive_min_version: header.minAvailableVersion,
    min_available_version: header.minAvailableVersion,
    deletion_allowed: header.deletionAllowed,
    convergent_version: header.convergent ? CONVERGENT_BY_VERSION : 0,
    type,
    backup_info: noteOf(header.backup),
    restore_info: noteOf(header.restore),
    allow_plaintext_backup: header.allowPlaintextBackup,
    version_template: '',
    storage_prefix: '',
    auto_rotate_period: exactInteger(BigInt(header.autoRotatePeriodSeconds) * NANOS_PER_SECOND),
    Imported: header.imported,
    AllowImportedKeyRotation: header.allowImportedRotation,
    soft_deleted: header.softDeleted,
  }
}

const noteOf = (note: BackupNote | undefined): object | null =>
  note === undefined ? null : { time: formatRfc3339(note.atMs, note.nanos), version: note.version }

const NO_ENTRY = entry({}, { time: NO_TIME, creation_time: 0 })

function entryOf(type: ListedKeyType, header: RingHeader, index: number, secrets: VersionSecrets): object {
  const version = header.versions[index] as VersionHeader
  const material = secrets.material.reveal()
  const key = version.isPublic === true ? publicPartOf(type).load(material) : type.load(material)
  const parts = type.form.toBackup(key)
  const own = parts.key?.toString('base64')
  parts.key?.fill(0)
  const members = {
    ...(own === undefined ? {} : { key: own }),
    hmac_key: type.isHmacKey === true && own !== undefined ? own : secrets.hmac.reveal().toString('base64'),
    ...(parts.ec === undefined ? {} : { ec_x: exactInteger(parts.ec.x), ec_y: exactInteger(parts.ec.y) }),
    ...(parts.ec?.d === undefined ? {} : { ec_d: exactInteger(parts.ec.d) }),
    ...(parts.rsa === undefined ? {} : { rsa_key: rsaOf(parts.rsa) }),
    ...(parts.rsaPublic === undefined
      ? {}
      : { rsa_public_key: { N: exactInteger(parts.rsaPublic.n), E: exactInteger(parts.rsaPublic.e) } }),
    public_key: parts.publicText,
    convergent_version: version.convergentVersion,
    certificate_chain: version.certificates ?? null,
  }
  return entry(members, {
    time: formatRfc3339(version.createdAtMs, version.createdNanos),
    creation_time: Math.floor(version.createdAtMs / 1000),
  })
}

/** Returns an entry with all its members, in the order of the other products. */
function entry(members: object, { time, creation_time }: { time: string; creation_time: number }): object {
  const order = {
    key: null,
    hmac_key: null,
    time,
    ec_x: null,
    ec_y: null,
    ec_d: null,
    rsa_key: null,
    rsa_public_key: null,
    public_key: '',
    convergent_version: 0,
    creation_time,
    certificate_chain: null,
  }
  return Object.assign(order, members)
}

function rsaOf(parts: RsaParts): object {
  const { dp, dq, qInverse } = crtParts(parts)
  return {
    N: exactInteger(parts.n),
    E: exactInteger(parts.e),
    D: exactInteger(parts.d),
    Primes: [exactInteger(parts.p), exactInteger(parts.q)],
    Precomputed: { Dp: exactInteger(dp), Dq: exactInteger(dq), Qinv: exactInteger(qInverse), CRTValues: [] },
  }
}
