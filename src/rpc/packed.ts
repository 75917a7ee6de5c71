// Plain data with bytes in it, as it goes to another cluster. What a channel between threads clones, a link carries as
// text that any version can read, and bytes behind it that are not encoded.
//
//   packed   length of the text u32 | text | bytes, one piece behind the other in the order of the text
//   text     JSON. {"$bytes": n} stands for the next n bytes, {"$undefined": true} for undefined. A name that begins
//            with $ has one more of them.
import { isJsonObject, JsonError, type JsonLimits, type JsonValue, parseJson } from '../lib/json.ts'

/** What was read is none, or exceeds a limit. The message repeats nothing of it. */
export class PackedError extends Error {
  override name = 'PackedError'
}

const LENGTH_BYTES = 4
const MARK = '$'
const BYTES = '$bytes'
const UNDEFINED = '$undefined'
/** Levels of what is packed: bodies of requests have 64, and stand somewhere in it. */
const MAX_DEPTH = 128

/** Limits of what another cluster sends. All of it is read on the thread that writes. */
export const PACKED_LIMITS: JsonLimits = {
  // A mark in the innermost of them is one more.
  depth: MAX_DEPTH + 1,
  containers: 1_000_000,
  members: 2_000_000,
  objectMembers: 100_000,
}

/**
 * Returns the value as bytes, which are copied.
 * @throws TypeError if it holds anything but plain objects, lists, texts, finite numbers, flags, null, undefined, bytes
 */
export function packed(value: unknown): Buffer {
  const pieces: Uint8Array[] = []
  const text = Buffer.from(JSON.stringify(written(value, pieces, MAX_DEPTH)))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text, ...pieces])
}

/** Reads what `packed` wrote. Its bytes are views of the input. @throws PackedError */
export function unpacked(input: Buffer, limits: JsonLimits = PACKED_LIMITS): unknown {
  if (input.length < LENGTH_BYTES) throw new PackedError('It is too short')
  const end = LENGTH_BYTES + input.readUInt32BE()
  if (end > input.length) throw new PackedError('It ends within its text')
  const pieces = { input, at: end }
  const value = read(parsed(input.subarray(LENGTH_BYTES, end), limits), pieces)
  if (pieces.at !== input.length) throw new PackedError('Something follows its last bytes')
  return value
}

function parsed(text: Buffer, limits: JsonLimits): JsonValue {
  try {
    return parseJson(text, limits)
  } catch (cause) {
    if (cause instanceof JsonError) throw new PackedError(`Its text is ${cause.message}`)
    throw cause
  }
}

function written(value: unknown, pieces: Uint8Array[], depth: number): JsonValue {
  if (depth < 0) throw new TypeError(`A value of more than ${MAX_DEPTH} levels cannot be packed`)
  if (value === undefined) return { [UNDEFINED]: true }
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value instanceof Uint8Array) {
    pieces.push(value)
    return { [BYTES]: value.byteLength }
  }
  if (Array.isArray(value)) return value.map((each) => written(each, pieces, depth - 1))
  if (!isPlain(value)) throw new TypeError(`A value of the type ${typeof value} cannot be packed`)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.startsWith(MARK) ? MARK + name : name,
      written(member, pieces, depth - 1),
    ]),
  )
}

type Pieces = { readonly input: Buffer; at: number }

function read(value: JsonValue, pieces: Pieces): unknown {
  if (Array.isArray(value)) return value.map((each) => read(each, pieces))
  if (!isJsonObject(value)) return value
  const names = Object.keys(value)
  const [first = ''] = names
  if (names.length === 1 && first === BYTES) return taken(value[BYTES], pieces)
  if (names.length === 1 && first === UNDEFINED && value[UNDEFINED] === true) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [unmarked(name), read(member, pieces)]))
}

function taken(count: JsonValue | undefined, pieces: Pieces): Buffer {
  const { input, at } = pieces
  const isCount = typeof count === 'number' && Number.isSafeInteger(count) && count >= 0
  if (!isCount || at + count > input.length) throw new PackedError('Bytes are missing')
  pieces.at = at + count
  return input.subarray(at, at + count)
}

function unmarked(name: string): string {
  if (!name.startsWith(MARK)) return name
  if (name.startsWith(MARK + MARK)) return name.slice(MARK.length)
  throw new PackedError('A member has a name that stands for something unknown')
}

/** Keys, streams and errors are objects of classes, and no data. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
