import { strict as assert } from 'node:assert'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { LOGGERS, logLevelOf, namedLog } from './log.ts'
import { isLevelOn, newLogLevels, setLevel } from './log-levels.ts'
import { type LogOptions, logTo } from './log-writer.ts'

const clock = { nowMs: () => Date.UTC(2026, 0, 1), monotonicMs: () => 0 }

function stage(options: LogOptions = {}) {
  let text = ''
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk)
      done()
    },
  })
  return { log: logTo(stream, clock, options), lines: () => text.split('\n').slice(0, -1) }
}

test('a line for people: when, how bad, who, what', () => {
  const { log, lines } = stage({ thread: 'serving-0' })
  namedLog(log, 'core')('warn', 'Something happened', { count: 2, name: 'a "b"' })
  assert.deepEqual(lines(), [
    '2026-01-01T00:00:00.000Z warn  serving-0 core: Something happened count=2 name="a \\"b\\""',
  ])
})

test('a line for collectors is one JSON object', () => {
  const { log, lines } = stage({ thread: 'writing', format: 'json' })
  namedLog(log, 'storage')('error', 'Two\nlines', { cause: '\u2028' })
  assert.deepEqual(JSON.parse(lines()[0] ?? ''), {
    '@timestamp': '2026-01-01T00:00:00.000Z',
    '@level': 'error',
    '@module': 'storage',
    '@message': 'Two\nlines',
    thread: 'writing',
    cause: '\u2028',
  })
})

for (const format of ['standard', 'json'] as const) {
  test(`U-05: whatever is said, it is one line (${format})`, () => {
    const { log, lines } = stage({ format })
    const all = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)).join('')
    log('info', all, { all })
    assert.equal(lines().length, 1)
    // Neither escape sequences of terminals nor other ends of lines.
    const isControl = (code: number) => code < 0x20 || (code >= 0x7f && code <= 0x9f) || code === 0x2028
    assert.equal(
      [...(lines()[0] ?? '')].some((character) => isControl(character.codePointAt(0) ?? 0)),
      false,
    )
  })
}

test('each logger has its level, which all that share the memory follow', () => {
  const levels = newLogLevels('info')
  const { log, lines } = stage({ levels })
  const core = namedLog(log, 'core')
  core('debug', 'not said')
  setLevel(levels, 'core', 'debug')
  core('debug', 'said')
  namedLog(log, 'auth')('debug', 'not said')
  assert.deepEqual([core.isOn?.('debug'), core.isOn?.('trace'), log.isOn?.('debug')], [true, false, false])
  assert.deepEqual(
    lines().map((line) => line.slice(-4)),
    ['said'],
  )
  assert.equal(isLevelOn(levels, LOGGERS.indexOf('core'), 'trace'), false)
})

test('names of levels are those of the reference too', () => {
  assert.deepEqual(['TRACE', 'notice', 'Warning', 'err', ' info '].map(logLevelOf), [
    'trace',
    'info',
    'warn',
    'error',
    'info',
  ])
  assert.equal(logLevelOf('loud'), undefined)
})

test('N-21: lines that cannot be written are counted, and the count is told', () => {
  let dropped = 0
  const stream = new Writable({ highWaterMark: 1, write: () => {} })
  const log = logTo(stream, clock, { onDropped: (lines) => (dropped += lines) })
  for (let i = 0; i < 2_000; i++) log('info', 'x'.repeat(1_000))
  assert.ok(dropped > 900 && dropped < 1_100, `${dropped}`)
})
