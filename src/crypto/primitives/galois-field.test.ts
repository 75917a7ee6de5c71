import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invert, multiply } from './galois-field.ts'

/** Logarithms to the base 3, which generates the field: multiplication by tables, as `multiply` must not do it. */
function tableProducts(): (a: number, b: number) => number {
  const powers: number[] = []
  const logarithms = new Map<number, number>()
  let power = 1
  for (let exponent = 0; exponent < 255; exponent += 1) {
    powers.push(power)
    logarithms.set(power, exponent)
    const doubled = power << 1
    power ^= doubled > 0xff ? doubled ^ 0x11b : doubled
  }
  assert.equal(logarithms.size, 255)
  return (a, b) => {
    const [left, right] = [logarithms.get(a), logarithms.get(b)]
    return left === undefined || right === undefined ? 0 : (powers[(left + right) % 255] ?? 0)
  }
}

test('S-01 all 65,536 products equal those by tables', () => {
  const expected = tableProducts()
  for (let a = 0; a < 256; a += 1) {
    for (let b = 0; b < 256; b += 1) assert.equal(multiply(a, b), expected(a, b), `${a} · ${b}`)
  }
})

test('FIPS 197 section 4.2: the products of its examples', () => {
  assert.equal(multiply(0x57, 0x83), 0xc1)
  assert.equal(multiply(0x57, 0x13), 0xfe)
})

test('S-01 every byte but zero times its inverse is one', () => {
  for (let a = 1; a < 256; a += 1) assert.equal(multiply(a, invert(a)), 1, `${a}`)
  assert.equal(invert(0), 0)
})
