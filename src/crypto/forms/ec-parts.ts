// The numbers of a key on a NIST curve or secp256k1, and the forms made of them. The private number of a backup becomes
// a BigInt here, which cannot be wiped.
import { createECDH, createPublicKey, ECDH, type KeyObject } from 'node:crypto'
import { DER, DerReader, der, derNatural } from '../encoding/der.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import { secretBytes } from '../primitives/secret-bytes.ts'
import { CURVES, type Curve, scalarBytes } from './ec-curves.ts'
import type { EcParts } from './material-form.ts'

/** Curves by their OIDs. */
export const CURVES_BY_OID: ReadonlyMap<string, Curve> = new Map(CURVES.map((curve) => [oidOf(curve), curve]))

function oidOf({ algorithmIdentifier }: Curve): string {
  const algorithm = new DerReader(algorithmIdentifier).sequence()
  algorithm.oid()
  return algorithm.oid()
}

/** id-ecPublicKey (RFC 5480 section 2.1.1). */
export const EC_OID = '1.2.840.10045.2.1'

/**
 * PKCS #8 (RFC 5958) around SEC 1 (RFC 5915) with the public point; the caller wipes it. `scalar` may be shorter than
 * the curve needs. A point that was given must belong to it.
 * @throws InvalidKeyMaterial
 */
export function ecPkcs8(curve: Curve, scalar: Buffer, givenPoint?: Buffer): Buffer {
  const padded = padScalar(curve, scalar)
  try {
    const point = publicPoint(curve, padded)
    if (givenPoint !== undefined && !point.equals(uncompressed(curve, givenPoint)))
      throw new InvalidKeyMaterial(`The public point of the ${curve.name} key does not belong to its private number`)
    const publicKey = der(DER.context(1), der(DER.bitString, Buffer.from([0]), point))
    const inner = der(DER.sequence, derNatural(1n), der(DER.octetString, padded), publicKey)
    const whole = der(DER.sequence, derNatural(0n), curve.algorithmIdentifier, der(DER.octetString, inner))
    inner.fill(0)
    return whole
  } finally {
    padded.fill(0)
  }
}

/** SubjectPublicKeyInfo (RFC 5480) with the point uncompressed. @throws InvalidKeyMaterial if it is not on the curve */
export function ecSpki(curve: Curve, { x, y }: EcParts): Buffer {
  const point = uncompressed(curve, pointOf(curve, { x, y }))
  return der(DER.sequence, curve.algorithmIdentifier, der(DER.bitString, Buffer.from([0]), point))
}

/** PKCS #8 from the private number `d`; the point must belong to it. The caller wipes it. @throws InvalidKeyMaterial */
export function ecPkcs8OfParts(curve: Curve, { x, y, d }: EcParts & { readonly d: bigint }): Buffer {
  const scalar = numberBytes(d, curve)
  try {
    return ecPkcs8(curve, scalar, pointOf(curve, { x, y }))
  } finally {
    scalar.fill(0)
  }
}

/**
 * The numbers of a key, with `d` for a private one.
 * @throws InvalidKeyMaterial for the point at infinity, which has none
 */
export function ecParts(key: KeyObject): EcParts {
  const { x = '', y = '' } = numbersOf(key.type === 'public' ? key : createPublicKey(key))
  const point = { x: fromBase64Url(x), y: fromBase64Url(y) }
  return key.type === 'public' ? point : { ...point, d: fromBase64Url(key.export({ format: 'jwk' }).d ?? '') }
}

function numbersOf(publicKey: KeyObject): { readonly x?: string; readonly y?: string } {
  try {
    // This fails too for the point at infinity. Unlike the JWK export, it leaves no error behind in OpenSSL, for which
    // the next key to be loaded would be refused.
    publicKey.export({ type: 'spki', format: 'der' })
    return publicKey.export({ format: 'jwk' })
  } catch {
    throw new InvalidKeyMaterial('The public point is the one at infinity, which is no key')
  }
}

function padScalar(curve: Curve, scalar: Buffer): Buffer {
  let zeros = 0
  while (zeros < scalar.length && scalar[zeros] === 0) zeros += 1
  const digits = scalar.subarray(zeros)
  if (digits.length > scalarBytes(curve)) throw outOfRange(curve)
  const padded = secretBytes(scalarBytes(curve))
  digits.copy(padded, padded.length - digits.length)
  return padded
}

function publicPoint(curve: Curve, scalar: Buffer): Buffer {
  const pair = createECDH(curve.opensslName)
  try {
    pair.setPrivateKey(scalar)
  } catch {
    throw outOfRange(curve)
  }
  return pair.getPublicKey()
}

/** The point uncompressed. OpenSSL checks that it is on the curve. @throws InvalidKeyMaterial */
function uncompressed(curve: Curve, point: Buffer): Buffer {
  try {
    const converted = ECDH.convertKey(point, curve.opensslName, undefined, undefined, 'uncompressed')
    return Buffer.from(converted as unknown as Uint8Array)
  } catch {
    throw new InvalidKeyMaterial(`The public point is not one of the curve ${curve.name}`)
  }
}

function pointOf(curve: Curve, { x, y }: EcParts): Buffer {
  return Buffer.concat([Buffer.from([0x04]), numberBytes(x, curve), numberBytes(y, curve)])
}

function numberBytes(value: bigint, curve: Curve): Buffer {
  const hex = value < 0n ? '' : value.toString(16)
  if (hex === '' || hex.length > 2 * scalarBytes(curve)) throw outOfRange(curve)
  return Buffer.from(hex.padStart(2 * scalarBytes(curve), '0'), 'hex')
}

function outOfRange({ name }: Curve): InvalidKeyMaterial {
  return new InvalidKeyMaterial(`A number of the key is out of the range of the curve ${name}`)
}

function fromBase64Url(text: string): bigint {
  return BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
}
