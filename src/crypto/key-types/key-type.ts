// What a key type is (Interface 2.3). It can do what it carries: a type without `cipher` does not encrypt, and nothing
// else says so anywhere. Operations take the loaded key: Node parses raw bytes again at each use (threats N-23).
import type { KeyObject } from 'node:crypto'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { MaterialForm } from '../forms/material-form.ts'
import type { ConvergentKeys } from '../primitives/derivation.ts'
import type { RandomBytes } from '../primitives/random-bytes.ts'

/** A kind of key: how its material is made and loaded, and which operations it has. One constant for each. */
export type KeyType = {
  /** Its name in the API: `aes256-gcm96`. */
  readonly name: string
  /**
   * New material, as it is stored inside the barrier; the caller wipes it. `keyBytes` is a length within `sizes`, for a
   * type that has them.
   * @throws RandomnessFailed, and what `SlowWork` throws
   */
  readonly generate: (random: RandomBytes, slow: SlowWork, keyBytes?: number) => Buffer | Promise<Buffer>
  /** Lengths of a key in bytes, if they can be chosen. */
  readonly sizes?: { readonly usual: number; readonly min: number; readonly max: number }
  /** Set if generating takes so long that no key is made before it is certain to be wanted. */
  readonly generatesSlowly?: true
  /**
   * Parses stored or imported material; the bytes stay the caller's to wipe.
   * @throws InvalidKeyMaterial
   */
  readonly load: (material: Buffer) => KeyObject
  /** How keys of the type are written for others. Undefined if none ever leaves: a key in a device. */
  readonly form: MaterialForm | undefined
  /** For a secret key in a device, which has no `cipher` here: length of the nonces that are drawn here. */
  readonly deviceNonceBytes?: number
  /** Number of the type in backups of the original, if the fork has another for it (`backupId`). */
  readonly originalBackupId?: number
  readonly cipher?: Cipher
  /** The ciphers that a caller may choose from; `cipher` is the first of them. */
  readonly paddings?: Readonly<Record<PaddingScheme, Cipher>>
  readonly signing?: Signing
  readonly derivation?: Derivation
  /** For types whose keys are pairs: the half that is no secret. */
  readonly publicPart?: PublicPart
  /** Set if the material itself is the key of HMACs. Otherwise each version has a secret of its own for them. */
  readonly isHmacKey?: true
  /**
   * Agrees on `bytes` bytes, from the private half of one pair and the public half of another of this type. The holder
   * of the other pair gets the same ones. The caller wipes them.
   */
  readonly agree?: (privateKey: KeyObject, publicKey: KeyObject, bytes: number) => Buffer
  /** Set if callers may also name the type by a family and one of its parameter sets. */
  readonly parameterSet?: { readonly family: string; readonly set: string }
  /** The CMAC of an input, in full length. */
  readonly cmac?: (key: KeyObject, input: Buffer) => Buffer
}

/** A type of the list (key-types.ts). Its keys are made here, leave as exports and backups, and come in again. */
export type ListedKeyType = KeyType & {
  readonly form: MaterialForm
  /**
   * Number of the type in backups, which never changes. The original and its fork share the format of backups and
   * number some types differently: this is the fork's. A type that the fork lacks has a number from 20,000 on.
   */
  readonly backupId: number
}

/** Paddings of RSA encryption by their names on the wire: OAEP with SHA-256, and that of PKCS #1 v1.5. */
export const PADDING_SCHEMES = ['oaep', 'pkcs1v15'] as const
/** A padding of RSA encryption, as the API names it. */
export type PaddingScheme = (typeof PADDING_SCHEMES)[number]

/** The cipher with this padding, or the usual one; undefined if the type has no such padding or does not encrypt. */
export function paddedCipher({ cipher, paddings }: KeyType, padding: PaddingScheme | undefined): Cipher | undefined {
  return padding === undefined ? cipher : paddings?.[padding]
}

/** Choices of a caller for a signature (Interface 4.3). Each type looks only at those that concern it. */
export type SignatureOptions = {
  /** One of SIGNATURE_HASHES, or 'none': PKCS #1 v1.5 around the input as it is, without the name of a hash. */
  readonly hash: string
  /** Set if the caller named the hash: a digest must have its length then, even if the signature does not name it. */
  readonly isHashNamed?: true
  /** True if the input is the digest already. */
  readonly prehashed: boolean
  /** For RSA. */
  readonly padding: 'pss' | 'pkcs1v15'
  /**
   * For RSA-PSS, in bytes; 0 is allowed. 'auto': the longest that fits when signing, any when verifying. 'hash': as
   * long as the hash.
   */
  readonly saltLength: 'auto' | 'hash' | number
  /** For ECDSA. 'asn1': DER of SEQUENCE (r, s). 'jws': r ‖ s, each as long as the order of the curve. */
  readonly marshaling: 'asn1' | 'jws'
}

/** Options with which a new or imported key is tried: it signs, and its public half must verify that (threats P-15). */
export const PROOF_OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pss',
  saltLength: 'hash',
  marshaling: 'asn1',
}

