// Schedules as cron has them: what is one, and when it is next.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextTimeMs, parseSchedule } from './schedule.ts'

const NEXT = [
  { text: '* * * * *', after: '2026-01-01T00:00:00Z', next: '2026-01-01T00:01:00Z' },
  { text: '* * * * *', after: '2026-01-01T00:00:59.999Z', next: '2026-01-01T00:01:00Z' },
  { text: '0 3 * * *', after: '2026-01-01T02:59:59Z', next: '2026-01-01T03:00:00Z' },
  { text: '0 3 * * *', after: '2026-01-01T03:00:00Z', next: '2026-01-02T03:00:00Z' },
  { text: '  5  4\t* * * ', after: '2026-01-01T00:00:00Z', next: '2026-01-01T04:05:00Z' },
  { text: '*/20 * * * *', after: '2026-01-01T00:20:00Z', next: '2026-01-01T00:40:00Z' },
  { text: '50/5 * * * *', after: '2026-01-01T00:50:00Z', next: '2026-01-01T00:55:00Z' },
  { text: '10-30/10 * * * *', after: '2026-01-01T00:30:00Z', next: '2026-01-01T01:10:00Z' },
  { text: '30,10 22,4 * * *', after: '2026-01-01T04:10:00Z', next: '2026-01-01T04:30:00Z' },
  { text: '59 23 31 12 *', after: '2026-01-01T00:00:00Z', next: '2026-12-31T23:59:00Z' },
  { text: '0 0 29 2 *', after: '2026-01-01T00:00:00Z', next: '2028-02-29T00:00:00Z' },
  { text: '0 0 29 2 *', after: '2096-03-01T00:00:00Z', next: '2104-02-29T00:00:00Z' },
  // 1 January 2026 is a Thursday; 0 and 7 are Sunday.
  { text: '0 0 * * 0', after: '2026-01-01T00:00:00Z', next: '2026-01-04T00:00:00Z' },
  { text: '0 0 * * 7', after: '2026-01-01T00:00:00Z', next: '2026-01-04T00:00:00Z' },
  { text: '0 0 * * 5-6', after: '2026-01-01T00:00:00Z', next: '2026-01-02T00:00:00Z' },
  // One of both day fields is enough, unless one is `*`.
  { text: '0 0 20 * 6', after: '2026-01-01T00:00:00Z', next: '2026-01-03T00:00:00Z' },
  { text: '0 0 2 * 6', after: '2026-01-01T00:00:00Z', next: '2026-01-02T00:00:00Z' },
  { text: '0 0 30 2 *', after: '2026-01-01T00:00:00Z', next: undefined },
]
for (const { text, after, next } of NEXT) {
  test(`schedule "${text}" after ${after}: ${next ?? 'never'}`, () => {
    const schedule = parseSchedule(text) ?? assert.fail()
    const atMs = nextTimeMs(schedule, Date.parse(after))
    assert.equal(atMs, next === undefined ? undefined : Date.parse(next))
  })
}

const NONE = [
  '',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * 32 * *',
  '* * * 0 *',
  '* * * 13 *',
  '* * * * 8',
  '1-2-3 * * * *',
  '1/2/3 * * * *',
  '*-5 * * * *',
  '5-1 * * * *',
  '*/0 * * * *',
  '*/ * * * *',
  '1- * * * *',
  '-1 * * * *',
  '1,,2 * * * *',
  '1.5 * * * *',
  '001 * * * *',
  'MON * * * *',
]
test('what is no schedule is refused', () => {
  for (const text of NONE) assert.equal(parseSchedule(text), undefined, text)
})

test('a schedule has at most 200 characters', () => {
  const ofLength = (length: number) => `${'0,'.repeat((length - 9) / 2)}0 * * * *`
  assert.equal(ofLength(199).length, 199)
  assert.notEqual(parseSchedule(ofLength(199)), undefined)
  assert.notEqual(parseSchedule(`${ofLength(199)} `), undefined)
  assert.equal(parseSchedule(ofLength(201)), undefined)
})
