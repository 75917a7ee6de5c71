// Arithmetic of GF(2^8) with the polynomial x^8 + x^4 + x^3 + x + 1 (0x11b, as in FIPS 197 section 4.2). There is no
// table, and no branch depends on a value: tables leak secrets through the cache (threats S-01, CVE-2023-25000).

const POLYNOMIAL = 0x11b

/** The product of two bytes, in eight steps for any two. Addition is `^`. */
export function multiply(a: number, b: number): number {
  let product = 0
  let multiple = a
  for (let bit = 0; bit < 8; bit += 1) {
    product ^= multiple & allOnesWhere(b, bit)
    multiple = (multiple << 1) ^ (POLYNOMIAL & allOnesWhere(multiple, 7))
  }
  return product
}

/** 32 ones if the bit is set, else 32 zeros. Made by shifts: a negated zero is not an integer in JavaScript. */
function allOnesWhere(value: number, bit: number): number {
  return (value << (31 - bit)) >> 31
}

/** The multiplicative inverse, as a^254 by a fixed chain of products. The inverse of 0 is 0 here. */
export function invert(a: number): number {
  const a2 = multiply(a, a)
  const a3 = multiply(a2, a)
  const a6 = multiply(a3, a3)
  const a12 = multiply(a6, a6)
  const a15 = multiply(a12, a3)
  const a30 = multiply(a15, a15)
  const a60 = multiply(a30, a30)
  const a120 = multiply(a60, a60)
  const a240 = multiply(a120, a120)
  return multiply(multiply(a240, a12), a2)
}
