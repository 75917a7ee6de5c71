// Values of parameters as an endpoint understands them. Clients may send a number or a switch as text, a list as text
// with commas, a duration in words: a rule on a value is one on what it means, in whatever form either was written.
import { Refusal } from '../api/errors.ts'
import type { Field } from '../api/fields.ts'
import { matchGlob } from '../lib/glob.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'

/** JSON, with maps for objects: names come from outside (threats N-07). */
export type ParameterValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly ParameterValue[]
  | ReadonlyMap<string, ParameterValue>

/** What a value means to a field: the same for all values that mean the same. */
export type Understood = {
  readonly field: Field
  /** Of a list its elements; of anything else the value alone, as text. */
  readonly parts: readonly string[]
  readonly kind: 'list' | 'scalar' | 'structure'
  /** An empty text. */
  readonly isEmpty: boolean
  /** Where it is one. */
  readonly number: number | undefined
}

/** Whether a field takes the value for none, as if it had not been sent. */
export function isNothing(field: Field, value: unknown): boolean {
  return value === null && field.decode(null, '') === undefined
}

/** Undefined for a value that the field refuses, and for none. */
export function understood(field: Field, value: unknown): Understood | undefined {
  let decoded: unknown
  try {
    decoded = field.decode(value as JsonValue, '')
  } catch (cause) {
    if (cause instanceof Refusal) return undefined
    throw cause
  }
  if (decoded === undefined) return undefined
  const number = typeof decoded === 'number' ? decoded : undefined
  if (field.kind === 'strings') {
    const parts = (decoded as readonly string[]).map((text) => kept(field, text))
    return { field, parts, kind: 'list', isEmpty: false, number }
  }
  const scalar = typeof decoded === 'string' ? kept(field, decoded) : scalarText(decoded)
  if (scalar === undefined) return { field, parts: [ordered(decoded)], kind: 'structure', isEmpty: false, number }
  return { field, parts: [scalar], kind: 'scalar', isEmpty: scalar === '', number }
}

/**
 * Whether `list` of a rule holds the value. A list is allowed where each of its elements is, and denied where one is; a
 * value of the rule that has several elements stands for that list, in whatever order where it is denied.
 */
export function isHeldBy(list: readonly ParameterValue[], value: Understood, as: 'allowed' | 'denied'): boolean {
  const { field, parts, kind } = value
  if (kind !== 'list') return list.some((listed) => isSame(listed, value))
  const wholes = list.flatMap((listed) => understood(field, jsonOf(listed)) ?? [])
  if (wholes.some((whole) => (as === 'denied' ? hasSameElements(whole, value) : isSameList(whole, value)))) return true
  const singles = wholes.flatMap((whole) => (whole.parts.length === 1 ? whole.parts : []))
  const isListed = (part: string): boolean => singles.some((single) => matchGlob(single, part))
  return as === 'denied' ? parts.some(isListed) : parts.length > 0 && parts.every(isListed)
}

function isSame(listed: ParameterValue, { field, parts, kind }: Understood): boolean {
  const [part = ''] = parts
  if (kind === 'scalar' && typeof listed === 'string' && matchGlob(kept(field, listed), part)) return true
  const meant = understood(field, jsonOf(listed))
  return meant?.kind === kind && meant.parts[0] === part
}

const isSameList = ({ parts }: Understood, other: Understood): boolean =>
  parts.length === other.parts.length && parts.every((part, at) => part === other.parts[at])

function hasSameElements(some: Understood, others: Understood): boolean {
  const [a, b] = [new Set(some.parts), new Set(others.parts)]
  return a.size === b.size && a.isSubsetOf(b)
}

/** Names of which the engine knows several spellings mean the same in each. */
const kept = ({ kind, canonical }: Field, text: string): string =>
  canonical !== undefined && (kind === 'string' || kind === 'strings') ? canonical(text) : text

function scalarText(decoded: unknown): string | undefined {
  if (typeof decoded === 'number' || typeof decoded === 'boolean') return String(decoded)
  return Buffer.isBuffer(decoded) ? decoded.toString('base64') : undefined
}

/** JSON with members in order. Decoded values are no deeper than a body may be. */
function ordered(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(ordered).join()}]`
  if (Buffer.isBuffer(value)) return `b${value.toString('base64')}`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${ordered(member)}`).join()}}`
}

/** A value of a policy as it would stand in a body. */
function jsonOf(value: ParameterValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value !== 'object' || value === null) return value
  if (isMap(value)) {
    const object: JsonObject = Object.create(null)
    for (const [name, member] of value) object[name] = jsonOf(member)
    return object
  }
  return value.map(jsonOf)
}

const isMap = (value: object): value is ReadonlyMap<string, ParameterValue> => value instanceof Map
