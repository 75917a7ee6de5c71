// A key ring as it is used: parsed keys, which keep their bytes outside the JavaScript heap, and only of the versions
// that may still be used. Raising min_decryption_version takes versions out of it and lowering it brings them back.
import { strict as assert } from 'node:assert'
import type { KeyObject } from 'node:crypto'
import type { KeyType } from '../../crypto/key-type.ts'
import { KEY_TYPES } from '../../crypto/key-types.ts'
import { StorageCorrupt } from '../../storage/contract.ts'
import { versionPrefix } from './ciphertext.ts'
import type { StoredRing } from './key-ring.ts'
import { CONVERGENT_VERSION, firstStoredVersion, type RingHeader } from './ring-header.ts'

export type LoadedVersion = {
  readonly number: number
  /** Begins everything that this version makes. */
  readonly prefix: string
  readonly key: KeyObject
}

/** @throws StorageCorrupt where a newer program stored a type that this one does not know */
export function keyTypeOf({ type: name }: RingHeader): KeyType {
  const type = KEY_TYPES.get(name)
  if (type === undefined) throw new StorageCorrupt(`A key ring has the type "${name}", which is not known here`)
  return type
}

export class LoadedRing {
  readonly header: RingHeader
  readonly type: KeyType
  /** From the lowest version that decrypts to the latest. */
  readonly #versions: readonly LoadedVersion[]

  /** Takes copies: the stored ring stays the caller's to wipe. @throws StorageCorrupt */
  constructor(stored: StoredRing) {
    const { header, secrets } = stored
    this.header = header
    this.type = keyTypeOf(header)
    const first = firstStoredVersion(header)
    this.#versions = secrets.slice(header.minDecryptionVersion - first).map(({ material }, index) => {
      const number = header.minDecryptionVersion + index
      requireConvergentVersion(header, header.versions[number - first]?.convergentVersion)
      return { number, prefix: versionPrefix(number), key: this.type.load(material.reveal()) }
    })
  }

  /** Those that can be used. */
  get versions(): readonly LoadedVersion[] {
    return this.#versions
  }

  /** `number` comes from `encryptionVersion` or `decryptionVersion`, which leave no other than the loaded ones. */
  version(number: number): LoadedVersion {
    const version = this.#versions[number - this.header.minDecryptionVersion]
    assert(version !== undefined, 'the version rules allow only loaded versions')
    return version
  }
}

/** With another algorithm a version would be opened wrongly, or sealed in a way that is too weak (threats C-02). */
function requireConvergentVersion({ convergent }: RingHeader, version: number | undefined): void {
  const wanted = convergent ? CONVERGENT_VERSION : 0
  if (version === wanted) return
  throw new StorageCorrupt(`A key version has convergent version ${version}, known here is ${wanted}`)
}
