// What is known of a key ring besides its secrets.
import { strict as assert } from 'node:assert'
import { MANAGED_SCHEMES, type ManagedScheme } from '../../../api/managed-keys.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts'
import { own } from '../../../lib/own.ts'
import { StorageCorrupt } from '../../../storage/contract.ts'
import type { VersionBounds } from './versions.ts'

/** The current algorithm of convergent encryption; 1 and 2 exist only in restored keys that are older than it. */
export const CONVERGENT_VERSION = 3

/** `counter`: HMAC-SHA-256 in counter mode, only of restored keys that are older than HKDF. */
export const KDFS = ['hkdf', 'counter'] as const
export type Kdf = (typeof KDFS)[number]

/** A managed key, by its UUID, and what it is: that never changes. */
export type ManagedReference = { readonly id: string; readonly scheme: ManagedScheme }

export type VersionHeader = {
  readonly createdAtMs: number
  /** Nanoseconds beyond the millisecond, of a restored key that has them. */
  readonly createdNanos?: number
  /** Algorithm of convergent encryption; 0 for a key that is not convergent. */
  readonly convergentVersion: number
  /** The material is a public key alone (SubjectPublicKeyInfo in DER). */
  readonly isPublic?: true
  /** Certificates for the public key, the leaf first: base64 of DER. */
  readonly certificates?: readonly string[]
  /** Of a version that is a key in a device; its material is the public half of a pair, else there is none. */
  readonly managedKey?: ManagedReference
  /** Lives of the mount before this version was made (budget-ledger.ts); missing: 0, which counts too many. */
  readonly countedFrom?: number
}

/** When a key was last backed up or restored, and its latest version then. */
export type BackupNote = { readonly atMs: number; readonly nanos?: number; readonly version: number }

export type RingHeader = VersionBounds & {
  readonly type: string
  readonly derived: boolean
  readonly convergent: boolean
  readonly exportable: boolean
  readonly allowPlaintextBackup: boolean
  readonly deletionAllowed: boolean
  /** 0: rotates only when asked to. */
  readonly autoRotatePeriodSeconds: number
  /** Of a key that makes CMACs: bytes of the shortest that is verified; missing: the usual ones. */
  readonly minMacBytes?: number
  /** 0 for a type whose keys have one size. */
  readonly keySizeBytes: number
  readonly kdf: Kdf
  /** As long as it was not rotated; while it is, versions can be imported. */
  readonly imported: boolean
  /** Of an imported key. */
  readonly allowImportedRotation: boolean
  /** Kept, and used for nothing. */
  readonly softDeleted: boolean
  readonly backup?: BackupNote
  readonly restore?: BackupNote
  /** The versions that are stored, up to the latest; the first of the list is 1 as long as none was trimmed. */
  readonly versions: readonly VersionHeader[]
}

/** Of a key that was made here. */
export const MADE_HERE = {
  kdf: 'hkdf',
  imported: false,
  allowImportedRotation: false,
  softDeleted: false,
} as const satisfies Partial<RingHeader>

/** Number of the first version of the list. */
export function firstStoredVersion(header: RingHeader): number {
  return header.latestVersion - header.versions.length + 1
}

/**
 * Interface 4.2: what is fixed at creation stays, and what cannot be disabled once set is not. Checked where rings are
 * stored, so that no endpoint can get around it (threats P-19).
 */
export function assertSuccessor(before: RingHeader, after: RingHeader): void {
  assert.equal(after.type, before.type, 'a key keeps its type')
  assert.equal(after.derived, before.derived, 'a key keeps its derivation')
  assert.equal(after.convergent, before.convergent, 'a key stays convergent or not')
  assert.equal(after.kdf, before.kdf, 'a key keeps its way of derivation')
  assert(before.imported || !after.imported, 'a key that was made here is never an imported one')
  assert(after.exportable || !before.exportable, 'a key stays exportable')
  assert(after.allowPlaintextBackup || !before.allowPlaintextBackup, 'a key keeps its plaintext backup')
  assert(after.latestVersion >= before.latestVersion, 'versions are only added')
  assert(after.minAvailableVersion >= before.minAvailableVersion, 'trimmed versions do not come back')
}

/**
 * Whether `after`, whose first stored version is `first`, can be `before` with more versions behind its own, as far as
 * what their keys are loaded by goes. The versions themselves have to be the same as well.
 */
export function isGrownFrom(before: RingHeader, after: RingHeader, first: number): boolean {
  return (
    after.type === before.type &&
    after.derived === before.derived &&
    after.convergent === before.convergent &&
    after.kdf === before.kdf &&
    firstStoredVersion(before) === first &&
    after.latestVersion >= before.latestVersion &&
    after.minDecryptionVersion >= before.minDecryptionVersion
  )
}

export function isLoadedAlike(one: VersionHeader, other: VersionHeader | undefined): boolean {
  return (
    one.isPublic === other?.isPublic &&
    one.convergentVersion === other?.convergentVersion &&
    one.managedKey?.id === other.managedKey?.id &&
    one.managedKey?.scheme === other.managedKey?.scheme
  )
}

/** Where the older versions of a ring stand whose header lists the newest alone (key-ring.ts). */
export type OlderVersions = {
  /** The first of all that are stored. */
  readonly first: number
  /** Of the block that has the newest of them. */
  readonly digest: string
}

export type RingHead = {
  readonly header: RingHeader
  /** Missing: the header lists all versions. */
  readonly older?: OlderVersions | undefined
}

