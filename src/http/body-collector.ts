// A body as it comes, in memory. Small parts are copied into blocks, since a part of a byte may hold on to much more;
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
  /** In their order: parts as they came, and blocks, of which the last one may have room. */
  #parts: Buffer[] = []
  #room = 0

  constructor(memory: BodyMemory, maxBytes: number) {
    this.#memory = memory
    this.#maxBytes = maxBytes
  }

  add(part: Buffer): Added {
    if (this.#size + part.length > this.#maxBytes) return 'too-large'
    if (!this.#take(this.#size + part.length)) return 'no-memory'
    const isFirst = this.#parts.length === 0
    if (isFirst || ownsMemory(part)) this.#keep(part)
    else this.#copy(part)
    this.#size += part.length
    return 'added'
  }

  /** The whole body; it is not kept here, its memory counts until `release`. */
  take(): Buffer {
    this.#endBlock()
    const [only = Buffer.alloc(0)] = this.#parts
    const whole = this.#parts.length > 1 ? Buffer.concat(this.#parts, this.#size) : only
    this.#parts = []
    return whole
  }

  /** Whether it counts among the bodies of all threads. */
  get isCounted(): boolean {
    return this.#takenKib > 0
  }

  /** Gives back what it took; what is here is forgotten. */
  release(): void {
    this.#parts = []
    this.#room = 0
    if (this.#takenKib > 0) this.#memory.removeBodyKib(this.#takenKib)
    this.#takenKib = 0
  }

  #keep(part: Buffer): void {
    this.#endBlock()
    this.#parts.push(part)
  }

  /** What is free in the last block stays so. */
  #endBlock(): void {
    const last = this.#parts.at(-1)
    if (last === undefined || this.#room === 0) return
    this.#parts[this.#parts.length - 1] = last.subarray(0, last.length - this.#room)
    this.#room = 0
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
        this.#parts.push(Buffer.alloc(BLOCK_BYTES))
        this.#room = BLOCK_BYTES
      }
      const copied = Math.min(this.#room, part.length - at)
      part.copy(this.#parts.at(-1) as Buffer, BLOCK_BYTES - this.#room, at, at + copied)
      this.#room -= copied
      at += copied
    }
  }
}

/** So that what is left free in a block before such a part is at most twice its size. */
const LEAST_KEPT_BYTES = BLOCK_BYTES / 2

/** Whether to keep it costs about as much as a copy: it is large, and most of the memory that it holds on to. */
function ownsMemory(part: Buffer): boolean {
  return part.length >= LEAST_KEPT_BYTES && part.buffer.byteLength <= 2 * part.length
}
