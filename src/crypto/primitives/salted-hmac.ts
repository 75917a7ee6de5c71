// HMAC-SHA-256 of many short texts under one key, for the audit log, which needs several for each line. Two one-shot
// hashes over prepared pads take 0.9 µs; the streaming interface takes 1.9 µs.
import { createHmac, hash } from 'node:crypto'
import { importSecret } from './secret-key.ts'

/** RFC 2104: block and output of SHA-256, in bytes. */
const BLOCK = 64
const OUTPUT = 32
const INNER_PAD = 0x36
const OUTER_PAD = 0x5c
/** Texts that may need more bytes than this take the streaming interface, whose start is then cheap beside the text. */
const SCRATCH = 8_192
/** Bytes in UTF-8 for one unit of a JavaScript string. */
const MOST_BYTES_A_UNIT = 3

/** Keeps the key in its own memory until `wipe`; digests computed after that mean nothing. */
export class SaltedHmac {
  /** The inner pad, followed by the message. */
  readonly #inner = Buffer.alloc(BLOCK + SCRATCH)
  /** The outer pad, followed by the inner digest. */
  readonly #outer = Buffer.alloc(BLOCK + OUTPUT)
  readonly #key: Buffer
  /** Views of `#inner` by the length of the message: making one costs a tenth of the whole. */
  readonly #views: (Buffer | undefined)[] = []
  readonly #ofNothing: string

  /** Copies `key`, which has at most 64 bytes; the caller wipes its own buffer. */
  constructor(key: Buffer) {
    if (key.length > BLOCK) throw new Error('A key of more than one block would have to be hashed first')
    this.#key = Buffer.alloc(key.length)
    key.copy(this.#key)
    for (let at = 0; at < BLOCK; at++) {
      const byte = key[at] ?? 0
      this.#inner[at] = byte ^ INNER_PAD
      this.#outer[at] = byte ^ OUTER_PAD
    }
    this.#ofNothing = this.#finish(0)
  }

  /** The HMAC of the text in UTF-8, as 64 hexadecimal digits. */
  hexOf(text: string): string {
    // Most members of most items of a batch are empty.
    if (text === '') return this.#ofNothing
    if (text.length * MOST_BYTES_A_UNIT > SCRATCH) return this.#streamed(text)
    return this.#finish(this.#inner.write(text, BLOCK, 'utf8'))
  }

  /** The HMAC of bytes, as 64 hexadecimal digits. */
  hexOfBytes(bytes: Uint8Array): string {
    if (bytes.length > SCRATCH) return this.#streamed(bytes)
    this.#inner.set(bytes, BLOCK)
    return this.#finish(bytes.length)
  }

  #finish(length: number): string {
    let view = this.#views[length]
    if (view === undefined) {
      view = this.#inner.subarray(0, BLOCK + length)
      this.#views[length] = view
    }
    this.#outer.write(hash('sha256', view, 'latin1'), BLOCK, 'latin1')
    return hash('sha256', this.#outer, 'hex')
  }

  #streamed(message: string | Uint8Array): string {
    return createHmac('sha256', importSecret(this.#key)).update(message).digest('hex')
  }

  /** Overwrites key, pads and the last message. */
  wipe(): void {
    this.#key.fill(0)
    this.#inner.fill(0)
    this.#outer.fill(0)
  }
}
