// Counts bytes that pass through, and shows the count on a terminal.
import { type CliIo, writeAll } from './io.ts'

const SHOWN_EVERY_BYTES = 4 * 1024 * 1024
const MEBIBYTE = 1024 * 1024

/** Shows the progress of one stream on standard error, where it does not mix with the result. */
export class ByteProgress {
  /** Bytes that have passed so far. */
  bytes = 0
  readonly #io: CliIo
  readonly #total: number | undefined
  #shown = 0

  /** `total` is the number of bytes to expect; undefined if it is not known, as of standard input. */
  constructor(io: CliIo, total: number | undefined) {
    this.#io = io
    this.#total = total
  }

  /** Yields the parts of `source` unchanged. Nothing is shown before the first 4 MiB: small files need no progress. */
  async *counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of source) {
      this.bytes += part.length
      if (this.bytes - this.#shown >= SHOWN_EVERY_BYTES) await this.#show()
      yield part
    }
  }

  /** Shows the final count and ends the line, if one was written. */
  async end(): Promise<void> {
    if (this.#shown === 0) return
    await this.#show()
    if (this.#io.stderr.isTTY === true) await writeAll(this.#io.stderr, '\n')
  }

  async #show(): Promise<void> {
    this.#shown = this.bytes
    if (this.#io.stderr.isTTY !== true) return
    const of = this.#total === undefined ? '' : ` of ${mebibytes(this.#total)}`
    // CSI K erases the rest of the line, which the last count may have left longer.
    await writeAll(this.#io.stderr, `\r${mebibytes(this.bytes)}${of} MiB\u001b[K`)
  }
}

function mebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(1)
}
