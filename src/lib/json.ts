// The one way from bytes to JSON values. A byte scan first bounds what JSON.parse may cost: 32 MB of brackets would
// take seconds and hundreds of megabytes (threats N-06). Then the text is parsed. Messages of the parser quote the
// input, so they never get out (threats N-08).
import { isAscii, isUtf8 } from 'node:buffer'

/** Any result of JSON.parse. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
/** An object of JSON. Names come from the input: look them up with `own` (own.ts). */
export type JsonObject = { [name: string]: JsonValue }

/** The bytes are not JSON, or exceed a limit. The message never repeats the input. */
export class JsonError extends Error {
  override name = 'JsonError'
}

/** Limits to the cost of an input. All are checked before anything is parsed. */
export type JsonLimits = {
  /** Nesting of arrays and objects, 256 at most. */
  readonly depth: number
  /** Arrays and objects in all. */
  readonly containers: number
  /** Members of arrays and objects in all, counted by their commas. */
  readonly members: number
  /** Members of one object, repeated names included; missing: MAX_OBJECT_MEMBERS. */
  readonly objectMembers?: number
}

/** The limits for bodies of requests. */
export const DEFAULT_JSON_LIMITS: JsonLimits = { depth: 64, containers: 1_000_000, members: 2_000_000 }
/** An object of a million names takes seconds to make, and hundreds of bytes for each name. */
export const MAX_OBJECT_MEMBERS = 10_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OF_ARRAY = -(2 ** 31)
/** The greatest depth that any limits allow. */
const DEEPEST = 256
/**
 * The members so far of each open object, by its depth. An array counts from so far below that it never reaches a
 * limit. All scans share it: a new one costs as much as the scan of a small body, and no scan is ever interrupted.
 */
const OPEN_MEMBERS = new Int32Array(DEEPEST + 1)

/** Parses UTF-8 bytes. @throws JsonError */
export function parseJson(bytes: Buffer, limits: JsonLimits = DEFAULT_JSON_LIMITS): JsonValue {
  scan(bytes, limits)
  const text = decodeUtf8(bytes)
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw new JsonError('not well-formed JSON')
  }
}

const STORED_LIMITS = { depth: DEEPEST, containers: 10_000_000, members: 100_000_000, objectMembers: 100_000_000 }

/** Like `parseJson`, with wider limits, for text that this program wrote itself. */
export function parseStoredJson(bytes: Buffer): JsonValue {
  return parseJson(bytes, STORED_LIMITS)
}

function decodeUtf8(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (!isUtf8(bytes)) throw new JsonError('not valid UTF-8')
  return bytes.toString('utf8')
}

function scan(bytes: Buffer, limits: JsonLimits): void {
  const { objectMembers = MAX_OBJECT_MEMBERS } = limits
  let depth = 0
  let containers = 0
  let commas = 0
  const members = OPEN_MEMBERS
  members[0] = 0
  const length = bytes.length
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) i = endOfString(bytes, i)
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > limits.depth) throw new JsonError(`nested deeper than ${limits.depth} levels`)
      if (++containers > limits.containers) throw new JsonError(`more than ${limits.containers} arrays and objects`)
      members[depth] = byte === 0x7b ? 1 : OF_ARRAY
    } else if (byte === 0x5d || byte === 0x7d) depth--
    else if (byte === 0x2c) {
      if (++commas > limits.members) throw new JsonError(`more than ${limits.members} members`)
      const inThis = (members[depth] ?? 0) + 1
      if (inThis > objectMembers) throw new JsonError(`more than ${objectMembers} members of one object`)
      members[depth] = inThis
    }
  }
}

const NEAR_BYTES = 64

/**
 * Returns the index of the quote that ends the string beginning at `start`. The first bytes are read one by one, the
 * rest is crossed by a native search. The bytes after an escaped quote are read one by one again, since a string may
 * hold a million of those.
 */
function endOfString(bytes: Buffer, start: number): number {
  let i = start + 1
  for (;;) {
    const near = Math.min(bytes.length, i + NEAR_BYTES)
    for (; i < near; i++) {
      const byte = bytes[i]
      if (byte === QUOTE) return i
      if (byte === BACKSLASH) i++
    }
    const quote = bytes.indexOf(QUOTE, i)
    if (quote === -1) throw new JsonError('unexpected end inside a string')
    let backslashes = 0
    while (quote - 1 - backslashes >= i && bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote
    i = quote + 1
  }
}

/** True for an object that is no list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON of other programs, which may hold integers that no double can. */
export type ExactJson = null | boolean | number | bigint | string | ExactJson[] | ExactObject
/** An object of such JSON. */
export type ExactObject = { [name: string]: ExactJson }

/** Digits of the longest number: an RSA modulus of 4096 bits has 1,234. */
const MAX_DIGITS = 1_300

type SourceReviver = (this: unknown, name: string, value: unknown, context: { readonly source?: string }) => unknown
const reviveFromSource = JSON.parse as (text: string, reviver: SourceReviver) => ExactJson

/** Like `parseJson`, but a whole number beyond 2^53 is a bigint. About ten times as slow. @throws JsonError */
export function parseExactJson(bytes: Buffer, limits: JsonLimits): ExactJson {
  scan(bytes, limits)
  const text = decodeUtf8(bytes)
  try {
    return reviveFromSource(text, (_name, value, { source }) => exactNumber(value, source))
  } catch (cause) {
    throw cause instanceof JsonError ? cause : new JsonError('not well-formed JSON')
  }
}

function exactNumber(value: unknown, source = ''): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  if (source.length > MAX_DIGITS) throw new JsonError(`has a number of more than ${MAX_DIGITS} digits`)
  return /^-?\d+$/.test(source) ? BigInt(source) : value
}

const rawJson = (JSON as unknown as { rawJSON(text: string): object }).rawJSON

/** Returns a stand-in for JSON.stringify, which then writes all digits of the number. */
export function exactInteger(value: bigint): object {
  return rawJson(value.toString())
}
