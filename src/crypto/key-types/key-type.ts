// What a key type is. What it can do is what it carries: a type without `cipher` does not encrypt, and nothing else
// says so anywhere. Operations take the loaded key: Node parses raw bytes anew at each use (threats N-23).
import type { KeyObject } from 'node:crypto'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { MaterialForm } from '../forms/material-form.ts'
import type { ConvergentKeys } from '../primitives/derivation.ts'
import type { RandomBytes } from '../primitives/random-bytes.ts'

export type KeyType = {
  /** As the API writes it: `aes256-gcm96`. */
  readonly name: string
  /**
   * New material: what is stored, inside the barrier. The bytes are the caller's to wipe. `keyBytes` is one of `sizes`,
   * for a type that has them.
   */
  readonly generate: (random: RandomBytes, slow: SlowWork, keyBytes?: number) => Buffer | Promise<Buffer>
  /** Bytes of a key, where its type comes in several sizes. */
  readonly sizes?: { readonly usual: number; readonly min: number; readonly max: number }
  /** Whether it takes so long that nothing is generated before it is known to be wanted. */
  readonly generatesSlowly?: true
  /**
   * Parses stored or imported material; the bytes stay the caller's to wipe.
   * @throws InvalidKeyMaterial
   */
  readonly load: (material: Buffer) => KeyObject
  /** How its keys are written elsewhere. Undefined: none ever leaves, as those in a device. */
  readonly form: MaterialForm | undefined
  /** Of secret keys in a device, which has no `cipher` here: bytes of the nonces that are drawn here. */
  readonly deviceNonceBytes?: number
  /** The number of the type in backups of the original, where that is another than the fork's (`backupId`). */
  readonly originalBackupId?: number
  readonly cipher?: Cipher
  /** Where a caller may choose: `cipher` is the first of them. */
  readonly paddings?: Readonly<Record<PaddingScheme, Cipher>>
  readonly signing?: Signing
  readonly derivation?: Derivation
  /** Of a type whose keys are pairs: what everybody may know of one. */
  readonly publicPart?: PublicPart
  /** Whether the material itself is the key of HMACs; else each version has a secret of its own for them. */
  readonly isHmacKey?: true
  /**
   * So many bytes that whoever has the other pair gets as well: from the private half of one pair and the public half
   * of another of the type. The caller wipes them.
   */
  readonly agree?: (privateKey: KeyObject, publicKey: KeyObject, bytes: number) => Buffer
  /** Where callers may name the type by a family and one of its sets as well. */
  readonly parameterSet?: { readonly family: string; readonly set: string }
  /** The CMAC of an input, in full length. */
  readonly cmac?: (key: KeyObject, input: Buffer) => Buffer
}

/** A type of the list: its keys are made here, leave as exports and backups, and come in again. */
export type ListedKeyType = KeyType & {
  readonly form: MaterialForm
  /**
   * The number of the type in backups. Two products with one format number types apart: this is the fork's. A type
   * that the fork does not have takes one from 20,000 on.
   */
  readonly backupId: number
}

/** Paddings of RSA encryption by their names on the wire: OAEP with SHA-256, and that of PKCS #1 v1.5. */
export const PADDING_SCHEMES = ['oaep', 'pkcs1v15'] as const
export type PaddingScheme = (typeof PADDING_SCHEMES)[number]

/** Undefined where the type has no such padding, or does not encrypt at all. */
export function paddedCipher({ cipher, paddings }: KeyType, padding: PaddingScheme | undefined): Cipher | undefined {
  return padding === undefined ? cipher : paddings?.[padding]
}

