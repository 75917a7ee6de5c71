// Options of the command line, declared once: the parser, the environment variables, the help and the types of the
// values are derived from the declaration. The syntax is that of the reference's command line.
import { nearest } from '../lib/nearest.ts'
import { own } from '../lib/own.ts'
import { UsageError } from './cli-error.ts'

type Common = {
  readonly about: string
  /** One letter for the same option. */
  readonly short?: string
  /** Another name for the same option. It counts where both are given. */
  readonly alias?: string
  /** Variables that give the value if the option is missing; the first that is not empty counts. */
  readonly env?: readonly string[]
  /** Those of the variables that count even while they are empty. */
  readonly emptyEnv?: readonly string[]
}
/** An option that is true or false. `-name` alone is true; without `default` a missing one is false. */
export type FlagOption = Common & { readonly kind: 'flag'; readonly default?: boolean }
/** An option with one text. Its value is undefined if it is missing and has no default. */
export type TextOption = Common & {
  readonly kind: 'text'
  /** The placeholder of the value in the help. */
  readonly value: string
  readonly oneOf?: readonly string[]
  readonly default?: string
}
/** An option with a whole number of up to nine digits. */
export type NumberOption = Common & { readonly kind: 'number'; readonly value: string; readonly default?: number }
/** An option that may be given several times; its value is a list. It has no variables: they hold one text. */
export type TextsOption = Common & { readonly kind: 'texts'; readonly value: string }
/** An option of a command, by the kind of its value. */
export type Option = FlagOption | TextOption | TextsOption | NumberOption
/** Options by name, without the dash. */
export type OptionTable = { readonly [name: string]: Option }

/** The type of an option's value: undefined is part of it unless there is a default. */
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

/** A parsed command line: a call for help, or values and arguments. */
export type Parsed<T extends OptionTable> =
  | { readonly kind: 'help' }
  | { readonly kind: 'call'; readonly options: OptionValues<T>; readonly args: readonly string[] }

const HELP = ['h', 'help']
/** Flags in variables are spelled as the reference's programs accept them, in any case. */
const TRUE = ['1', 't', 'true']
const FALSE = ['0', 'f', 'false']

/**
 * Parses the words of a command. Options may stand before, between and behind the arguments, up to `--`. Each has one
 * dash or two; its value stands behind `=` or as the next word, but for flags. A single `-` is an argument.
 * The last of the same name counts, unless the option collects. The variables come second, the default last.
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
    given.set(found.typed, [...(given.get(found.typed) ?? []), found.text])
    at += found.width - 1
  }
  const values = Object.entries(table).map(([name, option]) => {
    const texts = (option.alias === undefined ? undefined : given.get(option.alias)) ?? given.get(name)
    return [name, optionValue(name, option, texts, env)]
  })
  return { kind: 'call', options: Object.fromEntries(values) as OptionValues<T>, args }
}

/** True for a word with a dash in front. A single `-` is standard input. */
export function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-'
}

/** True for `-h`, `-help` and `--help`. */
export function isHelp(word: string): boolean {
  return HELP.includes(nameOf(word))
}

/** An option as it was typed. */
type Found = {
  readonly name: string
  /** The alias, if the option was given by it, else the name. */
  readonly typed: string
  readonly text: string
  /** Words that the option takes: two if the value is the next word. */
  readonly width: 1 | 2
}

/**
 * Reads the option at `words[at]`.
 * @throws UsageError if there is none of that name, naming the nearest one; the message never quotes the value
 */
export function readOption(table: OptionTable, words: readonly string[], at: number): Found {
  const word = words[at] ?? ''
  const name = fullName(table, nameOf(word))
  const option = own(table, name)
  const typed = option?.alias === nameOf(word) ? option.alias : name
  const equals = word.indexOf('=')
  if (equals !== -1) return { name, typed, text: word.slice(equals + 1), width: 1 }
  if (option?.kind === 'flag') return { name, typed, text: 'true', width: 1 }
  const next = words[at + 1]
  if (next === undefined) throw new UsageError(`-${name} needs a value: -${name}=${option?.value}`)
  return { name, typed, text: next, width: 2 }
}

function nameOf(word: string): string {
  const equals = word.indexOf('=')
  return word.slice(word.startsWith('--') ? 2 : 1, equals === -1 ? undefined : equals)
}

/** Returns the name of an option for its name, its letter or its alias. @throws UsageError with the nearest name */
function fullName(table: OptionTable, given: string): string {
  if (Object.hasOwn(table, given)) return given
  const entry = Object.entries(table).find(([, { short, alias }]) => short === given || alias === given)
  if (entry !== undefined) return entry[0]
  const meant = nearest(given, [...Object.keys(table), ...HELP])
  throw new UsageError(`unknown option -${given}${meant === undefined ? '' : `, did you mean -${meant}?`}`)
}

/** An empty variable mostly counts as unset: shells cannot always unset one for a single command. */
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
    const text = own(env, variable)
    const counts = option.emptyEnv?.includes(variable) === true ? text !== undefined : text !== ''
    if (text !== undefined && counts) return decode(variable, option, text)
  }
  return option.kind === 'flag' ? (option.default ?? false) : option.default
}

/** Decodes a value. `source` names the option or variable in messages. */
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
