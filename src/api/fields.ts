// The kinds of field an endpoint can have. Each decodes what existing clients send (numbers as text, booleans as
// text, lists as comma-separated text) and describes itself for OpenAPI and help.
import { Base64Error, decodeBase64 } from '../lib/base64.ts'
import { DurationError, parseDurationSeconds } from '../lib/duration.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'
import { isJsonObject } from '../lib/json.ts'
import { fail } from './errors.ts'

export type Schema = { readonly [name: string]: unknown }

export type Field<T = unknown, Present extends boolean = boolean> = {
  readonly kind: string
  readonly description: string
  readonly required: boolean
  readonly default: T | undefined
  /** Never written in clear to audit or log. */
  readonly secret: boolean
  readonly schema: Schema
  /** Of an object: its fields; of a batch: those of an item. */
  readonly members?: Readonly<Record<string, Member>>
  /** Undefined means: as if it had not been sent. @throws Refusal `field_invalid` naming the field */
  readonly decode: (value: JsonValue, name: string) => T | undefined
  /** Only for the type: whether the handler always gets a value. */
  readonly present?: Present
}

/** As much of a field inside another as documents need. */
export type Member = Pick<Field, 'kind' | 'description' | 'required' | 'default' | 'schema' | 'members'>

export type Fields = { readonly [name: string]: Field }

export type Args<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T, infer Present>
    ? Present extends true
      ? T
      : T | undefined
    : never
}

type Common<T> = {
  readonly required?: boolean
  readonly default?: T
  readonly secret?: boolean
  readonly oneOf?: readonly string[]
  readonly min?: number
  readonly max?: number
}
type Presence<T, O extends Common<T>> = O extends { required: true } ? true : O extends { default: T } ? true : false

function define<T, const O extends Common<T>>(
  kind: string,
  description: string,
  options: O,
  schema: Schema,
  decode: (value: JsonValue, name: string) => T | undefined,
): Field<T, Presence<T, O>> {
  return {
    kind,
    description,
    required: options.required ?? false,
    default: options.default,
    secret: options.secret ?? false,
    schema: options.default === undefined ? schema : { ...schema, default: options.default },
    decode,
  }
}

const invalid = (name: string, why: string, cause?: unknown) => fail('field_invalid', [name, why], cause)

function describe(value: JsonValue): string {
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'an array'
      : typeof value === 'object'
        ? 'an object'
        : typeof value
}

function toText(value: JsonValue, name: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (value === null) return '' // A null string counts as sent and empty, as clients of the reference rely on.
  throw invalid(name, `expected a string, got ${describe(value)}`)
}

export function string<const O extends Common<string>>(description: string, options: O = {} as O) {
  const allowed = options.oneOf
  return define<string, O>(
    'string',
    description,
    options,
    allowed ? { type: 'string', enum: allowed } : { type: 'string' },
    (value, name) => {
      const text = toText(value, name)
      if (allowed && !allowed.includes(text)) throw invalid(name, `must be one of ${allowed.join(', ')}`)
      return text
    },
  )
}

const INT_DIGITS = 20

/** Base prefixes 0x, 0o, 0b and a leading 0 for octal, '_' between digits; an empty text is 0. */
function parseInteger(text: string): number | undefined {
  if (text === '') return 0
  const negative = text.startsWith('-')
  let digits = negative || text.startsWith('+') ? text.slice(1) : text
  if (digits.length > INT_DIGITS + 50 || digits.startsWith('_') || digits.endsWith('_')) return undefined
  digits = digits.replaceAll('_', '').toLowerCase()
  let base = 10
  if (digits.startsWith('0x')) base = 16
  else if (digits.startsWith('0o')) base = 8
  else if (digits.startsWith('0b')) base = 2
  if (base !== 10) digits = digits.slice(2)
  else if (digits.length > 1 && digits.startsWith('0')) base = 8
  if (digits === '') return undefined
  let value = 0
  for (const character of digits) {
    const digit = '0123456789abcdef'.indexOf(character)
    if (digit < 0 || digit >= base) return undefined
    value = value * base + digit
  }
  return Number.isSafeInteger(value) ? (negative ? -value : value) : undefined
}

