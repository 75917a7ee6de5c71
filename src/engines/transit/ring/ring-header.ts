// What is known of a key ring besides its secrets.
import { strict as assert } from 'node:assert'
import { MANAGED_SCHEMES } from '../../../api/managed-keys.ts'
import {
  count,
  flag,
  type GroupOf,
  group,
  type Kind,
  listOf,
  oneOf,
  optional,
  otherwise,
  text,
  texts,
  type ValueOf,
} from '../../../lib/member-kinds.ts'
import { StorageCorrupt } from '../../../storage/contract.ts'
import { decodeStored } from '../../../storage/stored-record.ts'

/** The current algorithm of convergent encryption; 1 and 2 exist only in restored keys that are older than it. */
export const CONVERGENT_VERSION = 3

/** `counter`: HMAC-SHA-256 in counter mode, only of restored keys that are older than HKDF. */
export const KDFS = ['hkdf', 'counter'] as const
export type Kdf = (typeof KDFS)[number]

/** A managed key, by its UUID, and what it is: that never changes. */
const MANAGED_REFERENCE = group({ id: text, scheme: oneOf(...MANAGED_SCHEMES) }, 'dropped')
export type ManagedReference = ValueOf<typeof MANAGED_REFERENCE>

const VERSION = group(
  {
    createdAtMs: count,
    /** Nanoseconds beyond the millisecond, of a restored key that has them. */
    createdNanos: optional(count),
    /** Algorithm of convergent encryption; 0 for a key that is not convergent. */
    convergentVersion: count,
    /** The material is a public key alone (SubjectPublicKeyInfo in DER). */
    isPublic: optional(oneOf(true)),
    /** Certificates for the public key, the leaf first: base64 of DER. */
    certificates: optional(texts),
    /** Of a version that is a key in a device; its material is the public half of a pair, else there is none. */
    managedKey: optional(MANAGED_REFERENCE),
    /** Lives of the mount before this version was made (message-count-store.ts); missing: 0, which counts too many. */
    countedFrom: optional(count),
  },
  'dropped',
)
export type VersionHeader = ValueOf<typeof VERSION>

/** When a key was last backed up or restored, and its latest version then. */
const BACKUP_NOTE = group({ atMs: count, nanos: optional(count), version: count }, 'dropped')
export type BackupNote = ValueOf<typeof BACKUP_NOTE>

const HEADER = {
  type: text,
  derived: flag,
  convergent: flag,
  exportable: flag,
  allowPlaintextBackup: flag,
  deletionAllowed: flag,
  /** 0: rotates only when asked to. */
  autoRotatePeriodSeconds: count,
  /** As `VersionBounds`. */
  latestVersion: count,
  minDecryptionVersion: count,
  minEncryptionVersion: count,
  minAvailableVersion: count,
  /** Of a key that makes CMACs: bytes of the shortest that is verified; missing: the usual ones. */
  minMacBytes: optional(count),
  /** 0 for a type whose keys have one size. */
  keySizeBytes: count,
  kdf: oneOf(...KDFS),
  /** As long as it was not rotated; while it is, versions can be imported. */
  imported: flag,
  /** Of an imported key. */
  allowImportedRotation: flag,
  /** Kept, and used for nothing. */
  softDeleted: flag,
  backup: optional(BACKUP_NOTE),
  restore: optional(BACKUP_NOTE),
  /** The versions that are stored, up to the latest; the first of the list is 1 as long as none was trimmed. */
  versions: listOf(VERSION),
}
export type RingHeader = GroupOf<typeof HEADER>

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
const OLDER_VERSIONS = group(
  {
    /** The first of all that are stored. */
    first: count,
    /** Of the block that has the newest of them. */
    digest: text,
  },
  'dropped',
)
export type OlderVersions = ValueOf<typeof OLDER_VERSIONS>

export type RingHead = {
  readonly header: RingHeader
  /** Missing: the header lists all versions. */
  readonly older?: OlderVersions | undefined
}

/** What a block says besides its secrets: its versions, and the digest of the block before it; missing in the first. */
const BLOCK_HEAD = group({ versions: listOf(VERSION), before: optional(text) }, 'dropped')
export type BlockHead = ValueOf<typeof BLOCK_HEAD>

export type RingFormat = 1 | 2 | 3
type StoredHead = RingHeader & { readonly older?: OlderVersions }

const HEADS: Readonly<Record<RingFormat, Kind<StoredHead>>> = {
  // It had none of these.
  1: group(
    {
      ...HEADER,
      keySizeBytes: otherwise(HEADER.keySizeBytes, 0),
      kdf: otherwise(HEADER.kdf, MADE_HERE.kdf),
      imported: otherwise(flag, MADE_HERE.imported),
      allowImportedRotation: otherwise(flag, MADE_HERE.allowImportedRotation),
      softDeleted: otherwise(flag, MADE_HERE.softDeleted),
    },
    'dropped',
  ),
  2: group(HEADER, 'dropped'),
  3: group({ ...HEADER, older: OLDER_VERSIONS }, 'dropped'),
}
const WHAT = 'The header of a stored key ring'

/** `json`: the header. @throws StorageCorrupt where a member is missing or cannot be */
export function decodeRingHead(json: Buffer, format: RingFormat): RingHead {
  const { older, ...header } = decodeStored(WHAT, HEADS[format], json)
  const listed = firstStoredVersion(header)
  if (older !== undefined && older.first >= listed) throw corrupt('older')
  const first = older?.first ?? listed
  if (first < 1 || header.minDecryptionVersion < first || header.minDecryptionVersion > header.latestVersion) {
    throw corrupt('versions')
  }
  return { header, older }
}

/** `json`: the header. @throws StorageCorrupt where a member is missing or cannot be */
export function decodeBlockHead(json: Buffer): BlockHead {
  return decodeStored(WHAT, BLOCK_HEAD, json)
}

function corrupt(name: string): StorageCorrupt {
  return new StorageCorrupt(`${WHAT} has a "${name}" that cannot be`)
}