/** The signatures of a type. */
export type Signing = {
  /** Signs with the private half. @throws UnusableInput for a mistake of the caller */
  readonly sign: (key: KeyObject, input: Buffer, options: SignatureOptions) => Buffer
  /**
   * True if the signature is one of the input; `key` is either half of the pair.
   * @throws UnusableInput for impossible options, and for a signature that is not even DER though it should be
   */
  readonly verify: (key: KeyObject, input: Buffer, signature: Buffer, options: SignatureOptions) => boolean
  /** How certificates, and requests for them, are signed with `key`. Its public half will do. */
  readonly x509: (key: KeyObject) => X509Signature
  /** Set if private keys of the type may be in devices (`src/crypto/devices`), where they make the same signatures. */
  readonly device?: DeviceFacts
  /** Set if a serving thread leaves it to the pool (`signWith` and `verifyWith` of signing-jobs.ts). */
  readonly signsSlowly?: true
  readonly verifiesSlowly?: true
  /** Set if only whole messages can be signed: a digest in place of one would be another message. */
  readonly hashesItself?: true
  /** Set if both are slow for a digest, and neither is otherwise. */
  readonly prehashedSlowly?: true
}

/** How a key in a device is recognised as one of the type. */
export type DeviceFacts = {
  /** The result of `publicKind` for public halves of the type. */
  readonly kind: string
  /** Bits of the modulus, or of the order of the curve. */
  readonly bits: number
}

/** An algorithm as certificates name it, and the options that make such signatures. */
export type X509Signature = {
  /** AlgorithmIdentifier (RFC 5280 section 4.1.1.2) in DER. */
  readonly algorithm: Buffer
  readonly options: SignatureOptions
}

/** Input for a signature that cannot be used. The message says which part and what would do, and never quotes it. */
export class UnusableInput extends Error {
  override name = 'UnusableInput'
}

/**
 * The encryption of a type. A nonce must never come twice under one key. Plaintexts that it returns are the caller's to
 * wipe.
 */
export type Cipher = {
  /** Length of a nonce; 0 if it takes none. */
  readonly nonceBytes: number
  /** The longest plaintext; undefined: whatever fits into a request. */
  readonly maxPlaintextBytes?: number
  /** Returns ciphertext ‖ tag. */
  readonly seal: (key: KeyObject, nonce: Buffer, plaintext: Buffer, associatedData?: Buffer) => Buffer
  /** Returns nonce ‖ ciphertext ‖ tag. */
  readonly sealWithNonce: (key: KeyObject, nonce: Buffer, plaintext: Buffer, associatedData?: Buffer) => Buffer
  /** Opens ciphertext ‖ tag. @throws AuthenticationFailed */
  readonly open: (key: KeyObject, nonce: Buffer, sealed: Buffer, associatedData?: Buffer) => Buffer
  /** Opens nonce ‖ ciphertext ‖ tag. @throws AuthenticationFailed */
  readonly openWithNonce: (key: KeyObject, sealed: Buffer, associatedData?: Buffer) => Buffer
  /**
   * Opens on the pool. Set if opening is slow work: a serving thread then calls it instead of the two above.
   * @throws AuthenticationFailed, and what `SlowWork` throws
   */
  readonly openSlowly?: (slow: SlowWork, key: KeyObject, sealed: Buffer) => Promise<Buffer>
} & (
  | {
      /** It authenticates associated data. */
      readonly takesAssociatedData: true
      /** Any bytes of this length are a key, so that two parties can agree on one. */
      readonly keyBytes: number
    }
  | {
      /** Sealing with any throws a RangeError. */
      readonly takesAssociatedData: false
    }
)

/** The public halves of a type. */
export type PublicPart = {
  /** Kind of the versions, as reads of a key show it. */
  readonly name: string
  /** The public key as reads show it; `key` is either half. */
  readonly text: (key: KeyObject) => string
  /**
   * Loads a version that has its public half alone, as SubjectPublicKeyInfo (RFC 5280) in DER.
   * @throws InvalidKeyMaterial
   */
  readonly load: (spki: Buffer) => KeyObject
}

/** How keys for contexts are derived (primitives/derivation.ts). Only types with it can be `derived`. */
export type Derivation = {
  /** The key for one context, by HKDF-SHA-256. It also opens what convergent encryption sealed. */
  readonly derive: (key: KeyObject, context: Buffer) => KeyObject
  /** The key for one context by the KDF `hmac-sha256-counter`, for types whose restored keys can be that old. */
  readonly deriveByCounter?: (key: KeyObject, context: Buffer) => KeyObject
  readonly convergent?: Convergent
}

/**
 * Convergent encryption by its version. Version 1, for restored keys only, has no entry: it seals with the key of
 * `derive` and the caller's nonce, and stores no nonce (Interface 9).
 */
export type Convergent = {
  /** The keys of version 3, that of new keys. */
  readonly deriveV3: (key: KeyObject, context: Buffer) => ConvergentKeys
  /** The keys of version 2, for restored keys only. */
  readonly deriveV2: (key: KeyObject, context: Buffer) => ConvergentKeys
  /** The nonce for a plaintext without associated data, in either version. */
  readonly nonce: (keys: ConvergentKeys, plaintext: Buffer) => Buffer
  /** The keys for messages with associated data, in either version. */
  readonly deriveBinding: (key: KeyObject, context: Buffer) => ConvergentKeys
  /**
   * The nonce for such a message, with those keys: one nonce for two messages would give the authentication key away.
   */
  readonly bindingNonce: (keys: ConvergentKeys, plaintext: Buffer, associatedData: Buffer) => Buffer
}

/** Material that cannot be a key of its type. The message says what the type takes, and quotes nothing. */
export class InvalidKeyMaterial extends Error {
  override name = 'InvalidKeyMaterial'
}
