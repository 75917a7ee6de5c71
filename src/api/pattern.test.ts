import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandPattern, isName, parsePattern, routedForms, type Segment } from './pattern.ts'

test('a pattern is read into its segments', () => {
  assert.deepEqual(parsePattern('keys/:name/config/:rest...'), [
    { kind: 'literal', text: 'keys' },
    { kind: 'name', name: 'name' },
    { kind: 'literal', text: 'config' },
    { kind: 'rest', name: 'rest' },
  ])
  assert.deepEqual(parsePattern(''), [])
})

const SHOWN = { name: '', rest: '...' }

const shown = (forms: readonly (readonly Segment[])[]): string[] =>
  forms.map((segments) =>
    segments
      .map((segment) => (segment.kind === 'literal' ? segment.text : `:${segment.name}${SHOWN[segment.kind]}`))
      .join('/'),
  )

test('each optional part gives one form more', () => {
  assert.deepEqual(shown(expandPattern('random(/:source)(/:bytes)')), [
    'random',
    'random/:source',
    'random/:source/:bytes',
  ])
  assert.deepEqual(expandPattern('keys/:name').length, 1)
})

test('a request may have anything in the place of the last optional part', () => {
  assert.deepEqual(shown(routedForms('random(/:source)(/:bytes)')), [
    'random',
    'random/:source',
    'random/:source/:bytes',
    'random/:bytes...',
    'random/:source/:bytes...',
  ])
  assert.deepEqual(shown(routedForms('sign/:name(/:hash)')), ['sign/:name', 'sign/:name/:hash', 'sign/:name/:hash...'])
  for (const path of ['keys/:name', 'keys/:name/config', 'files/:path...', 'restore(/:name...)'])
    assert.deepEqual(routedForms(path), expandPattern(path), path)
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
