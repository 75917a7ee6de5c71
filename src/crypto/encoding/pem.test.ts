import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PemError, readOnlyPem, readPem, writePem } from './pem.ts'

const content = Buffer.alloc(100, 7)

test('what was written reads back, whatever its label and whatever stands around it', () => {
  for (const label of ['PUBLIC KEY', 'ANYTHING']) {
    const pem = writePem(label, content)
    for (const text of [pem, pem.trimEnd(), `Bag Attributes\n${pem}\nmore`, pem.replaceAll('\n', '\r\n')])
      assert.deepEqual(readPem(text), content)
  }
})

for (const text of [
  '',
  'nonsense',
  '-----BEGIN X-----',
  '-----BEGIN X',
  '-----BEGIN X-----\nAAAA\n-----END Y-----',
  '-----BEGIN X-----\n!!!!\n-----END X-----',
  '-----BEGIN X-----\nAAAA',
]) {
  test(`${JSON.stringify(text)} is no PEM`, () => {
    assert.throws(() => readPem(text), PemError)
  })
}

test('where one block is expected its label is looked at, and a second one refused', () => {
  const pem = writePem('A REQUEST', content)
  assert.deepEqual(readOnlyPem(`words\n${pem}words`, ['ANOTHER', 'A REQUEST'], 1_000), content)
  for (const text of [pem + pem, `${pem}-----BEGIN `, `-----BEGIN X-----\n-----END X-----\n${pem}`])
    assert.throws(() => readOnlyPem(text, ['A REQUEST'], 1_000), PemError)
  assert.throws(() => readOnlyPem(pem, ['REQUEST'], 1_000), /its label is not REQUEST/)
  assert.throws(() => readOnlyPem(pem, ['A REQUEST'], pem.length - 1), /characters/)
  assert.deepEqual(readOnlyPem(pem, ['A REQUEST'], pem.length), content)
})
