// Multiplies a secret number with a public one, modulo the order of a curve. A BigInt cannot be wiped, and copies of it
// stay in memory that was collected. So the secret is in limbs outside the JavaScript heap, and no branch and no
// address depends on it (threats N-10).

const LIMB_BITS = 16
const LIMB_BYTES = 2
const LIMB_MASK = 0xffff

/** A number in limbs of 16 bits, the lowest first, outside the heap. One limb more than the order has, for carries. */
type Limbs = Uint32Array<ArrayBuffer>

/**
 * Returns secret · factor modulo order, big-endian, the caller's to wipe. `secret` is below `order` and has the same
 * length. Time depends on the factor alone.
 */
export function multiplySecret(secret: Buffer, factor: bigint, order: Buffer): Buffer {
  const count = Math.ceil(order.length / LIMB_BYTES) + 1
  const [modulus, number] = [limbsOf(order, count), limbsOf(secret, count)]
  const [sum, trial] = [newLimbs(count), newLimbs(count)]
  // Double and add, from the highest bit of the factor: only the public factor decides.
  for (const bit of factor.toString(2)) {
    addModulo(sum, sum, modulus, trial)
    if (bit === '1') addModulo(sum, number, modulus, trial)
  }
  const product = bytesOf(sum, order.length)
  for (const limbs of [number, sum, trial]) limbs.fill(0)
  return product
}

/** sum := sum + other modulo the modulus. Both are below it, so one subtraction is enough. */
function addModulo(sum: Limbs, other: Limbs, modulus: Limbs, trial: Limbs): void {
  let carry = 0
  let borrow = 0
  for (let at = 0; at < sum.length; at += 1) {
    const added = (sum[at] ?? 0) + (other[at] ?? 0) + carry
    carry = added >>> LIMB_BITS
    sum[at] = added & LIMB_MASK
    const less = (added & LIMB_MASK) - (modulus[at] ?? 0) - borrow
    borrow = less >>> 31
    trial[at] = less & LIMB_MASK
  }
  // All ones if the modulus could be subtracted, else zero: selects without a branch.
  const taken = borrow - 1
  for (let at = 0; at < sum.length; at += 1) sum[at] = ((trial[at] ?? 0) & taken) | ((sum[at] ?? 0) & ~taken)
}

/** Outside the heap: a small array made by its length alone lies inside it, where the collector copies it. */
const newLimbs = (count: number): Limbs => new Uint32Array(new ArrayBuffer(count * Uint32Array.BYTES_PER_ELEMENT))

function limbsOf(bytes: Buffer, count: number): Limbs {
  const limbs = newLimbs(count)
  for (let at = 0; at < bytes.length; at += 1) {
    const fromEnd = bytes.length - 1 - at
    const limb = fromEnd >> 1
    limbs[limb] = (limbs[limb] ?? 0) | ((bytes[at] ?? 0) << ((fromEnd & 1) * 8))
  }
  return limbs
}

function bytesOf(limbs: Limbs, length: number): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(length))
  for (let at = 0; at < length; at += 1) {
    const fromEnd = length - 1 - at
    bytes[at] = ((limbs[fromEnd >> 1] ?? 0) >>> ((fromEnd & 1) * 8)) & 0xff
  }
  return bytes
}