function toInteger(value: JsonValue, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'string') {
    const parsed = parseInteger(value)
    if (parsed !== undefined) return parsed
  }
  throw invalid(
    name,
    `expected an integer, got ${typeof value === 'number' ? 'a number that is none' : describe(value)}`,
  )
}

export function int<const O extends Common<number>>(description: string, options: O = {} as O) {
  const { min, max } = options
  const schema = {
    type: 'integer',
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  }
  return define<number, O>('int', description, options, schema, (value, name) => {
    if (value === null) return undefined
    // -0 becomes 0 (threats N-19).
    const number = toInteger(value, name) + 0
    if (min !== undefined && number < min) throw invalid(name, `must be at least ${min}`)
    if (max !== undefined && number > max) throw invalid(name, `must be at most ${max}`)
    return number
  })
}

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True']
const FALSE = ['', '0', 'f', 'F', 'false', 'FALSE', 'False']

/** The texts that count as true and false everywhere, query parameters included; undefined for any other. */
export function parseBool(text: string): boolean | undefined {
  return TRUE.includes(text) ? true : FALSE.includes(text) ? false : undefined
}

export function bool<const O extends Common<boolean>>(description: string, options: O = {} as O) {
  return define<boolean, O>('bool', description, options, { type: 'boolean' }, (value, name) => {
    if (value === null) return undefined
    if (typeof value === 'boolean') return value
    const parsed = typeof value === 'string' || typeof value === 'number' ? parseBool(String(value)) : undefined
    if (parsed === undefined) throw invalid(name, 'expected true or false')
    return parsed
  })
}

/** Base64 on the wire, bytes in the handler. */
export function bytes<const O extends Common<Buffer>>(description: string, options: O = {} as O) {
  return define<Buffer, O>('bytes', description, options, { type: 'string', format: 'byte' }, (value, name) => {
    const text = toText(value, name)
    try {
      return decodeBase64(text)
    } catch (cause) {
      if (cause instanceof Base64Error) throw invalid(name, cause.message, cause)
      throw cause
    }
  })
}

/** Seconds; text may be a duration such as 90m or 1h30m. Negative is refused, an empty text is 0. */
export function duration<const O extends Common<number>>(description: string, options: O = {} as O) {
  // As number, so that a default fits its schema; the text form is told of in the description of the document.
  return define<number, O>('duration', description, options, { type: 'integer', format: 'seconds' }, (value, name) => {
    if (value === null) return undefined
    const seconds = toSeconds(value, name)
    if (seconds < 0) throw invalid(name, 'must not be negative')
    return seconds
  })
}

function toSeconds(value: JsonValue, name: string): number {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(Math.trunc(value))) throw invalid(name, 'is too large')
    return Math.trunc(value) + 0
  }
  if (typeof value !== 'string')
    throw invalid(name, `expected seconds or a duration such as 1h30m, got ${describe(value)}`)
  if (value === '') return 0
  try {
    return parseDurationSeconds(value)
  } catch (cause) {
    if (cause instanceof DurationError) throw invalid(name, 'expected seconds or a duration such as 1h30m', cause)
    throw cause
  }
}

/** An array, or text with commas between the items. */
export function strings<const O extends Common<readonly string[]>>(description: string, options: O = {} as O) {
  const schema = { type: 'array', items: { type: 'string' } }
  return define<readonly string[], O>('strings', description, options, schema, (value, name) => {
    if (value === null) return undefined
    if (Array.isArray(value)) return value.map((item) => toText(item, name))
    const text = toText(value, name).trim()
    return text === '' ? [] : text.split(',').map((item) => item.trim())
  })
}

const RESERVED_NAMES = ['__proto__', 'constructor', 'prototype']

/** Names to texts; the handler gets an object without a prototype. */
export function map<const O extends Common<Readonly<Record<string, string>>>>(
  description: string,
  options: O = {} as O,
) {
  const schema = { type: 'object', additionalProperties: { type: 'string' } }
  return define<Readonly<Record<string, string>>, O>('map', description, options, schema, (value, name) => {
    if (value === null) return undefined
    if (!isJsonObject(value)) throw invalid(name, `expected an object, got ${describe(value)}`)
    const result: Record<string, string> = Object.create(null)
    for (const [key, item] of Object.entries(value)) {
      if (RESERVED_NAMES.includes(key)) throw invalid(name, `the name ${key} is reserved`)
      result[key] = toText(item, `${name}.${key}`)
    }
    return result
  })
}

