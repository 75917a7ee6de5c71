// The body of a request as fields: JSON, whatever its content type says, or a form.
import { fail } from '../api/errors.ts'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../lib/json.ts'
import { parseQuery } from './target.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** Bounds the work of decoding a form. Clients send large values as JSON. */
const MAX_FORM_BYTES = 65_536

/**
 * Returns the members of the body; undefined for `null`, which stands for no data.
 * @throws Refusal `json_invalid`, whose text repeats nothing of the input
 */
export function parseBody(bytes: Uint8Array, contentType: string | undefined): JsonObject | undefined {
  const body = asBuffer(bytes)
  // curl sends JSON under the type of a form unless it is told otherwise.
  if (contentType?.startsWith(FORM_TYPE) === true && !looksLikeJson(body)) return parseForm(body)
  try {
    const value = parseJson(body)
    if (value === null) return undefined
    if (isJsonObject(value)) return value
  } catch (cause) {
    if (cause instanceof JsonError) throw fail('json_invalid', [cause.message], cause)
    throw cause
  }
  throw fail('json_invalid', ['expected an object'])
}

/** A body that came from another thread is a plain Uint8Array; this views its bytes without a copy. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Parses the form as a query string. @throws Refusal `too_many_parameters` */
function parseForm(body: Buffer): JsonObject {
  if (body.length > MAX_FORM_BYTES)
    throw fail('too_many_parameters', [`A form has at most ${MAX_FORM_BYTES} bytes, send JSON`])
  return parseQuery(body.toString('utf8'))
}

/** True if the first byte that is not white space is "{" or "[", and for a body of white space alone. */
function looksLikeJson(body: Buffer): boolean {
  for (const byte of body) {
    if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) continue
    return byte === 0x7b || byte === 0x5b
  }
  return true
}
