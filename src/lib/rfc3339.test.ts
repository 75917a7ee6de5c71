import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatRfc3339, parseRfc3339 } from './rfc3339.ts'

const CASES = [
  { text: '2026-11-21T19:20:23.965995732Z', written: '2026-11-21T19:20:23.965995732Z' },
  { text: '2026-11-21T19:20:23.92761431Z', written: '2026-11-21T19:20:23.92761431Z' },
  { text: '2026-11-21T21:20:23+02:00', written: '2026-11-21T19:20:23.000Z' },
  { text: '2026-11-21T19:20:23.5Z', written: '2026-11-21T19:20:23.500Z' },
]
for (const { text, written } of CASES) {
  test(`${text} is kept to the nanosecond`, () => {
    const { ms, nanos } = parseRfc3339(text) ?? assert.fail()
    assert.equal(formatRfc3339(ms, nanos), written)
  })
}

test('the time that stands for none is before 1970', () => {
  assert.ok((parseRfc3339('0001-01-01T00:00:00Z')?.ms ?? 0) < 0)
})

test('what is no time is none', () => {
  for (const text of [
    '',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-21 19:20:23Z',
    '2026-11-21T19:20:23',
  ])
    assert.equal(parseRfc3339(text), undefined, text)
})
