import { asciiTrim } from '../lib/ascii.ts'
import { CliError } from './cli-error.ts'
import { readInputText, STDIN } from './input.ts'
import type { CliIo } from './io.ts'
import { askSecret } from './secret-prompt.ts'

/**
 * Reads a share: from the argument, from standard input for `-`, or without an argument from the terminal. `what` names
 * it at the prompt. @throws CliError if it is empty
 */
export async function readShare(io: CliIo, typed: string | undefined, what: string): Promise<string> {
  const key = await shareText(io, typed, what)
  if (key === '')
    throw new CliError(`The ${what.toLowerCase()} is empty: it is one of the keys that \`operator init\` showed`)
  return key
}

async function shareText(io: CliIo, typed: string | undefined, what: string): Promise<string> {
  if (typed !== undefined && typed !== STDIN) return asciiTrim(typed)
  if (typed === undefined && io.stdin.isTTY === true) return await askSecret(io, what)
  return asciiTrim(await readInputText(io, STDIN))
}