/** What a caller may choose of a signature; each type looks only at what it knows of. */
export type SignatureOptions = {
  /** One of SIGNATURE_HASHES, or 'none': PKCS #1 v1.5 around the input as it is, without the name of a hash. */
  readonly hash: string
  /** The caller named the hash. A digest has its length then, also where the signature does not name it. */
  readonly isHashNamed?: true
  /** The input is the hash already. */
  readonly prehashed: boolean
  /** RSA. */
  readonly padding: 'pss' | 'pkcs1v15'
  /** RSA-PSS, bytes, 0 too. 'auto': the longest that fits when signing, any when verifying; 'hash': as the hash. */
  readonly saltLength: 'auto' | 'hash' | number
  /** ECDSA. 'asn1': DER of SEQUENCE (r, s); 'jws': r ‖ s, each as long as the order of the curve. */
  readonly marshaling: 'asn1' | 'jws'
}

/** How a key signs to prove itself: only the same key verifies it. */
export const PROOF_OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pss',
  saltLength: 'hash',
  marshaling: 'asn1',
}

export type Signing = {
  /** @throws UnusableInput for what the caller got wrong */
  readonly sign: (key: KeyObject, input: Buffer, options: SignatureOptions) => Buffer
  /**
   * Whether the signature is one of the input; `key` is either half of the pair.
   * @throws UnusableInput for options that cannot be, and for a signature that is not even DER where it should be
   */
  readonly verify: (key: KeyObject, input: Buffer, signature: Buffer, options: SignatureOptions) => boolean
  /** How certificates, and requests for them, are signed with `key`, of which the public half will do. */
  readonly x509: (key: KeyObject) => X509Signature
  /** Where private keys of the type may be in devices (`src/crypto/devices`), which sign as those that are here. */
  readonly device?: DeviceFacts
  /** Whether a thread that serves has it done elsewhere (`signWith` and `verifyWith` of `signing-jobs.ts`). */
  readonly signsSlowly?: true
  readonly verifiesSlowly?: true
  /** Whole messages alone: a digest in the place of one would be another message. */
  readonly hashesItself?: true
  /** Both are slow, though otherwise neither, where the input is the hash already. */
  readonly prehashedSlowly?: true
}

export type DeviceFacts = {
  /** What `publicKind` gives of the public halves. */
  readonly kind: string
  /** Of the modulus, or of the order of the curve. */
  readonly bits: number
}

export type X509Signature = {
  /** AlgorithmIdentifier (RFC 5280 section 4.1.1.2) in DER. */
  readonly algorithm: Buffer
  readonly options: SignatureOptions
}

/** What a caller gave for a signature and cannot be used: says which part and what would do, never the input. */
export class UnusableInput extends Error {
  override name = 'UnusableInput'
}

export type Cipher = {
  /** 0: it takes none. */
  readonly nonceBytes: number
  /** The longest plaintext; undefined: whatever fits into a request. */
  readonly maxPlaintextBytes?: number
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
} & (
  | {
      /** It authenticates associated data. */
      readonly takesAssociatedData: true
      /** A key is any so many bytes, so that two parties can agree on one. */
      readonly keyBytes: number
    }
  | {
      /** Sealing with any throws a RangeError. */
      readonly takesAssociatedData: false
    }
)

export type PublicPart = {
  /** How reads of a key name the kind of its versions. */
  readonly name: string
  /** The public key as reads show it, of either half. */
  readonly text: (key: KeyObject) => string
  /**
   * Of a version that is known by its public half alone: SubjectPublicKeyInfo (RFC 5280) in DER.
   * @throws InvalidKeyMaterial
   */
  readonly load: (spki: Buffer) => KeyObject
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
  /** The nonce for a plaintext without associated data, in either version. */
  readonly nonce: (keys: ConvergentKeys, plaintext: Buffer) => Buffer
  /** For messages with associated data, in either version. */
  readonly deriveBinding: (key: KeyObject, context: Buffer) => ConvergentKeys
  /** Their nonce, with the keys of `deriveBinding`: one nonce for two of them would give away what authenticates. */
  readonly bindingNonce: (keys: ConvergentKeys, plaintext: Buffer, associatedData: Buffer) => Buffer
}

/** Material that cannot be a key of its type: says what the type takes, never what was given. */
export class InvalidKeyMaterial extends Error {
  override name = 'InvalidKeyMaterial'
}
