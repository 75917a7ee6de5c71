import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { DER, DerError, DerReader, der, derNatural, derOid, requireDer } from './der.ts'

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')

test('numbers, identifiers and lengths come back as they were written', (t) => {
  const seed = testSeed(t)
  const number = fc.bigInt({ min: 0n, max: 2n ** 4100n })
  fc.assert(
    fc.property(number, (value) => new DerReader(derNatural(value)).natural() === value),
    { seed },
  )
  for (const oid of ['1.2.840.113549.1.1.1', '1.3.101.112', '2.16.840.1.101.3.4.3.17', '0.9.2342', '2.999.3'])
    assert.equal(new DerReader(derOid(oid)).oid(), oid)
  for (const length of [0, 127, 128, 255, 256, 65_535, 65_536]) {
    const reader = new DerReader(der(DER.octetString, Buffer.alloc(length)))
    assert.equal(reader.next(DER.octetString).length, length)
    reader.end()
  }
})

const WRONG = [
  { name: 'nothing', hex: '' },
  { name: 'a tag alone', hex: '02' },
  { name: 'a length beyond the end', hex: '020201' },
  { name: 'a length of no definite form', hex: '0280010000' },
  { name: 'a length in more bytes than needed', hex: '02810101' },
  { name: 'a length with a zero in front', hex: '0282000101' },
  { name: 'a length of four bytes', hex: '02840000000101' },
  { name: 'an empty number', hex: '0200' },
  { name: 'a negative number', hex: '0180' },
  { name: 'a number with a zero in front', hex: '02020001' },
  { name: 'another tag', hex: '0401ff' },
  { name: 'a number of 521 bytes', hex: `02820209${'01'.repeat(521)}` },
]
for (const { name, hex } of WRONG) {
  test(`${name} is no number in DER`, () => {
    assert.throws(() => new DerReader(fromHex(hex)).natural(), DerError)
  })
}

test('what follows the end is refused, and so is an identifier that is empty or unfinished', () => {
  const reader = new DerReader(fromHex('02010100'))
  reader.natural()
  assert.throws(() => reader.end(), DerError)
  for (const hex of ['0600', '060188', '06048001802a', '06032a8001', `0621${'01'.repeat(33)}`])
    assert.throws(() => new DerReader(fromHex(hex)).oid(), DerError)
})

test('a value of whatever kind comes with its tag and its whole', () => {
  const reader = new DerReader(fromHex('8201033102'))
  const { tag, content, whole } = reader.value()
  assert.deepEqual([tag, content.toString('hex'), whole.toString('hex')], [0x82, '03', '820103'])
  assert.throws(() => reader.value(), DerError)
  assert.throws(() => new DerReader(fromHex('')).value(), DerError)
})

const INSIDE = [
  { name: 'a value inside that ends too late', hex: '3003020201' },
  { name: 'a length of no definite form inside', hex: '300430800000' },
  { name: 'a text in pieces', hex: '30052403040100' },
  { name: 'a sequence that is not constructed', hex: '1000' },
  { name: 'a set that is not constructed', hex: '1100' },
  { name: 'a number that is constructed', hex: '2203020101' },
  { name: 'an end of contents', hex: '30020000' },
  { name: 'a tag of several bytes', hex: '30049f1f0100' },
  { name: 'a tag alone, deep inside', hex: '3005a003310130' },
]
for (const { name, hex } of INSIDE) {
  test(`${name} is no DER`, () => {
    assert.throws(() => requireDer(fromHex(hex)), DerError)
  })
}
