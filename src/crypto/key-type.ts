// What a key type is. What it can do is what it carries: a type without `cipher` does not encrypt, and nothing else
// says so anywhere. Operations take the loaded key: Node parses raw bytes anew at each use (threats N-23).
import type { KeyObject } from 'node:crypto'
import type { SlowWork } from '../lib/slow-work.ts'
import type { ConvergentKeys } from './derivation.ts'
import type { RandomBytes } from './random-bytes.ts'

export type KeyType = {
  /** As the API writes it: `aes256-gcm96`. */
  readonly name: string
  /** New material: what is stored, inside the barrier. The bytes are the caller's to wipe. */
  readonly generate: (random: RandomBytes, slow: SlowWork) => Buffer | Promise<Buffer>
  /** Whether it takes so long that nothing is generated before it is known to be wanted. */
  readonly generatesSlowly?: true
  /**
   * Parses stored or imported material; the bytes stay the caller's to wipe.
   * @throws InvalidKeyMaterial
   */
  readonly load: (material: Buffer) => KeyObject
  readonly cipher?: Cipher
  readonly derivation?: Derivation
  /** Of a type whose keys are pairs: what everybody may know of one. */
  readonly publicPart?: PublicPart
}

export type Cipher = {
  /** 0: it takes none. */
  readonly nonceBytes: number
  /** The longest plaintext; undefined: whatever fits into a request. */
  readonly maxPlaintextBytes?: number
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
  /**
   * Where opening is slow work: what a thread that serves calls instead of the two above. Without it they are fast.
   * @throws AuthenticationFailed and what `SlowWork` throws
   */
  readonly openSlowly?: (slow: SlowWork, key: KeyObject, sealed: Buffer) => Promise<Buffer>
}

export type PublicPart = {
  /** How reads of a key name the kind of its versions. */
  readonly name: string
  /** The public key as reads show it. */
  readonly text: (key: KeyObject) => string
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
