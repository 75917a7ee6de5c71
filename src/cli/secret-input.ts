import { CliError } from './cli-error.ts'
import { readInputText, STDIN } from './input.ts'
import type { CliIo } from './io.ts'
import { askSecret } from './secret-prompt.ts'

/** Reads a secret that was not given: from the terminal, or all of standard input. @throws CliError if it is empty */
export async function readSecret(io: CliIo, what: string): Promise<string> {
  const secret = io.stdin.isTTY === true ? await askSecret(io, what) : withoutLineEnd(await readInputText(io, STDIN))
  if (secret === '') throw new CliError(`The ${what} is empty: hand it in on standard input`)
  return secret
}

/** Removes one line break at the end: editors and `echo` add it, and it is no part of a secret. */
export function withoutLineEnd(text: string): string {
  if (!text.endsWith('\n')) return text
  return text.slice(0, text.endsWith('\r\n') ? -2 : -1)
}
