// Turns data of requests and answers into JSON text that holds no secret: every text becomes its HMAC under the salt of
// the device; numbers, booleans and the names of members stay readable, as in the reference (threats V-10), but for
// numbers and booleans that were given for a secret.
//
// It is total (threats U-04, P-37): whatever the value is, the result is JSON, and what has no place in JSON becomes
// the HMAC of what it would print as, never the thing itself.
import { quoted } from './ascii-json.ts'
import { isBytes } from './bytes.ts'

/** As much of a salt as is needed; where it is undefined, texts are written as they are (`log_raw`). */
export type TextHmac = { hexOf(text: string): string; hexOfBytes(bytes: Uint8Array): string }

export type Redaction = {
  readonly hmac: TextHmac | undefined
  /** Members whose texts stay readable, at any depth: as the mount was tuned. */
  readonly clear?: readonly string[] | undefined
  /** Members of which numbers and booleans are secret as well, and which members below them are not. */
  readonly secret?: SecretMembers | undefined
  /** Set below such a member: the names of those that stay readable. */
  readonly readable?: ReadonlySet<string> | undefined
}

export type SecretMembers = ReadonlyMap<string, ReadonlySet<string>>

export const HMAC_PREFIX = 'hmac-sha256:'
/** Bodies have at most 64 levels; an answer that is deeper than this may never end. */
const MAX_DEPTH = 128
/** Items of an array that are redacted in one go where the caller can wait: about a millisecond. */
export const ITEMS_AT_ONCE = 1_000

export function redactText(text: string, { hmac }: Redaction): string {
  return hmac === undefined ? quoted(text) : `"${HMAC_PREFIX}${hmac.hexOf(text)}"`
}

/** `value` as JSON text. Throws nothing. */
export function redact(value: unknown, redaction: Redaction): string {
  try {
    return valueText(value, redaction, 0)
  } catch {
    // A member that throws when it is read: nothing of it is known to be harmless.
    return redactText('unreadable', redaction)
  }
}

/**
 * What stands for a value that is too large to be recorded item by item: the HMAC of its JSON text, as `JSON.stringify`
 * makes it, and how many bytes that has in UTF-8. Throws nothing.
 */
export function redactWhole(value: unknown, hmac: TextHmac): string {
  let json: string
  try {
    json = JSON.stringify(value) ?? 'null'
  } catch {
    // A number or a circle that JSON does not know: nothing of it is known to be harmless.
    json = 'unreadable'
  }
  return `{"hmac":"${HMAC_PREFIX}${hmac.hexOf(json)}","bytes":${Buffer.byteLength(json)}}`
}

/**
 * The same as `redact`, with other requests let in between the slices of its long lists. `pause` resolves
 * when it is to go on.
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
      const items = member.slice(from, from + ITEMS_AT_ONCE).map((item) => redact(item, inner))
      slices.push(items.join(','))
      await pause()
    }
    members.push(`${quoted(name)}:[${slices.join(',')}]`)
  }
  return `{${members.join(',')}}`
}

/** Whether it is worth the pauses. */
export function hasLongList(value: object | undefined): boolean {
  if (value === undefined) return false
  for (const name in value) if (isLong((value as Record<string, unknown>)[name])) return true
  return false
}

const isLong = (member: unknown): member is unknown[] => Array.isArray(member) && member.length > 2 * ITEMS_AT_ONCE

/** How a member is redacted, and all below it. */
function within(name: string, redaction: Redaction): Redaction {
  const { hmac, clear, secret, readable } = redaction
  if (clear?.includes(name) === true) return IN_CLEAR
  if (readable !== undefined) return readable.has(name) ? { hmac, clear } : redaction
  const below = secret?.get(name)
  return below === undefined ? redaction : { hmac, clear, readable: below }
}

/** A number or a boolean, as JSON text: an HMAC where it was given for a secret. */
function scalarText(text: string, redaction: Redaction): string {
  return redaction.readable === undefined || redaction.hmac === undefined ? text : redactText(text, redaction)
}
const IN_CLEAR: Redaction = { hmac: undefined }

function valueText(value: unknown, redaction: Redaction, depth: number): string {
  switch (typeof value) {
    case 'string':
      return redactText(value, redaction)
    case 'number':
      // As JSON has it: no NaN, no Infinity.
      return Number.isFinite(value) ? scalarText(String(value), redaction) : 'null'
    case 'boolean':
      return scalarText(value ? 'true' : 'false', redaction)
    case 'undefined':
      return 'null'
    case 'object':
      return value === null ? 'null' : objectText(value, redaction, depth)
    default:
      // bigint, symbol, function: it may be a secret as well as a text may.
      return redactText(String(value), redaction)
  }
}

function objectText(value: object, redaction: Redaction, depth: number): string {
  if (depth >= MAX_DEPTH) return redactText('nested too deep', redaction)
  if (Array.isArray(value)) {
    let items = ''
    for (let at = 0; at < value.length; at++) {
      items += at === 0 ? valueText(value[at], redaction, depth + 1) : `,${valueText(value[at], redaction, depth + 1)}`
    }
    return `[${items}]`
  }
  const bytes = bytesOf(value)
  if (bytes !== undefined) return bytesText(bytes, redaction)
  if (value instanceof Map)
    return membersText(
      [...value].map(([name, member]) => [String(name), member]),
      redaction,
      depth,
    )
  if (value instanceof Set) return objectText([...value], redaction, depth)
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return valueText(toJSON.call(value), redaction, depth + 1)
  let members = ''
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue
    const member = (value as Record<string, unknown>)[name]
    if (member === undefined) continue
    const text = nameText(name) + valueText(member, within(name, redaction), depth + 1)
    members += members === '' ? text : `,${text}`
  }
  return `{${members}}`
}

/** The names of members that were quoted last: there are few, and a batch has each of them a thousand times. */
const NAMES = new Map<string, string>()
const MOST_NAMES = 1_000
const LONGEST_NAME = 64

function nameText(name: string): string {
  const known = NAMES.get(name)
  if (known !== undefined) return known
  const text = `${quoted(name)}:`
  if (name.length > LONGEST_NAME) return text
  if (NAMES.size >= MOST_NAMES) NAMES.clear()
  NAMES.set(name, text)
  return text
}

function membersText(members: readonly (readonly [string, unknown])[], redaction: Redaction, depth: number): string {
  const texts = members.map(
    ([name, member]) => `${quoted(name)}:${valueText(member, within(name, redaction), depth + 1)}`,
  )
  return `{${texts.join(',')}}`
}

function bytesOf(value: object): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (!isBytes(value)) return undefined
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value)
}

function bytesText(bytes: Uint8Array, { hmac }: Redaction): string {
  if (hmac !== undefined) return `"${HMAC_PREFIX}${hmac.hexOfBytes(bytes)}"`
  return `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')}"`
}
