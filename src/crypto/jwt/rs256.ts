// Compact JWS with RS256 (RFC 7515 section 3.1; RFC 7518 section 3.3) under keys of our own, of 2048 bits.
import type { JsonObject } from '../../lib/json.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import { publicHalf } from '../forms/public-keys.ts'
import type { SignatureOptions } from '../key-types/key-type.ts'
import { rsa2048 } from '../key-types/rsa-key-types.ts'
import { sha256 } from '../primitives/digest.ts'
import type { RandomBytes } from '../primitives/random-bytes.ts'
import { signWith } from '../signing-jobs.ts'

/** Members of a JSON Web Key. `kid` is its thumbprint (RFC 7638): tokens name their key by it. */
export type Rs256PublicKey = { readonly kid: string; readonly n: string; readonly e: string }

const PKCS1_SHA256: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pkcs1v15',
  saltLength: 'auto',
  marshaling: 'asn1',
}

/** Makes a key pair. `material` is PKCS #8, the caller's to wipe. A fraction of a second, on the pool. */
export async function generateRs256(
  random: RandomBytes,
  slow: SlowWork,
): Promise<{ readonly material: Buffer; readonly publicKey: Rs256PublicKey }> {
  const material = await rsa2048.generate(random, slow)
  const { n = '', e = '' } = publicHalf(rsa2048.load(material)).export({ format: 'jwk' })
  const kid = sha256(Buffer.from(`{"e":"${e}","kty":"RSA","n":"${n}"}`)).toString('base64url')
  return { material, publicKey: { kid, n, e } }
}

/** Signs the claims. `material` is the private key and stays the caller's to wipe. A millisecond, on the pool. */
export async function signRs256(claims: JsonObject, kid: string, material: Buffer, slow: SlowWork): Promise<string> {
  const text = `${encoded({ alg: 'RS256', kid, typ: 'JWT' })}.${encoded(claims)}`
  const signature = await signWith(rsa2048, slow, rsa2048.load(material), Buffer.from(text), PKCS1_SHA256)
  return `${text}.${signature.toString('base64url')}`
}

const encoded = (part: JsonObject): string => Buffer.from(JSON.stringify(part)).toString('base64url')
