// Collects a body in memory as it arrives. Its parts are copied into blocks, since a part of one byte may keep a much
// larger buffer alive. Memory beyond the first block is taken from a budget that the bodies of all threads share.
// Nothing waits for memory: a body that finds none is refused, so no two bodies can wait for each other. Memory that is
// done with is freed at once, since what waits for the garbage collector counts in no budget (threats H-01, P-40).
import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { letGo } from '../lib/let-go.ts'
import type { BodyMemory, BodyOwner, Taken } from './shared-figures.ts'

/** Memory that each connection has without asking; beyond it, also how much is asked for at a time. */
export const BLOCK_BYTES = 65_536
const BLOCK_KIB = BLOCK_BYTES / 1024

/** The result of adding a part: added, beyond a limit, or refused for lack of memory. */
export type Added = 'added' | 'too-large' | 'too-large-for-strangers' | Exclude<Taken, 'taken'>

/** The body of one request. A body that counts in the budget must be released when its last reader is done. */
export class BodyCollector {
  readonly #memory: BodyMemory
  readonly #maxBytes: number
  #owner: BodyOwner
  #size = 0
  #takenKib = 0
  /** Parts in their order: the first as it arrived, then blocks, of which the last may have room. */
  #parts: Buffer[] = []
  #room = 0
  #whole: Buffer | undefined

  constructor(memory: BodyMemory, maxBytes: number, address: string) {
    this.#memory = memory
    this.#maxBytes = maxBytes
    this.#owner = { address, hasLiveToken: true }
  }

  /** Bytes collected so far. */
  get size(): number {
    return this.#size
  }

  /**
   * Applies the smaller limit of callers without a live token. Call it before anything was taken from the shared
   * budget.
   */
  limitToStrangers(): void {
    this.#owner = { ...this.#owner, hasLiveToken: false }
  }

  /** Adds a part, and takes over its memory if it is alone in its buffer. On refusal the part stays the caller's. */
  add(part: Buffer): Added {
    // A copied part may be freed, and its length is then 0: so the size is computed first.
    const size = this.#size + part.length
    if (size > this.#maxBytes) return 'too-large'
    if (size > MAX_OPEN_BODY_BYTES && !this.#owner.hasLiveToken) return 'too-large-for-strangers'
    const taken = this.#take(size)
    if (taken !== 'taken') return taken
    // Most bodies arrive in one part, which needs no copy.
    if (this.#parts.length === 0) this.#parts.push(part)
    else this.#copy(part)
    this.#size = size
    return 'added'
  }

  /** Returns the whole body. If it counts in the budget, it does so until `release`, which also frees its bytes. */
  take(): Buffer {
    const [only = Buffer.alloc(0)] = this.#parts
    const whole = this.#parts.length > 1 ? this.#join() : only
    this.#parts = []
    if (this.isCounted) this.#whole = whole
    return whole
  }

  /**
   * Joins the parts and frees each once it is copied, so that only one part at a time is in memory twice. Unused space
   * at the end of the last block is not copied.
   */
  #join(): Buffer {
    const whole = Buffer.alloc(this.#size)
    let at = 0
    for (const part of this.#parts) {
      at += part.copy(whole, at)
      letGo(part)
    }
    return whole
  }

  /** True if the body counts in the budget of all threads. */
  get isCounted(): boolean {
    return this.#takenKib > 0
  }

  /** Returns the memory to the budget and frees the bytes. Calling it again does nothing. */
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
