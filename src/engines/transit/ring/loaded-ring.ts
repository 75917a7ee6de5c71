// A key ring that is ready for use. It has parsed keys, which keep their bytes outside the JavaScript heap, and only of
// versions that may still be used: raising min_decryption_version takes versions out, and lowering it brings them back.
import { strict as assert } from 'node:assert'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { fail } from '../../../api/errors.ts'
import type { KeyType, PublicPart } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import type { KeyUse } from '../../../crypto/message.ts'
import { StorageCorrupt } from '../../../storage/errors.ts'
import { identityOf } from '../budget/counted-version.ts'
import type { MessageBudget } from '../budget/message-budget.ts'
import { versionPrefix } from './ciphertext.ts'
import type { StoredRing, VersionSecrets } from './key-ring.ts'
import { keyUseOf } from './key-use.ts'
import { managedTypeOf } from './managed-type.ts'
import { firstStoredVersion, type RingHeader, type VersionHeader } from './ring-header.ts'

/** A version that is ready for use. */
export type LoadedVersion = {
  readonly number: number
  /** `vault:vN:`, with which everything begins that this version makes. */
  readonly prefix: string
  /** The key; only its public half if `isPublic`, and an empty key for a secret key in a device. */
  readonly key: KeyObject
  readonly isPublic: boolean
  /** How the key of a message follows from `key`. */
  readonly use: KeyUse
  /** The key for HMACs, which every type has (Interface 2.3). */
  readonly hmacKey: KeyObject
  readonly header: VersionHeader
  /** The name of its count of messages (counted-version.ts). */
  readonly identity: string
  /** What may still be sealed; undefined if messages are not counted, or if this ring is not for sealing. */
  readonly budget: MessageBudget | undefined
}

/** Gives versions their budgets while a ring is loaded. */
export type Budgets = {
  readonly of: (number: number, header: VersionHeader, identity: string) => MessageBudget
  /** True if the budget is still the one that `of` would return. */
  readonly holds: (budget: MessageBudget) => boolean
}

/** An earlier state of a ring, whose parsed keys are reused. */
export type Before = {
  readonly ring: LoadedRing
  /** So many stored versions, from the first, have the same keys in both rings. */
  readonly count: number
  /** So many of these, from the first, are unchanged in header and budget too: they are taken over unseen. */
  readonly same: number
}

/** Returns the type of a stored key. @throws StorageCorrupt if a newer program stored a type that is unknown here */
export function keyTypeOf(header: RingHeader): KeyType {
  const { type: name } = header
  const type = KEY_TYPES.get(name) ?? managedTypeOf(header)
  if (type === undefined) throw new StorageCorrupt(`A key ring has the type "${name}", which is not known here`)
  return type
}

/** Random nonces of 96 bits can repeat within the messages that a key lives to seal; those of 192 bits cannot. */
const COUNTED_NONCE_BYTES = 12

/** True if the messages of key versions of this type are counted (threats C-13). */
export function isCounted({ cipher, deviceNonceBytes }: KeyType): boolean {
  return (cipher?.nonceBytes ?? deviceNonceBytes) === COUNTED_NONCE_BYTES
}

/** A key ring that is ready for use; it does not change. */
export class LoadedRing {
  readonly header: RingHeader
  readonly type: KeyType
  /** From the lowest version that decrypts to the latest. */
  readonly #versions: readonly LoadedVersion[]

  /**
   * Copies what it needs: the stored ring stays the caller's to wipe. A ring that is to seal needs `budgets`. With
   * `before` the stored ring has secrets only for versions behind the first `count`, whose keys are reused.
   * @throws StorageCorrupt
   */
  constructor({ header, secrets }: StoredRing, budgets?: Budgets, before?: Before) {
    this.header = header
    this.type = keyTypeOf(header)
    const counting = isCounted(this.type) ? budgets : undefined
    const first = firstStoredVersion(header)
    const lowest = header.minDecryptionVersion
    const count = before?.count ?? 0
    if (count + secrets.length !== header.versions.length) throw new StorageCorrupt('A key ring misses secrets')
    // Taken over as a whole: there may be thousands.
    const same = before === undefined ? [] : sameVersions(before, lowest, first)
    const others = header.versions.slice(lowest - first + same.length).map((version, index) => {
      const number = lowest + same.length + index
      const one = secrets[number - first - count]
      if (one === undefined) return reused(required(before).ring.version(number), version, counting)
      const loaded = loadVersion(this.type, number, version, one)
      const budget = counting?.of(number, version, loaded.identity)
      return { ...loaded, use: keyUseOf(header, version, this.type), budget }
    })
    this.#versions = same.concat(others)
  }

