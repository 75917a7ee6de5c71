// Hashes of stored and sent bytes. Each has a name of its own, so that no caller chooses an algorithm by a string.
// Parts are hashed one after the other: the caller makes sure that bytes cannot move from one part to the next.
import { createHash, createHmac, hash, type KeyObject } from 'node:crypto'

/** SHA-256 (FIPS 180-4) of all parts, 32 bytes. */
export function sha256(data: Buffer, ...more: Buffer[]): Buffer {
  if (more.length === 0) return hash('sha256', data, 'buffer')
  const digest = createHash('sha256').update(data)
  for (const part of more) digest.update(part)
  return digest.digest()
}

/** SHA-256 of parts that come one by one. */
export class RunningDigest {
  readonly #hash = createHash('sha256')

  take(part: Buffer): void {
    this.#hash.update(part)
  }

  /** The digest of all that was taken. Nothing may be taken behind it. */
  end(): Buffer {
    return this.#hash.digest()
  }
}

/** HMAC-SHA-256 (RFC 2104) of all parts, 32 bytes. */
export function hmacSha256(key: KeyObject, ...parts: Buffer[]): Buffer {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** SHA-256 in base64url, 43 characters: the links of hash chains. */
export function linkDigest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url')
}
