import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandPattern, isName, parsePattern } from './pattern.ts'

test('a pattern is read into its segments', () => {
  assert.deepEqual(parsePattern('keys/:name/config/:rest...'), [
    { kind: 'literal', text: 'keys' },
    { kind: 'name', name: 'name' },
    { kind: 'literal', text: 'config' },
    { kind: 'rest', name: 'rest' },
  ])
  assert.deepEqual(parsePattern(''), [])
})

test('each optional part gives one form more', () => {
  const forms = expandPattern('random(/:source)(/:bytes)').map((segments) =>
    segments.map((segment) => (segment.kind === 'literal' ? segment.text : `:${segment.name}`)).join('/'),
  )
  assert.deepEqual(forms, ['random', 'random/:source', 'random/:source/:bytes'])
  assert.deepEqual(expandPattern('keys/:name').length, 1)
})

const NAMES = ['a', 'Z', '0', '_', 'a-b', 'a.b', 'a..b', 'a-.-b', '_a_', '1-2', 'x'.repeat(1000), '__proto__']
const NO_NAMES = [
  '',
  '-',
  '.',
  '-a',
  'a-',
  '.a',
  'a.',
  'a b',
  'a/b',
  'a@b',
  'a:b',
  'a*',
  '+',
  '\u00e4',
  '\u212a',
  'a\n',
  '\u0000',
]

test('names are letters, digits and _, inside also - and .', () => {
  for (const name of NAMES) assert.equal(isName(name), true, name)
  for (const name of NO_NAMES) assert.equal(isName(name), false, JSON.stringify(name))
})
