// Signatures of JSON Web Tokens: RS256 (RFC 7518 section 3.3) over the compact form (RFC 7515), and nothing else
// (threats L-08). The caller checks the shape of the token before, and its claims itself.
//
// The library (docs/decisions/0009-jose.md) is imported by single files: its index loads three times as many files into
// each thread.
import { JOSEError } from 'jose/errors'
import { compactVerify } from 'jose/jws/compact/verify'
import { importJWK } from 'jose/key/import'

/** A public key for RS256, which works for no other algorithm. */
export type JwtKey = { readonly key: CryptoKey }

const MIN_MODULUS_BITS = 2_048
const MAX_MODULUS_BITS = 8_192
const BASE64URL = /^[A-Za-z0-9_-]+$/

/** Imports members of a JSON Web Key; undefined unless they are an RSA key of 2,048 to 8,192 bits. */
export async function importJwtKey(n: string, e: string): Promise<JwtKey | undefined> {
  const bits = modulusBits(n)
  if (bits < MIN_MODULUS_BITS || bits > MAX_MODULUS_BITS || !BASE64URL.test(e)) return undefined
  try {
    const key = await importJWK({ kty: 'RSA', n, e }, 'RS256')
    return key instanceof Uint8Array ? undefined : { key }
  } catch {
    return undefined
  }
}

/** Bits of a modulus in base64url; 0 for a text that is too long, which is not decoded, or is not base64url. */
function modulusBits(n: string): number {
  if (n.length > MAX_MODULUS_BITS || !BASE64URL.test(n)) return 0
  const bytes = Buffer.from(n, 'base64url')
  const from = bytes.findIndex((byte) => byte !== 0)
  return from === -1 ? 0 : (bytes.length - from) * 8 - Math.clz32(bytes[from] ?? 0) + 24
}

/** True if the key signed the token with RS256. Claims, times included, are not looked at. */
export async function isJwtSignedBy(compact: string, { key }: JwtKey): Promise<boolean> {
  try {
    await compactVerify(compact, key, { algorithms: ['RS256'] })
    return true
  } catch (cause) {
    if (cause instanceof JOSEError) return false
    throw cause
  }
}
