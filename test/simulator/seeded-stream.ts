// Randomness of a simulation, keys included: streams that a seed and a name give. Those of two names have nothing in
// common, so what one server draws changes nothing for another.
import { createCipheriv, createHash } from 'node:crypto'
import type { Random } from '../../src/lib/world.ts'

const NO_COUNTER = Buffer.alloc(16)
const WORD_BYTES = 6
/** What the cipher gives at once: most draws are of a few bytes. */
const BLOCK = Buffer.alloc(4_096)

/** The key stream of AES-256 in counter mode. Of no use for real keys: a seed can be guessed. */
export class SeededStream implements Random {
  readonly #cipher
  #drawn = Buffer.alloc(0)

  constructor(seed: number, name: string) {
    this.#cipher = createCipheriv('aes-256-ctr', createHash('sha256').update(`${seed} ${name}`).digest(), NO_COUNTER)
  }

  readonly bytes = (count: number): Buffer => {
    while (this.#drawn.length < count) this.#drawn = Buffer.concat([this.#drawn, this.#cipher.update(BLOCK)])
    const bytes = Buffer.from(this.#drawn.subarray(0, count))
    this.#drawn = this.#drawn.subarray(count)
    return bytes
  }

  /** Of version 4, as real ones. */
  readonly uuid = (): string => {
    const bytes = this.bytes(16)
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }

  /** From 0 to `end` - 1. */
  readonly below = (end: number): number => this.bytes(WORD_BYTES).readUIntBE(0, WORD_BYTES) % end

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('Nothing to pick from')
    return item
  }
}
