// The public halves of key pairs, as SubjectPublicKeyInfo (RFC 5280 section 4.1). Every `key` here is either half.
import { createPublicKey, type KeyObject } from 'node:crypto'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'

/** The public half of a key. */
export function publicHalf(key: KeyObject): KeyObject {
  return key.type === 'public' ? key : createPublicKey(key)
}

/** The public half in PEM, with a final newline. */
export function spkiPem(key: KeyObject): string {
  return publicHalf(key).export({ type: 'spki', format: 'pem' }).toString()
}

/** The public half in DER. */
export function spkiDer(key: KeyObject): Buffer {
  return publicHalf(key).export({ type: 'spki', format: 'der' })
}

/** The algorithm with the bits of the modulus or the runtime's name of the curve: `rsa 2048`, `ec prime256v1`. */
export function publicKind({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): string {
  return `${asymmetricKeyType} ${asymmetricKeyDetails.modulusLength ?? asymmetricKeyDetails.namedCurve}`
}

/** Loads a public key; the caller checks its kind. @throws InvalidKeyMaterial if it is not a key */
export function loadSpki(typeName: string, spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' })
  } catch {
    throw new InvalidKeyMaterial(`The public half of a key of type ${typeName} is a SubjectPublicKeyInfo (DER)`)
  }
}
