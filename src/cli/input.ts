// Files and standard input of the person, read within a limit or as a stream.
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { CliError, reasonOf } from './cli-error.ts'
import type { CliIo } from './io.ts'

/** The server takes requests of 32 MiB by default (Interface 8): a longer file cannot go into one. */
export const MAX_INPUT_BYTES = 32 * 1024 * 1024

/** The file name that means standard input. */
export const STDIN = '-'

/** Reads a file, or standard input for `-`, into memory. @throws CliError, beyond the limit with the text `tooLarge` */
export async function readInput(io: CliIo, name: string, limitBytes: number, tooLarge: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of name === STDIN ? io.stdin : createReadStream(name)) {
      const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      bytes += part.length
      if (bytes > limitBytes) throw new CliError(tooLarge)
      chunks.push(part)
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`Cannot read ${inputName(name)}: ${reasonOf(error)}`, error)
  }
  return Buffer.concat(chunks)
}

/** Reads a whole text, line breaks at its end included. @throws CliError if it is too large or not UTF-8 */
export async function readInputText(io: CliIo, name: string): Promise<string> {
  const tooLarge = `${inputName(name)} has more than the 32 MiB that a request may have`
  const bytes = await readInput(io, name, MAX_INPUT_BYTES, tooLarge)
  if (!isUtf8(bytes)) throw new CliError(`${inputName(name)} is not UTF-8 text; binary data travels as base64`)
  return bytes.toString('utf8')
}

/** Returns the name of an input for messages. */
export function inputName(name: string): string {
  return name === STDIN ? 'standard input' : name
}

const PART_BYTES = 1024 * 1024

/** Yields the bytes of a file of any size, in parts of at most 1 MiB. @throws CliError */
export async function* readParts(file: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(file, { highWaterMark: PART_BYTES }) as AsyncIterable<Buffer>
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${reasonOf(error)}`, error)
  }
}

/** Yields the bytes of a file of any size, or of standard input for `-`. @throws CliError */
export async function* readAny(io: CliIo, name: string): AsyncGenerator<Buffer> {
  if (name !== STDIN) {
    yield* readParts(name)
    return
  }
  try {
    for await (const part of io.stdin) yield typeof part === 'string' ? Buffer.from(part) : part
  } catch (error) {
    throw new CliError(`Cannot read ${inputName(name)}: ${reasonOf(error)}`, error)
  }
}

/** Returns the number of bytes; undefined if only the end will tell, as of a pipe. Only progress depends on it. */
export async function inputSize(name: string): Promise<number | undefined> {
  if (name === STDIN) return undefined
  const found = await stat(name).catch(() => undefined)
  return found?.isFile() === true ? found.size : undefined
}
