// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03 section 2). HChaCha20 makes a key from the first 16 bytes of the
// nonce, and ChaCha20-Poly1305 does the rest with it. Node has only the latter.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { hchacha } from '@noble/ciphers/chacha.js'

/** Long enough for random nonces without a limit on messages. */
export const XCHACHA_NONCE_BYTES = 24
const HCHACHA_INPUT_BYTES = 16
const CHACHA_NONCE_BYTES = 12
const KEY_BYTES = 32

/** "expand 32-byte k" (RFC 8439 section 2.3), in words. */
const SIGMA = new Uint32Array([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574])

/**
 * Key and nonce with which ChaCha20-Poly1305 does one message of XChaCha20-Poly1305. `nonce` has XCHACHA_NONCE_BYTES.
 * @throws RangeError for a key of another length, of which only a part would be used
 */
export function forChaCha(key: KeyObject, nonce: Buffer): { readonly key: KeyObject; readonly nonce: Buffer } {
  if (key.symmetricKeySize !== KEY_BYTES) throw new RangeError(`A key of XChaCha20-Poly1305 has ${KEY_BYTES} bytes`)
  const material = key.export()
  const words = wordsOf(material, KEY_BYTES)
  const input = wordsOf(nonce, HCHACHA_INPUT_BYTES)
  const output = new Uint32Array(KEY_BYTES / Uint32Array.BYTES_PER_ELEMENT)
  hchacha(SIGMA, words, input, output)
  const bytes = bytesOf(output)
  const rest = Buffer.alloc(CHACHA_NONCE_BYTES)
  nonce.copy(rest, CHACHA_NONCE_BYTES - (XCHACHA_NONCE_BYTES - HCHACHA_INPUT_BYTES), HCHACHA_INPUT_BYTES)
  try {
    return { key: createSecretKey(bytes), nonce: rest }
  } finally {
    for (const secret of [material, words, output, bytes]) secret.fill(0)
  }
}

/** Little-endian words, on any machine. */
function wordsOf(bytes: Buffer, length: number): Uint32Array {
  const words = new Uint32Array(length / Uint32Array.BYTES_PER_ELEMENT)
  for (let at = 0; at < words.length; at += 1) words[at] = bytes.readUInt32LE(at * Uint32Array.BYTES_PER_ELEMENT)
  return words
}

function bytesOf(words: Uint32Array): Buffer {
  const bytes = Buffer.alloc(words.byteLength)
  for (const [at, word] of words.entries()) bytes.writeUInt32LE(word, at * Uint32Array.BYTES_PER_ELEMENT)
  return bytes
}