/** What a block says besides its secrets. */
export type BlockHead = {
  readonly versions: readonly VersionHeader[]
  /** Digest of the block before it; missing in the first. */
  readonly before?: string
}

export type RingFormat = 1 | 2 | 3

/** Format 1 had none of these. */
const FORMAT_1: JsonObject = { ...MADE_HERE, keySizeBytes: 0 }

/** @throws StorageCorrupt where a member is missing or cannot be */
export function headFromJson(value: JsonValue, format: RingFormat): RingHead {
  const object = format === 1 ? { ...FORMAT_1, ...requireObject(value) } : requireObject(value)
  const header: RingHeader = {
    type: text(object, 'type'),
    derived: flag(object, 'derived'),
    convergent: flag(object, 'convergent'),
    exportable: flag(object, 'exportable'),
    allowPlaintextBackup: flag(object, 'allowPlaintextBackup'),
    deletionAllowed: flag(object, 'deletionAllowed'),
    autoRotatePeriodSeconds: count(object, 'autoRotatePeriodSeconds'),
    latestVersion: count(object, 'latestVersion'),
    minDecryptionVersion: count(object, 'minDecryptionVersion'),
    minEncryptionVersion: count(object, 'minEncryptionVersion'),
    minAvailableVersion: count(object, 'minAvailableVersion'),
    ...(object.minMacBytes === undefined ? {} : { minMacBytes: count(object, 'minMacBytes') }),
    keySizeBytes: count(object, 'keySizeBytes'),
    kdf: kdfFromJson(object),
    imported: flag(object, 'imported'),
    allowImportedRotation: flag(object, 'allowImportedRotation'),
    softDeleted: flag(object, 'softDeleted'),
    ...optionalNote(object, 'backup'),
    ...optionalNote(object, 'restore'),
    versions: list(object, 'versions').map(versionFromJson),
  }
  const older = format === 3 ? olderFromJson(object.older, firstStoredVersion(header)) : undefined
  const first = older?.first ?? firstStoredVersion(header)
  if (first < 1 || header.minDecryptionVersion < first || header.minDecryptionVersion > header.latestVersion) {
    throw corrupt('versions')
  }
  return { header, older }
}

/** `listed`: the first version that the header lists. */
function olderFromJson(value: JsonValue | undefined, listed: number): OlderVersions {
  const object = requireObject(value ?? null)
  const older = { first: count(object, 'first'), digest: text(object, 'digest') }
  if (older.first >= listed) throw corrupt('older')
  return older
}

/** @throws StorageCorrupt where a member is missing or cannot be */
export function blockFromJson(value: JsonValue): BlockHead {
  const object = requireObject(value)
  const versions = list(object, 'versions').map(versionFromJson)
  return object.before === undefined ? { versions } : { versions, before: text(object, 'before') }
}

function versionFromJson(value: JsonValue): VersionHeader {
  const object = requireObject(value)
  const { isPublic, certificates, managedKey, countedFrom } = object
  if (isPublic !== undefined && isPublic !== true) throw corrupt('isPublic')
  if (certificates !== undefined && !isTexts(certificates)) throw corrupt('certificates')
  return {
    createdAtMs: count(object, 'createdAtMs'),
    ...(object.createdNanos === undefined ? {} : { createdNanos: count(object, 'createdNanos') }),
    convergentVersion: count(object, 'convergentVersion'),
    ...(isPublic === undefined ? {} : { isPublic }),
    ...(certificates === undefined ? {} : { certificates }),
    ...(managedKey === undefined ? {} : { managedKey: referenceFromJson(managedKey) }),
    ...(countedFrom === undefined ? {} : { countedFrom: count(object, 'countedFrom') }),
  }
}

function referenceFromJson(value: JsonValue): ManagedReference {
  const object = requireObject(value)
  const scheme = MANAGED_SCHEMES.find((one) => one === object.scheme)
  if (scheme === undefined) throw corrupt('managedKey')
  return { id: text(object, 'id'), scheme }
}

const isTexts = (value: JsonValue): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

function kdfFromJson({ kdf: value }: JsonObject): Kdf {
  const kdf = KDFS.find((name) => name === value)
  if (kdf === undefined) throw corrupt('kdf')
  return kdf
}

function optionalNote<K extends 'backup' | 'restore'>(object: JsonObject, name: K): { [key in K]?: BackupNote } {
  if (object[name] === undefined) return {}
  const note = requireObject(object[name])
  const nanos = note.nanos === undefined ? {} : { nanos: count(note, 'nanos') }
  const read: BackupNote = { atMs: count(note, 'atMs'), ...nanos, version: count(note, 'version') }
  return { [name]: read } as { [key in K]?: BackupNote }
}

function requireObject(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw corrupt('header')
  return value
}

function text(object: JsonObject, name: string): string {
  const value = own(object, name)
  if (typeof value !== 'string') throw corrupt(name)
  return value
}

function flag(object: JsonObject, name: string): boolean {
  const value = own(object, name)
  if (typeof value !== 'boolean') throw corrupt(name)
  return value
}

function count(object: JsonObject, name: string): number {
  const value = own(object, name)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw corrupt(name)
  return value
}

function list(object: JsonObject, name: string): JsonValue[] {
  const value = own(object, name)
  if (!Array.isArray(value)) throw corrupt(name)
  return value
}

function corrupt(name: string): StorageCorrupt {
  return new StorageCorrupt(`A stored key ring has a "${name}" that cannot be`)
}
