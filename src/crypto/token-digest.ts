import { createHmac, hash, type KeyObject } from 'node:crypto'

/**
 * HMAC-SHA-256 of a text, in hex. A token is stored under it, so the store holds nothing that could be presented
 * (threats T-13). It has a key because accessors and short tokens could otherwise be found by trying. 1.5 µs.
 */
export function keyedDigest(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

/**
 * SHA-256 of prefix and text, in base64, for keys of caches inside one process. The time of a lookup then reveals
 * something of a digest, not of a token. The prefix is random, drawn once a process, and has a fixed length. 0.3 µs.
 */
export function fastDigest(prefix: string, text: string): string {
  return hash('sha256', prefix + text, 'base64')
}

/** The first 64 bits of `fastDigest`, as two whole numbers; never both 0. For tables in memory. */
export function digestNumbers(prefix: string, text: string): readonly [number, number] {
  const digest = hash('sha256', prefix + text, 'buffer')
  const [high, low] = [digest.readInt32LE(0), digest.readInt32LE(4)]
  return [high, high === 0 && low === 0 ? 1 : low]
}
