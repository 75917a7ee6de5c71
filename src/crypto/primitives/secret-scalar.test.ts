import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { P256, P384, P521, SECP256K1 } from '../forms/ec-curves.ts'
import { multiplySecret } from './secret-scalar.ts'

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`)
const bytesOf = (number: bigint, bytes: number): Buffer =>
  Buffer.from(number.toString(16).padStart(bytes * 2, '0'), 'hex')

for (const { name, order } of [P256, P384, P521, SECP256K1]) {
  test(`${name}: a secret times a factor is their product modulo the order, at the edges and between`, (t) => {
    const modulus = numberOf(order)
    const edges = [0n, 1n, 2n, 0xffffn, 0x10000n, modulus >> 1n, modulus - 2n, modulus - 1n]
    const number = fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: 0n, max: modulus - 1n }))
    fc.assert(
      fc.property(number, number, (secret, factor) => {
        const given = bytesOf(secret, order.length)
        const product = multiplySecret(given, factor, order)
        assert.equal(numberOf(product), (secret * factor) % modulus)
        assert.equal(numberOf(given), secret)
      }),
      { seed: testSeed(t), numRuns: 300 },
    )
  })
}
