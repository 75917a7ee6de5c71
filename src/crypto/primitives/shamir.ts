// Shamir's secret sharing over GF(2^8), byte by byte. A share is
//
//   y[0] y[1] … y[n-1] x      one byte for each byte of the secret, then the share's coordinate, 1 to 255
//
// where y[i] is the value at x of a polynomial of degree threshold-1 whose constant term is byte i of the secret and
// whose other coefficients are random. Existing tools write and read the same layout. Arithmetic is constant in time
// (galois-field.ts).
import { invert, multiply } from './galois-field.ts'
import { freshBytes, type RandomBytes } from './random-bytes.ts'
import { secretBytes } from './secret-bytes.ts'

/** Least number of shares, and least threshold: one share would be the secret itself. */
export const MIN_SHARES = 2
/** The coordinates 1 to 255; at 0 stands the secret. */
export const MAX_SHARES = 255

/** Shares that cannot be combined, or impossible numbers of them. The message says why, and quotes no byte. */
export class ShareError extends Error {
  override name = 'ShareError'
}

/**
 * Splits a secret so that any `threshold` of the shares give it back and fewer say nothing about it. The shares are the
 * caller's to wipe.
 * @throws ShareError if the numbers are impossible, RandomnessFailed
 */
export function splitSecret(secret: Buffer, shares: number, threshold: number, random: RandomBytes): Buffer[] {
  checkNumbers(secret.length, shares, threshold)
  const degree = threshold - 1
  const coefficients = freshBytes(random, secret.length * degree)
  try {
    return drawCoordinates(shares, random).map((x) => {
      const share = secretBytes(secret.length + 1)
      share.writeUInt8(x, secret.length)
      for (let at = 0; at < secret.length; at += 1) {
        share.writeUInt8(evaluate(secret.readUInt8(at), coefficients, at * degree, degree, x), at)
      }
      return share
    })
  } finally {
    coefficients.fill(0)
  }
}

/**
 * Returns the secret, the caller's to wipe, if these are enough shares of one split. The shares do not tell whether
 * they are: too few, or a wrong byte, give another result, so the caller must check what it gets.
 * @throws ShareError if the shares cannot belong together
 */
export function combineShares(shares: readonly Buffer[]): Buffer {
  const coordinates = readCoordinates(shares)
  const secret = secretBytes((shares[0]?.length ?? 0) - 1)
  shares.forEach((share, index) => {
    const weight = weightAtZero(coordinates, index)
    for (let at = 0; at < secret.length; at += 1) {
      secret.writeUInt8(secret.readUInt8(at) ^ multiply(share.readUInt8(at), weight), at)
    }
  })
  return secret
}

function checkNumbers(secretBytes: number, shares: number, threshold: number): void {
  if (secretBytes < 1) throw new ShareError('A secret to split has at least one byte')
  if (!Number.isInteger(shares) || shares < MIN_SHARES || shares > MAX_SHARES) {
    throw new ShareError(`The number of shares must be ${MIN_SHARES} to ${MAX_SHARES}`)
  }
  if (!Number.isInteger(threshold) || threshold < MIN_SHARES || threshold > shares) {
    throw new ShareError(`The threshold must be ${MIN_SHARES} to the number of shares`)
  }
}

/** The value of a polynomial at `x`, by Horner's rule. Its coefficients stand together from `from` on. */
function evaluate(constant: number, coefficients: Buffer, from: number, degree: number, x: number): number {
  let value = 0
  for (let at = from + degree - 1; at >= from; at -= 1) value = multiply(value ^ coefficients.readUInt8(at), x)
  return value ^ constant
}

/** Lagrange's basis polynomial of share i at zero: the product of x_j / (x_j - x_i) over all other shares j. */
function weightAtZero(coordinates: readonly number[], index: number): number {
  const own = coordinates[index] ?? 0
  let numerator = 1
  let denominator = 1
  coordinates.forEach((other, at) => {
    if (at === index) return
    numerator = multiply(numerator, other)
    denominator = multiply(denominator, other ^ own)
  })
  return multiply(numerator, invert(denominator))
}

function readCoordinates(shares: readonly Buffer[]): number[] {
  const [first] = shares
  if (first === undefined || shares.length < MIN_SHARES || shares.length > MAX_SHARES) {
    throw new ShareError(`${MIN_SHARES} to ${MAX_SHARES} shares can be combined`)
  }
  if (first.length < 2) throw new ShareError('A share has at least two bytes')
  const seen = new Set<number>()
  for (const share of shares) {
    if (share.length !== first.length) throw new ShareError('The shares have different lengths')
    const x = share.readUInt8(share.length - 1)
    if (x === 0) throw new ShareError('A share has no coordinate: its last byte is zero')
    if (seen.has(x)) throw new ShareError('A share was given twice')
    seen.add(x)
  }
  return [...seen]
}

/** `count` coordinates out of 1 to 255 in random order (Fisher–Yates), so that a share does not tell how many exist. */
function drawCoordinates(count: number, random: RandomBytes): number[] {
  const coordinates = Array.from({ length: MAX_SHARES }, (_, index) => index + 1)
  for (let at = 0; at < count; at += 1) {
    const other = at + drawBelow(MAX_SHARES - at, random)
    const drawn = coordinates[other] ?? 0
    coordinates[other] = coordinates[at] ?? 0
    coordinates[at] = drawn
  }
  return coordinates.slice(0, count)
}

/** A uniform number below `limit`, which is at most 255. Bytes that would favour small numbers are drawn again. */
function drawBelow(limit: number, random: RandomBytes): number {
  const usable = 256 - (256 % limit)
  for (;;) {
    const byte = freshBytes(random, 1).readUInt8(0)
    if (byte < usable) return byte % limit
  }
}
