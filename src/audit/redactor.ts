// Turns data of requests and answers into JSON text that holds no secret. Every text becomes its HMAC under the salt of
// the device. Numbers, booleans and names of members stay readable, as in the reference (threats V-10), except numbers
// and booleans that were given for a secret.
//
// The redactor is total (threats U-04, P-37): whatever the value is, the result is JSON. A value that JSON does not
// have becomes the HMAC of its printed form, never the thing itself.
import { LongText } from '../lib/long-text.ts'
import { asciiJson, quoted } from './ascii-json.ts'
import { isBytes } from './bytes.ts'

/**
 * The HMAC of a device, as the redactor uses it. Undefined in a Redaction means that texts
 * are written in clear (`log_raw`).
 */
export type TextHmac = { hexOf(text: string): string; hexOfBytes(bytes: Uint8Array): string }

/** What of the values stays readable in an entry. */
export type Redaction = {
  readonly hmac: TextHmac | undefined
  /** Members whose texts stay readable, at any depth, as the mount was tuned. */
  readonly clear?: readonly string[] | undefined
  /** Members whose numbers and booleans are secret too, and the members below them that are not. */
  readonly secret?: SecretMembers | undefined
  /** Set below such a member: the names that stay readable there. */
  readonly readable?: ReadonlySet<string> | undefined
}

/** Names of secret members; for each, the members below it that stay readable. */
export type SecretMembers = ReadonlyMap<string, ReadonlySet<string>>

/** Prefix of HMACs in entries, as in the reference. */
export const HMAC_PREFIX = 'hmac-sha256:'
/** Bodies have at most 64 levels; an answer deeper than this may be endless. */
const MAX_DEPTH = 128
/** Items of an array that are redacted at a time if the caller can wait: about a millisecond. */
export const ITEMS_AT_ONCE = 1_000

/** Returns a text as redacted JSON string. */
export function redactText(text: string, { hmac }: Redaction): string {
  return hmac === undefined ? quoted(text) : `"${HMAC_PREFIX}${hmac.hexOf(text)}"`
}

/** Returns `value` as redacted JSON text. Never throws. */
export function redact(value: unknown, redaction: Redaction): string {
  try {
    return asciiJson(hidden(value, redaction, 0))
  } catch {
    // A member throws when it is read; none of its content is known to be harmless.
    return redactText('unreadable', redaction)
  }
}

/**
 * Returns the stand-in for a value that is too large to be recorded item by item: the HMAC of its JSON text as
 * `JSON.stringify` makes it, and the length of that text in UTF-8. Never throws.
 */
export function redactWhole(value: unknown, hmac: TextHmac): string {
  let json: string
  try {
    json = JSON.stringify(value) ?? 'null'
  } catch {
    // JSON lacks the value (a bigint, a cycle); none of its content is known to be harmless.
    json = 'unreadable'
  }
  return `{"hmac":"${HMAC_PREFIX}${hmac.hexOf(json)}","bytes":${Buffer.byteLength(json)}}`
}

/**
 * Does the same as `redact`, but lets other requests run between slices of long lists. `pause`
 * resolves when it may continue.
 */
export async function redactInSlices(value: object, redaction: Redaction, pause: () => Promise<void>): Promise<string> {
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    if (!isLong(member)) {
      members.push(`${quoted(name)}:${redact(member, within(name, redaction))}`)
      continue
    }
    const inner = within(name, redaction)
    const slices: string[] = []
    for (let from = 0; from < member.length; from += ITEMS_AT_ONCE) {
      slices.push(redact(member.slice(from, from + ITEMS_AT_ONCE), inner).slice(1, -1))
      await pause()
    }
    members.push(`${quoted(name)}:[${slices.join(',')}]`)
  }
  return `{${members.join(',')}}`
}

/** True if the value has a list long enough to be worth the pauses. */
export function hasLongList(value: object | undefined): boolean {
  if (value === undefined) return false
  for (const name in value) if (isLong((value as Record<string, unknown>)[name])) return true
  return false
}

const isLong = (member: unknown): member is unknown[] => Array.isArray(member) && member.length > 2 * ITEMS_AT_ONCE

/** Returns how a member, and everything below it, is redacted. */
function within(name: string, redaction: Redaction): Redaction {
  const { hmac, clear, secret, readable } = redaction
  if (clear?.includes(name) === true) return IN_CLEAR
  if (readable !== undefined) return readable.has(name) ? { hmac, clear } : redaction
  const below = secret?.get(name)
  return below === undefined ? redaction : { hmac, clear, readable: below }
}

const IN_CLEAR: Redaction = { hmac: undefined }

/**
 * Copies the value with every text replaced, as JSON has it. The copy is serialised at once: adding up pieces of text
 * by the thousand costs twice as much.
 */
function hidden(value: unknown, redaction: Redaction, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return hiddenText(value, redaction)
    case 'number':
    case 'boolean':
      return hiddenScalar(value, redaction)
    case 'undefined':
      return value
    case 'object':
      return value === null ? null : hiddenObject(value, redaction, depth)
    default:
      // A bigint, symbol or function may be a secret as well as a text.
      return hiddenText(String(value), redaction)
  }
}

function hiddenText(text: string, { hmac }: Redaction): string {
  return hmac === undefined ? text : HMAC_PREFIX + hmac.hexOf(text)
}

/** Returns an HMAC if the value was given for a secret. */
function hiddenScalar(value: number | boolean, { hmac, readable }: Redaction): number | boolean | string {
  const isSecret = readable !== undefined && hmac !== undefined
  // JSON has neither NaN nor Infinity: they become null.
  return isSecret && Number.isFinite(Number(value)) ? HMAC_PREFIX + hmac.hexOf(String(value)) : value
}

function hiddenObject(value: object, redaction: Redaction, depth: number): unknown {
  if (depth >= MAX_DEPTH) return hiddenText('nested too deep', redaction)
  if (Array.isArray(value)) return value.map((item) => hidden(item, redaction, depth + 1))
  // Nearly all objects are plain, and the questions below cost more than this one.
  if (value.constructor === Object) return hiddenPlain(value, redaction, depth)
  // The HMAC of the bytes equals that of the text.
  if (value instanceof LongText) return redaction.hmac === undefined ? value : hiddenBytes(value.bytes, redaction)
  const bytes = bytesOf(value)
  if (bytes !== undefined) return hiddenBytes(bytes, redaction)
  if (value instanceof Map) return hiddenMembers(value, redaction, depth)
  if (value instanceof Set) return [...value].map((item) => hidden(item, redaction, depth + 1))
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return hidden(toJSON.call(value), redaction, depth + 1)
  return hiddenPlain({ ...value }, redaction, depth)
}

function hiddenPlain(value: object, redaction: Redaction, depth: number): object {
  const copy: Record<string, unknown> = {}
  for (const name in value) {
    const member = hidden((value as Record<string, unknown>)[name], within(name, redaction), depth + 1)
    if (name === '__proto__') Object.defineProperty(copy, name, { value: member, enumerable: true })
    else copy[name] = member
  }
  return copy
}

function hiddenMembers(value: ReadonlyMap<unknown, unknown>, redaction: Redaction, depth: number): object {
  const members = [...value].map(([key, member]) => {
    const name = String(key)
    return [name, hidden(member, within(name, redaction), depth + 1)] as const
  })
  return Object.fromEntries(members)
}

function bytesOf(value: object): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (!isBytes(value)) return undefined
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value)
}

function hiddenBytes(bytes: Uint8Array, { hmac }: Redaction): string {
  if (hmac !== undefined) return HMAC_PREFIX + hmac.hexOfBytes(bytes)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
