// RSAES-OAEP with SHA-256 for hash and mask generation and an empty label (RFC 8017 section 7.1).
import { constants, type KeyObject, publicEncrypt } from 'node:crypto'
import type { Job } from '../../lib/slow-work.ts'
import { openingJob, openRsa, type RsaOpening } from './rsa-opening.ts'

const SHA256_BYTES = 32
const OAEP = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' } as const

/** Longest plaintext for a modulus of whole bytes: k - 2 hLen - 2 (RFC 8017 section 7.1.1). */
export function maxOaepPlaintextBytes(modulusBits: number): number {
  return modulusBits / 8 - 2 * SHA256_BYTES - 2
}

/** Encrypts with either half of the key. The plaintext has at most `maxOaepPlaintextBytes`. */
export function sealOaep(key: KeyObject, plaintext: Buffer): Buffer {
  return publicEncrypt({ key, ...OAEP }, plaintext)
}

/** Opens as `openRsa` does. Slow: 0.3 ms with 2048 bits, 1.5 ms with 4096. */
export const openOaep = (key: KeyObject, sealed: Buffer): Buffer => openRsa(key, sealed, OAEP)

/** Opens on a thread of the pool; undefined if the ciphertext does not open. */
export const OPEN_OAEP: Job<RsaOpening, ArrayBuffer | undefined> = openingJob('rsa-oaep-open', openOaep)
