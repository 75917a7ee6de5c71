// A set of pages of a file, a bit for each: a file of a gigabyte may have a hundred thousand that nothing uses, and who
// works in short steps cannot wait until they are all in a Set.

/** Pages from 1 up to the last one of a file. */
export class PageSet {
  readonly #bits: Uint8Array

  constructor(pages: number) {
    this.#bits = new Uint8Array((pages >>> 3) + 1)
  }

  /** Adds a page. One behind the end of the file is left out. */
  add(page: number): void {
    const at = page >>> 3
    if (at < this.#bits.length) this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (page & 7))
  }

  has(page: number): boolean {
    return ((this.#bits[page >>> 3] ?? 0) & (1 << (page & 7))) !== 0
  }
}
