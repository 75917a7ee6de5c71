// Bounds the data that is recorded item by item. A text of three bytes becomes one of eighty in a line, twice a request
// and in every device: without a bound a small body would make a large log and block the thread (threats P-39).
import { LongText } from '../lib/long-text.ts'
import { isBytes } from './bytes.ts'

/** Most items of the data of one request or answer. */
export type DataLimits = {
  /** Texts, and everything else that becomes an HMAC of its own. */
  readonly texts: number
  /** Names of members, and values that are no texts, lists and objects included. */
  readonly others: number
  /** Characters of all names together: names stay readable, and callers choose them. */
  readonly nameCharacters: number
  /** Characters of all texts and names together, for devices that write them in clear; missing: no limit. */
  readonly characters?: number
}

/** Enough for a batch of thousands. */
export const LIMITS_WITH_TOKEN: DataLimits = { texts: 10_000, others: 100_000, nameCharacters: 262_144 }
/** Larger than those of a request: an answer has several texts for each item that was sent, most of them empty. */
export const LIMITS_OF_ANSWER: DataLimits = { texts: 40_000, others: 200_000, nameCharacters: 2_097_152 }
/** Enough for a login, which sends a handful. */
export const LIMITS_WITHOUT_TOKEN: DataLimits = { texts: 200, others: 2_000, nameCharacters: 4_096 }

/** Adds a bound on characters, for a device that writes texts in clear: there a long text makes a long line. */
export const inClear = (limits: DataLimits): DataLimits => ({
  ...limits,
  characters: limits === LIMITS_WITHOUT_TOKEN ? CHARACTERS_WITHOUT_TOKEN : CHARACTERS_WITH_TOKEN,
})
const CHARACTERS_WITH_TOKEN = 1 << 20
const CHARACTERS_WITHOUT_TOKEN = 1 << 16

/** Deeper than any body; the redactor stops at the same depth. */
const MAX_DEPTH = 128

type Left = { texts: number; others: number; nameCharacters: number; characters: number }

/** True if the value exceeds the limits, at any depth. Looks at no more items than the limits allow. Never throws. */
export function exceeds(value: unknown, limits: DataLimits): boolean {
  const { texts, others, nameCharacters, characters = Number.POSITIVE_INFINITY } = limits
  try {
    return !isWithin(value, { texts, others, nameCharacters, characters }, 0)
  } catch {
    // A member that throws when it is read also ends the redaction, which then records nothing of it.
    return false
  }
}

function isWithin(value: unknown, left: Left, depth: number): boolean {
  if (typeof value === 'string') return isTextWithin(value.length, left)
  if (typeof value === 'object' && value !== null) return isObjectWithin(value, left, depth)
  return isText(value) ? isTextWithin(0, left) : --left.others >= 0
}

function isTextWithin(characters: number, left: Left): boolean {
  left.characters -= characters
  return --left.texts >= 0 && left.characters >= 0
}

const base64Length = ({ byteLength }: { readonly byteLength: number }): number => Math.ceil(byteLength / 3) * 4

/** Counts the name of a member as one of `others`. */
function isNameWithin(name: unknown, left: Left): boolean {
  if (typeof name === 'string') {
    left.nameCharacters -= name.length
    left.characters -= name.length
  }
  return --left.others >= 0 && left.nameCharacters >= 0 && left.characters >= 0
}

function isText(value: unknown): boolean {
  const type = typeof value
  return type !== 'number' && type !== 'boolean' && type !== 'undefined' && value !== null
}

function isObjectWithin(value: object, left: Left, depth: number): boolean {
  // Plain objects come in thousands, and the questions below cost more than counting a plain object.
  const isPlain = value.constructor === Object && !('toJSON' in value)
  if (!isPlain && value instanceof LongText) return isTextWithin(value.bytes.length, left)
  if (!isPlain && isBytes(value)) return isTextWithin(base64Length(value), left)
  if (--left.others < 0) return false
  if (depth >= MAX_DEPTH) return true
  if (isPlain) return areMembersWithin(value, left, depth)
  if (Array.isArray(value) || value instanceof Set) {
    for (const item of value) if (!isWithin(item, left, depth + 1)) return false
    return true
  }
  if (value instanceof Map) {
    for (const [name, member] of value)
      if (!isNameWithin(name, left) || !isWithin(member, left, depth + 1)) return false
    return true
  }
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return isWithin(toJSON.call(value), left, depth + 1)
  return areMembersWithin(value, left, depth)
}

function areMembersWithin(value: object, left: Left, depth: number): boolean {
  for (const name in value) {
    if (!isNameWithin(name, left)) return false
    if (!isWithin((value as Record<string, unknown>)[name], left, depth + 1)) return false
  }
  return true
}
