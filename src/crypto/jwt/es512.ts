// Compact JWS with ES512 (RFC 7515 section 3.1; RFC 7518 section 3.4: P-521, SHA-512, r and s of 66 bytes each). With
// one algorithm and one header no library for all of JOSE is needed: the header is compared, never interpreted.
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { Base64Error, decodeBase64Url } from '../../lib/base64.ts'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../../lib/json.ts'
import type { Job, SlowWork } from '../../lib/slow-work.ts'
import { P521 } from '../forms/ec-curves.ts'
import { drawScalar, loadScalar } from '../forms/ec-private-key.ts'
import type { RandomBytes } from '../primitives/random-bytes.ts'

const HEADER = Buffer.from('{"alg":"ES512","typ":"JWT"}').toString('base64url')
const SIGNATURE_BYTES = 132
/** Longest token; checked before anything else (threats L-09). */
const MAX_CHARACTERS = 8_192
const FORM = { dsaEncoding: 'ieee-p1363' } as const

/**
 * A new private key as it is stored: the number d in 66 bytes (FIPS 186-5 appendix A.2.2), the caller's to wipe. It is
 * not in DER, since the runtime leaves copies of DER in freed memory.
 */
export const generateEs512 = (random: RandomBytes): Buffer => drawScalar(P521, random)

/** Loads a stored private key; `stored` stays the caller's to wipe. */
export const loadEs512 = (stored: Buffer): KeyObject => loadScalar(P521, stored)

/** The public half of a private key, with which tokens are checked. */
export const es512PublicHalf = (key: KeyObject): KeyObject => createPublicKey(key)

/** SubjectPublicKeyInfo in PEM (RFC 7468), and the two coordinates of the point. */
export function describePublicKey(key: KeyObject): { readonly pem: string; readonly x: bigint; readonly y: bigint } {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  const number = (text: string): bigint => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
  return { pem: key.export({ format: 'pem', type: 'spki' }), x: number(x), y: number(y) }
}

type Signing = { readonly key: KeyObject; readonly text: string }
type Checking = Signing & { readonly signature: Uint8Array }

/** Signs on a thread of the pool: P-521 takes about a millisecond. */
export const SIGN_ES512: Job<Signing, Uint8Array> = {
  name: 'es512-sign',
  takes: 'short',
  run: ({ key, text }) => sign('sha512', Buffer.from(text), { key, ...FORM }),
}

/** Verifies on a thread of the pool. */
export const CHECK_ES512: Job<Checking, boolean> = {
  name: 'es512-check',
  takes: 'short',
  run: ({ key, text, signature }) => verify('sha512', Buffer.from(text), { key, ...FORM }, signature),
}

/** Signs the claims with a private key. Returns the compact token. 1 ms, on the pool. */
export async function signJwt(claims: JsonObject, key: KeyObject, slow: SlowWork): Promise<string> {
  const text = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  const signature = await slow.run(SIGN_ES512, { key, text })
  return `${text}.${Buffer.from(signature).toString('base64url')}`
}

/** A token that has the right form. */
export type ReadJwt = {
  /** Must not be believed before `isSigned`. */
  readonly claims: JsonObject
  isSigned(key: KeyObject, slow: SlowWork): Promise<boolean>
}

/** Reads a token without checking its signature; undefined unless it has exactly this form. Cheap for any text. */
export function readJwt(jwt: string): ReadJwt | undefined {
  if (jwt.length > MAX_CHARACTERS || !jwt.startsWith(`${HEADER}.`)) return undefined
  const dot = jwt.lastIndexOf('.')
  const text = jwt.slice(0, dot)
  const payload = decoded(text.slice(HEADER.length + 1))
  const signature = decoded(jwt.slice(dot + 1))
  if (payload === undefined || signature?.length !== SIGNATURE_BYTES) return undefined
  const claims = parsed(payload)
  if (claims === undefined) return undefined
  return { claims, isSigned: (key, slow) => slow.run(CHECK_ES512, { key, text, signature }) }
}

function decoded(text: string): Buffer | undefined {
  try {
    return text === '' ? undefined : decodeBase64Url(text)
  } catch (cause) {
    if (cause instanceof Base64Error) return undefined
    throw cause
  }
}

function parsed(payload: Buffer): JsonObject | undefined {
  try {
    const claims = parseJson(payload)
    return isJsonObject(claims) ? claims : undefined
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}
