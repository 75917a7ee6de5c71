// Signs tokens, good and bad. The claims of good ones come from access-tokens.ts.
import { constants, createHmac, type KeyObject, sign } from 'node:crypto'
import type { SigningKey, SigningKeys } from './signing-keys.ts'

/** Claims of a token. Those whose value is undefined are left out. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * The key that signs: `current` and `previous` are the directory's, `foreign` it never had, and `none` signs nothing.
 * `hmac-pem` and `hmac-der` are an HMAC keyed with the public key, which a verifier may be tricked into accepting. Any
 * other key is the caller's own.
 */
export type TokenKey = 'current' | 'previous' | 'foreign' | 'none' | 'hmac-pem' | 'hmac-der' | SigningKey

/** How a token is signed. */
export type TokenForm = {
  /** Members laid over `typ`, `alg`, `x5t` and `kid`. */
  readonly header?: Claims
  readonly key?: TokenKey
  /** The algorithm of the signature. The header repeats it unless it is laid over; the key `none` has none. */
  readonly algorithm?: keyof typeof SIGNERS
}

const SIGNERS = {
  RS256: (data: Buffer, key: KeyObject) => sign('sha256', data, key),
  RS384: (data: Buffer, key: KeyObject) => sign('sha384', data, key),
  RS512: (data: Buffer, key: KeyObject) => sign('sha512', data, key),
  PS256: (data: Buffer, key: KeyObject) =>
    sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
  ES256: (data: Buffer, key: KeyObject) => sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' }),
} as const

/** Returns a token of exactly these claims, in the compact form of RFC 7515. */
export async function signToken(keys: SigningKeys, claims: Claims, form: TokenForm = {}): Promise<string> {
  const { key = 'current', algorithm = 'RS256' } = form
  const signing = await findKey(keys, key)
  const alg = key === 'none' ? 'none' : typeof key === 'string' && key.startsWith('hmac') ? 'HS256' : algorithm
  const header = { typ: 'JWT', alg, x5t: signing.kid, kid: signing.kid, ...form.header }
  const signed = `${encodePart(header)}.${encodePart(claims)}`
  return `${signed}.${signature(Buffer.from(signed), key, signing, algorithm).toString('base64url')}`
}

async function findKey(keys: SigningKeys, key: TokenKey): Promise<SigningKey> {
  if (typeof key !== 'string') return key
  if (key === 'previous') return keys.previous
  // It has the id of a real key: only the signature tells the token from a good one.
  if (key === 'foreign') return { ...(await keys.foreign()), kid: keys.current.kid }
  return keys.current
}

function signature(
  data: Buffer,
  key: TokenKey,
  { publicKey, privateKey }: SigningKey,
  algorithm: keyof typeof SIGNERS,
): Buffer {
  if (key === 'none') return Buffer.alloc(0)
  if (key !== 'hmac-pem' && key !== 'hmac-der') return SIGNERS[algorithm](data, privateKey)
  const secret =
    key === 'hmac-pem'
      ? (publicKey.export({ type: 'spki', format: 'pem' }) as string)
      : publicKey.export({ type: 'spki', format: 'der' })
  return createHmac('sha256', secret).update(data).digest()
}

function encodePart(part: Claims): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
