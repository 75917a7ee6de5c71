/** What a due sender needs. */
export type DueSenderParts<M> = {
  /** What the peer does not have yet; undefined: it has all. */
  readonly news: () => Promise<M | undefined>
  readonly send: (message: M) => Promise<void>
}

/** Sends a peer what is newer than what it has, one after the other. */
export class DueSender<M> {
  readonly #parts: DueSenderParts<M>
  #isDue = false
  #running: Promise<void> | undefined

  constructor(parts: DueSenderParts<M>) {
    this.#parts = parts
  }

  /** Asks for news, and once more if this is called meanwhile. @throws what `news` throws, and LinkClosed */
  due(): Promise<void> {
    this.#isDue = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(): Promise<void> {
    const { news, send } = this.#parts
    while (this.#isDue) {
      this.#isDue = false
      const message = await news()
      if (message !== undefined) await send(message)
    }
  }
}
