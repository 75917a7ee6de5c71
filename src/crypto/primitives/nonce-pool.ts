import { freshBytes, type RandomBytes, RandomnessFailed } from './random-bytes.ts'

/** One draw of the random source serves about 4,000 messages; each draw costs microseconds by itself. */
const POOL_BYTES = 48 * 1024

/** For ciphers that take no nonce. */
const NO_NONCE = Buffer.alloc(0)

/**
 * Gives random nonces out of a pool, so that a message does not pay for a draw. No byte is given twice (threats P-11):
 * given bytes are zeroed in the pool, and each thread has a pool of its own.
 */
export class NoncePool {
  readonly #random: RandomBytes
  readonly #poolBytes: number
  #pool: Buffer = Buffer.alloc(0)
  #at = 0

  constructor(random: RandomBytes, poolBytes = POOL_BYTES) {
    this.#random = random
    this.#poolBytes = poolBytes
  }

  /**
   * A fresh nonce, in a buffer of the caller's.
   * @throws RandomnessFailed if the source is broken: nothing may be sealed then (threats C-03)
   */
  take(nonceBytes: number): Buffer {
    if (nonceBytes === 0) return NO_NONCE
    if (this.#at + nonceBytes > this.#pool.length) this.#refill(nonceBytes)
    const slice = this.#pool.subarray(this.#at, this.#at + nonceBytes)
    this.#at += nonceBytes
    let seen = 0
    for (let at = 0; at < nonceBytes; at += 1) seen |= slice[at] ?? 0
    // Zeros are also what a slice that was given before would look like.
    if (seen === 0) throw new RandomnessFailed('A nonce of nothing but zeros was drawn')
    // A copy in Node's shared pool of buffers: OpenSSL reads one there 0.2 µs faster than a small one of its own.
    const nonce = Buffer.from(slice)
    slice.fill(0)
    return nonce
  }

  #refill(nonceBytes: number): void {
    this.#pool.fill(0)
    this.#pool = freshBytes(this.#random, Math.max(this.#poolBytes, nonceBytes))
    this.#at = 0
  }
}
