// Prints answers: for a person as a table, for a program as JSON, YAML or one raw field.
import { type AnswerRow, answerRows, flatRows, shownValue } from './answer-rows.ts'
import { CliError } from './cli-error.ts'
import type { OutputValues } from './common-options.ts'
import { exactMember, isList, type Json, plainText } from './exact-json.ts'
import { type CliIo, writeAll } from './io.ts'
import { printable, printableJson, printableLine } from './terminal-text.ts'
import { formatYaml } from './yaml.ts'

/** Blanks between the columns of a table. */
const GAP = 4

/**
 * Prints an answer as the options ask; `table` formats it for a person, by default as rows of names and values.
 * Warnings of the server go to standard error, where scripts do not read them as part of the result.
 * @throws CliError if -field names a field that the answer does not have
 */
export async function printAnswer(
  io: CliIo,
  options: OutputValues,
  body: Json,
  table: (body: Json) => string = (answer) => formatTable(answerRows(answer)),
): Promise<void> {
  // The other formats print the warnings as a part of the answer.
  if (options.field !== undefined || options.format === 'table') await printWarnings(io, body)
  if (options.field !== undefined) return await printField(io, options, body, options.field)
  // A wrapped answer has none of the members that the command's own table shows.
  const isWrapped = (exactMember(body, 'wrap_info') ?? null) !== null
  const asTable = isWrapped ? (answer: Json) => formatTable(answerRows(answer)) : table
  await writeAll(io.stdout, options.format === 'table' ? asTable(body) : formatValue(options.format, body))
}

/** Formats a value for programs: `raw` is JSON in one line. */
function formatValue(format: OutputValues['format'], value: Json): string {
  if (format === 'json') return formatJson(value)
  return format === 'yaml' ? printable(formatYaml(value)) : `${printableJson(JSON.stringify(value))}\n`
}

/** Formats a value as JSON, with two spaces a level and a line break at the end. */
export function formatJson(value: Json): string {
  return `${printableJson(JSON.stringify(value, null, 2))}\n`
}

/** Formats names and values in two columns; further lines of a value stand under its first. */
export function formatTable(rows: readonly AnswerRow[], heads: readonly [string, string] = ['Key', 'Value']): string {
  const texts = flatRows(rows).map(([name, value]): [string, string] => [printableLine(name), shownValue(name, value)])
  const width = GAP + [heads, ...texts].reduce((widest, [name]) => Math.max(widest, name.length), 0)
  const lines = [heads, heads.map(underline), ...texts].flatMap(([name = '', text = '']) => {
    const [first = '', ...rest] = printable(text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
    return [first === '' ? name : name.padEnd(width) + first, ...rest.map((line) => ' '.repeat(width) + line)]
  })
  return `${lines.join('\n')}\n`
}

/** Formats names, one a line, under an underlined head. */
export function formatList(head: string, names: readonly Json[]): string {
  return `${[head, underline(head), ...names.map((name) => printableLine(plainText(name)))].join('\n')}\n`
}

function underline(head: string): string {
  return '-'.repeat(head.length)
}

/** Off a terminal nothing is added and nothing escaped: the file gets the value byte by byte. */
async function printField(io: CliIo, { format }: OutputValues, body: Json, name: string): Promise<void> {
  const value = findField(body, name)
  if (format === 'json' || format === 'yaml') return await writeAll(io.stdout, formatValue(format, value))
  const text = plainText(value)
  await writeAll(io.stdout, io.stdout.isTTY === true ? `${printable(text)}\n` : text)
}

/** Finds a field by the name of a table row, or of an object that the table splits into several. */
function findField(body: Json, name: string): Json {
  const rows = answerRows(body)
  const row = [...rows, ...flatRows(rows)].find(([each]) => each === name)
  if (row !== undefined) return row[1]
  throw noField(name, rows)
}

/** Lists the fields that there are: a person who mistyped one needs no second request. */
function noField(name: string, rows: readonly AnswerRow[]): CliError {
  const names = rows.map(([each]) => printableLine(each))
  const known = names.length === 0 ? 'it has no fields' : `its fields are ${names.join(', ')}`
  return new CliError(`Field "${name}" is not in the answer: ${known}`)
}

/** Warnings come from the server, so control characters in them are escaped. */
async function printWarnings(io: CliIo, body: Json): Promise<void> {
  const warnings = exactMember(body, 'warnings')
  if (!isList(warnings) || warnings.length === 0) return
  const lines = warnings.map((warning) => `* ${printable(plainText(warning))}`)
  await writeAll(io.stderr, `The server warns:\n\n${lines.join('\n')}\n\n`)
}

/** Prints one text of an answer alone, for shells to keep; the whole answer where the options ask for it. */
export async function printAlone(io: CliIo, options: OutputValues, body: Json, text: string): Promise<void> {
  if (options.format !== 'table' || options.field !== undefined) return await printAnswer(io, options, body)
  await printWarnings(io, body)
  await writeAll(io.stdout, `${printableLine(text)}\n`)
}

/** Prints the outcome of a write or deletion: the answer if the server gave one, otherwise the sentence for people. */
export async function printDone(io: CliIo, options: OutputValues, body: Json | undefined, done: string): Promise<void> {
  const isEmpty = answerRows(body).length === 0
  if (body !== undefined && (!isEmpty || options.format !== 'table' || options.field !== undefined)) {
    return await printAnswer(io, options, body)
  }
  if (options.field !== undefined) throw noField(options.field, [])
  if (body !== undefined) await printWarnings(io, body)
  if (options.format === 'table') await writeAll(io.stdout, `${done}\n`)
}
