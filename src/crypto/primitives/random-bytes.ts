import type { Random } from '../../lib/world.ts'

/** Where randomness comes from: `world.random.bytes`, handed in. */
export type RandomBytes = Random['bytes']

/** The random source gave what cannot be random bytes; whatever needed them must not happen (threats C-03). */
export class RandomnessFailed extends Error {
  override name = 'RandomnessFailed'
}

/** From this size on, nothing but zeros is a broken source: chance alone gives it once in 2^96 draws. */
const SHORTEST_CHECKED_BYTES = 12

/**
 * Draws exactly `count` bytes.
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
