// Values of parameters as an endpoint understands them. Clients may send a number or a boolean as text, a list as text
// with commas, a duration in words. A rule about a value is a rule about its meaning, in whatever form either was
// written.
import { Refusal } from '../api/errors.ts'
import type { Field } from '../api/fields.ts'
import { matchGlob } from '../lib/glob.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'

/** A JSON value of a policy. Objects are maps, because names come from outside (threats N-07). */
export type ParameterValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly ParameterValue[]
  | ReadonlyMap<string, ParameterValue>

/** What a value means to a field; equal for all values that mean the same. */
export type Understood = {
  readonly field: Field
  /** The elements of a list; for anything else the one value as text. */
  readonly parts: readonly string[]
  readonly kind: 'list' | 'scalar' | 'structure'
  /** True for an empty text. */
  readonly isEmpty: boolean
  /** The value as a number; undefined if it is not one. */
  readonly number: number | undefined
}

/** True if the field treats the value as absent. */
export function isNothing(field: Field, value: unknown): boolean {
  return value === null && field.decode(null, '') === undefined
}

/** Decodes a value as the field would. Returns undefined if the field refuses the value or treats it as absent. */
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
 * True if `list`, from a rule, holds the value. A list value is allowed if each of its elements is, and denied if one
 * is. A rule's value with several elements stands for that list; when denying, in any order.
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

/** Folds names that the engine knows in several spellings, so that all spellings compare as equal. */
const kept = ({ kind, canonical }: Field, text: string): string =>
  canonical !== undefined && (kind === 'string' || kind === 'strings') ? canonical(text) : text

function scalarText(decoded: unknown): string | undefined {
  if (typeof decoded === 'number' || typeof decoded === 'boolean') return String(decoded)
  return Buffer.isBuffer(decoded) ? decoded.toString('base64') : undefined
}

/** Returns JSON with sorted members. Recursion is bounded: decoded values are no deeper than a body may be. */
function ordered(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(ordered).join()}]`
  if (Buffer.isBuffer(value)) return `b${value.toString('base64')}`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${ordered(member)}`).join()}}`
}

/** Returns a policy's value as it would stand in a body. */
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
