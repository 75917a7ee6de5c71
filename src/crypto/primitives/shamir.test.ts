import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import * as oracle from 'shamir-secret-sharing'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { multiply } from './galois-field.ts'
import { combineShares, ShareError, splitSecret } from './shamir.ts'

const random = (count: number): Buffer => randomBytes(count)

/** A secret, how it is split, and a choice of exactly as many shares as are needed. */
const splitting = fc
  .record({ secret: fc.uint8Array({ minLength: 1, maxLength: 40 }), shares: fc.integer({ min: 2, max: 12 }) })
  .chain(({ secret, shares }) =>
    fc.integer({ min: 2, max: shares }).chain((threshold) =>
      fc
        .shuffledSubarray(
          Array.from({ length: shares }, (_, at) => at),
          { minLength: threshold, maxLength: threshold },
        )
        .map((chosen) => ({ secret: Buffer.from(secret), shares, threshold, chosen })),
    ),
  )

test('Q-02 any threshold of the shares give the secret back', (t) => {
  fc.assert(
    fc.property(splitting, ({ secret, shares, threshold, chosen }) => {
      const all = splitSecret(secret, shares, threshold, random)
      assert.equal(all.length, shares)
      assert.deepEqual(combineShares(chosen.map((at) => all[at] ?? Buffer.alloc(0))), secret)
      assert.deepEqual(combineShares(all), secret)
    }),
    { seed: testSeed(t), numRuns: 200 },
  )
})

test('the oracle combines our shares and we combine its shares', async (t) => {
  await fc.assert(
    fc.asyncProperty(splitting, async ({ secret, shares, threshold, chosen }) => {
      const pick = (all: readonly Uint8Array[]) => chosen.map((at) => Uint8Array.from(all[at] ?? []))
      const ours = pick(splitSecret(secret, shares, threshold, random))
      assert.deepEqual(Buffer.from(await oracle.combine(ours)), secret)
      const theirs = pick(await oracle.split(Uint8Array.from(secret), shares, threshold))
      assert.deepEqual(combineShares(theirs.map((share) => Buffer.from(share))), secret)
    }),
    { seed: testSeed(t), numRuns: 100 },
  )
})

test('255 shares with a threshold of 255 are combined', () => {
  const secret = randomBytes(2)
  const shares = splitSecret(secret, 255, 255, random)
  assert.equal(new Set(shares.map((share) => share[2])).size, 255)
  assert.deepEqual(combineShares(shares), secret)
  assert.notDeepEqual(combineShares(shares.slice(1)), secret)
})

test('Q-19 one share too few gives another result', () => {
  const secret = randomBytes(32)
  const shares = splitSecret(secret, 5, 3, random)
  assert.notDeepEqual(combineShares(shares.slice(0, 2)), secret)
})

test('Q-02 one share too few says nothing: it is the same set of values for every secret', () => {
  // With a threshold of two the one coefficient of a byte runs through all 256 values; so must the share.
  for (const byte of [0, 1, 0xff]) {
    const values = new Set<number>()
    for (let coefficient = 0; coefficient < 256; coefficient += 1) {
      const draws = [coefficient, 0, 0]
      const [share] = splitSecret(Buffer.from([byte]), 2, 2, () => Buffer.from([draws.shift() ?? 0]))
      assert.equal(share?.[1], 1)
      values.add(share?.readUInt8(0) ?? -1)
    }
    assert.equal(values.size, 256)
  }
})

test('Q-02 every byte has a polynomial of its own, and every power a random coefficient of its own', () => {
  const secret = randomBytes(3)
  const degree = 3
  const coefficients = randomBytes(secret.length * degree)
  const draws = [Buffer.from(coefficients)]
  const shares = splitSecret(secret, 5, degree + 1, (count) => draws.shift() ?? randomBytes(count))
  for (const share of shares) {
    const x = share.readUInt8(secret.length)
    secret.forEach((constant, at) => {
      let expected = constant
      let power = 1
      for (let exponent = 1; exponent <= degree; exponent += 1) {
        power = multiply(power, x)
        expected ^= multiply(coefficients.readUInt8(at * degree + exponent - 1), power)
      }
      assert.equal(share[at], expected)
    })
  }
})

test('a random byte that would favour small coordinates is drawn again', () => {
  const draws = [0x57, 255, 3, 0]
  const [share] = splitSecret(Buffer.from([1]), 2, 2, () => Buffer.from([draws.shift() ?? 0]))
  assert.equal(share?.[1], 4)
})

test('Q-19 every changed bit of a share changes the result', () => {
  const secret = randomBytes(4)
  const shares = splitSecret(secret, 3, 2, random).slice(0, 2)
  const [first, second] = shares
  assert.ok(first !== undefined && second !== undefined)
  for (let bit = 0; bit < first.length * 8; bit += 1) {
    const tampered = Buffer.from(first)
    tampered.writeUInt8(tampered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    try {
      assert.notDeepEqual(combineShares([tampered, second]), secret, `bit ${bit}`)
    } catch (error) {
      // The coordinate became zero or that of the other share.
      assert.ok(error instanceof ShareError && bit >= 32, `bit ${bit}`)
    }
  }
})

test('coordinates are distinct, not zero, and drawn at random', () => {
  const firsts = new Set<number>()
  for (let round = 0; round < 200; round += 1) {
    const xs = splitSecret(Buffer.from([1]), 5, 2, random).map((share) => share.readUInt8(1))
    assert.equal(new Set(xs).size, 5)
    assert.ok(!xs.includes(0))
    firsts.add(xs[0] ?? 0)
  }
  assert.ok(firsts.size > 50)
})

const BAD_NUMBERS = [
  { name: 'an empty secret', bytes: 0, shares: 3, threshold: 2 },
  { name: 'one share', bytes: 1, shares: 1, threshold: 1 },
  { name: '256 shares', bytes: 1, shares: 256, threshold: 2 },
  { name: 'a threshold of one', bytes: 1, shares: 3, threshold: 1 },
  { name: 'a threshold above the shares', bytes: 1, shares: 3, threshold: 4 },
  { name: 'a fractional threshold', bytes: 1, shares: 3, threshold: 2.5 },
  { name: 'a fractional number of shares', bytes: 1, shares: 3.5, threshold: 2 },
  { name: 'no number', bytes: 1, shares: Number.NaN, threshold: 2 },
]

for (const { name, bytes, shares, threshold } of BAD_NUMBERS) {
  test(`splitSecret refuses ${name}`, () => {
    assert.throws(() => splitSecret(Buffer.alloc(bytes, 1), shares, threshold, random), ShareError)
  })
}

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')
const BAD_SHARES = [
  { name: 'no shares', shares: [], message: '2 to 255 shares can be combined' },
  { name: 'one share', shares: ['aa01'], message: '2 to 255 shares can be combined' },
  { name: '256 shares', shares: Array(256).fill('aa01'), message: '2 to 255 shares can be combined' },
  { name: 'shares without a value', shares: ['01', '02'], message: 'A share has at least two bytes' },
  { name: 'different lengths', shares: ['aa01', 'aabb02'], message: 'The shares have different lengths' },
  { name: 'a share twice', shares: ['aa01', 'bb01'], message: 'A share was given twice' },
  { name: 'a zero coordinate', shares: ['aa01', 'bb00'], message: 'A share has no coordinate: its last byte is zero' },
]

for (const { name, shares, message } of BAD_SHARES) {
  test(`Q-19 combineShares refuses ${name}`, () => {
    assert.throws(() => combineShares(shares.map(fromHex)), { name: 'ShareError', message })
  })
}
