// ECDSA over a digest that somebody else made. The runtime cannot: what it is given it hashes, a digest too, and says
// nothing of it (threats: a signature that no client accepts). Everything else is signed by the runtime.
//
// The library computes in JavaScript: a millisecond to sign, up to nine to verify, tens to load. So it is loaded by the
// threads that need it, and only then (docs/decisions/0008-curves-and-ciphers.md).
import type { KeyObject } from 'node:crypto'
import { createRequire } from 'node:module'
import type { ECDSA } from '@noble/curves/abstract/weierstrass.js'
import { type Curve, scalarBytes } from './ec-curves.ts'
import { publicHalf } from './public-keys.ts'

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

/** r ‖ s; deterministic (RFC 6979). A digest that is longer than the order counts with its first bits. */
export function signDigest(curve: Curve, key: KeyObject, digest: Buffer): Buffer {
  const scalar = key.export({ format: 'raw-private' })
  try {
    return Buffer.from(LIBRARY[curve.name]().sign(counted(curve, digest), scalar, OPTIONS))
  } finally {
    scalar.fill(0)
  }
}

/** `both` is r ‖ s. */
export function verifyDigest(curve: Curve, key: KeyObject, digest: Buffer, both: Buffer): boolean {
  const point = publicHalf(key).export({ format: 'raw-public' })
  return LIBRARY[curve.name]().verify(both, counted(curve, digest), point, OPTIONS)
}

/** FIPS 186-5 section 6.4.1: the first bits, as many as the order has. The library takes no more than 8 KiB. */
const counted = (curve: Curve, digest: Buffer): Buffer => digest.subarray(0, scalarBytes(curve))
