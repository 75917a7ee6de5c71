// One form for each public key. SubjectPublicKeyInfo has several for a key on a curve: the curve by its name or by its
// numbers, the point compressed or not (RFC 5480 section 2), and two programs seldom choose alike.
import type { KeyObject } from 'node:crypto'
import { CURVES } from './ec-curves.ts'
import { ecParts, ecSpki } from './ec-parts.ts'
import { publicHalf, spkiDer } from './public-keys.ts'
import { rsaPublicParts, rsaSpki } from './rsa-parts.ts'

/**
 * Of either half, as versions store it and as two keys are compared: a curve by its name, a point uncompressed.
 * @throws InvalidKeyMaterial for a public key that nothing can be done with: the point at infinity, an even modulus, an
 *   exponent that no private key here has
 */
export function canonicalSpki(key: KeyObject): Buffer {
  const half = publicHalf(key)
  if (half.asymmetricKeyType === 'rsa') return rsaSpki(rsaPublicParts(half))
  const curve = CURVES.find(({ opensslName }) => opensslName === half.asymmetricKeyDetails?.namedCurve)
  return curve === undefined ? spkiDer(half) : ecSpki(curve, ecParts(half))
}
