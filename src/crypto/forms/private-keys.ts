// The private halves of key pairs: PKCS #8 (RFC 5208) in DER.
import type { KeyObject } from 'node:crypto'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import { openPkcs8 } from './pkcs8.ts'

/** @throws InvalidKeyMaterial for what is no private key; which kind it is, is the caller's to look at */
export function loadPkcs8(typeName: string, material: Buffer): KeyObject {
  try {
    // The runtime does not look at what follows the key.
    if (derBytes(material) === material.length) return openPkcs8(material)
  } catch {
    // Said below, without the cause, which could quote the material.
  }
  throw new InvalidKeyMaterial(`A key of type ${typeName} is a private key in PKCS #8 (DER)`)
}

const LONG_FORM = 0x80

/** How long the first value of `der` says that it is, its head included (X.690 section 8.1.3). */
function derBytes(der: Buffer): number {
  const first = der.readUInt8(1)
  if (first < LONG_FORM) return 2 + first
  const lengthBytes = first - LONG_FORM
  return 2 + lengthBytes + der.readUIntBE(2, lengthBytes)
}
