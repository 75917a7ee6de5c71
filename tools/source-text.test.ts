// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the cases are templates, as text.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { lineAt, readSource } from './source-text.ts'

const CASES = [
  { name: 'a line comment', source: 'a // eval b\nc', code: 'a          \nc' },
  { name: 'a block comment keeps its line breaks', source: 'a /* x\ny */ b', code: 'a     \n     b' },
  { name: 'a comment that never ends', source: 'a /* x', code: 'a     ' },
  { name: 'a first line for the shell', source: '#!/bin/x\na', code: '        \na' },
  { name: 'a string with the other quote and an escape', source: `f('a"b\\'c') + 1`, code: `f('      ') + 1` },
  { name: 'slashes in a string are no comment', source: `f('a//b') // c`, code: `f('    ')     ` },
  { name: 'a string that its line cuts off', source: `f('abc\nd`, code: `f('   \nd` },
  { name: 'a template over lines', source: 'f(`a\nb`) + c', code: 'f(` \n `) + c' },
  { name: 'code inside a template', source: 'f(`a ${b + 1} c`) + d', code: 'f(`  ${b + 1}  `) + d' },
  { name: 'braces inside a template', source: '`a ${f({ b: {} })} c`; d', code: '`  ${f({ b: {} })}  `; d' },
  { name: 'a template in a template', source: '`a ${`b ${c} d`} e` + f', code: '`  ${`  ${c}  `}  ` + f' },
  { name: 'an escaped dollar in a template', source: '`a \\${b} c` + d', code: '`         ` + d' },
  {
    name: 'a regular expression with quotes and a class',
    source: `a = /['"/]\\/x/g.test(b)`,
    code: `a = /        /g.test(b)`,
  },
  { name: 'a regular expression after a keyword', source: `return /'/`, code: `return / /` },
  { name: 'a division is no regular expression', source: `a / b + 'c' / d`, code: `a / b + ' ' / d` },
  { name: 'a division after a bracket', source: `(a) / b[0] / 'c'`, code: `(a) / b[0] / ' '` },
  { name: 'a slash without a second one', source: `a = /b\n'c'`, code: `a = /b\n' '` },
]

for (const { name, source, code } of CASES) {
  test(`source text blanks ${name}`, () => {
    assert.equal(readSource(source).code, code)
    assert.equal(readSource(source).comments.length, source.length)
  })
}

test('source text keeps the comments apart', () => {
  const { comments } = readSource("a('// no') // yes\n/* and */ b")
  assert.equal(comments, '           // yes\n/* and */  ')
})

test('source text lists strings and regular expressions with their places', () => {
  const { strings, regexes } = readSource('import a from \'./b.ts\'\nc(`d`, /e+/, `f${g}`, "h")')
  assert.deepEqual(
    strings.map((literal) => [literal.start, literal.text]),
    [
      [14, './b.ts'],
      [25, 'd'],
      [45, 'h'],
    ],
  )
  assert.deepEqual(regexes, [{ start: 30, text: 'e+' }])
})

test('source text of its own file has the length and the lines of the source', () => {
  const source = readFileSync(new URL('./source-text.ts', import.meta.url), 'utf8')
  const { code } = readSource(source)
  assert.equal(code.length, source.length)
  assert.equal(code.split('\n').length, source.split('\n').length)
})

test('a line is counted from 1', () => {
  assert.equal(lineAt('a\nb\nc', 0), 1)
  assert.equal(lineAt('a\nb\nc', 1), 1)
  assert.equal(lineAt('a\nb\nc', 2), 2)
  assert.equal(lineAt('a\nb\nc', 4), 3)
})
