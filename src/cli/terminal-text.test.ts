import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printable, printableJson, printableLine } from './terminal-text.ts'

const ESCAPE = '\u001b[2J'

test('terminal text: control characters are shown as escapes, line feeds and tabs stay', () => {
  assert.equal(printable(`a${ESCAPE}\tb\r\n\u009b1m\u007f`), 'a\\u001b[2J\tb\\u000d\n\\u009b1m\\u007f')
  assert.equal(printable('plain \u00e4\u20ac\u{1f511}'), 'plain \u00e4\u20ac\u{1f511}')
})

test('terminal text: marks that turn the direction of reading are shown', () => {
  assert.equal(printable('a\u202eb\u2066c'), 'a\\u202eb\\u2066c')
})

test('terminal text: in a line no line feed is left', () => {
  assert.equal(printableLine('a\nb\tc'), 'a\\u000ab\\u0009c')
})

test('terminal text: JSON keeps its value', () => {
  const text = JSON.stringify({ a: `${ESCAPE}\u009b\u202e\n` }, null, 2)
  assert.ok(!printableJson(text).includes('\u009b'))
  assert.deepEqual(JSON.parse(printableJson(text)), JSON.parse(text))
})
