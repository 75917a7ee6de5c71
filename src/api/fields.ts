// The kinds of fields that endpoints have. Each kind decodes what existing clients send (numbers and booleans as text,
// lists as comma-separated text) and describes itself for OpenAPI and help.
import { Base64Error, decodeBase64 } from '../lib/base64.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'
import { isJsonObject } from '../lib/json.ts'
import { dictionary, own } from '../lib/own.ts'
import { describe, invalid, parseBool, parseDecimal, toInteger, toNumber, toSeconds, toText } from './coercion.ts'
import { fail } from './errors.ts'

/** A schema object of OpenAPI 3.0. */
export type Schema = { readonly [name: string]: unknown }

/** One field of an endpoint. `T` is what the handler gets. */
export type Field<T = unknown, Present extends boolean = boolean> = {
  readonly kind: string
  readonly description: string
  readonly required: boolean
  readonly default: T | undefined
  /** True if the value is never written in clear to audit or log. */
  readonly secret: boolean
  readonly schema: Schema
  /**
   * Returns the canonical spelling of a name that has several, in a path or a value; rules and storage see only that.
   */
  readonly canonical: ((name: string) => string) | undefined
  /** The newer name of the same field: what a policy says of either name holds for both. */
  readonly aliasOf: string | undefined
  /** Fields of an object, or of an item of a batch. */
  readonly members?: Readonly<Record<string, Member>>
  /** Converts what was sent; undefined counts as not sent. @throws Refusal naming the field */
  readonly decode: (value: JsonValue, name: string) => T | undefined
  /** Exists only in the type: whether the handler always gets a value. */
  readonly present?: Present
}

/** The part of a nested field that documents show. */
export type Member = Pick<Field, 'kind' | 'description' | 'required' | 'default' | 'schema' | 'members'>

/** The fields of an endpoint, by their names on the wire. */
export type Fields = { readonly [name: string]: Field }

/** The decoded fields as a handler gets them: defined if required or with a default. */
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
  /** For an int its largest value, for a string its characters, for a list the characters of all items together. */
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

/** Text, perhaps one of a few words, or bounded in characters. */
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

/** A safe integer. In a path its canonical spelling is decimal, without leading zeros. */
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

/** The version number of a key. `latest` is 0, which is also the default and means the latest version. */
export function keyVersion(description: string) {
  // The schema says integer, as for durations, so that the default fits.
  const options = { default: 0 } as const
  return define<number, typeof options>('version', description, options, { type: 'integer' }, (value, name) => {
    if (value === null) return undefined
    return value === 'latest' ? 0 : toInteger(value, name, 'an integer or latest') + 0
  })
}

/** A finite number, fractions included. */
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

/** A boolean; texts and numbers count as `parseBool` has them. */
export function bool<const O extends Common<boolean>>(description: string, options: O = {} as O) {
  return define<boolean, O>('bool', description, options, { type: 'boolean' }, (value, name) => {
    if (value === null) return undefined
    if (typeof value === 'boolean') return value
    const parsed = typeof value === 'string' || typeof value === 'number' ? parseBool(String(value)) : undefined
    if (parsed === undefined) throw invalid(name, 'expected true or false')
    return parsed
  })
}

/** Bytes: base64 on the wire, a buffer in the handler. */
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

/** Most items of a list of strings. */
const MAX_LIST_ITEMS = 1_000
/** Longest item of a list of strings: an OpenPGP key. */
export const MAX_ITEM_CHARACTERS = 131_072
/** Most characters of a list in all, so that several lists still fit into one stored value. */
const MAX_LIST_CHARACTERS = 1_048_576

/**
 * Splits at commas, into at most one item too many, which is enough to refuse it: 32 MB of commas must not fill the
 * memory.
 */
function splitAtCommas(text: string): string[] {
  const trimmed = text.trim()
  return trimmed === '' ? [] : trimmed.split(',', MAX_LIST_ITEMS + 1).map((item) => item.trim())
}

/** A duration in seconds; text may be 90m or 1h30m. Negative ones are refused, an empty text is 0. */
export function duration<const O extends Common<number>>(description: string, options: O = {} as O) {
  // The schema says number, so that a default fits it; the description of the document tells of the text form.
  return define<number, O>('duration', description, options, { type: 'integer', format: 'seconds' }, (value, name) => {
    if (value === null) return undefined
    const seconds = toSeconds(value, name)
    if (seconds < 0) throw fail('out_of_range', [name, 'must not be negative'])
    return seconds
  })
}

