// One form for each public key, so that equal keys are equal bytes. SubjectPublicKeyInfo has several forms for a key on
// a curve: the curve by its name or by its numbers, the point compressed or not (RFC 5480 section 2).
import type { KeyObject } from 'node:crypto'
import { CURVES } from './ec-curves.ts'
import { ecParts, ecSpki } from './ec-parts.ts'
import { publicHalf, spkiDer } from './public-keys.ts'
import { rsaPublicParts, rsaSpki } from './rsa-parts.ts'

/**
 * The public key as versions store it and as two keys are compared: the curve by its name, the point uncompressed.
 * `key` is either half.
 * @throws InvalidKeyMaterial for a useless public key: the point at infinity, an even modulus, or an exponent that no
 *   private key here has
 */
export function canonicalSpki(key: KeyObject): Buffer {
  const half = publicHalf(key)
  if (half.asymmetricKeyType === 'rsa') return rsaSpki(rsaPublicParts(half))
  const curve = CURVES.find(({ opensslName }) => opensslName === half.asymmetricKeyDetails?.namedCurve)
  return curve === undefined ? spkiDer(half) : ecSpki(curve, ecParts(half))
}
