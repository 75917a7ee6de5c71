// The numbers of a key on a NIST curve or secp256k1, and the forms made of them.
import { createECDH, createPublicKey, ECDH, type KeyObject } from 'node:crypto'
import { DER, der, derNatural, derOid } from './der.ts'
import { InvalidKeyMaterial } from './key-type.ts'
import { secretBytes } from './secret-bytes.ts'

export type EcCurve = {
  /** As it is known to everybody. */
  readonly name: string
  readonly oid: string
  /** As OpenSSL calls it. */
  readonly opensslName: string
  /** Of a coordinate, and of a private scalar. */
  readonly bytes: number
}

export const EC_CURVES = {
  p256: { name: 'P-256', oid: '1.2.840.10045.3.1.7', opensslName: 'prime256v1', bytes: 32 },
  p384: { name: 'P-384', oid: '1.3.132.0.34', opensslName: 'secp384r1', bytes: 48 },
  p521: { name: 'P-521', oid: '1.3.132.0.35', opensslName: 'secp521r1', bytes: 66 },
  secp256k1: { name: 'secp256k1', oid: '1.3.132.0.10', opensslName: 'secp256k1', bytes: 32 },
} as const satisfies Record<string, EcCurve>

export const EC_OID = '1.2.840.10045.2.1'

export type EcParts = { readonly x: bigint; readonly y: bigint; readonly d?: bigint }

/**
 * PKCS #8 (RFC 5958) around SEC 1 (RFC 5915), with the public point. `scalar` may be shorter than the curve needs; the
 * point, where one was given, is held to it.
 * @throws InvalidKeyMaterial
 */
export function ecPkcs8(curve: EcCurve, scalar: Buffer, givenPoint?: Buffer): Buffer {
  const padded = padScalar(curve, scalar)
  try {
    const point = publicPoint(curve, padded)
    if (givenPoint !== undefined && !point.equals(uncompressed(curve, givenPoint)))
      throw new InvalidKeyMaterial(`The public point of the ${curve.name} key does not belong to its private number`)
    const publicKey = der(DER.context(1), der(DER.bitString, Buffer.from([0]), point))
    const inner = der(DER.sequence, derNatural(1n), der(DER.octetString, padded), publicKey)
    const whole = der(DER.sequence, derNatural(0n), ecAlgorithm(curve), der(DER.octetString, inner))
    inner.fill(0)
    return whole
  } finally {
    padded.fill(0)
  }
}

/** SubjectPublicKeyInfo (RFC 5480). @throws InvalidKeyMaterial where the point is not on the curve */
export function ecSpki(curve: EcCurve, { x, y }: EcParts): Buffer {
  const point = uncompressed(curve, pointOf(curve, { x, y }))
  return der(DER.sequence, ecAlgorithm(curve), der(DER.bitString, Buffer.from([0]), point))
}

/** Both numbers of the point, and where `d` is there the private one with them. @throws InvalidKeyMaterial */
export function ecPkcs8OfParts(curve: EcCurve, { x, y, d }: EcParts & { readonly d: bigint }): Buffer {
  const scalar = numberBytes(d, curve)
  try {
    return ecPkcs8(curve, scalar, pointOf(curve, { x, y }))
  } finally {
    scalar.fill(0)
  }
}

/** Of either half; `d` of a private one. */
export function ecParts(key: KeyObject): EcParts {
  const { x = '', y = '' } = (key.type === 'public' ? key : createPublicKey(key)).export({ format: 'jwk' })
  const point = { x: fromBase64Url(x), y: fromBase64Url(y) }
  return key.type === 'public' ? point : { ...point, d: fromBase64Url(key.export({ format: 'jwk' }).d ?? '') }
}

const ecAlgorithm = ({ oid }: EcCurve): Buffer => der(DER.sequence, derOid(EC_OID), derOid(oid))

function padScalar(curve: EcCurve, scalar: Buffer): Buffer {
  let zeros = 0
  while (zeros < scalar.length && scalar[zeros] === 0) zeros += 1
  const digits = scalar.subarray(zeros)
  if (digits.length > curve.bytes) throw outOfRange(curve)
  const padded = secretBytes(curve.bytes)
  digits.copy(padded, curve.bytes - digits.length)
  return padded
}

function publicPoint(curve: EcCurve, scalar: Buffer): Buffer {
  const pair = createECDH(curve.opensslName)
  try {
    pair.setPrivateKey(scalar)
  } catch {
    throw outOfRange(curve)
  }
  return pair.getPublicKey()
}

/** OpenSSL looks whether it is on the curve. */
function uncompressed(curve: EcCurve, point: Buffer): Buffer {
  try {
    const converted = ECDH.convertKey(point, curve.opensslName, undefined, undefined, 'uncompressed')
    return Buffer.from(converted as unknown as Uint8Array)
  } catch {
    throw new InvalidKeyMaterial(`The public point is not one of the curve ${curve.name}`)
  }
}

function pointOf(curve: EcCurve, { x, y }: EcParts): Buffer {
  return Buffer.concat([Buffer.from([0x04]), numberBytes(x, curve), numberBytes(y, curve)])
}

function numberBytes(value: bigint, curve: EcCurve): Buffer {
  const hex = value < 0n ? '' : value.toString(16)
  if (hex === '' || hex.length > 2 * curve.bytes) throw outOfRange(curve)
  return Buffer.from(hex.padStart(2 * curve.bytes, '0'), 'hex')
}

function outOfRange({ name }: EcCurve): InvalidKeyMaterial {
  return new InvalidKeyMaterial(`A number of the key is out of the range of the curve ${name}`)
}

function fromBase64Url(text: string): bigint {
  return BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
}