/** A duration that may be negative; the handler gives that a meaning. */
export function signedDuration<const O extends Common<number>>(description: string, options: O = {} as O) {
  const schema = { type: 'integer', format: 'seconds' }
  return define<number, O>('signed duration', description, options, schema, (value, name) =>
    value === null ? undefined : toSeconds(value, name),
  )
}

/** A list of strings: an array, or text with commas between the items. */
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

/** Most pairs and characters of a map, which stays in memory as long as the thing it belongs to. */
const MAX_MAP_PAIRS = 64
const MAX_MAP_CHARACTERS = 8_192

/** A map from names to texts; the handler gets an object without a prototype. */
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

/** As `map`, for texts that are kept as they are: a value of another kind is refused, not made a text. */
export function metadata<const O extends Common<Metadata>>(description: string, options: O = {} as O) {
  const schema = { type: 'object', additionalProperties: { type: 'string' } }
  return define<Metadata, O>('map', description, options, schema, (value, name) => {
    if (value === null) return undefined
    return pairsOf(value, name, (item) => typeof item === 'string', 'strings') as Metadata
  })
}
type Metadata = Readonly<Record<string, string>>

/** A merge patch (RFC 7396) of such a map: null removes a name, and null instead of the object all of them. */
export function metadataPatch(description: string) {
  const schema = { type: 'object', nullable: true, additionalProperties: { type: 'string', nullable: true } }
  return define<MetadataPatch, Record<never, never>>('map', description, {}, schema, (value, name) => {
    if (value === null) return { all: null }
    const isOne = (item: JsonValue): boolean => typeof item === 'string' || item === null
    return { all: pairsOf(value, name, isOne, 'strings or null') as Readonly<Record<string, string | null>> }
  })
}
/** `all` null: every name goes. */
type MetadataPatch = { readonly all: Readonly<Record<string, string | null>> | null }

function pairsOf(value: JsonValue, name: string, isOne: (item: JsonValue) => boolean, kinds: string): JsonObject {
  if (!isJsonObject(value)) throw invalid(name, `expected an object, got ${describe(value)}`)
  const result = dictionary<JsonValue>()
  for (const [key, item] of Object.entries(value)) {
    if (RESERVED_NAMES.includes(key)) throw fail('name_invalid', [name, `the name ${key} is reserved`])
    if (!isOne(item)) throw invalid(name, `${name} values must be ${kinds}`)
    result[key] = item
  }
  return result
}

/** An object with fields of its own, decoded like the fields of an endpoint. */
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

/** An object with any JSON values, for data that is only compared and never used. */
export function anyObject<const O extends Common<JsonObject>>(description: string, options: O = {} as O) {
  return define<JsonObject, O>('object', description, options, { type: 'object' }, (value, name) => {
    if (value === null) return undefined
    if (!isJsonObject(value)) throw invalid(name, `expected an object, got ${describe(value)}`)
    return value
  })
}

/** Kinds of fields in an item of a batch. */
export type ItemField = 'string' | 'int'
/** A decoded item of a batch; members that were not sent are missing. */
export type Item = Readonly<Record<string, string | number | undefined>>
type ItemRules = {
  /** Name of the field that every item must have. */
  readonly required: string
  /** True if the engine checks that field instead, and numbers are accepted as texts. */
  readonly lenient?: boolean
  /**
   * 'empty': null counts as an item without fields, or as an empty text. Otherwise null is refused as an item, and
   * counts as not sent as a text.
   */
  readonly nulls?: 'empty'
}

/**
 * A batch. The shape of its items is checked here, and a fault fails the whole request. The engine checks what their
 * texts hold, and a fault fails that item alone (Interface 7.1). Values are strict: a number is not accepted as text.
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
  return { kind, description: 'Same as the top-level field of this name', required, default: undefined, schema }
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
 * Decodes every declared field, from the path if it is there, otherwise from the body. `prefix` precedes the names in
 * messages.
 * @throws Refusal naming the field
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

/** Canonical spelling of a number in a path; other text is returned unchanged. */
export function keptDecimal(text: string): string {
  const number = parseDecimal(text)
  return number === undefined ? text : String(number)
}

/** Parses a number in a path; unlike in bodies, a leading zero does not make it octal. @throws Refusal */
function toDecimal(text: string, name: string): number {
  const number = parseDecimal(text)
  if (number === undefined) throw invalid(name, 'expected a decimal number')
  return number
}
