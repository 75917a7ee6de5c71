// The body of a request as fields: JSON whatever its type says, or a form.
import { fail } from '../api/errors.ts'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../lib/json.ts'
import { parseQuery } from './target.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** No client sends its large values as a form. */
const MAX_FORM_BYTES = 65_536

/** Undefined where there is no data (`null`). @throws Refusal `json_invalid`, without a word of the input */
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

/** What came from another thread is a plain array of the same bytes. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function parseForm(body: Buffer): JsonObject {
  if (body.length > MAX_FORM_BYTES)
    throw fail('too_many_parameters', [`A form has at most ${MAX_FORM_BYTES} bytes, send JSON`])
  return parseQuery(body.toString('utf8'))
}

function looksLikeJson(body: Buffer): boolean {
  for (const byte of body) {
    if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) continue
    return byte === 0x7b || byte === 0x5b
  }
  return true
}
