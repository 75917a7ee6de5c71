// Makes private keys on a curve, as PKCS #8 (RFC 5208) around an ECPrivateKey (RFC 5915) with its public point. Without
// the point every load would compute it again, which takes up to 1.8 ms.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { Job, SlowWork } from '../../lib/slow-work.ts'
import { BIT_STRING, derHead, OCTET_STRING, SEQUENCE } from '../encoding/der-values.ts'
import { freshBytes, type RandomBytes } from '../primitives/random-bytes.ts'
import type { Curve } from './ec-curves.ts'

type PointInput = { readonly curve: Curve['name']; readonly scalar: Uint8Array }

/** Computes the point of a private number, uncompressed (SEC 1 section 2.3.3). Wipes the number. */
export const POINT_OF: Job<PointInput, Uint8Array> = {
  name: 'ec-point',
  takes: 'short',
  run: ({ curve, scalar }) => {
    try {
      const key = Buffer.from(scalar.buffer, scalar.byteOffset, scalar.byteLength)
      return createPublicKey(loadScalar({ name: curve }, key)).export({ format: 'raw-public' })
    } finally {
      scalar.fill(0)
    }
  },
}

/** The key of a private number, which stays the caller's to wipe. */
export function loadScalar({ name }: Pick<Curve, 'name'>, scalar: Buffer): KeyObject {
  return createPrivateKey({ key: scalar, format: 'raw-private', asymmetricKeyType: 'ec', namedCurve: name })
}

/** A new private key, the caller's to wipe. @throws RandomnessFailed, and what `SlowWork` throws */
export function generateEcKey(curve: Curve, random: RandomBytes, slow: SlowWork): Promise<Buffer> {
  return encodeKey(curve, drawScalar(curve, random), slow)
}

/** Draws a uniform number from 1 to the order less one; others are drawn again (FIPS 186-5 appendix A.2.2). */
export function drawScalar({ order }: Curve, random: RandomBytes): Buffer {
  const topBits = 0xff >> Math.clz32((order[0] ?? 0) << 24)
  for (;;) {
    const scalar = freshBytes(random, order.length)
    scalar[0] = (scalar[0] ?? 0) & topBits
    if (scalar.compare(order) < 0 && scalar.some((byte) => byte !== 0)) return scalar
    scalar.fill(0)
  }
}

async function encodeKey(curve: Curve, scalar: Buffer, slow: SlowWork): Promise<Buffer> {
  try {
    const memory = new ArrayBuffer(scalar.length)
    const copy = new Uint8Array(memory)
    copy.set(scalar)
    const point = await slow.run(POINT_OF, { curve: curve.name, scalar: copy }, [memory])
    return encodePkcs8(curve, scalar, point)
  } finally {
    scalar.fill(0)
  }
}

const VERSION_0 = Buffer.from('020100', 'hex')
const VERSION_1 = Buffer.from('020101', 'hex')
/** Tag [1] of ECPrivateKey. */
const PUBLIC_KEY = 0xa1
const NO_UNUSED_BITS = Buffer.alloc(1)

/**
 * PKCS #8 from number and point, the caller's to wipe. What precedes and follows the number is made first, so that the
 * number is in no other buffer.
 */
export function encodePkcs8(curve: Curve, scalar: Buffer, point: Uint8Array): Buffer {
  const publicKey = within(PUBLIC_KEY, within(BIT_STRING, Buffer.concat([NO_UNUSED_BITS, point])))
  const following = scalar.length + publicKey.length
  let before = Buffer.concat([VERSION_1, derHead(OCTET_STRING, scalar.length)])
  const wrap = (tag: number): void => {
    before = Buffer.concat([derHead(tag, before.length + following), before])
  }
  wrap(SEQUENCE)
  wrap(OCTET_STRING)
  before = Buffer.concat([VERSION_0, curve.algorithmIdentifier, before])
  wrap(SEQUENCE)
  const der = Buffer.alloc(before.length + following)
  before.copy(der)
  scalar.copy(der, before.length)
  publicKey.copy(der, before.length + scalar.length)
  return der
}

const within = (tag: number, value: Buffer): Buffer => Buffer.concat([derHead(tag, value.length), value])
