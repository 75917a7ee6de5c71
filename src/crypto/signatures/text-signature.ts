// Signatures over short texts with a key of the cluster, for the chains of the audit log. Ed25519 (RFC 8032) needs no
// randomness to sign.
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { openPkcs8 } from '../forms/pkcs8.ts'

/** SubjectPublicKeyInfo up to the 32 bytes of the key (RFC 8410 section 4). */
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const PUBLIC_BYTES = 32

/** PKCS #8 up to the 32 bytes of the private key (RFC 8410 section 7). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PRIVATE_BYTES = 32

/** A new private key as PKCS #8 in DER, from random bytes. The caller wipes it. */
export function newSigningKey(random: (count: number) => Buffer): Buffer {
  const seed = random(PRIVATE_BYTES)
  const der = Buffer.concat([PRIVATE_PREFIX, seed])
  seed.fill(0)
  return der
}

/** Loads what `newSigningKey` returned; the caller wipes its buffer. */
export function importSigningKey(der: Buffer): KeyObject {
  return openPkcs8(der)
}

/** The 32 bytes of the public key, in base64. */
export function publicKeyText(key: KeyObject): string {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return der.subarray(PUBLIC_PREFIX.length).toString('base64')
}

/** Loads a public key from that text; undefined unless it is base64 of 32 bytes. */
export function importPublicKey(text: string): KeyObject | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== PUBLIC_BYTES || bytes.toString('base64') !== text) return undefined
  return createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, bytes]), format: 'der', type: 'spki' })
}

/** Signs a text. Returns the signature in base64. */
export function signText(key: KeyObject, text: string): string {
  return sign(null, Buffer.from(text), key).toString('base64')
}

/** True if the key signed the text. False for another spelling of the same bytes: a signature is one text. */
export function isSignatureOf(key: KeyObject, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64')
  return bytes.toString('base64') === signature && verify(null, Buffer.from(text), key, bytes)
}
