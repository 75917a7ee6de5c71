// The two forms of an ECDSA signature. One is DER: SEQUENCE (INTEGER r, INTEGER s) (RFC 3279 section 2.2.3). The other
// is r ‖ s, each with as many bytes as the order has (RFC 7518 section 3.4).
import { derHead, INTEGER, readDer, SEQUENCE } from '../encoding/der-values.ts'
import { UnusableInput } from '../key-types/key-type.ts'

const SIGN_BIT = 0x80

/**
 * Reads DER as r ‖ s, each `bytes` long; undefined if one of them is negative or longer, which is no signature.
 * @throws UnusableInput unless it is DER from the first byte to the last
 */
export function readEcdsaDer(der: Buffer, bytes: number): Buffer | undefined {
  const sequence = readDer(der, SEQUENCE) ?? notDer()
  const r = readInteger(sequence.value)
  const s = readInteger(r.rest)
  if (sequence.rest.length > 0 || s.rest.length > 0) notDer()
  const rs = Buffer.alloc(2 * bytes)
  return putNatural(r.value, rs.subarray(0, bytes)) && putNatural(s.value, rs.subarray(bytes)) ? rs : undefined
}

/** Writes r ‖ s as DER. */
export function writeEcdsaDer(rs: Buffer): Buffer {
  const middle = rs.length / 2
  const numbers = Buffer.concat([writeInteger(rs.subarray(0, middle)), writeInteger(rs.subarray(middle))])
  return Buffer.concat([derHead(SEQUENCE, numbers.length), numbers])
}

function readInteger(from: Buffer) {
  const read = readDer(from, INTEGER) ?? notDer()
  const [first, second] = read.value
  if (first === undefined) notDer()
  // X.690 section 8.3.2: no byte that only repeats the sign.
  const isSignOnly = first === 0x00 || first === 0xff
  if (isSignOnly && second !== undefined && (first & SIGN_BIT) === (second & SIGN_BIT)) notDer()
  return read
}

/** Writes a number to the right end of `into`. Returns false if it is negative or does not fit. */
function putNatural(value: Buffer, into: Buffer): boolean {
  const digits = value[0] === 0x00 ? value.subarray(1) : value
  if (((value[0] ?? 0) & SIGN_BIT) !== 0 || digits.length > into.length) return false
  digits.copy(into, into.length - digits.length)
  return true
}

function writeInteger(digits: Buffer): Buffer {
  const first = digits.findIndex((byte) => byte !== 0)
  const shortest = digits.subarray(first === -1 ? digits.length - 1 : first)
  const sign = Buffer.alloc(((shortest[0] ?? 0) & SIGN_BIT) === 0 ? 0 : 1)
  return Buffer.concat([derHead(INTEGER, sign.length + shortest.length), sign, shortest])
}

function notDer(): never {
  throw new UnusableInput('supplied signature is invalid: with marshaling_algorithm asn1 it is the DER of r and s')
}
