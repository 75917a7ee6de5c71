import { createSecretKey } from 'node:crypto'
import { SYMMETRIC_FORM } from '../forms/symmetric-form.ts'
import * as aead from '../primitives/aead.ts'
import {
  bindingNonce,
  convergentNonce,
  deriveBindingKeys,
  deriveConvergentKeys,
  deriveConvergentKeysV2,
  deriveKey,
  deriveKeyByCounter,
} from '../primitives/derivation.ts'
import { freshBytes } from '../primitives/random-bytes.ts'
import { type Derivation, InvalidKeyMaterial, type ListedKeyType } from './key-type.ts'

/** Length of the keys that the counter KDF derives; it has no other. */
const COUNTER_KDF_BYTES = 32

/** A symmetric key type that encrypts; its material is the raw key. `backupId`: see `ListedKeyType`. */
export function aeadKeyType(name: string, backupId: number, algorithm: aead.AeadAlgorithm): ListedKeyType {
  const { keyBytes, nonceBytes } = algorithm
  return {
    name,
    backupId,
    form: SYMMETRIC_FORM,
    generate: (random) => freshBytes(random, keyBytes),
    load: (material) => {
      if (material.length !== keyBytes) throw new InvalidKeyMaterial(`A key of type ${name} has ${keyBytes} bytes`)
      return createSecretKey(material)
    },
    cipher: {
      nonceBytes,
      takesAssociatedData: true,
      keyBytes,
      seal: (key, nonce, plaintext, associatedData) => aead.seal(algorithm, key, nonce, plaintext, associatedData),
      sealWithNonce: (key, nonce, plaintext, associatedData) =>
        aead.sealWithNonce(algorithm, key, nonce, plaintext, associatedData),
      open: (key, nonce, sealed, associatedData) => aead.open(algorithm, key, nonce, sealed, associatedData),
      openWithNonce: (key, sealed, associatedData) => aead.openWithNonce(algorithm, key, sealed, associatedData),
    },
    derivation: aeadDerivation(keyBytes, nonceBytes),
  }
}

function aeadDerivation(keyBytes: number, nonceBytes: number): Derivation {
  return {
    derive: (key, context) => deriveKey(key, context, keyBytes),
    ...(keyBytes === COUNTER_KDF_BYTES ? { deriveByCounter: deriveKeyByCounter } : {}),
    convergent: {
      deriveV3: (key, context) => deriveConvergentKeys(key, context, keyBytes),
      deriveV2: (key, context) => deriveConvergentKeysV2(key, context, keyBytes),
      nonce: (keys, plaintext) => convergentNonce(keys.nonceKey, plaintext, nonceBytes),
      deriveBinding: (key, context) => deriveBindingKeys(key, context, keyBytes),
      bindingNonce: (keys, plaintext, associatedData) =>
        bindingNonce(keys.nonceKey, plaintext, associatedData, nonceBytes),
    },
  }
}

/** AES-128-GCM with 96-bit nonces. At most 2^32 messages a version (threats C-13). */
export const aes128Gcm96 = aeadKeyType('aes128-gcm96', 8, aead.AEADS.aes128Gcm)
/** AES-256-GCM with 96-bit nonces, the default type (Interface 4.2). At most 2^32 messages a version (threats C-13). */
export const aes256Gcm96 = aeadKeyType('aes256-gcm96', 0, aead.AEADS.aes256Gcm)
/** ChaCha20-Poly1305 (RFC 8439) with 96-bit nonces. */
export const chacha20Poly1305 = aeadKeyType('chacha20-poly1305', 5, aead.AEADS.chacha20Poly1305)
/** XChaCha20-Poly1305: its nonces of 192 bits may be random for any number of messages. */
export const xchacha20Poly1305 = aeadKeyType('xchacha20-poly1305', 11, aead.AEADS.xchacha20Poly1305)
