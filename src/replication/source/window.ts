/** Bytes that are under way to a secondary: sent, and not yet said to be dealt with. */
export class Window {
  readonly #most: number
  readonly #sizes: number[] = []
  /** Messages that were said to be dealt with. */
  #handled = 0
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  /** True if more may be sent. A message that is larger than the window goes alone. */
  get isOpen(): boolean {
    return this.#bytes < this.#most
  }

  sent(bytes: number): void {
    this.#sizes.push(bytes)
    this.#bytes += bytes
  }

  /** Takes an acknowledgement: so many messages since the beginning. False if fewer were sent, or none is new. */
  handled(count: number): boolean {
    const fresh = count - this.#handled
    if (fresh < 1 || fresh > this.#sizes.length) return false
    for (const bytes of this.#sizes.splice(0, fresh)) this.#bytes -= bytes
    this.#handled = count
    return true
  }
}
