// Randomness that a test can repeat: from a seed (test/fixtures/seed.ts), or from a fixed one where nothing depends on
// it. For tests only, never for keys.
import type { Random } from '../../src/lib/world.ts'

/** The generator "mulberry32" (public domain): 32 bits of state, good enough to choose test inputs. */
export class SeededRandom implements Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor(this.#next() * end)
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('Nothing to pick from')
    return item
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count)
    for (let at = 0; at < count; at++) bytes[at] = this.below(256)
    return bytes
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
