// The numbers of an RSA key (RFC 8017 section 3.2), for the forms that hold them one by one: PKCS #1 and backups.
//
// A BigInt lies in the JavaScript heap and cannot be wiped, and the time of its arithmetic depends on its value. So
// only keys that come in or go out in clear pass here, never one that is merely used.
import { checkPrimeSync, createPublicKey, type KeyObject } from 'node:crypto'
import type { Job } from '../../lib/slow-work.ts'
import { DER, DerReader, der, derNatural, derOid } from '../encoding/der.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import type { RsaParts, RsaPublicParts } from './material-form.ts'

/** Numbers that follow from the others: an exponent for each prime, and the inverse of q modulo p. */
export type RsaCrtParts = { readonly dp: bigint; readonly dq: bigint; readonly qInverse: bigint }

/** Bounds of public exponents. Smaller ones have a history (threats P-15); other programs refuse larger ones. */
const MIN_EXPONENT = 65_537n
const MAX_EXPONENT = 2_147_483_647n
const MAX_MODULUS_BITS = 4_096

const RSA_OID = '1.2.840.113549.1.1.1'
const DER_NULL = der(DER.null)

/** PKCS #8 around PKCS #1, the caller's to wipe. @throws InvalidKeyMaterial if the numbers do not fit together */
export function rsaPkcs8(parts: RsaParts): Buffer {
  requireRsaParts(parts)
  const { n, e, d, p, q } = parts
  const { dp, dq, qInverse } = crtParts(parts)
  const pkcs1 = der(DER.sequence, ...[0n, n, e, d, p, q, dp, dq, qInverse].map(derNatural))
  const algorithm = der(DER.sequence, derOid(RSA_OID), DER_NULL)
  const whole = der(DER.sequence, derNatural(0n), algorithm, der(DER.octetString, pkcs1))
  pkcs1.fill(0)
  return whole
}

/** SubjectPublicKeyInfo. @throws InvalidKeyMaterial for an even modulus or a bad exponent */
export function rsaSpki({ n, e }: RsaPublicParts): Buffer {
  requireExponent(e)
  if (n % 2n === 0n) throw new InvalidKeyMaterial('The modulus of the RSA key is even, so no product of two primes')
  const key = der(DER.sequence, derNatural(n), derNatural(e))
  return der(DER.sequence, der(DER.sequence, derOid(RSA_OID), DER_NULL), der(DER.bitString, Buffer.from([0]), key))
}

/**
 * Reads an RSAPrivateKey with two primes and a modulus of so many bits.
 * @throws DerError, or InvalidKeyMaterial if the numbers do not fit together
 */
export function readPkcs1(pkcs1: Buffer, modulusBits: number): RsaParts {
  const whole = new DerReader(pkcs1)
  const fields = whole.sequence()
  whole.end()
  if (fields.natural() !== 0n) throw new InvalidKeyMaterial('An RSA key here has two primes')
  const [n, e, d, p, q] = [fields.natural(), fields.natural(), fields.natural(), fields.natural(), fields.natural()]
  const parts = { n, e, d, p, q }
  requireModulus(n, modulusBits)
  requireCrtParts(parts, { dp: fields.natural(), dq: fields.natural(), qInverse: fields.natural() })
  fields.end()
  return parts
}

/** Modulus and public exponent; `key` is either half. */
export function rsaPublicParts(key: KeyObject): RsaPublicParts {
  const { n = '', e = '' } = (key.type === 'public' ? key : createPublicKey(key)).export({ format: 'jwk' })
  return { n: fromBase64Url(n), e: fromBase64Url(e) }
}

/** The numbers of a private half. */
export function rsaPrivateParts(key: KeyObject): RsaParts {
  const { n = '', e = '', d = '', p = '', q = '' } = key.export({ format: 'jwk' })
  return {
    n: fromBase64Url(n),
    e: fromBase64Url(e),
    d: fromBase64Url(d),
    p: fromBase64Url(p),
    q: fromBase64Url(q),
  }
}

/** The numbers that follow from the others. @throws InvalidKeyMaterial if the primes have a common divisor */
export function crtParts({ d, p, q }: RsaParts): RsaCrtParts {
  return { dp: d % (p - 1n), dq: d % (q - 1n), qInverse: inverse(q, p) }
}