/** An object with fields of its own, each decoded like a field of an endpoint. */
export function object<const F extends Fields, const O extends Common<Args<F>>>(
  description: string,
  fields: F,
  options: O = {} as O,
) {
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, { ...field.schema, description: field.description }]),
    ),
  }
  const field = define<Args<F>, O>('object', description, options, schema, (value, name) => {
    if (value === null) return undefined
    if (!isJsonObject(value)) throw invalid(name, `expected an object, got ${describe(value)}`)
    return decodeFields(fields, value, undefined, `${name}.`) as Args<F>
  })
  return { ...field, members: fields }
}

export type ItemField = 'string' | 'int'
export type Item = Readonly<Record<string, string | number | undefined>>

/**
 * Items of a batch. Their shape is checked here and fails the whole request; what their texts hold is checked by the
 * engine and fails the item alone (Interface 7.1). Values are strict: a number is not accepted as text.
 */
export function batch<const O extends Common<readonly Item[]>>(
  description: string,
  item: { readonly fields: Readonly<Record<string, ItemField>>; readonly required: string; readonly lenient?: boolean },
  options: O = {} as O,
) {
  const names = Object.entries(item.fields)
  const required = item.lenient === true ? [] : [item.required]
  const members = Object.fromEntries(names.map(([name, kind]) => [name, itemMember(kind, required.includes(name))]))
  const properties = Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]))
  const items = { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
  const schema = { type: 'array', items }
  const field = define<readonly Item[], O>('batch', description, options, schema, (value, name) => {
    if (value === null) return undefined
    if (!Array.isArray(value)) throw invalid(name, `expected an array of objects, got ${describe(value)}`)
    return value.map((one, index) => decodeItem(one, `${name}[${index}]`, names, item))
  })
  return { ...field, members }
}

function itemMember(kind: ItemField, required: boolean): Member {
  const schema = { type: kind === 'int' ? 'integer' : 'string' }
  return { kind, description: 'As the field of the same name', required, default: undefined, schema }
}

function decodeItem(
  value: JsonValue,
  where: string,
  names: readonly (readonly [string, ItemField])[],
  item: { readonly required: string; readonly lenient?: boolean },
): Item {
  if (!isJsonObject(value)) throw invalid(where, `expected an object, got ${describe(value)}`)
  const result: Record<string, string | number | undefined> = {}
  for (const [name, kind] of names) {
    const raw = Object.hasOwn(value, name) ? value[name] : undefined
    if (name === item.required && (raw === undefined || raw === null) && item.lenient !== true) {
      throw invalid(`${where}.${name}`, 'is missing')
    }
    if (raw === undefined || raw === null) continue
    if (kind === 'int') {
      if (typeof raw !== 'number' || !Number.isSafeInteger(raw))
        throw invalid(`${where}.${name}`, 'expected an integer')
      result[name] = raw
    } else if (typeof raw === 'string') result[name] = raw
    else if (typeof raw === 'number' && item.lenient === true) result[name] = String(raw)
    else throw invalid(`${where}.${name}`, `expected a string, got ${describe(raw)}`)
  }
  return result
}

/**
 * Decodes every declared field: from the path where it stands there, else from the body.
 * `prefix` stands before the names in messages.
 */
export function decodeFields(
  fields: Fields,
  body: JsonObject | undefined,
  path?: Readonly<Record<string, string>>,
  prefix = '',
): Record<string, unknown> {
  const args: Record<string, unknown> = {}
  for (const name in fields) {
    const field = fields[name] as Field
    const raw = path?.[name] ?? (body !== undefined && Object.hasOwn(body, name) ? body[name] : undefined)
    const value = raw === undefined ? undefined : field.decode(raw, prefix + name)
    if (value !== undefined) args[name] = value
    else if (field.required) throw fail('field_missing', [prefix + name])
    else args[name] = field.default
  }
  return args
}
