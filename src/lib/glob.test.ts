import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchGlob } from './glob.ts'

const ROWS: readonly { pattern: string; matches: readonly string[]; not: readonly string[] }[] = [
  { pattern: 'abc', matches: ['abc'], not: ['', 'ab', 'abcd', 'ABC'] },
  { pattern: 'ab*', matches: ['ab', 'abc', 'ab*'], not: ['a', 'xab', 'Ab'] },
  { pattern: '*bc', matches: ['bc', 'abc', '*bc'], not: ['c', 'bcd'] },
  { pattern: '*b*', matches: ['b', 'abc', 'bbb'], not: ['', 'a', 'B'] },
  { pattern: '*', matches: ['*'], not: ['', 'a', '**'] },
  { pattern: '**', matches: ['', 'a', '*', 'abc'], not: [] },
  { pattern: '***', matches: ['*', 'a*b'], not: ['', 'ab'] },
  { pattern: 'a*b', matches: ['a*b'], not: ['ab', 'axb'] },
  { pattern: '*a*b', matches: ['a*b', 'xa*b'], not: ['axb'] },
  { pattern: '', matches: [''], not: ['a', '*'] },
  { pattern: 'a.b', matches: ['a.b'], not: ['axb'] },
]
for (const { pattern, matches, not } of ROWS) {
  test(`glob "${pattern}" matches exactly what it says`, () => {
    for (const text of matches) assert.equal(matchGlob(pattern, text), true, text)
    for (const text of not) assert.equal(matchGlob(pattern, text), false, text)
  })
}