/** @throws InvalidKeyMaterial for a modulus of another length */
export function requireModulus(n: bigint, modulusBits: number): void {
  if (bitsOf(n) !== modulusBits)
    throw new InvalidKeyMaterial(`The RSA key does not have a modulus of ${modulusBits} bits`)
}

/** @throws InvalidKeyMaterial if the given numbers do not follow from the others, or those do not fit together */
export function requireCrtParts(parts: RsaParts, { dp, dq, qInverse }: RsaCrtParts): void {
  requireRsaParts(parts)
  const right = crtParts(parts)
  // Only compared, never computed with: however long the given numbers are, this costs nothing.
  if (dp !== right.dp || dq !== right.dq || qInverse !== right.qInverse)
    throw new InvalidKeyMaterial('The precomputed numbers of the RSA key do not follow from its primes and exponent')
}

/** @throws InvalidKeyMaterial if exponent, lengths, primes or private exponent do not fit together */
function requireRsaParts({ n, e, d, p, q }: RsaParts): void {
  requireExponent(e)
  requireSizes({ n, d, p, q })
  const isPair = p > 1n && q > 1n && p !== q && p % 2n === 1n && q % 2n === 1n && p * q === n
  if (!isPair) throw new InvalidKeyMaterial('The modulus of the RSA key is not the product of its two primes')
  if (d <= 1n || d >= n || (d * e) % (p - 1n) !== 1n || (d * e) % (q - 1n) !== 1n)
    throw new InvalidKeyMaterial('The private exponent of the RSA key does not belong to its public one')
}

/**
 * Must run before any arithmetic, whose time grows with the lengths: otherwise one caller could stop all others for
 * minutes (threats P-42).
 * @throws InvalidKeyMaterial
 */
function requireSizes({ n, d, p, q }: Omit<RsaParts, 'e'>): void {
  const bits = bitsOf(n)
  if (bits > MAX_MODULUS_BITS)
    throw new InvalidKeyMaterial(`The modulus of an RSA key here has at most ${MAX_MODULUS_BITS} bits`)
  if (bitsOf(d) > bits) throw new InvalidKeyMaterial('The private exponent of the RSA key is longer than its modulus')
  const half = bits / 2
  if ([p, q].some((prime) => Math.abs(bitsOf(prime) - half) > half / 8))
    throw new InvalidKeyMaterial('A prime of the RSA key is not about half as long as its modulus')
}

/** Length in bits. Hexadecimal takes a time that is linear in the length, unlike decimal. */
function bitsOf(value: bigint): number {
  const hex = value.toString(16)
  return 4 * hex.length - Math.clz32(Number.parseInt(hex.slice(0, 1), 16)) + 28
}

/** @throws InvalidKeyMaterial for an even exponent, or one out of bounds */
export function requireExponent(e: bigint): void {
  if (e < MIN_EXPONENT || e > MAX_EXPONENT || e % 2n === 0n)
    throw new InvalidKeyMaterial('The public exponent of an RSA key here is odd and from 65537 to 2147483647')
}

/** The inverse of `a` modulo `m`, by Euclid's algorithm. @throws InvalidKeyMaterial if they have a common divisor */
function inverse(a: bigint, m: bigint): bigint {
  let [before, now, x, y] = [a % m, m, 1n, 0n]
  while (now !== 0n) {
    const quotient = before / now
    ;[before, now] = [now, before - quotient * now]
    ;[x, y] = [y, x - quotient * y]
  }
  if (before !== 1n) throw new InvalidKeyMaterial('The two primes of the RSA key have a common divisor')
  return ((x % m) + m) % m
}

function fromBase64Url(text: string): bigint {
  return BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
}

/** Checks that both numbers are primes: 40 ms for RSA-2048, 250 ms for RSA-4096. */
export const CHECK_PRIMES: Job<readonly [p: bigint, q: bigint], boolean> = {
  name: 'rsa-check-primes',
  takes: 'long',
  run: (primes) => primes.every((prime) => checkPrimeSync(prime)),
}
