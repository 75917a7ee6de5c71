import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { Refusal } from '../../../api/errors.ts'
import { parseCiphertext, versionPrefix } from './ciphertext.ts'

const CASES: readonly { text: string; expected: readonly [number, string] | string }[] = [
  { text: 'vault:v1:YQ==', expected: [1, 'YQ=='] },
  { text: 'vault:v123:', expected: [123, ''] },
  { text: 'vault:v1:a:b', expected: [1, 'a:b'] },
  { text: 'vault:v0:YQ==', expected: [0, 'YQ=='] },
  { text: 'vault:v01:YQ==', expected: [1, 'YQ=='] },
  { text: 'vault:v+1:YQ==', expected: [1, 'YQ=='] },
  { text: 'vault:v-1:YQ==', expected: [-1, 'YQ=='] },
  { text: 'vault:v9007199254740991:x', expected: [9007199254740991, 'x'] },
  { text: 'vault:v9007199254740993:x', expected: 'version number could not be decoded' },
  { text: `vault:v${'9'.repeat(400)}:x`, expected: 'version number could not be decoded' },
  { text: 'vault:v:x', expected: 'version number could not be decoded' },
  { text: 'vault:v+:x', expected: 'version number could not be decoded' },
  { text: 'vault:v1.0:x', expected: 'version number could not be decoded' },
  { text: 'vault:v1e1:x', expected: 'version number could not be decoded' },
  { text: 'vault:v 1:x', expected: 'version number could not be decoded' },
  { text: 'vault:v1', expected: 'wrong number of fields' },
  { text: 'vault:v', expected: 'wrong number of fields' },
  { text: 'vault:1:x', expected: 'no prefix' },
  { text: 'VAULT:v1:x', expected: 'no prefix' },
  { text: ' vault:v1:x', expected: 'no prefix' },
  { text: '', expected: 'no prefix' },
]
for (const { text, expected } of CASES) {
  test(`parseCiphertext: ${JSON.stringify(text.slice(0, 40))}`, () => {
    if (typeof expected !== 'string') {
      assert.deepEqual(parseCiphertext(text), { version: expected[0], payload: expected[1] })
      return
    }
    const isExpected = (cause: unknown) =>
      cause instanceof Refusal && cause.status === 400 && cause.message.startsWith(`invalid ciphertext: ${expected}`)
    assert.throws(() => parseCiphertext(text), isExpected)
  })
}

test('what begins with versionPrefix is parsed again, and nothing else throws but a refusal', (t) => {
  const seed = testSeed(t)
  const known = fc.property(fc.nat(), fc.base64String(), (version, payload) => {
    assert.deepEqual(parseCiphertext(versionPrefix(version) + payload), { version, payload })
  })
  fc.assert(known, { seed })
  const parts = fc.constantFrom('vault', 'v', ':', '1', '-', '+', '0', ' ', '\u0661', 'YQ==', '\0')
  const anything = fc.property(
    fc.array(parts).map((chosen) => chosen.join('')),
    (text) => {
      try {
        assert.ok(Number.isSafeInteger(parseCiphertext(text).version))
      } catch (cause) {
        assert.ok(cause instanceof Refusal)
      }
    },
  )
  fc.assert(anything, { seed })
})
