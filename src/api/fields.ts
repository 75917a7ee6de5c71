// The kinds of field an endpoint can have. Each decodes what existing clients send (numbers as text, booleans as
// text, lists as comma-separated text) and describes itself for OpenAPI and help.
import { Base64Error, decodeBase64 } from '../lib/base64.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'
import { isJsonObject } from '../lib/json.ts'
import { dictionary, own } from '../lib/own.ts'
import { describe, invalid, parseBool, parseDecimal, toInteger, toNumber, toSeconds, toText } from './coercion.ts'
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
  /** Of a name that can be spelled in several ways, in a path or a value: how it is kept, and judged. */
  readonly canonical: ((name: string) => string) | undefined
  /** The newer name of the same field: what a policy says of either holds for both. */
  readonly aliasOf: string | undefined
  /** Of an object: its fields; of a batch: those of an item. */
  readonly members?: Readonly<Record<string, Member>>
  /** Undefined means: as if it had not been sent. @throws Refusal naming the field */
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
  readonly canonical?: (name: string) => string
  readonly aliasOf?: string
  readonly oneOf?: readonly string[]
  readonly min?: number
  /** Of an int its largest value, of a string its characters, of a list of strings those of all together. */
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
    canonical: options.canonical,
    aliasOf: options.aliasOf,
    schema: options.default === undefined ? schema : { ...schema, default: options.default },
    decode,
  }
}

export function string<const O extends Common<string>>(description: string, options: O = {} as O) {
  const { oneOf: allowed, max } = options
  return define<string, O>(
    'string',
    description,
    options,
    { type: 'string', ...(allowed ? { enum: allowed } : {}), ...(max === undefined ? {} : { maxLength: max }) },
    (value, name) => {
      const text = toText(value, name)
      if (max !== undefined && text.length > max)
        throw fail('out_of_range', [name, `must have at most ${max} characters`])
      if (allowed && !allowed.includes(text))
        throw fail('choice_unknown', [name, `must be one of ${allowed.join(', ')}`])
      return text
    },
  )
}

export function int<const O extends Common<number>>(description: string, options: O = {} as O) {
  const { min, max } = options
  const named = { canonical: keptDecimal, ...options }
  const schema = {
    type: 'integer',
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  }
  return define<number, O>('int', description, named, schema, (value, name) => {
    if (value === null) return undefined
    // -0 becomes 0 (threats N-19).
    const number = toInteger(value, name) + 0
    if (min !== undefined && number < min) throw fail('out_of_range', [name, `must be at least ${min}`])
    if (max !== undefined && number > max) throw fail('out_of_range', [name, `must be at most ${max}`])
    return number
  })
}

/** Number of a version of a key. `latest` is 0, as what is not sent: the latest one. */
export function keyVersion(description: string) {
  // As number, as for durations.
  const options = { default: 0 } as const
  return define<number, typeof options>('version', description, options, { type: 'integer' }, (value, name) => {
    if (value === null) return undefined
    return value === 'latest' ? 0 : toInteger(value, name, 'an integer or latest') + 0
  })
}

export function decimal<const O extends Common<number>>(description: string, options: O = {} as O) {
  const { min, max } = options
  const bounds = { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) }
  return define<number, O>('number', description, options, { type: 'number', ...bounds }, (value, name) => {
    if (value === null) return undefined
    const number = toNumber(value, name) + 0
    if (min !== undefined && number < min) throw fail('out_of_range', [name, `must be at least ${min}`])
    if (max !== undefined && number > max) throw fail('out_of_range', [name, `must be at most ${max}`])
    return number
  })
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
      if (cause instanceof Base64Error) throw fail('base64_invalid', [name, cause.message], cause)
      throw cause
    }
  })
}

const MAX_LIST_ITEMS = 1_000
/** An OpenPGP key is the longest that stands in a list. */
export const MAX_ITEM_CHARACTERS = 131_072
/** What is kept of several lists still fits into one stored value. */
const MAX_LIST_CHARACTERS = 1_048_576

/** One more than may be there says that there are too many: of 32 MB of commas a list would fill the memory. */
function splitAtCommas(text: string): string[] {
  const trimmed = text.trim()
  return trimmed === '' ? [] : trimmed.split(',', MAX_LIST_ITEMS + 1).map((item) => item.trim())
}

/** Seconds; text may be a duration such as 90m or 1h30m. Negative is refused, an empty text is 0. */
export function duration<const O extends Common<number>>(description: string, options: O = {} as O) {
  // As number, so that a default fits its schema; the text form is told of in the description of the document.
  return define<number, O>('duration', description, options, { type: 'integer', format: 'seconds' }, (value, name) => {
    if (value === null) return undefined
    const seconds = toSeconds(value, name)
    if (seconds < 0) throw fail('out_of_range', [name, 'must not be negative'])
    return seconds
  })
}

/** The same, and negative ones mean something to whoever takes them. */
export function signedDuration<const O extends Common<number>>(description: string, options: O = {} as O) {
  const schema = { type: 'integer', format: 'seconds' }
  return define<number, O>('signed duration', description, options, schema, (value, name) =>
    value === null ? undefined : toSeconds(value, name),
  )
}