  /** The versions that can be used, the oldest first. */
  get versions(): readonly LoadedVersion[] {
    return this.#versions
  }

  /** True if a version takes the caller's nonces: no warning then says that they are not used. */
  get takesNonces(): boolean {
    return this.#versions.some(({ use }) => use === 'convergent-1')
  }

  /** Returns a version by its number, which `encryptionVersion` or its like in versions.ts has checked. */
  version(number: number): LoadedVersion {
    const version = this.#versions[number - this.header.minDecryptionVersion]
    assert(version !== undefined, 'the version rules allow only loaded versions')
    return version
  }
}

/** Returns the unchanged versions from `lowest` on; `first` is the first stored version. */
function sameVersions({ ring, same }: Before, lowest: number, first: number): readonly LoadedVersion[] {
  const loadedFrom = ring.header.minDecryptionVersion
  return ring.versions.slice(lowest - loadedFrom, Math.max(0, first + same - loadedFrom))
}

/**
 * Returns a version with the key that was loaded before. If nothing changed, it is the very same object: what was
 * derived from it, such as its description, is cached for that object.
 */
function reused(loaded: LoadedVersion, header: VersionHeader, budgets: Budgets | undefined): LoadedVersion {
  const { number, budget, identity } = loaded
  const holds = budgets === undefined ? budget === undefined : budget !== undefined && budgets.holds(budget)
  if (holds && isSameVersion(loaded.header, header)) return loaded
  return { ...loaded, header, budget: holds ? budget : budgets?.of(number, header, identity) }
}

/** True if no member differs that can change while the key stays the same. Certificates are compared as text. */
function isSameVersion(one: VersionHeader, other: VersionHeader): boolean {
  return (
    one.createdAtMs === other.createdAtMs &&
    one.createdNanos === other.createdNanos &&
    one.countedFrom === other.countedFrom &&
    one.countedBy === other.countedBy &&
    one.aheadFrom === other.aheadFrom &&
    one.certificates?.join() === other.certificates?.join()
  )
}

function required<T>(part: T | undefined): T {
  assert(part !== undefined, 'a version whose secrets are not read was loaded before')
  return part
}

function loadVersion(
  type: KeyType,
  number: number,
  header: VersionHeader,
  secrets: VersionSecrets,
): Omit<LoadedVersion, 'use' | 'budget'> {
  const material = secrets.material.reveal()
  const key = header.isPublic === true ? publicPartOf(type).load(material) : type.load(material)
  const isPublic = header.isPublic === true || header.managedKey !== undefined
  const hmacKey = type.isHmacKey === true ? key : createSecretKey(secrets.hmac.reveal())
  return { number, prefix: versionPrefix(number), key, isPublic, hmacKey, header, identity: identityOf(secrets) }
}

/** Returns the public part of a type, for a version that has only its public half. @throws StorageCorrupt */
export function publicPartOf({ publicPart, name }: KeyType): PublicPart {
  if (publicPart === undefined) throw new StorageCorrupt(`A key of type ${name} is stored as a public key`)
  return publicPart
}

/** Refuses a key that was soft-deleted; every operation with a key asks this first. @throws Refusal */
export function requireUsable({ header }: { readonly header: RingHeader }): void {
  if (header.softDeleted) {
    throw fail('key_soft_deleted', [])
  }
}

/** Returns the private half or the secret key. @throws Refusal if it is in a device, or only the public half is here */
export function privateKeyOf({ key, isPublic, number, header }: LoadedVersion): KeyObject {
  if (header.managedKey !== undefined) {
    throw fail('key_not_exportable', [`version ${number} of the key is a managed key: its secret is in a device`])
  }
  if (isPublic) {
    throw fail('private_key_missing', [
      `version ${number} of the key does not contain a private part: import_version can complete it`,
    ])
  }
  return key
}
