// Signatures over short texts, by a key of the cluster: Ed25519 (RFC 8032), which needs no randomness to sign.
import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { openPkcs8, pkcs8Of } from '../forms/pkcs8.ts'

/** RFC 8410: what stands before the 32 bytes of a public key in its DER form. */
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const PUBLIC_BYTES = 32

/** A new private key: PKCS #8, DER. The caller wipes it. */
export function newSigningKey(): Buffer {
  return pkcs8Of(generateKeyPairSync('ed25519').privateKey)
}

/** Of what `newSigningKey` gave; the caller wipes its buffer. */
export function importSigningKey(der: Buffer): KeyObject {
  return openPkcs8(der)
}

/** The 32 bytes of its public key, in base64. */
export function publicKeyText(key: KeyObject): string {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return der.subarray(PUBLIC_PREFIX.length).toString('base64')
}

/** Undefined where `text` is not base64 of the 32 bytes of a public key. */
export function importPublicKey(text: string): KeyObject | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== PUBLIC_BYTES || bytes.toString('base64') !== text) return undefined
  return createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, bytes]), format: 'der', type: 'spki' })
}

/** In base64. */
export function signText(key: KeyObject, text: string): string {
  return sign(null, Buffer.from(text), key).toString('base64')
}

/** False also for another spelling of the same bytes: a signature is one text. */
export function isSignatureOf(key: KeyObject, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64')
  return bytes.toString('base64') === signature && verify(null, Buffer.from(text), key, bytes)
}
