import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import {
  DurationError,
  formatDuration,
  parseDurationNanoseconds,
  parseDurationSeconds,
  parseLifetimeSeconds,
} from './duration.ts'

const SECONDS: readonly { readonly value: string | number; readonly seconds: number }[] = [
  { value: 0, seconds: 0 },
  { value: 3600, seconds: 3600 },
  { value: -5, seconds: -5 },
  { value: '', seconds: 0 },
  { value: '0', seconds: 0 },
  { value: '90', seconds: 90 },
  { value: '+90', seconds: 90 },
  { value: '-90', seconds: -90 },
  { value: '007', seconds: 7 },
  { value: '90s', seconds: 90 },
  { value: '1h30m', seconds: 5400 },
  { value: '-1h30m', seconds: -5400 },
  { value: '768h0m0s', seconds: 2_764_800 },
  { value: '1.5h', seconds: 5400 },
  { value: '.5m', seconds: 30 },
  { value: '1.h', seconds: 3600 },
  { value: '100ms', seconds: 0 },
  { value: '-100ms', seconds: 0 },
  { value: '1999ms', seconds: 1 },
  { value: '-1999ms', seconds: -1 },
  { value: '0.5s0.5s', seconds: 1 },
  { value: '1500000us', seconds: 1 },
  { value: '1500000\u00b5s', seconds: 1 },
  { value: '1500000\u03bcs', seconds: 1 },
  { value: '2000000000ns', seconds: 2 },
  { value: '0.999999999999999s', seconds: 0 },
  { value: '2d', seconds: 172_800 },
  { value: '-2d', seconds: -172_800 },
  { value: '9223372036', seconds: 9_223_372_036 },
  { value: '106751d', seconds: 9_223_286_400 },
  { value: `${'0'.repeat(98)}7s`, seconds: 7 },
]

for (const { value, seconds } of SECONDS) {
  test(`duration ${JSON.stringify(value).slice(-30)} is ${seconds} seconds`, () => {
    // Object.is tells 0 from -0, which would print as "-0".
    assert.ok(Object.is(parseDurationSeconds(value), seconds))
  })
}

const REFUSED: readonly (string | number)[] = [
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  9_223_372_037,
  '9223372037',
  '106752d',
  '1.5',
  '.',
  's',
  '.s',
  '1h30',
  '1x',
  '1 h',
  ' 1h',
  '1h ',
  '-',
  '+',
  '--1',
  '1h-30m',
  '1.2.3s',
  '0x10',
  '1_000',
  '1e3',
  '1.5d',
  '1d12h',
  '12h1d',
  'd',
  '1H',
  '1\uff13s',
  '\u0661s',
  '9'.repeat(101),
  `${'0'.repeat(100)}s`,
]

for (const value of REFUSED) {
  const shown = String(value).slice(0, 20)
  test(`duration ${JSON.stringify(shown)} is refused without quoting it`, () => {
    assert.throws(
      () => parseDurationSeconds(value),
      (error) => error instanceof DurationError && !(shown.length > 2 && error.message.includes(`"${shown}"`)),
    )
  })
}

test('a plain number is whole seconds, a unit is exact to the nanosecond', () => {
  assert.equal(parseDurationNanoseconds(3), 3_000_000_000n)
  assert.equal(parseDurationNanoseconds('2s'), 2_000_000_000n)
  assert.equal(parseDurationNanoseconds('1.000000001s'), 1_000_000_001n)
  assert.equal(parseDurationNanoseconds('9223372036s854775807ns'), 2n ** 63n - 1n)
  assert.throws(() => parseDurationNanoseconds('9223372036s854775808ns'), DurationError)
})

const FORMATTED: readonly { readonly seconds: number; readonly text: string }[] = [
  { seconds: 0, text: '0s' },
  { seconds: 59, text: '59s' },
  { seconds: 60, text: '1m0s' },
  { seconds: 90, text: '1m30s' },
  { seconds: 3600, text: '1h0m0s' },
  { seconds: 2_764_800, text: '768h0m0s' },
  { seconds: -5401, text: '-1h30m1s' },
]

for (const { seconds, text } of FORMATTED) {
  test(`${seconds} seconds are written ${text}`, () => assert.equal(formatDuration(seconds), text))
}

test('formatDuration refuses a fraction', () => assert.throws(() => formatDuration(1.5), RangeError))

test('what formatDuration writes is parsed back', (t) => {
  const seconds = fc.integer({ min: -9_223_372_036, max: 9_223_372_036 })
  fc.assert(
    fc.property(seconds, (value) => assert.equal(parseDurationSeconds(formatDuration(value)), value)),
    { seed: testSeed(t), numRuns: 2_000 },
  )
})

test('no text makes the duration parser throw anything but its error', (t) => {
  const text = fc.array(fc.constantFrom(...'0159.-+dhmsnuµx '), { maxLength: 12 }).map((marks) => marks.join(''))
  const property = fc.property(text, (value) => {
    try {
      assert.ok(Number.isSafeInteger(parseDurationSeconds(value)))
    } catch (error) {
      assert.ok(error instanceof DurationError)
    }
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 5_000 })
})

test('T-01: a lifetime above nothing is never cut to nothing, which would mean "without end"', () => {
  for (const value of ['1ns', '1ms', '999ms', '0.001s']) assert.equal(parseLifetimeSeconds(value), 1, value)
  for (const value of ['0', '', '0ms', 0]) assert.equal(parseLifetimeSeconds(value), 0, String(value))
  for (const value of ['1999ms', '1.5s', 1, '1']) assert.equal(parseLifetimeSeconds(value), 1, String(value))
  assert.equal(parseLifetimeSeconds('-5s'), -5)
})
