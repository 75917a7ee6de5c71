// The data of a request as it is typed: `name=value`, `name=@file`, `name=-`, `@file.json`, `-`. The forms are those of
// the reference's command line.
import { CliError, UsageError } from './cli-error.ts'
import { isList, isMembers, type Json, parseExactText } from './exact-json.ts'
import { inputName, readInputText, STDIN } from './input.ts'
import type { CliIo } from './io.ts'

/** Fields by name. Typed values are text, which the server decodes; a repeated name collects its values in a list. */
export type Data = ReadonlyMap<string, Json>

/** Parses the words. @throws CliError, which gives the position of a word and never its text: it may be a secret */
export async function readData(io: CliIo, words: readonly string[]): Promise<Data> {
  const data = new Map<string, Json>()
  // Standard input is empty the second time: a field would silently become the empty text.
  let stdinRead = false
  const textOf = async (name: string): Promise<string> => {
    if (name === STDIN && stdinRead) throw new UsageError('standard input ("-") can be read only once')
    stdinRead ||= name === STDIN
    return await readInputText(io, name)
  }
  for (const [index, word] of words.entries()) {
    if (word === STDIN || word.startsWith('@')) {
      const name = word === STDIN ? STDIN : word.slice(1)
      for (const [member, value] of documentMembers(name, await textOf(name))) data.set(member, value)
      continue
    }
    const equals = word.indexOf('=')
    if (equals < 1) throw new UsageError(`word ${index + 1} of the data is not NAME=VALUE, @FILE or -`)
    add(data, word.slice(0, equals), await typedValue(word.slice(equals + 1), textOf))
  }
  return data
}

/** Returns the body of a request, as JSON text. */
export function dataBody(data: Data): string {
  return JSON.stringify(Object.fromEntries(data))
}

/** Returns the query of a request. A list repeats its name. */
export function dataQuery(data: Data): [name: string, value: string][] {
  return [...data].flatMap(([name, value]) =>
    (isList(value) ? value : [value]).map((each): [string, string] => [
      name,
      typeof each === 'string' ? each : JSON.stringify(each),
    ]),
  )
}

/** A backslash before `@` stands for the sign itself. */
async function typedValue(typed: string, textOf: (name: string) => Promise<string>): Promise<string> {
  if (typed === STDIN) return await textOf(STDIN)
  if (typed.startsWith('@')) return await textOf(typed.slice(1))
  return typed.startsWith('\\@') ? typed.slice(1) : typed
}

function documentMembers(name: string, text: string): [string, Json][] {
  const document = parseExactText(text)
  if (!isMembers(document)) throw new CliError(`${inputName(name)} must hold a JSON object, like {"type": "ed25519"}`)
  return Object.entries(document)
}

function add(data: Map<string, Json>, name: string, value: string): void {
  const before = data.get(name)
  if (before === undefined) data.set(name, value)
  else data.set(name, isList(before) ? [...before, value] : [before, value])
}
