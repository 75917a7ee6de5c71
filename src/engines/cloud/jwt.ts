// The shape of a token (RFC 7519, the compact form of RFC 7515), before anything in it is believed.
import { fail } from '../../api/errors.ts'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../../lib/json.ts'

export type Jwt = { readonly compact: string; readonly header: JsonObject; readonly claims: JsonObject }

export const MAX_JWT_CHARACTERS = 32_768
/** The last part may be empty, as of a token that nobody signed: that is refused for what it is. */
const SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/
const LIMITS = { depth: 16, containers: 1_000, members: 5_000 }

/** @throws Refusal 400 for what is none */
export function parseJwt(text: string): Jwt {
  if (text.length > MAX_JWT_CHARACTERS)
    throw fail('out_of_range', ['jwt', `must have at most ${MAX_JWT_CHARACTERS} characters`])
  const parts = text.split('.')
  if (!SHAPE.test(text) || !parts.every(isCanonical)) throw malformed('three parts in base64url with a "." between')
  const [header = '', payload = ''] = parts
  return { compact: text, header: objectIn(header), claims: objectIn(payload) }
}

/** Bits that the last character has to spare are zero: one token has one text. */
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
