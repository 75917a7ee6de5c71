// One message under one key version. How its key and its nonce come about is said in one word, so that it can travel
// to another thread; the words are formats, which restored keys bring along.
import type { KeyObject } from 'node:crypto'
import type { Cipher, Convergent, Derivation, KeyType } from './key-types/key-type.ts'
import type { NoncePool } from './primitives/nonce-pool.ts'

/**
 * 'plain': the key of the version itself. All others take a context.
 * 'derived', 'derived-by-counter': the key for the context; a random nonce.
 * 'convergent-1': the key for the context; the nonce is the caller's and is not stored.
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
export type KeyUse = (typeof KEY_USES)[number]

export type Sealing = {
  /** Of which type `key` is. */
  readonly type: KeyType
  /** One of the type's. */
  readonly cipher: Cipher
  readonly key: KeyObject
  readonly use: KeyUse
}

export type MessageParts = {
  /** For all uses but 'plain'. */
  readonly context: Buffer | undefined
  readonly associatedData: Buffer | undefined
  /** Only for 'convergent-1'. */
  readonly nonce: Buffer | undefined
}

/** nonce ‖ ciphertext ‖ tag; without the nonce for 'convergent-1'. */
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

/** Empty associated data are none, for the ciphers too. */
const isSome = (associatedData: Buffer | undefined): associatedData is Buffer => (associatedData?.length ?? 0) > 0

/** Opens what `sealMessage` gave. The plaintext is the caller's to wipe. @throws AuthenticationFailed */
export function openMessage(sealing: Sealing, sealed: Buffer, parts: MessageParts): Buffer {
  const { type, cipher, key, use } = sealing
  const { associatedData } = parts
  if (use === 'plain') return cipher.openWithNonce(key, sealed, associatedData)
  const derived = derive(type, key, use, required(parts.context))
  if (use === 'convergent-1') return cipher.open(derived, required(parts.nonce), sealed, associatedData)
  return cipher.openWithNonce(derived, sealed, associatedData)
}

/** The key for a context: what opens is the same in all versions of convergent encryption. */
function derive(type: KeyType, key: KeyObject, use: KeyUse, context: Buffer): KeyObject {
  const { derive: byHkdf, deriveByCounter } = requireDerivation(type)
  if (use !== 'derived-by-counter') return byHkdf(key, context)
  return required(deriveByCounter)(key, context)
}

// A key is only loaded with what its type can do; these hold the types to it.

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
