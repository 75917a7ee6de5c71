// ECDSA over a digest that somebody else made. The runtime cannot: what it is given it hashes, a digest too, and says
// nothing of it, which makes signatures that no client accepts (docs/decisions/0008-curves-and-ciphers.md).
//
// To sign, the private number d is multiplied so that a signature of a fixed message becomes one of the digest. With z
// the digest and h the hash of that message, modulo the order: d' = d · h / z. The runtime signs the message with d',
// r and s' = (h + r · d') / k = (z + r · d) / k · h / z, so that r and s = s' · z / h are a signature of z with d and
// the same k, which the runtime drew. All but d, d' and k is public once the signature is.
//
// Verifying needs no secret, and is done by a library, in JavaScript: up to nine milliseconds, tens to load. So it is
// loaded by the threads that need it, and only then.
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

/** r ‖ s. A digest that is longer than the order counts with its first bits. */
export function signDigest(curve: Curve, key: KeyObject, digest: Buffer): Buffer {
  const order = numberOf(curve.order)
  const z = digestNumber(curve, digest) % order
  const point = publicHalf(key).export({ format: 'raw-public' })
  if (z === 0n) return signZero(curve, point, order)
  const moved = movedKey(curve, key, point, (FIXED_HASH * inverse(z, order)) % order)
  const both = sign('sha256', FIXED_MESSAGE, { key: moved, dsaEncoding: 'ieee-p1363' })
  const bytes = scalarBytes(curve)
  const s = (numberOf(both.subarray(bytes)) * z * inverse(FIXED_HASH, order)) % order
  return Buffer.concat([both.subarray(0, bytes), bytesOf(s, bytes)])
}

/** The key with d · factor. Its public point stays that of d: nothing that signs looks at it, and a new one costs. */
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
 * Of a digest that is zero, modulo the order, everybody can make a signature: with any t, r is of the point t · Q and
 * s = r / t. It says nothing, and is given to who asks for it, as the reference does.
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

/** FIPS 186-5 section 6.4.1: the first bits, as many as the order has. */
function digestNumber(curve: Curve, digest: Buffer): bigint {
  const first = counted(curve, digest)
  const surplus = Math.max(0, first.length * 8 - orderBits(curve))
  return numberOf(first) >> BigInt(surplus)
}

const counted = (curve: Curve, digest: Buffer): Buffer => digest.subarray(0, scalarBytes(curve))

// Of public numbers only.

function numberOf(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`)
}

const bytesOf = (number: bigint, bytes: number): Buffer =>
  Buffer.from(number.toString(16).padStart(bytes * 2, '0'), 'hex')

/** Modulo a prime, of a number that is not zero. */
function inverse(number: bigint, prime: bigint): bigint {
  let [a, b, x, y] = [number % prime, prime, 1n, 0n]
  while (a > 1n) {
    const quotient = b / a
    ;[a, b] = [b - quotient * a, a]
    ;[x, y] = [y - quotient * x, x]
  }
  return ((x % prime) + prime) % prime
}

/** Any s, as FIPS 186-5 has it; and no hash over the digest. */
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

/** `both` is r ‖ s. */
export function verifyDigest(curve: Curve, key: KeyObject, digest: Buffer, both: Buffer): boolean {
  const point = publicHalf(key).export({ format: 'raw-public' })
  // The library takes no more than 8 KiB.
  return LIBRARY[curve.name]().verify(both, counted(curve, digest), point, OPTIONS)
}
