// AES key wrap with padding, KWP (RFC 5649; NIST SP 800-38F section 6.3): a key under a key.
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { copySecret } from './secret-bytes.ts'

/** First half of the alternative initial value (RFC 5649 section 3). */
const ALTERNATIVE_IV = Buffer.from('a65959a6', 'hex')
const SEMIBLOCK_BYTES = 8
/** Shortest wrapped key: that of a key of 1 to 8 bytes. */
const MIN_WRAPPED_BYTES = 2 * SEMIBLOCK_BYTES

/** Wraps a key of one byte or more. `wrappingKey` is an AES key of 128, 192 or 256 bits. @throws RangeError */
export function wrapKey(wrappingKey: KeyObject, key: Buffer): Buffer {
  if (key.length === 0) throw new RangeError('There is nothing to wrap')
  const cipher = createCipheriv(cipherName(wrappingKey), wrappingKey, ALTERNATIVE_IV)
  return Buffer.concat([cipher.update(key), cipher.final()])
}

/** Unwraps a key, the caller's to wipe; undefined if it was not wrapped so under `wrappingKey`. */
export function unwrapKey(wrappingKey: KeyObject, wrapped: Buffer): Buffer | undefined {
  if (wrapped.length < MIN_WRAPPED_BYTES || wrapped.length % SEMIBLOCK_BYTES !== 0) return undefined
  const decipher = createDecipheriv(cipherName(wrappingKey), wrappingKey, ALTERNATIVE_IV)
  try {
    // OpenSSL returns everything at once, after it has checked the key as a whole.
    const key = decipher.update(wrapped)
    decipher.final()
    const copy = copySecret(key)
    key.fill(0)
    return copy
  } catch {
    return undefined
  }
}

const CIPHER_NAMES: Readonly<Record<number, string>> = {
  16: 'id-aes128-wrap-pad',
  24: 'id-aes192-wrap-pad',
  32: 'id-aes256-wrap-pad',
}

function cipherName({ symmetricKeySize = 0 }: KeyObject): string {
  const name = CIPHER_NAMES[symmetricKeySize]
  if (name === undefined) throw new RangeError('An AES key has 16, 24 or 32 bytes')
  return name
}
