// Passes bytes on and shows on a terminal how many there were.
import { type CliIo, writeAll } from './io.ts'

const SHOWN_EVERY_BYTES = 4 * 1024 * 1024
const MEBIBYTE = 1024 * 1024

export class ByteProgress {
  bytes = 0
  readonly #io: CliIo
  readonly #total: number | undefined
  #shown = 0

  /** `total` is undefined where it is not known. */
  constructor(io: CliIo, total: number | undefined) {
    this.#io = io
    this.#total = total
  }

  async *around(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of source) {
      this.bytes += part.length
      if (this.bytes - this.#shown >= SHOWN_EVERY_BYTES) await this.#show()
      yield part
    }
  }

  /** Leaves the line, where one was written. */
  async end(): Promise<void> {
    if (this.#shown === 0) return
    await this.#show()
    if (this.#io.stderr.isTTY === true) await writeAll(this.#io.stderr, '\n')
  }

  async #show(): Promise<void> {
    this.#shown = this.bytes
    if (this.#io.stderr.isTTY !== true) return
    const of = this.#total === undefined ? '' : ` of ${mebibytes(this.#total)}`
    await writeAll(this.#io.stderr, `\r${mebibytes(this.bytes)}${of} MiB\u001b[K`)
  }
}

function mebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(1)
}
