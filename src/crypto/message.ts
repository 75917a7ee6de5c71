// One message under one key version (Interface 4.3). One word says how its key and nonce are derived, so that it can go
// to another thread with the message. The words are formats: restored keys bring the older ones along.
import type { KeyObject } from 'node:crypto'
import type { Cipher, Convergent, Derivation, KeyType } from './key-types/key-type.ts'
import type { NoncePool } from './primitives/nonce-pool.ts'

/**
 * How the key and the nonce of a message are made.
 * 'plain': the key of the version itself and a random nonce. All others take a context.
 * 'derived', 'derived-by-counter': the key for the context; a random nonce.
 * 'convergent-1': the key for the context; the nonce is the caller's and is not stored (threats C-01).
 * 'convergent-2', 'convergent-3': the key for the context; the nonce follows from plaintext and associated data.
 */
export const KEY_USES = [
  'plain',
  'derived',
  'derived-by-counter',
  'convergent-1',
  'convergent-2',
  'convergent-3',
] as const
/** One word of KEY_USES. It follows from the settings of the key ring, not from the request. */
export type KeyUse = (typeof KEY_USES)[number]

/** A key version ready for messages. */
export type Sealing = {
  /** The type of `key`. */
  readonly type: KeyType
  /** A cipher of that type: RSA types have one for each padding. */
  readonly cipher: Cipher
  readonly key: KeyObject
  readonly use: KeyUse
}

/** What a caller sends with a message. */
export type MessageParts = {
  /** Needed for all uses but 'plain'. */
  readonly context: Buffer | undefined
  readonly associatedData: Buffer | undefined
  /** Needed for 'convergent-1', and ignored otherwise. */
  readonly nonce: Buffer | undefined
}

/**
 * Seals a message as nonce ‖ ciphertext ‖ tag; without the nonce for 'convergent-1'. Random nonces come from `nonces`.
 * @throws RangeError for a missing part, RandomnessFailed
 */
export function sealMessage(sealing: Sealing, nonces: NoncePool, plaintext: Buffer, parts: MessageParts): Buffer {
  const { type, cipher, key, use } = sealing
  const { associatedData } = parts
  if (use === 'plain') return cipher.sealWithNonce(key, nonces.take(cipher.nonceBytes), plaintext, associatedData)
  const context = required(parts.context)
  if (use === 'convergent-2' || use === 'convergent-3')
    return sealConvergent(sealing, context, plaintext, associatedData)
  const derived = derive(type, key, use, context)
  if (use === 'convergent-1') {
    if (isSome(associatedData)) throw new RangeError('A nonce of the caller goes with no associated data')
    return cipher.seal(derived, required(parts.nonce), plaintext)
  }
  return cipher.sealWithNonce(derived, nonces.take(cipher.nonceBytes), plaintext, associatedData)
}

function sealConvergent(sealing: Sealing, context: Buffer, plaintext: Buffer, associatedData: Buffer | undefined) {
  const { type, cipher, key, use } = sealing
  const convergent = requireConvergent(type)
  if (isSome(associatedData)) {
    const keys = convergent.deriveBinding(key, context)
    const nonce = convergent.bindingNonce(keys, plaintext, associatedData)
    return cipher.sealWithNonce(keys.encryptionKey, nonce, plaintext, associatedData)
  }
  const keys = use === 'convergent-2' ? convergent.deriveV2(key, context) : convergent.deriveV3(key, context)
  return cipher.sealWithNonce(keys.encryptionKey, convergent.nonce(keys, plaintext), plaintext)
}

/** True for associated data that are not empty: an empty text is the same as no data, also for the ciphers. */
const isSome = (associatedData: Buffer | undefined): associatedData is Buffer => (associatedData?.length ?? 0) > 0

/** Opens what `sealMessage` returned. The plaintext is the caller's to wipe. @throws AuthenticationFailed */
export function openMessage(sealing: Sealing, sealed: Buffer, parts: MessageParts): Buffer {
  const { type, cipher, key, use } = sealing
  const { associatedData } = parts
  if (use === 'plain') return cipher.openWithNonce(key, sealed, associatedData)
  const derived = derive(type, key, use, required(parts.context))
  if (use === 'convergent-1') return cipher.open(derived, required(parts.nonce), sealed, associatedData)
  return cipher.openWithNonce(derived, sealed, associatedData)
}

/** The key for a context. All versions of convergent encryption open with the same one. */
function derive(type: KeyType, key: KeyObject, use: KeyUse, context: Buffer): KeyObject {
  const { derive: byHkdf, deriveByCounter } = requireDerivation(type)
  if (use !== 'derived-by-counter') return byHkdf(key, context)
  return required(deriveByCounter)(key, context)
}

// A key is only loaded with what its type can do. A use that its type lacks is our fault, so these throw plain errors.

function requireDerivation({ derivation, name }: KeyType): Derivation {
  if (derivation === undefined) throw new Error(`A key of type ${name} is marked as derived`)
  return derivation
}

function requireConvergent(type: KeyType): Convergent {
  const { convergent } = requireDerivation(type)
  if (convergent === undefined) throw new Error(`A key of type ${type.name} is marked as convergent`)
  return convergent
}

function required<T>(part: T | undefined): T {
  if (part === undefined) throw new RangeError('A part of a message is missing')
  return part
}
