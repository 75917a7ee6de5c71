// Loads the private halves of key pairs: PKCS #8 (RFC 5208) in DER.
import type { KeyObject } from 'node:crypto'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import { openPkcs8 } from './pkcs8.ts'

/** Loads a private key; the caller checks its kind. @throws InvalidKeyMaterial for no key, or if bytes follow it */
export function loadPkcs8(typeName: string, material: Buffer): KeyObject {
  try {
    // The runtime ignores bytes that follow the key.
    if (derBytes(material) === material.length) return openPkcs8(material)
  } catch {
    // Thrown below without the cause, which could quote the material.
  }
  throw new InvalidKeyMaterial(`A key of type ${typeName} is a private key in PKCS #8 (DER)`)
}

const LONG_FORM = 0x80

/** Length that the first value of `der` claims, its head included (X.690 section 8.1.3). */
function derBytes(der: Buffer): number {
  const first = der.readUInt8(1)
  if (first < LONG_FORM) return 2 + first
  const lengthBytes = first - LONG_FORM
  return 2 + lengthBytes + der.readUIntBE(2, lengthBytes)
}
