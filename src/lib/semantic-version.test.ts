import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions } from './semantic-version.ts'

/** From the oldest to the newest; most are the example of section 11.4 of Semantic Versioning 2.0.0. */
const ORDER = [
  '0.9.10',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1',
  '1.10.0',
  '2.0.0',
]

test('versions are in the order of Semantic Versioning', () => {
  for (const [at, one] of ORDER.entries()) {
    for (const [against, other] of ORDER.entries()) {
      assert.equal(Math.sign(compareVersions(one, other) ?? Number.NaN), Math.sign(at - against), `${one}, ${other}`)
    }
  }
})

test('what was built how plays no part in the order', () => {
  assert.equal(compareVersions('1.2.3+a', '1.2.3+b'), 0)
})

test('a text that is no version has no order', () => {
  for (const text of ['', '1', '1.2', 'v1.2.3', '1.2.3-', '1.2.3.4', '1.2.x', '1234567890.0.0']) {
    assert.equal(compareVersions(text, '1.2.3'), undefined, text)
    assert.equal(compareVersions('1.2.3', text), undefined, text)
  }
})
