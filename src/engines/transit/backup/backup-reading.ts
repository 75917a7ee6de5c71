// Reads a backup as a key ring. It is checked like any input (threats D-06), and a refusal names the member that is
// wrong. A backup is not authenticated: a caller who may restore may also make up the key that is restored.
import { fail } from '../../../api/errors.ts'
import type { KeyType, ListedKeyType } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { Base64Error, decodeBase64 } from '../../../lib/base64.ts'
import { MAX_DURATION_SECONDS } from '../../../lib/duration.ts'
import { JsonError, type JsonLimits, parseExactJson } from '../../../lib/json.ts'
import type { World } from '../../../lib/world.ts'
import { requireKeyType } from '../key-type-field.ts'
import { type StoredRing, type VersionSecrets, wipeRing } from '../ring/key-ring.ts'
import { requireRotatePeriod } from '../ring/key-settings.ts'
import type { BackupNote, RingHeader, VersionHeader } from '../ring/ring-header.ts'
import type { VersionBounds } from '../ring/versions.ts'
import { TimeSlice } from '../time-slice.ts'
import { BackupMembers, MAX_NUMBER, refuseBackup } from './backup-members.ts'
import { backupTypeName } from './backup-types.ts'
import { nanosOf, readBackupVersion } from './backup-version.ts'

/** Enough for MAX_VERSIONS of secret keys; parsing then takes a second. */
const LIMITS: JsonLimits = { depth: 8, containers: 200_000, members: 1_000_000, objectMembers: 1_000_000 }
/** Hourly rotation makes as many versions in a century. */
const MAX_LATEST_VERSION = 1_000_000
/** Each version is tried: a secret key takes microseconds, a pair milliseconds, the primes of RSA a quarter second. */
const MAX_VERSIONS = { secret: 25_000, pair: 5_000, primes: 1_000 }
const NANOS_PER_SECOND = 1_000_000_000n

/** The content of a backup: the name that the key had, and its ring. */
export type ReadBackup = { readonly name: string; readonly ring: StoredRing }

/**
 * Reads a backup, and lets other requests in between two versions. The caller wipes the ring, and has to check the name
 * and try the versions: neither is done here.
 * @throws Refusal naming the member that is wrong
 */
export async function readBackup(text: string, world: World): Promise<ReadBackup> {
  const whole = parse(text)
  const policy = requireGroup(whole, 'policy')
  const type = typeOf(policy)
  const bounds = boundsOf(policy, type)
  const secrets: VersionSecrets[] = []
  const ring = { header: headerOf(policy, type, bounds), secrets }
  const shared = { header: ring.header, type, convergentVersion: policy.whole('convergent_version', -1, 3), world }
  try {
    const versions: VersionHeader[] = []
    const timeSlice = new TimeSlice(world)
    for (const version of versionsOf(whole, policy, bounds)) {
      const { header, material, hmac } = readBackupVersion(version, shared)
      secrets.push({ material, hmac })
      versions.push(header)
      await timeSlice.pause()
    }
    const keySizeBytes = type.sizes === undefined ? 0 : (secrets.at(-1)?.material.length ?? 0)
    return { name: policy.text('name'), ring: { header: { ...ring.header, keySizeBytes, versions }, secrets } }
  } catch (cause) {
    wipeRing(ring)
    throw cause
  }
}

function parse(text: string): BackupMembers {
  let bytes: Buffer
  try {
    bytes = decodeBase64(text)
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw fail('backup_invalid', [cause.message], cause)
  }
  try {
    return new BackupMembers(parseExactJson(bytes, LIMITS), 'what it holds')
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw refuseBackup('what it holds', `is no backup: ${cause.message}`, cause)
  } finally {
    bytes.fill(0)
  }
}

function requireGroup(whole: BackupMembers, name: string): BackupMembers {
  const value = whole.value(name)
  if (value === undefined) throw refuseBackup('what it holds', `is no backup: it has no "${name}"`)
  return new BackupMembers(value, name)
}

function typeOf(policy: BackupMembers): ListedKeyType {
  if (!policy.has('type')) throw policy.refuse('type', 'is missing')
  const name = backupTypeName(policy, policy.whole('type', 0, MAX_NUMBER))
  const type = name === undefined ? undefined : KEY_TYPES.get(name)
  if (type === undefined)
    throw policy.refuse('type', `stands for ${name ?? 'no type that is known'}, which cannot be restored here`)
  const [derived, convergent] = [policy.flag('derived'), policy.flag('convergent_encryption')]
  requireKeyType(type.name, { derived, convergent })
  return type
}

