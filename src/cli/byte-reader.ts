// Cuts a stream whose parts have any length into parts of the length that the reader asks for.

/** Reads a stream front to back. It buffers no more than was asked for and the rest of one part of the source. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer | string>
  #parts: Buffer[] = []
  #length = 0
  #isOver = false

  constructor(source: AsyncIterable<Buffer | string>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Returns the next `count` bytes, in a buffer of the caller's own; fewer only at the end of the input. */
  async take(count: number): Promise<Buffer> {
    await this.#fill(count)
    const taken = Buffer.alloc(Math.min(count, this.#length))
    let at = 0
    while (at < taken.length) {
      const [part = Buffer.alloc(0), ...others] = this.#parts
      const used = part.copy(taken, at)
      at += used
      this.#parts = used === part.length ? others : [part.subarray(used), ...others]
    }
    this.#length -= taken.length
    return taken
  }

  /** True if nothing is left. It reads ahead by one part, so it waits on a terminal or pipe until that comes. */
  async isAtEnd(): Promise<boolean> {
    await this.#fill(1)
    return this.#length === 0
  }

  async #fill(count: number): Promise<void> {
    while (this.#length < count && !this.#isOver) {
      const { value, done } = await this.#source.next()
      if (done === true) this.#isOver = true
      else {
        const part = typeof value === 'string' ? Buffer.from(value) : value
        this.#parts.push(part)
        this.#length += part.length
      }
    }
  }
}
