import { CliError } from './cli-error.ts'
import { readInputText, STDIN } from './input.ts'
import type { CliIo } from './io.ts'
import { askSecret } from './secret-prompt.ts'

/** A secret that was not given: asked for on a terminal, else read to the end. @throws CliError where it is empty */
export async function readSecret(io: CliIo, what: string): Promise<string> {
  const secret = io.stdin.isTTY === true ? await askSecret(io, what) : withoutLineEnd(await readInputText(io, STDIN))
  if (secret === '') throw new CliError(`The ${what} is empty: hand it in on standard input`)
  return secret
}

/** Editors and `echo` end a file with a line break that is no part of the secret in it. */
export function withoutLineEnd(text: string): string {
  if (!text.endsWith('\n')) return text
  return text.slice(0, text.endsWith('\r\n') ? -2 : -1)
}
