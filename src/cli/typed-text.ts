// A text that is typed as an argument or an option: itself, the name of a file behind `@`, or `-` for standard input.
import { asciiTrim } from '../lib/ascii.ts'
import { CliError } from './cli-error.ts'
import { readInputText, STDIN } from './input.ts'
import type { CliIo } from './io.ts'
import { readSecret } from './secret-input.ts'

/** Returns the text without blanks at its ends: files and `echo` add a line break. @throws CliError */
export async function readTypedText(io: CliIo, typed: string): Promise<string> {
  if (typed === STDIN) return asciiTrim(await readInputText(io, STDIN))
  return asciiTrim(typed.startsWith('@') ? await readInputText(io, typed.slice(1)) : typed)
}

/**
 * Returns a secret in one of these forms. What was not typed is asked for on the terminal, or is all of standard input:
 * other users of the machine can see what is typed as an argument. @throws CliError if it is empty
 */
export async function readTypedSecret(io: CliIo, typed: string | undefined, what: string): Promise<string> {
  if (typed === undefined) return asciiTrim(await readSecret(io, what))
  const text = await readTypedText(io, typed)
  if (text === '') throw new CliError(`The ${what} is empty`)
  return text
}
