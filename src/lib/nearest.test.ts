import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.ts'

const OPTIONS = ['address', 'token', 'namespace', 'format', 'field', 'ca-cert', 'force']

const CASES: readonly { word: string; candidates: readonly string[]; meant: string | undefined }[] = [
  { word: 'adress', candidates: OPTIONS, meant: 'address' },
  { word: 'addresss', candidates: OPTIONS, meant: 'address' },
  { word: 'addrses', candidates: OPTIONS, meant: 'address' },
  { word: 'tokne', candidates: OPTIONS, meant: 'token' },
  { word: 'Token', candidates: OPTIONS, meant: 'token' },
  { word: 'formst', candidates: OPTIONS, meant: 'format' },
  { word: 'cacert', candidates: OPTIONS, meant: 'ca-cert' },
  { word: 'x', candidates: OPTIONS, meant: undefined },
  { word: 'wrap-ttl', candidates: OPTIONS, meant: undefined },
  { word: '', candidates: OPTIONS, meant: undefined },
  { word: 'token', candidates: [], meant: undefined },
  // The first of equals.
  { word: 'ac', candidates: ['ab', 'ad'], meant: 'ab' },
  { word: 'a'.repeat(65), candidates: ['a'.repeat(65)], meant: undefined },
  { word: 'a'.repeat(64), candidates: ['a'.repeat(100_000), 'a'.repeat(63)], meant: 'a'.repeat(63) },
]

for (const { word, candidates, meant } of CASES) {
  test(`nearest: ${JSON.stringify(word.slice(0, 20))} of ${candidates.length} means ${meant?.slice(0, 20)}`, () => {
    assert.equal(nearest(word, candidates), meant)
  })
}

test('nearest counts two swapped letters as one mistake, two apart as two', () => {
  assert.equal(nearest('ilst', ['list']), 'list')
  assert.equal(nearest('tsil', ['list']), undefined)
})
