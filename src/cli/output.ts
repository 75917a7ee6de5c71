// How answers are printed: for a person as a table, for a program as JSON or as one raw field.
import { type AnswerRow, answerRows, flatRows, shownValue } from './answer-rows.ts'
import { CliError } from './cli-error.ts'
import type { OutputValues } from './common-options.ts'
import { exactMember, isList, type Json, plainText } from './exact-json.ts'
import { type CliIo, writeAll } from './io.ts'
import { printable, printableJson, printableLine } from './terminal-text.ts'
import { formatYaml } from './yaml.ts'

/** Between the columns of a table. */
const GAP = 4

/** Prints what the options ask for; `table` says how that looks, by default as rows of names and values. */
export async function printAnswer(
  io: CliIo,
  options: OutputValues,
  body: Json,
  table: (body: Json) => string = (answer) => formatTable(answerRows(answer)),
): Promise<void> {
  // In JSON they are part of what is printed.
  if (options.field !== undefined || options.format === 'table') await printWarnings(io, body)
  if (options.field !== undefined) return await printField(io, options, body, options.field)
  // A wrapped answer looks like any other.
  const isWrapped = (exactMember(body, 'wrap_info') ?? null) !== null
  const asTable = isWrapped ? (answer: Json) => formatTable(answerRows(answer)) : table
  await writeAll(io.stdout, options.format === 'table' ? asTable(body) : formatValue(options.format, body))
}

/** The value for programs: `raw` is JSON in one line. */
function formatValue(format: OutputValues['format'], value: Json): string {
  if (format === 'json') return formatJson(value)
  return format === 'yaml' ? printable(formatYaml(value)) : `${printableJson(JSON.stringify(value))}\n`
}

/** The whole value with two spaces a level. */
export function formatJson(value: Json): string {
  return `${printableJson(JSON.stringify(value, null, 2))}\n`
}

/** Names and values in two columns; further lines of a value stand under its first. */
export function formatTable(rows: readonly AnswerRow[], heads: readonly [string, string] = ['Key', 'Value']): string {
  const texts = flatRows(rows).map(([name, value]): [string, string] => [printableLine(name), shownValue(name, value)])
  const width = GAP + [heads, ...texts].reduce((widest, [name]) => Math.max(widest, name.length), 0)
  const lines = [heads, heads.map(underline), ...texts].flatMap(([name = '', text = '']) => {
    const [first = '', ...rest] = printable(text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
    return [first === '' ? name : name.padEnd(width) + first, ...rest.map((line) => ' '.repeat(width) + line)]
  })
  return `${lines.join('\n')}\n`
}

/** One name a line. */
export function formatList(head: string, names: readonly Json[]): string {
  return `${[head, underline(head), ...names.map((name) => printableLine(plainText(name)))].join('\n')}\n`
}

function underline(head: string): string {
  return '-'.repeat(head.length)
}

async function printField(io: CliIo, { format }: OutputValues, body: Json, name: string): Promise<void> {
  const value = findField(body, name)
  if (format === 'json' || format === 'yaml') return await writeAll(io.stdout, formatValue(format, value))
  const text = plainText(value)
  await writeAll(io.stdout, io.stdout.isTTY === true ? `${printable(text)}\n` : text)
}

/** By the name of a table row, or of an object that the table shows in several. */
function findField(body: Json, name: string): Json {
  const rows = answerRows(body)
  const row = [...rows, ...flatRows(rows)].find(([each]) => each === name)
  if (row !== undefined) return row[1]
  throw noField(name, rows)
}

function noField(name: string, rows: readonly AnswerRow[]): CliError {
  const names = rows.map(([each]) => printableLine(each))
  const known = names.length === 0 ? 'it has no fields' : `its fields are ${names.join(', ')}`
  return new CliError(`Field "${name}" is not in the answer: ${known}`)
}

async function printWarnings(io: CliIo, body: Json): Promise<void> {
  const warnings = exactMember(body, 'warnings')
  if (!isList(warnings) || warnings.length === 0) return
  const lines = warnings.map((warning) => `* ${printable(plainText(warning))}`)
  await writeAll(io.stderr, `The server warns:\n\n${lines.join('\n')}\n\n`)
}

/** After a write or a deletion: the answer where the server gave one, otherwise the sentence, which is for people. */
export async function printDone(io: CliIo, options: OutputValues, body: Json | undefined, done: string): Promise<void> {
  const isEmpty = answerRows(body).length === 0
  if (body !== undefined && (!isEmpty || options.format !== 'table' || options.field !== undefined)) {
    return await printAnswer(io, options, body)
  }
  if (options.field !== undefined) throw noField(options.field, [])
  if (body !== undefined) await printWarnings(io, body)
  if (options.format === 'table') await writeAll(io.stdout, `${done}\n`)
}
