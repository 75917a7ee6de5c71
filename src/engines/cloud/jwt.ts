// The shape of a token (RFC 7519, in the compact form of RFC 7515), before anything in it is believed.
import { fail } from '../../api/errors.ts'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../../lib/json.ts'

/** A token taken apart. Nothing in it is verified; `compact` is the text that the signature covers. */
export type Jwt = { readonly compact: string; readonly header: JsonObject; readonly claims: JsonObject }

/** Characters of a token, checked before it is taken apart (threats L-09). */
export const MAX_JWT_CHARACTERS = 32_768
/** The last part may be empty, as in an unsigned token; that is refused later, for what it is. */
const SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/
const LIMITS = { depth: 16, containers: 1_000, members: 5_000 }

/**
 * Takes a token apart. Encrypted tokens have five parts and are refused here, unread (threats L-10).
 * @throws Refusal 400 unless the text is a JWT.
 */
export function parseJwt(text: string): Jwt {
  if (text.length > MAX_JWT_CHARACTERS)
    throw fail('out_of_range', ['jwt', `must have at most ${MAX_JWT_CHARACTERS} characters`])
  const parts = text.split('.')
  if (!SHAPE.test(text) || !parts.every(isCanonical)) throw malformed('three parts in base64url with a "." between')
  const [header = '', payload = ''] = parts
  return { compact: text, header: objectIn(header), claims: objectIn(payload) }
}

/** True if the spare bits of the last character are zero, so that one token has one text. */
const isCanonical = (part: string): boolean => Buffer.from(part, 'base64url').toString('base64url') === part

const malformed = (wanted: string) => fail('field_invalid', ['jwt', `malformed jwt: expected ${wanted}`])

function objectIn(part: string): JsonObject {
  const bytes = Buffer.from(part, 'base64url')
  try {
    const value = parseJson(bytes, LIMITS)
    if (isJsonObject(value)) return value
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
  }
  throw malformed('JSON objects in its first two parts')
}
