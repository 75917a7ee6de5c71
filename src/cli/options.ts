// Options of the command line, declared once: the parser, the environment variables and the help are derived from the
// declaration.
import { nearest } from '../lib/nearest.ts'
import { own } from '../lib/own.ts'
import { UsageError } from './cli-error.ts'

type Common = {
  readonly about: string
  /** One letter that means the same. */
  readonly short?: string
  /** Variables that give the value where the option is missing; the first that is not empty counts. */
  readonly env?: readonly string[]
}
/** `default` is false where it is missing. */
export type FlagOption = Common & { readonly kind: 'flag'; readonly default?: boolean }
export type TextOption = Common & {
  readonly kind: 'text'
  /** What stands for the value in the help. */
  readonly value: string
  readonly oneOf?: readonly string[]
  readonly default?: string
}
export type NumberOption = Common & { readonly kind: 'number'; readonly value: string; readonly default?: number }
/** May be given several times. */
export type TextsOption = Common & { readonly kind: 'texts'; readonly value: string }
export type Option = FlagOption | TextOption | TextsOption | NumberOption
export type OptionTable = { readonly [name: string]: Option }

type ValueOf<O extends Option> = O extends { kind: 'flag' }
  ? boolean
  : O extends { kind: 'texts' }
    ? readonly string[]
    : O extends { kind: 'text' }
      ? O extends { default: string }
        ? string
        : string | undefined
      : O extends { default: number }
        ? number
        : number | undefined

/** The values of a table's options, by name. */
export type OptionValues<T extends OptionTable> = { readonly [K in keyof T]: ValueOf<T[K]> }

export type Parsed<T extends OptionTable> =
  | { readonly kind: 'help' }
  | { readonly kind: 'call'; readonly options: OptionValues<T>; readonly args: readonly string[] }

const HELP = ['h', 'help']
const TRUE = ['1', 't', 'true']
const FALSE = ['0', 'f', 'false']

/**
 * Options may stand before, between and behind the arguments, up to `--`; each with one dash or two, its value behind
 * `=` or as the next word. A single `-` is an argument. The last of the same name counts, unless the option collects.
 * @throws UsageError
 */
export function parseOptions<T extends OptionTable>(
  table: T,
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Parsed<T> {
  const given = new Map<string, string[]>()
  const args: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') {
      args.push(...words.slice(at + 1))
      break
    }
    if (!isOption(word)) {
      args.push(word)
      continue
    }
    if (isHelp(word)) return { kind: 'help' }
    const found = readOption(table, words, at)
    given.set(found.name, [...(given.get(found.name) ?? []), found.text])
    at += found.width - 1
  }
  const values = Object.entries(table).map(([name, option]) => [name, optionValue(name, option, given.get(name), env)])
  return { kind: 'call', options: Object.fromEntries(values) as OptionValues<T>, args }
}

export function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-'
}

export function isHelp(word: string): boolean {
  return HELP.includes(nameOf(word))
}

type Found = {
  readonly name: string
  readonly text: string
  /** Words that the option takes: two where the value is the next one. */
  readonly width: 1 | 2
}

/**
 * The option at `words[at]`.
 * @throws UsageError naming the nearest option where there is none of that name, never the value
 */
export function readOption(table: OptionTable, words: readonly string[], at: number): Found {
  const word = words[at] ?? ''
  const name = fullName(table, nameOf(word))
  const option = own(table, name)
  const equals = word.indexOf('=')
  if (equals !== -1) return { name, text: word.slice(equals + 1), width: 1 }
  if (option?.kind === 'flag') return { name, text: 'true', width: 1 }
  const next = words[at + 1]
  if (next === undefined) throw new UsageError(`-${name} needs a value: -${name}=${option?.value}`)
  return { name, text: next, width: 2 }
}

function nameOf(word: string): string {
  const equals = word.indexOf('=')
  return word.slice(word.startsWith('--') ? 2 : 1, equals === -1 ? undefined : equals)
}

function fullName(table: OptionTable, given: string): string {
  if (Object.hasOwn(table, given)) return given
  const entry = Object.entries(table).find(([, option]) => option.short === given)
  if (entry !== undefined) return entry[0]
  const meant = nearest(given, [...Object.keys(table), ...HELP])
  throw new UsageError(`unknown option -${given}${meant === undefined ? '' : `, did you mean -${meant}?`}`)
}

function optionValue(
  name: string,
  option: Option,
  given: readonly string[] | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | number | boolean | readonly string[] | undefined {
  if (option.kind === 'texts') return given ?? []
  const last = given?.at(-1)
  if (last !== undefined) return decode(`-${name}`, option, last)
  for (const variable of option.env ?? []) {
    const text = own(env, variable) ?? ''
    if (text !== '') return decode(variable, option, text)
  }
  return option.kind === 'flag' ? (option.default ?? false) : option.default
}

/** `source` is the option or the variable that the text comes from. */
function decode(source: string, option: Exclude<Option, TextsOption>, text: string): string | number | boolean {
  if (option.kind === 'flag') return decodeFlag(source, text)
  if (option.kind === 'number') {
    const number = Number(text)
    if (/^\d{1,9}$/.test(text)) return number
    throw new UsageError(`${source} must be a whole number, not "${text}"`)
  }
  if (option.oneOf === undefined || option.oneOf.includes(text)) return text
  throw new UsageError(`${source} must be ${option.oneOf.join(' or ')}, not "${text}"`)
}

function decodeFlag(source: string, text: string): boolean {
  const lower = text.toLowerCase()
  if (TRUE.includes(lower)) return true
  if (FALSE.includes(lower)) return false
  throw new UsageError(`${source} must be true or false, not "${text}"`)
}
