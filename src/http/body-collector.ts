// A body as it comes, in memory. Its parts are copied into blocks, since a part of a byte may hold on to much more;
// what is beyond the first block is taken from what the bodies of all threads may have together. Nothing waits for
// memory: where there is none the body is refused, so no two bodies can wait for each other (threats H-01, P-40).

export type BodyMemory = {
  /** False where there is no more: then nothing was taken. */
  addBodyKib(kib: number): boolean
  removeBodyKib(kib: number): void
}

/** What a connection may have without asking, and how much is asked for at once. */
export const BLOCK_BYTES = 65_536
const BLOCK_KIB = BLOCK_BYTES / 1024

export type Added = 'added' | 'too-large' | 'no-memory'

export class BodyCollector {
  readonly #memory: BodyMemory
  readonly #maxBytes: number
  #size = 0
  #takenKib = 0
  /** As it came, while it is the only part. */
  #first: Buffer | undefined
  #blocks: Buffer[] = []
  #room = 0

  constructor(memory: BodyMemory, maxBytes: number) {
    this.#memory = memory
    this.#maxBytes = maxBytes
  }

  add(part: Buffer): Added {
    if (this.#size + part.length > this.#maxBytes) return 'too-large'
    if (!this.#take(this.#size + part.length)) return 'no-memory'
    if (this.#size === 0 && this.#first === undefined) this.#first = part
    else {
      if (this.#first !== undefined) this.#copy(this.#first)
      this.#first = undefined
      this.#copy(part)
    }
    this.#size += part.length
    return 'added'
  }

  /** The whole body; it is not kept here, its memory counts until `release`. */
  take(): Buffer {
    const last = this.#blocks.at(-1)
    if (last !== undefined) this.#blocks[this.#blocks.length - 1] = last.subarray(0, last.length - this.#room)
    const [only] = this.#blocks
    const whole = this.#first ?? (this.#blocks.length === 1 && only !== undefined ? only : Buffer.concat(this.#blocks))
    this.#first = undefined
    this.#blocks = []
    return whole
  }

  /** Gives back what it took; what is here is forgotten. */
  release(): void {
    this.#first = undefined
    this.#blocks = []
    if (this.#takenKib > 0) this.#memory.removeBodyKib(this.#takenKib)
    this.#takenKib = 0
  }

  #take(size: number): boolean {
    const wantedKib = Math.ceil(Math.max(size - BLOCK_BYTES, 0) / BLOCK_BYTES) * BLOCK_KIB
    if (wantedKib <= this.#takenKib) return true
    if (!this.#memory.addBodyKib(wantedKib - this.#takenKib)) return false
    this.#takenKib = wantedKib
    return true
  }

  #copy(part: Buffer): void {
    for (let at = 0; at < part.length; ) {
      if (this.#room === 0) {
        this.#blocks.push(Buffer.alloc(BLOCK_BYTES))
        this.#room = BLOCK_BYTES
      }
      const copied = Math.min(this.#room, part.length - at)
      part.copy(this.#blocks.at(-1) as Buffer, BLOCK_BYTES - this.#room, at, at + copied)
      this.#room -= copied
      at += copied
    }
  }
}