function boundsOf(policy: BackupMembers, type: KeyType): VersionBounds {
  const latestVersion = policy.whole('latest_version', 1, MAX_LATEST_VERSION)
  // Backups that are older than this minimum have 0, which means 1.
  const minDecryptionVersion = policy.whole('min_decryption_version', 0, latestVersion) || 1
  const minEncryptionVersion = policy.whole('min_encryption_version', 0, latestVersion)
  const minAvailableVersion = policy.whole('min_available_version', 0, minDecryptionVersion)
  if (minEncryptionVersion !== 0 && minEncryptionVersion < minDecryptionVersion)
    throw policy.refuse('min_encryption_version', 'is neither 0 nor at least min_decryption_version')
  policy.whole('archive_version', 0, latestVersion)
  requireFew(policy, type, latestVersion - (minAvailableVersion || 1) + 1)
  return { latestVersion, minDecryptionVersion, minEncryptionVersion, minAvailableVersion }
}

/** Returns how many versions of a key of this type are restored at most. */
export function maxRestoredVersions({ publicPart, generatesSlowly }: KeyType): number {
  if (generatesSlowly === true) return MAX_VERSIONS.primes
  return publicPart === undefined ? MAX_VERSIONS.secret : MAX_VERSIONS.pair
}

/** Checks that so many versions may be restored. @throws Refusal */
function requireFew(policy: BackupMembers, type: KeyType, count: number): void {
  const max = maxRestoredVersions(type)
  if (count <= max) return
  const what = `and min_available_version leave ${count} versions`
  throw policy.refuse('latest_version', `${what}: of a key of type ${type.name} at most ${max} are restored`)
}

/** Returns the header without its versions. @throws Refusal */
function headerOf(policy: BackupMembers, type: KeyType, bounds: VersionBounds): RingHeader {
  const derived = policy.flag('derived')
  const kdf = derived && policy.whole('kdf', 0, 1) === 0 ? 'counter' : 'hkdf'
  if (kdf === 'counter' && type.derivation?.deriveByCounter === undefined)
    throw policy.refuse('kdf', `is 0, which there is not for keys of type ${type.name}`)
  const imported = policy.flag('Imported')
  return {
    ...bounds,
    type: type.name,
    derived,
    convergent: policy.flag('convergent_encryption'),
    exportable: policy.flag('exportable'),
    allowPlaintextBackup: policy.flag('allow_plaintext_backup'),
    deletionAllowed: policy.flag('deletion_allowed'),
    autoRotatePeriodSeconds: periodOf(policy),
    keySizeBytes: 0,
    kdf,
    imported,
    allowImportedRotation: imported && policy.flag('AllowImportedKeyRotation'),
    softDeleted: policy.flag('soft_deleted'),
    ...noteOf(policy, 'backup_info', 'backup'),
    versions: [],
  }
}

function periodOf(policy: BackupMembers): number {
  const seconds = (policy.natural('auto_rotate_period') ?? 0n) / NANOS_PER_SECOND
  if (seconds > MAX_DURATION_SECONDS) throw policy.refuse('auto_rotate_period', 'is longer than a lifetime')
  requireRotatePeriod(Number(seconds))
  return Number(seconds)
}

function noteOf(policy: BackupMembers, name: string, as: 'backup'): { readonly backup?: BackupNote } {
  const note = policy.group(name)
  const instant = note?.time('time')
  if (note === undefined || instant === undefined) return {}
  return { [as]: { atMs: instant.ms, ...nanosOf(instant, 'nanos'), version: note.whole('version', 0, MAX_NUMBER) } }
}

/** Returns all versions in order: usable ones from `policy.keys`, and older ones from there or from the archive. */
function versionsOf(whole: BackupMembers, policy: BackupMembers, bounds: VersionBounds): BackupMembers[] {
  const { latestVersion, minDecryptionVersion, minAvailableVersion } = bounds
  const keys = requireKeys(policy)
  for (const name of keys.names)
    if (!/^[1-9]\d{0,9}$/.test(name) || Number(name) > latestVersion)
      throw policy.refuse('keys', 'has a name that is no version up to latest_version')
  const archived = whole.group('archived_keys')?.list('keys') ?? []
  const versions: BackupMembers[] = []
  for (let number = minAvailableVersion || 1; number <= latestVersion; number += 1) {
    const isUsable = number >= minDecryptionVersion
    const index = number - minAvailableVersion
    const value = keys.value(String(number)) ?? (isUsable ? undefined : archived[index])
    const path = keys.has(String(number)) ? `policy.keys.${number}` : `archived_keys.keys[${index}]`
    if (value === undefined) throw refuseBackup(isUsable ? `policy.keys.${number}` : path, 'is missing')
    versions.push(new BackupMembers(value, path))
  }
  return versions
}

function requireKeys(policy: BackupMembers): BackupMembers {
  const keys = policy.group('keys')
  if (keys === undefined) throw policy.refuse('keys', 'is missing')
  return keys
}
