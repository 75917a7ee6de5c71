import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { UnusableInput } from '../key-types/key-type.ts'
import { readEcdsaDer, writeEcdsaDer } from './ecdsa-signature.ts'

const fromHex = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex')

test('r ‖ s of every curve comes back from DER, whatever zeros it begins with', (t) => {
  const number = (bytes: number) =>
    fc
      .tuple(fc.uint8Array({ minLength: bytes, maxLength: bytes }), fc.nat({ max: bytes }))
      .map(([digits, zeros]) => Buffer.from(digits).fill(0, 0, zeros))
  const both = fc
    .constantFrom(32, 48, 66)
    .chain((bytes) => fc.tuple(number(bytes), number(bytes)).map((parts) => Buffer.concat(parts)))
  fc.assert(
    fc.property(both, (value) => {
      const der = writeEcdsaDer(value)
      assert.deepEqual(readEcdsaDer(der, value.length / 2), value)
      assert.throws(() => readEcdsaDer(Buffer.concat([der, Buffer.of(0)]), value.length / 2), UnusableInput)
      assert.throws(() => readEcdsaDer(der.subarray(0, -1), value.length / 2), UnusableInput)
    }),
    { seed: testSeed(t), numRuns: 300 },
  )
})

test('C-05 whatever bytes: r ‖ s, nothing, or a refusal, and only one DER for each', (t) => {
  const piece = fc.constantFrom('30', '02', '00', '80', '81', 'ff', '01', '03', '06', '7f')
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 80 }).map((value) => Buffer.from(value)),
    fc.array(piece, { maxLength: 16 }).map((pieces) => fromHex(pieces.join(''))),
  )
  fc.assert(
    fc.property(bytes, (value) => {
      try {
        const both = readEcdsaDer(value, 32)
        if (both !== undefined) assert.deepEqual(writeEcdsaDer(both), value)
      } catch (cause) {
        assert.ok(cause instanceof UnusableInput, `${cause}`)
      }
    }),
    { seed: testSeed(t), numRuns: 2_000 },
  )
})

const REFUSED = [
  { name: 'nothing', der: '' },
  { name: 'no SEQUENCE', der: '31 06 020101 020102' },
  { name: 'a number short', der: '30 03 020101' },
  { name: 'a third number', der: '30 09 020101 020102 020103' },
  { name: 'an empty number', der: '30 05 0200 020102' },
  { name: 'a zero more than needed', der: '30 07 02020001 020102' },
  { name: 'an ff more than needed', der: '30 07 0202ff80 020102' },
  { name: 'a long form that is not needed', der: '30 8106 020101 020102' },
  { name: 'a length of indefinite form', der: '30 80 020101 020102 0000' },
  { name: 'a length of two bytes', der: '30 820006 020101 020102' },
  { name: 'a number that ends behind the sequence', der: '30 06 020101 020202' },
  { name: 'another number type', der: '30 06 0a0101 020102' },
]

for (const { name, der } of REFUSED) {
  test(`no DER of a signature: ${name}`, () => {
    assert.throws(() => readEcdsaDer(fromHex(der), 32), UnusableInput)
  })
}

test('DER of numbers that no signature has gives none', () => {
  assert.equal(readEcdsaDer(fromHex('30 06 0201ff 020102'), 32), undefined)
  assert.equal(readEcdsaDer(fromHex(`30 26 0221 01${'00'.repeat(32)} 020102`), 32), undefined)
  assert.deepEqual(readEcdsaDer(fromHex('30 06 020100 020102'), 2), fromHex('0000 0002'))
})
