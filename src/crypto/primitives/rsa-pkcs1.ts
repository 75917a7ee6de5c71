// RSAES-PKCS1-v1_5 (RFC 8017 section 7.2), for callers that ask for it by name.
//
// A ciphertext with wrong padding opens too: to bytes that follow from the ciphertext and the key, and look like a
// message. This is the implicit rejection of OpenSSL (draft-irtf-cfrg-rsa-guidance section 7). So neither the answer
// nor its time says whether the padding was right, which is all that an attacker with many guesses needs (threats
// C-11).
import { constants, type KeyObject, publicEncrypt } from 'node:crypto'
import type { Job } from '../../lib/slow-work.ts'
import { openingJob, openRsa, type RsaOpening } from './rsa-opening.ts'

const PKCS1 = { padding: constants.RSA_PKCS1_PADDING } as const
/** RFC 8017 section 7.2.1: k - 11. */
const LEAST_PADDING_BYTES = 11

/** Longest plaintext for a modulus of whole bytes (RFC 8017 section 7.2.1). */
export function maxPkcs1PlaintextBytes(modulusBits: number): number {
  return modulusBits / 8 - LEAST_PADDING_BYTES
}

/** Encrypts with either half of the key. The plaintext has at most `maxPkcs1PlaintextBytes`. */
export function sealPkcs1(key: KeyObject, plaintext: Buffer): Buffer {
  return publicEncrypt({ key, ...PKCS1 }, plaintext)
}

/** Opens as `openRsa` does. As slow as `openOaep`. */
export const openPkcs1 = (key: KeyObject, sealed: Buffer): Buffer => openRsa(key, sealed, PKCS1)

/** Opens on a thread of the pool; undefined if the ciphertext does not open. */
export const OPEN_PKCS1: Job<RsaOpening, ArrayBuffer | undefined> = openingJob('rsa-pkcs1-open', openPkcs1)
