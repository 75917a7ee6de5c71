// ECDSA over a digest that the caller made. The runtime cannot do it: it hashes a digest too, silently, and makes
// signatures that no client accepts (docs/decisions/0008-curves-and-ciphers.md).
//
// To sign, the private number d is multiplied so that a signature of a fixed message becomes one of the digest. Let z
// be the digest and h the hash of that message, and compute modulo the order:
//
//   d' = d · h / z                                              the key that the runtime gets
//   r, s' = (h + r · d') / k = (z + r · d) / k · h / z          its signature of the fixed message
//   s = s' · z / h                                              so r and s are a signature of z with d and the same k
//
// The runtime drew k. All but d, d' and k is public once the signature is.
//
// Verifying needs no secret. A library does it in JavaScript: it takes up to nine milliseconds, and tens to load. So
// only the threads that need it load it, and only then.
import { createECDH, hash, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createRequire } from 'node:module'
import type { ECDSA } from '@noble/curves/abstract/weierstrass.js'
import { type Curve, orderBits, scalarBytes } from '../forms/ec-curves.ts'
import { drawScalar, encodePkcs8 } from '../forms/ec-private-key.ts'
import { openPkcs8 } from '../forms/pkcs8.ts'
import { publicHalf } from '../forms/public-keys.ts'
import { multiplySecret } from '../primitives/secret-scalar.ts'

const FIXED_MESSAGE = Buffer.alloc(0)
const FIXED_HASH = numberOf(hash('sha256', FIXED_MESSAGE, 'buffer'))

/** Signs a digest as r ‖ s. A digest longer than the order counts with its first bits. */
export function signDigest(curve: Curve, key: KeyObject, digest: Buffer): Buffer {
  const order = numberOf(curve.order)
  const z = digestNumber(curve, digest) % order
  const point = publicHalf(key).export({ format: 'raw-public' })
  if (z === 0n) return signZero(curve, point, order)
  const moved = movedKey(curve, key, point, (FIXED_HASH * inverse(z, order)) % order)
  const rs = sign('sha256', FIXED_MESSAGE, { key: moved, dsaEncoding: 'ieee-p1363' })
  const bytes = scalarBytes(curve)
  const s = (numberOf(rs.subarray(bytes)) * z * inverse(FIXED_HASH, order)) % order
  return Buffer.concat([rs.subarray(0, bytes), bytesOf(s, bytes)])
}

/** The key with d · factor. Its public point stays that of d: signing does not look at it, and a new one is slow. */
function movedKey(curve: Curve, key: KeyObject, point: Buffer, factor: bigint): KeyObject {
  const scalar = key.export({ format: 'raw-private' })
  const product = multiplySecret(scalar, factor, curve.order)
  const material = encodePkcs8(curve, product, point)
  try {
    return openPkcs8(material)
  } finally {
    for (const bytes of [scalar, product, material]) bytes.fill(0)
  }
}

/**
 * Signs a digest that is zero modulo the order, without the private key. Anyone can: with any t, r comes from the point
 * t · Q, and s = r / t. Such a signature proves nothing; callers get it since the reference gives it too.
 */
function signZero(curve: Curve, point: Buffer, order: bigint): Buffer {
  const bytes = scalarBytes(curve)
  for (;;) {
    const multiplier = drawScalar(curve, randomBytes)
    const exchange = createECDH(curve.opensslName)
    exchange.setPrivateKey(multiplier)
    const r = numberOf(exchange.computeSecret(point)) % order
    const s = (r * inverse(numberOf(multiplier), order)) % order
    if (r !== 0n) return Buffer.concat([bytesOf(r, bytes), bytesOf(s, bytes)])
  }
}

/** The digest as a number: its first bits, as many as the order has (FIPS 186-5 section 6.4.1). */
function digestNumber(curve: Curve, digest: Buffer): bigint {
  const first = counted(curve, digest)
  const surplus = Math.max(0, first.length * 8 - orderBits(curve))
  return numberOf(first) >> BigInt(surplus)
}

const counted = (curve: Curve, digest: Buffer): Buffer => digest.subarray(0, scalarBytes(curve))

// What follows computes with public numbers only: a BigInt cannot be wiped, and its time depends on its value.

function numberOf(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`)
}

const bytesOf = (number: bigint, bytes: number): Buffer =>
  Buffer.from(number.toString(16).padStart(bytes * 2, '0'), 'hex')

/** The inverse of a number modulo a prime; not zero modulo it. */
function inverse(number: bigint, prime: bigint): bigint {
  let [a, b, x, y] = [number % prime, prime, 1n, 0n]
  while (a > 1n) {
    const quotient = b / a
    ;[a, b] = [b - quotient * a, a]
    ;[x, y] = [y - quotient * x, x]
  }
  return ((x % prime) + prime) % prime
}

/** Accepts any s, as FIPS 186-5 does, and does not hash the digest. */
const OPTIONS = { prehash: false, lowS: false, format: 'compact' } as const

const load = createRequire(import.meta.url)
const nist = (): typeof import('@noble/curves/nist.js') => load('@noble/curves/nist.js')
const koblitz = (): typeof import('@noble/curves/secp256k1.js') => load('@noble/curves/secp256k1.js')

const LIBRARY: Readonly<Record<Curve['name'], () => ECDSA>> = {
  'P-256': () => nist().p256,
  'P-384': () => nist().p384,
  'P-521': () => nist().p521,
  secp256k1: () => koblitz().secp256k1,
}

/** True if `rs`, which is r ‖ s, is a signature of the digest. `key` is either half of the pair. */
export function verifyDigest(curve: Curve, key: KeyObject, digest: Buffer, rs: Buffer): boolean {
  const point = publicHalf(key).export({ format: 'raw-public' })
  // The library takes at most 8 KiB.
  return LIBRARY[curve.name]().verify(rs, counted(curve, digest), point, OPTIONS)
}
