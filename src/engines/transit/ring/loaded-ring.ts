// A key ring as it is used: parsed keys, which keep their bytes outside the JavaScript heap, and only of the versions
// that may still be used. Raising min_decryption_version takes versions out of it and lowering it brings them back.
import { strict as assert } from 'node:assert'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { fail } from '../../../api/errors.ts'
import type { KeyType, PublicPart } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import type { KeyUse } from '../../../crypto/message.ts'
import { StorageCorrupt } from '../../../storage/contract.ts'
import { identityOf } from '../budget/counted-version.ts'
import type { MessageBudget } from '../budget/message-budget.ts'
import { versionPrefix } from './ciphertext.ts'
import type { StoredRing, VersionSecrets } from './key-ring.ts'
import { keyUseOf } from './key-use.ts'
import { managedTypeOf } from './managed-type.ts'
import { firstStoredVersion, type RingHeader, type VersionHeader } from './ring-header.ts'

export type LoadedVersion = {
  readonly number: number
  /** Begins everything that this version makes. */
  readonly prefix: string
  /** Where `isPublic`, the public half of the pair alone; of a secret key in a device nothing. */
  readonly key: KeyObject
  readonly isPublic: boolean
  /** How the key of a message comes from `key`. */
  readonly use: KeyUse
  /** For HMACs, with whatever type of key. */
  readonly hmacKey: KeyObject
  readonly header: VersionHeader
  /** By which its messages are counted. */
  readonly identity: string
  /** What may still be sealed; undefined where messages are not counted, or this ring seals none. */
  readonly budget: MessageBudget | undefined
}

export type Budgets = {
  readonly of: (number: number, header: VersionHeader, identity: string) => MessageBudget
  /** Whether it is still what `of` would give. */
  readonly holds: (budget: MessageBudget) => boolean
}

/** The ring as it was loaded before. */
export type Before = {
  readonly ring: LoadedRing
  /** So many of its stored versions, from the first, are those of the other: their keys are used again. */
  readonly count: number
  /** Of them so many in front are the very same, with all that is said of them and with their budgets. */
  readonly same: number
}

/** @throws StorageCorrupt where a newer program stored a type that this one does not know */
export function keyTypeOf(header: RingHeader): KeyType {
  const { type: name } = header
  const type = KEY_TYPES.get(name) ?? managedTypeOf(header)
  if (type === undefined) throw new StorageCorrupt(`A key ring has the type "${name}", which is not known here`)
  return type
}

/** 96 bits: chance could repeat a nonce within what a key may live to seal. With 192 bits it cannot. */
const COUNTED_NONCE_BYTES = 12

/** Whether the messages of a key version are counted. */
export function isCounted({ cipher, deviceNonceBytes }: KeyType): boolean {
  return (cipher?.nonceBytes ?? deviceNonceBytes) === COUNTED_NONCE_BYTES
}

export class LoadedRing {
  readonly header: RingHeader
  readonly type: KeyType
  /** From the lowest version that decrypts to the latest. */
  readonly #versions: readonly LoadedVersion[]

  /**
   * Takes copies: the stored ring stays the caller's to wipe. `budgets`: for a ring that is to seal. With `before` the
   * stored ring has only the secrets of the versions behind those of the other, whose keys are used again.
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
    // Without a look at each: there may be thousands.
    const same = before === undefined ? [] : sameVersions(before, lowest, first)
    const others = header.versions.slice(lowest - first + same.length).map((version, index) => {
      const number = lowest + same.length + index
      const one = secrets[number - first - count]
      if (one === undefined) return again(required(before).ring.version(number), version, counting)
      const loaded = loadVersion(this.type, number, version, one)
      const budget = counting?.of(number, version, loaded.identity)
      return { ...loaded, use: keyUseOf(header, version, this.type), budget }
    })
    this.#versions = same.concat(others)
  }

  /** Those that can be used. */
  get versions(): readonly LoadedVersion[] {
    return this.#versions
  }

  /** Whether it has a version whose nonces are the caller's: no warning then says that they are not used. */
  get takesNonces(): boolean {
    return this.#versions.some(({ use }) => use === 'convergent-1')
  }

  /** `number` comes from `encryptionVersion` or `decryptionVersion`, which leave no other than the loaded ones. */
  version(number: number): LoadedVersion {
    const version = this.#versions[number - this.header.minDecryptionVersion]
    assert(version !== undefined, 'the version rules allow only loaded versions')
    return version
  }
}

/** From the version `lowest` on; `first` is the first that is stored. */
function sameVersions({ ring, same }: Before, lowest: number, first: number): readonly LoadedVersion[] {
  const loadedFrom = ring.header.minDecryptionVersion
  return ring.versions.slice(lowest - loadedFrom, Math.max(0, first + same - loadedFrom))
}

/** The very same where nothing of it changed: what is derived from its keys is kept by them. */
function again(loaded: LoadedVersion, header: VersionHeader, budgets: Budgets | undefined): LoadedVersion {
  const { number, budget, identity } = loaded
  const holds = budgets === undefined ? budget === undefined : budget !== undefined && budgets.holds(budget)
  if (holds && isSameVersion(loaded.header, header)) return loaded
  return { ...loaded, header, budget: holds ? budget : budgets?.of(number, header, identity) }
}

/** Texts of certificates are compared where there are any. */
function isSameVersion(one: VersionHeader, other: VersionHeader): boolean {
  return (
    one.createdAtMs === other.createdAtMs &&
    one.createdNanos === other.createdNanos &&
    one.countedFrom === other.countedFrom &&
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

/** Of a type whose keys are pairs. @throws StorageCorrupt */
export function publicPartOf({ publicPart, name }: KeyType): PublicPart {
  if (publicPart === undefined) throw new StorageCorrupt(`A key of type ${name} is stored as a public key`)
  return publicPart
}

/** What every operation with a key asks first: one that was deleted softly does nothing. @throws Refusal */
export function requireUsable({ header }: { readonly header: RingHeader }): void {
  if (header.softDeleted) {
    throw fail('key_soft_deleted', [])
  }
}

/** The private half, or the secret key. @throws Refusal where only the public half was imported */
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