export function strings<const O extends Common<readonly string[]>>(description: string, options: O = {} as O) {
  const { max = MAX_LIST_CHARACTERS } = options
  const schema = { type: 'array', items: { type: 'string' } }
  return define<readonly string[], O>('strings', description, options, schema, (value, name) => {
    if (value === null) return undefined
    const items = Array.isArray(value) ? value : splitAtCommas(toText(value, name))
    if (items.length > MAX_LIST_ITEMS) throw fail('out_of_range', [name, `must have at most ${MAX_LIST_ITEMS} items`])
    const texts = items.map((item) => toText(item, name))
    if (texts.some((text) => text.length > MAX_ITEM_CHARACTERS)) {
      throw fail('out_of_range', [name, `has an item of more than ${MAX_ITEM_CHARACTERS} characters`])
    }
    if (texts.reduce((sum, text) => sum + text.length, 0) > max) {
      throw fail('out_of_range', [name, `must have at most ${max} characters in all`])
    }
    return texts
  })
}

const RESERVED_NAMES = ['__proto__', 'constructor', 'prototype']

/** Pairs and characters of a map: it is kept in memory as long as what carries it. */
const MAX_MAP_PAIRS = 64
const MAX_MAP_CHARACTERS = 8_192

/** Names to texts; the handler gets an object without a prototype. */
export function map<const O extends Common<Readonly<Record<string, string>>>>(
  description: string,
  options: O = {} as O,
) {
  const schema = { type: 'object', additionalProperties: { type: 'string' } }
  return define<Readonly<Record<string, string>>, O>('map', description, options, schema, (value, name) => {
    if (value === null) return undefined
    if (!isJsonObject(value)) throw invalid(name, `expected an object, got ${describe(value)}`)
    const result = dictionary<string>()
    const pairs = Object.entries(value)
    if (pairs.length > MAX_MAP_PAIRS) throw fail('out_of_range', [name, `must have at most ${MAX_MAP_PAIRS} names`])
    let characters = 0
    for (const [key, item] of pairs) {
      if (RESERVED_NAMES.includes(key)) throw fail('name_invalid', [name, `the name ${key} is reserved`])
      const text = toText(item, `${name}.${key}`)
      characters += key.length + text.length
      if (characters > MAX_MAP_CHARACTERS)
        throw fail('out_of_range', [name, `must have at most ${MAX_MAP_CHARACTERS} characters`])
      result[key] = text
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

/** An object of whatever JSON values, for what is only compared and never used. */
export function anyObject<const O extends Common<JsonObject>>(description: string, options: O = {} as O) {
  return define<JsonObject, O>('object', description, options, { type: 'object' }, (value, name) => {
    if (value === null) return undefined
    if (!isJsonObject(value)) throw invalid(name, `expected an object, got ${describe(value)}`)
    return value
  })
}

export type ItemField = 'string' | 'int'
export type Item = Readonly<Record<string, string | number | undefined>>
type ItemRules = {
  /** Name of the field without which there is no item. */
  readonly required: string
  /** That field may be missing too, for the engine to say so, and numbers are accepted as texts. */
  readonly lenient?: boolean
  /** Null is an item without fields, or an empty text. Else it is no item, and a text that was not sent. */
  readonly nulls?: 'empty'
}

/**
 * Items of a batch. Their shape is checked here and fails the whole request; what their texts hold is checked by the
 * engine and fails the item alone (Interface 7.1). Values are strict: a number is not accepted as text.
 */
export function batch<const O extends Common<readonly Item[]>>(
  description: string,
  item: ItemRules & { readonly fields: Readonly<Record<string, ItemField>> },
  options: O = {} as O,
) {
  const names = Object.entries(item.fields)
  const required = item.lenient === true ? [] : [item.required]
  const members = Object.fromEntries(names.map(([name, kind]) => [name, itemMember(kind, required.includes(name))]))
  const properties = Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]))
  const nullable = item.nulls === 'empty' ? { nullable: true } : {}
  const items = { type: 'object', properties, ...nullable, ...(required.length === 0 ? {} : { required }) }
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
  item: ItemRules,
): Item {
  if (value === null && item.nulls === 'empty') return {}
  if (!isJsonObject(value)) throw invalid(where, `expected an object, got ${describe(value)}`)
  const result: Record<string, string | number | undefined> = {}
  for (const [name, kind] of names) {
    const raw = own(value, name)
    if (name === item.required && (raw === undefined || raw === null) && item.lenient !== true) {
      throw invalid(`${where}.${name}`, 'is missing')
    }
    if (raw === null && kind === 'string' && item.nulls === 'empty') result[name] = ''
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
    const inPath = path === undefined ? undefined : own(path, name)
    const sent = body === undefined ? undefined : own(body, name)
    const raw = inPath === undefined ? sent : field.kind === 'int' ? toDecimal(inPath, prefix + name) : inPath
    const value = raw === undefined ? undefined : field.decode(raw, prefix + name)
    if (value !== undefined) args[name] = value
    else if (field.required) throw fail('field_missing', [prefix + name])
    else args[name] = field.default
  }
  return args
}

/** Of a number in a path the one spelling; what is none stays. */
export function keptDecimal(text: string): string {
  const number = parseDecimal(text)
  return number === undefined ? text : String(number)
}

/** Zeros in front make no octal number of it, as they do in bodies. @throws Refusal */
function toDecimal(text: string, name: string): number {
  const number = parseDecimal(text)
  if (number === undefined) throw invalid(name, 'expected a decimal number')
  return number
}
