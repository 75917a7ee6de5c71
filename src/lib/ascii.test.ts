import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asciiLowerCase, asciiTrim, isDigit, isPrintableAscii } from './ascii.ts'

test('asciiLowerCase changes A to Z and nothing else (threats N-17)', () => {
  assert.equal(asciiLowerCase('AbZz09_@[`{'), 'abzz09_@[`{')
  assert.equal(asciiLowerCase('plain'), 'plain')
  assert.equal(asciiLowerCase(''), '')
  for (const other of ['\u212a', '\u0130', 'ſ', 'É', 'Ａ']) assert.equal(asciiLowerCase(other), other)
})

test('asciiTrim removes ASCII blanks and nothing else (threats N-17)', () => {
  assert.equal(asciiTrim(' \t\n\v\f\ra b\r\n'), 'a b')
  assert.equal(asciiTrim(' \t'), '')
  for (const other of ['\u00a0a', '\ufeffa', '\u2003a', '\x1fa']) assert.equal(asciiTrim(other), other)
})

test('isPrintableAscii refuses control characters and what is not ASCII', () => {
  assert.ok(isPrintableAscii(' az~'))
  for (const other of ['\x1f', '\x7f', '\n', 'é', '\u212a']) assert.equal(isPrintableAscii(other), false)
})

test('isDigit takes the ten digits of ASCII, one at a time', () => {
  for (const digit of '0123456789') assert.ok(isDigit(digit))
  for (const other of ['', '10', '/', ':', 'a', '٣', '１']) assert.ok(!isDigit(other), other)
})
