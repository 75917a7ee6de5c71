// The header of a key ring: all of it but the secrets. It is stored as JSON (key-ring.ts draws where), so the members
// here are those of the format.
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
import { StorageCorrupt } from '../../../storage/errors.ts'
import { decodeStored } from '../../../storage/stored-record.ts'

/** The current algorithm of convergent encryption. 1 and 2 exist only in restored keys that are older. */
export const CONVERGENT_VERSION = 3

/**
 * How keys are derived. `counter` is HMAC-SHA-256 in counter mode: for derived keys that were imported, and for
 * restored ones that are older than HKDF.
 */
export const KDFS = ['hkdf', 'counter'] as const
/** One of KDFS; keys store it, so a name never changes. */
export type Kdf = (typeof KDFS)[number]

/** The managed key that a version stands for: its UUID, and its scheme, which never changes. */
const MANAGED_REFERENCE = group({ id: text, scheme: oneOf(...MANAGED_SCHEMES) }, 'dropped')
/** Which managed key a version stands for. */
export type ManagedReference = ValueOf<typeof MANAGED_REFERENCE>

const VERSION = group(
  {
    createdAtMs: count,
    /** Nanoseconds beyond the millisecond; only restored keys have them. */
    createdNanos: optional(count),
    /** Algorithm of convergent encryption; 0 for a key that is not convergent. */
    convergentVersion: count,
    /** The material is a public key alone (SubjectPublicKeyInfo in DER). */
    isPublic: optional(oneOf(true)),
    /** Certificates for the public key, the leaf first: base64 of DER. */
    certificates: optional(texts),
    /** The key in a device that this version is. Its material is then the public half of a pair, or empty. */
    managedKey: optional(MANAGED_REFERENCE),
    /** These three are `CountedSince` (budget/message-ledger.ts). Without them too many messages are counted. */
    countedFrom: optional(count),
    countedBy: optional(text),
    aheadFrom: optional(count),
  },
  'dropped',
)
/** Facts of one version that are no secret. */
export type VersionHeader = ValueOf<typeof VERSION>

/** When a key was last backed up or restored, and its latest version then. */
const BACKUP_NOTE = group({ atMs: count, nanos: optional(count), version: count }, 'dropped')
/** The last backup or restore of a key, as its header notes it. */
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
  /** This and the next three are `VersionBounds` (versions.ts). */
  latestVersion: count,
  minDecryptionVersion: count,
  minEncryptionVersion: count,
  minAvailableVersion: count,
  /** Bytes of the shortest CMAC that is verified; missing: USUAL_LEAST_MAC_BYTES (mac.ts). */
  minMacBytes: optional(count),
  /** 0 for a type whose keys have one size. */
  keySizeBytes: count,
  kdf: oneOf(...KDFS),
  /** True until an imported key is rotated; until then versions can be imported (Interface 3.4). */
  imported: flag,
  /** Whether an imported key may be rotated (Interface 7.15). */
  allowImportedRotation: flag,
  /** True while the key is kept and used for nothing. */
  softDeleted: flag,
  backup: optional(BACKUP_NOTE),
  restore: optional(BACKUP_NOTE),
  /** The stored versions up to the latest, the oldest first. The first is version 1 unless some were trimmed. */
  versions: listOf(VERSION),
}
/** The header of a ring. Code that changes a key makes a new one. */
export type RingHeader = GroupOf<typeof HEADER>

/** Members of the header of a key that was made here. */
export const MADE_HERE = {
  kdf: 'hkdf',
  imported: false,
  allowImportedRotation: false,
  softDeleted: false,
} as const satisfies Partial<RingHeader>

/** Returns the number of the first version of the header's list. */
export function firstStoredVersion(header: RingHeader): number {
  return header.latestVersion - header.versions.length + 1
}

/**
 * Checks a change of a ring (Interface 4.2): members that are fixed at creation stay, and some are never disabled once
 * set. It runs where rings are stored, so that no endpoint gets around it (threats P-19).
 * @throws AssertionError, as an endpoint should have refused the request
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
 * True if `after` can be `before` with more versions at the end, so that its keys can be reused. `first` is the first
 * stored version of `after`. The caller still has to compare the versions (`isLoadedAlike`) and their secrets.
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

/** True if equal secrets give equal keys under both headers. */
export function isLoadedAlike(one: VersionHeader, other: VersionHeader | undefined): boolean {
  return (
    one.isPublic === other?.isPublic &&
    one.convergentVersion === other?.convergentVersion &&
    one.managedKey?.id === other.managedKey?.id &&
    one.managedKey?.scheme === other.managedKey?.scheme
  )
}

/** Says where older versions stand if the header lists the newest alone (key-ring.ts). */
const OLDER_VERSIONS = group(
  {
    /** Number of the first stored version. */
    first: count,
    /** Digest of the last block, which has the newest of them. */
    digest: text,
  },
  'dropped',
)
/** Where older versions are: the number of the first, and the digest of the last block. */
export type OlderVersions = ValueOf<typeof OLDER_VERSIONS>

/** The head of an entry: the header, and the reference to the blocks. */
export type RingHead = {
  readonly header: RingHeader
  /** Missing: the header lists all versions. */
  readonly older?: OlderVersions | undefined
}

/** The head of a block: its versions, and the digest of the block before it, which the first block does not have. */
const BLOCK_HEAD = group({ versions: listOf(VERSION), before: optional(text) }, 'dropped')
/** The part of a block without secrets: its versions, and the digest that chains it to the block before. */
export type BlockHead = ValueOf<typeof BLOCK_HEAD>

/** The first byte of an entry or a block (key-ring.ts). */
export type RingFormat = 1 | 2 | 3
type StoredHead = RingHeader & { readonly older?: OlderVersions }

const HEADS: Readonly<Record<RingFormat, Kind<StoredHead>>> = {
  // Format 1 had none of these members.
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

/** Decodes the JSON of an entry. @throws StorageCorrupt if a member is missing or out of range */
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

/** Decodes the JSON of a block. @throws StorageCorrupt if a member is missing or out of range */
export function decodeBlockHead(json: Buffer): BlockHead {
  return decodeStored(WHAT, BLOCK_HEAD, json)
}

function corrupt(name: string): StorageCorrupt {
  return new StorageCorrupt(`${WHAT} has a "${name}" that cannot be`)
}
