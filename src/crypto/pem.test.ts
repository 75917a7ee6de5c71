import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PemError, readPem, writePem } from './pem.ts'

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
