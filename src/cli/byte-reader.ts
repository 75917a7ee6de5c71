// Bytes that come in parts of any length, taken in parts of wanted ones.

export class ByteReader {
  readonly #source: AsyncIterator<Buffer | string>
  #parts: Buffer[] = []
  #length = 0
  #isOver = false

  constructor(source: AsyncIterable<Buffer | string>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next `count` bytes; fewer only where there are no more. */
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

  /** Whether the input has ended. */
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
