// A body as it comes, in memory. Its parts are copied into blocks, since a part of a byte may hold on to much more;
// what is beyond the first block is taken from what the bodies of all threads may have together. Nothing waits for
// memory: where there is none the body is refused, so no two bodies can wait for each other. What is done with is freed
// at once: what waits for a collection counts nowhere (threats H-01, P-40).
import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { letGo } from '../lib/let-go.ts'
import type { BodyMemory, BodyOwner, Taken } from './shared-figures.ts'

/** What a connection may have without asking, and how much is asked for at once. */
export const BLOCK_BYTES = 65_536
const BLOCK_KIB = BLOCK_BYTES / 1024

export type Added = 'added' | 'too-large' | 'too-large-for-strangers' | Exclude<Taken, 'taken'>

export class BodyCollector {
  readonly #memory: BodyMemory
  readonly #maxBytes: number
  #owner: BodyOwner
  #size = 0
  #takenKib = 0
  /** In their order: the first as it came, then blocks, of which the last one may have room. */
  #parts: Buffer[] = []
  #room = 0
  #whole: Buffer | undefined

  constructor(memory: BodyMemory, maxBytes: number, address: string) {
    this.#memory = memory
    this.#maxBytes = maxBytes
    this.#owner = { address, hasLiveToken: true }
  }

  get size(): number {
    return this.#size
  }

  /** Before anything was taken that counts. */
  limitToStrangers(): void {
    this.#owner = { ...this.#owner, hasLiveToken: false }
  }

  /** Takes over the memory of the part where nothing else lies in it. */
  add(part: Buffer): Added {
    // Of a part that is copied nothing is left.
    const size = this.#size + part.length
    if (size > this.#maxBytes) return 'too-large'
    if (size > MAX_OPEN_BODY_BYTES && !this.#owner.hasLiveToken) return 'too-large-for-strangers'
    const taken = this.#take(size)
    if (taken !== 'taken') return taken
    // Most bodies come in one part.
    if (this.#parts.length === 0) this.#parts.push(part)
    else this.#copy(part)
    this.#size = size
    return 'added'
  }

  /** The whole body; what it takes counts until `release`, which empties a body that counts. */
  take(): Buffer {
    const [only = Buffer.alloc(0)] = this.#parts
    const whole = this.#parts.length > 1 ? this.#join() : only
    this.#parts = []
    if (this.isCounted) this.#whole = whole
    return whole
  }

  /** Never twice in memory: each part is freed when it is copied. What is free in the last block is left behind. */
  #join(): Buffer {
    const whole = Buffer.alloc(this.#size)
    let at = 0
    for (const part of this.#parts) {
      at += part.copy(whole, at)
      letGo(part)
    }
    return whole
  }

  /** Whether it counts among the bodies of all threads. */
  get isCounted(): boolean {
    return this.#takenKib > 0
  }

  /** Gives back what it took; what is here is forgotten. */
  release(): void {
    for (const part of this.#parts) letGo(part)
    this.#parts = []
    this.#room = 0
    if (this.#whole !== undefined) letGo(this.#whole)
    this.#whole = undefined
    if (this.#takenKib > 0) this.#memory.removeBodyKib(this.#takenKib, this.#owner)
    this.#takenKib = 0
  }

  #take(size: number): Taken {
    const wantedKib = Math.ceil(Math.max(size - BLOCK_BYTES, 0) / BLOCK_BYTES) * BLOCK_KIB
    if (wantedKib <= this.#takenKib) return 'taken'
    const taken = this.#memory.addBodyKib(wantedKib - this.#takenKib, this.#owner)
    if (taken === 'taken') this.#takenKib = wantedKib
    return taken
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
    letGo(part)
  }
}
