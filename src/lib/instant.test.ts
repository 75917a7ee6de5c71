import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { parseInstantMs } from './instant.ts'

test('RFC 3339 with and without a fraction, with every kind of offset, and seconds since 1970', () => {
  const at = Date.UTC(2030, 0, 31, 12, 0, 0)
  for (const text of ['2030-01-31T12:00:00Z', '2030-01-31t14:00:00+02:00', '2030-01-31T12:00:00.000000000z'])
    assert.equal(parseInstantMs(text), at, text)
  assert.equal(parseInstantMs(String(at / 1000)), at)
})

test('what is no point in time is none', () => {
  for (const text of ['', '-1', '1.5', 'tomorrow', '2030-01-31', '2030-13-31T12:00:00Z', '2030-01-31T12:00:00'])
    assert.equal(parseInstantMs(text), undefined, text)
  assert.equal(parseInstantMs('9'.repeat(16)), undefined)
})
