// From the raw request target to the one path that router, policy and log see. Percent-encoding is undone exactly once,
// before anything is decided (threats A-02), and not by `URL`, which folds segments silently (N-12).
import { isUtf8 } from 'node:buffer'
import { fail } from '../api/errors.ts'
import type { JsonObject } from '../lib/json.ts'

/** Every path of the API begins so; a request for any other is answered 404. */
export const API_PREFIX = '/v1/'
/** Characters of the path as it comes, before decoding. */
const MAX_PATH_LENGTH = 4096
const SLASH = 0x2f
const DOT = 0x2e
const PERCENT = 0x25

/** Returns the path after /v1/; undefined if the target is outside the API. @throws Refusal `bad_path` */
export function canonicalPath(rawPath: string): string | undefined {
  if (!rawPath.startsWith(API_PREFIX)) return undefined
  const raw = rawPath.slice(API_PREFIX.length)
  if (raw.length > MAX_PATH_LENGTH) throw fail('bad_path', [`is longer than ${MAX_PATH_LENGTH} characters`])
  const path = isPlain(raw) ? raw : decodePercent(raw)
  return path.includes('//') || path.startsWith('/') ? checkSegments(collapseSlashes(path)) : checkSegments(path)
}

/** True for printable ASCII without "%": nothing to decode. */
function isPlain(raw: string): boolean {
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code === PERCENT || code < 0x21 || code > 0x7e) return false
  }
  return true
}

/**
 * Decodes "%XX". The result must be UTF-8: invalid bytes would all become one character, and different paths the same.
 */
function decodePercent(raw: string): string {
  const bytes = Buffer.alloc(Buffer.byteLength(raw))
  let length = 0
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code === PERCENT) {
      const value = hexPair(raw.charCodeAt(i + 1), raw.charCodeAt(i + 2))
      if (value === undefined) throw fail('bad_path', ['has a "%" that two hexadecimal digits do not follow'])
      bytes[length++] = value
      i += 2
    } else if (code < 0x80) bytes[length++] = code
    else throw fail('bad_path', ['has a character that must be percent-encoded'])
  }
  const decoded = bytes.subarray(0, length)
  if (!isUtf8(decoded)) throw fail('bad_path', ['is not valid UTF-8'])
  return decoded.toString('utf8')
}

function hexPair(high: number, low: number): number | undefined {
  const [h, l] = [hexDigit(high), hexDigit(low)]
  return h === undefined || l === undefined ? undefined : h * 16 + l
}

function hexDigit(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}

/** Removes a slash at the start, and slashes that follow another. */
function collapseSlashes(path: string): string {
  let result = ''
  for (let i = 0; i < path.length; i++) {
    if (path.charCodeAt(i) === SLASH && (result === '' || result.endsWith('/'))) continue
    result += path[i]
  }
  return result
}

/** True for a path, or the end of one, that has nothing to decode, to collapse or to refuse. */
export function isCanonical(path: string): boolean {
  const isText = path.length <= MAX_PATH_LENGTH && path.isWellFormed()
  return isText && !path.startsWith('/') && !path.includes('//') && faultIn(path) === undefined
}

function checkSegments(path: string): string {
  const fault = faultIn(path)
  if (fault !== undefined) throw fail('bad_path', [fault])
  return path
}

/**
 * Finds control characters and the segments "." and "..". They are refused, not resolved: a policy that was written for
 * one spelling must not be passed by another.
 */
function faultIn(path: string): string | undefined {
  let start = 0
  for (let i = 0; i <= path.length; i++) {
    const code = i === path.length ? SLASH : path.charCodeAt(i)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'has a control character'
    if (code !== SLASH) continue
    const length = i - start
    const relative =
      length <= 2 &&
      length > 0 &&
      path.charCodeAt(start) === DOT &&
      (length === 1 || path.charCodeAt(start + 1) === DOT)
    if (relative) return 'has a "." or ".." segment: relative paths not supported'
    start = i + 1
  }
  return undefined
}

/** Bounds the cost of a query string, which may be as long as the headers. */
const MAX_QUERY_PARAMETERS = 100

/**
 * Returns the parameters of a query as fields. A repeated parameter counts once, with its first value.
 * @throws Refusal `too_many_parameters`
 */
export function parseQuery(query: string): JsonObject {
  const fields: JsonObject = Object.create(null)
  let count = 0
  for (const [name, value] of new URLSearchParams(query)) {
    if (++count > MAX_QUERY_PARAMETERS)
      throw fail('too_many_parameters', [`The query has more than ${MAX_QUERY_PARAMETERS} parameters`])
    if (!Object.hasOwn(fields, name)) fields[name] = value
  }
  return fields
}
