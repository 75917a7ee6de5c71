// What a key type is. What it can do is what it carries: a type without `cipher` does not encrypt, and nothing else
// says so anywhere. Operations take the loaded key: Node parses raw bytes anew at each use (threats N-23).
import type { KeyObject } from 'node:crypto'
import type { ConvergentKeys } from './derivation.ts'
import type { RandomBytes } from './random-bytes.ts'

export type KeyType = {
  /** As the API writes it: `aes256-gcm96`. */
  readonly name: string
  /** New material: what is stored, inside the barrier. */
  readonly generate: (random: RandomBytes) => Buffer
  /**
   * Parses stored or imported material; the bytes stay the caller's to wipe.
   * @throws InvalidKeyMaterial
   */
  readonly load: (material: Buffer) => KeyObject
  readonly cipher?: Cipher
  readonly derivation?: Derivation
}

export type Cipher = {
  readonly nonceBytes: number
  /** Whether associated data is authenticated; where not, sealing with any throws a RangeError. */
  readonly takesAssociatedData: boolean
  /** Gives ciphertext ‖ tag. */
  readonly seal: (key: KeyObject, nonce: Buffer, plaintext: Buffer, associatedData?: Buffer) => Buffer
  /** Gives nonce ‖ ciphertext ‖ tag. */
  readonly sealWithNonce: (key: KeyObject, nonce: Buffer, plaintext: Buffer, associatedData?: Buffer) => Buffer
  /** Opens ciphertext ‖ tag. @throws AuthenticationFailed */
  readonly open: (key: KeyObject, nonce: Buffer, sealed: Buffer, associatedData?: Buffer) => Buffer
  /** Opens nonce ‖ ciphertext ‖ tag. @throws AuthenticationFailed */
  readonly openWithNonce: (key: KeyObject, sealed: Buffer, associatedData?: Buffer) => Buffer
}

export type Derivation = {
  /** The key for one context, by HKDF-SHA-256. It also opens what convergent encryption sealed. */
  readonly derive: (key: KeyObject, context: Buffer) => KeyObject
  /** The same for the KDF `hmac-sha256-counter`, where keys of this type can be as old as that. */
  readonly deriveByCounter?: (key: KeyObject, context: Buffer) => KeyObject
  readonly convergent?: Convergent
}

/**
 * Convergent encryption by its version. Version 1 (restored keys only) has no entry: it seals with the key of `derive`
 * and the caller's nonce, and stores no nonce.
 */
export type Convergent = {
  readonly deriveV3: (key: KeyObject, context: Buffer) => ConvergentKeys
  /** For restored keys only. */
  readonly deriveV2: (key: KeyObject, context: Buffer) => ConvergentKeys
  /** The nonce for a plaintext, in either version. */
  readonly nonce: (keys: ConvergentKeys, plaintext: Buffer) => Buffer
}

/** Material that cannot be a key of its type: says what the type takes, never what was given. */
export class InvalidKeyMaterial extends Error {
  override name = 'InvalidKeyMaterial'
}
