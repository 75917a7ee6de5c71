import type { Random } from '../../lib/world.ts'

/** The source of randomness, handed in: `world.random.bytes`. */
export type RandomBytes = Random['bytes']

/**
 * The random source gave bytes that cannot be random. The operation that needed them must not happen (threats C-03).
 */
export class RandomnessFailed extends Error {
  override name = 'RandomnessFailed'
}

/** From this size on, nothing but zeros means a broken source: by chance that happens once in 2^96 draws. */
const SHORTEST_CHECKED_BYTES = 12

/**
 * Draws exactly `count` bytes, the caller's to wipe.
 * @throws RandomnessFailed for a short draw or one of nothing but zeros
 */
export function freshBytes(random: RandomBytes, count: number): Buffer {
  const bytes = random(count)
  if (bytes.length !== count) throw new RandomnessFailed(`Asked for ${count} random bytes, got ${bytes.length}`)
  if (count >= SHORTEST_CHECKED_BYTES && isZero(bytes)) throw new RandomnessFailed('The random source gave only zeros')
  return bytes
}

function isZero(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0) return false
  }
  return true
}
