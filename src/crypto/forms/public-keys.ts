// The public halves of key pairs: SubjectPublicKeyInfo (RFC 5280 section 4.1).
import { createPublicKey, type KeyObject } from 'node:crypto'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'

/** Of either half. */
export function publicHalf(key: KeyObject): KeyObject {
  return key.type === 'public' ? key : createPublicKey(key)
}

/** Of either half, in PEM with a final newline. */
export function spkiPem(key: KeyObject): string {
  return publicHalf(key).export({ type: 'spki', format: 'pem' }).toString()
}

/** Of either half, in DER. */
export function spkiDer(key: KeyObject): Buffer {
  return publicHalf(key).export({ type: 'spki', format: 'der' })
}

/** The algorithm with the bits of the modulus or the runtime's name of the curve: `rsa 2048`, `ec prime256v1`. */
export function publicKind({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): string {
  return `${asymmetricKeyType} ${asymmetricKeyDetails.modulusLength ?? asymmetricKeyDetails.namedCurve}`
}

/** @throws InvalidKeyMaterial for what is no public key at all; which kind it is, is the caller's to look at */
export function loadSpki(typeName: string, spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' })
  } catch {
    throw new InvalidKeyMaterial(`The public half of a key of type ${typeName} is a SubjectPublicKeyInfo (DER)`)
  }
}
