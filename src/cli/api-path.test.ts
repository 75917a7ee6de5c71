import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodePath } from '../client/path.ts'
import { cleanPath } from './api-path.ts'
import { UsageError } from './cli-error.ts'

for (const [typed, clean] of [
  ['transit/keys/x', 'transit/keys/x'],
  ['/transit/keys/', 'transit/keys'],
  ['transit//keys', 'transit/keys'],
  [' sys/mounts\n', 'sys/mounts'],
] as const) {
  test(`path: ${JSON.stringify(typed)} means ${clean}`, () => assert.equal(cleanPath(typed), clean))
}

for (const typed of ['', '/', ' ', 'a/../b', '..', './a']) {
  test(`path: ${JSON.stringify(typed)} is refused`, () => assert.throws(() => cleanPath(typed), UsageError))
}

test('path: what means something in a URL is escaped, slashes stay', () => {
  assert.equal(encodePath('a/b c?d#e%2f\u00e4'), 'a/b%20c%3Fd%23e%252f%C3%A4')
  assert.throws(() => cleanPath('a\ud800'), UsageError)
})
