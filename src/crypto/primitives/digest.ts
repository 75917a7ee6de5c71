// Hashes of stored and sent bytes. Named by what they are, so that no caller chooses an algorithm by a string.
// Parts are taken one after the other: the caller makes sure that their borders cannot be moved.
import { createHash, createHmac, hash, type KeyObject } from 'node:crypto'

/** FIPS 180-4. */
export function sha256(data: Buffer, ...more: Buffer[]): Buffer {
  if (more.length === 0) return hash('sha256', data, 'buffer')
  const digest = createHash('sha256').update(data)
  for (const part of more) digest.update(part)
  return digest.digest()
}

/** RFC 2104. */
export function hmacSha256(key: KeyObject, ...parts: Buffer[]): Buffer {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** SHA-256 in base64url, 43 characters: the links of a chain. */
export function linkDigest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url')
}
