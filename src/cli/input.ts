// Files and standard input of the caller, read within a limit.
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { CliError, reasonOf } from './cli-error.ts'
import type { CliIo } from './io.ts'

/** A request has at most 32 MiB by default, and what goes into one has no more. */
export const MAX_INPUT_BYTES = 32 * 1024 * 1024

/** Stands for standard input where a file name is expected. */
export const STDIN = '-'

/** The bytes of a file, or of standard input for `-`. @throws CliError, `tooLarge` where it has more than the limit */
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

/** The whole text, line breaks at its end included. */
export async function readInputText(io: CliIo, name: string): Promise<string> {
  const tooLarge = `${inputName(name)} has more than the 32 MiB that a request may have`
  const bytes = await readInput(io, name, MAX_INPUT_BYTES, tooLarge)
  if (!isUtf8(bytes)) throw new CliError(`${inputName(name)} is not UTF-8 text; binary data travels as base64`)
  return bytes.toString('utf8')
}

export function inputName(name: string): string {
  return name === STDIN ? 'standard input' : name
}

const PART_BYTES = 1024 * 1024

/** The bytes of a file of any size, as they are read. @throws CliError */
export async function* readParts(file: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(file, { highWaterMark: PART_BYTES }) as AsyncIterable<Buffer>
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${reasonOf(error)}`, error)
  }
}

/** The bytes of a file of any size, or of standard input for `-`. @throws CliError */
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

/** Bytes that there are; undefined where that is not known before the end. */
export async function inputSize(name: string): Promise<number | undefined> {
  if (name === STDIN) return undefined
  const found = await stat(name).catch(() => undefined)
  return found?.isFile() === true ? found.size : undefined
}
