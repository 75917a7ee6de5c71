import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doubledNames } from './exported-names.ts'

const tree = new Map([
  [
    'src/core/a.ts',
    `// export const told = 1\nexport type Place = 1\nexport const one = 1\nexport function text() {}\n`,
  ],
  ['src/http/b.ts', `const one = 1\n\nexport class Place {}\nexport const told = '\\nexport const one'\n`],
  ['src/lib/c.ts', 'export function text() {}\n'],
  ['src/lib/c.test.ts', 'export const one = 1\n'],
  ['test/fixtures/d.ts', 'export const one = 1\n'],
  ['src/cli/commands/read.ts', 'export const one = 1\n'],
])

test('a name that two files of the program export is found in the second', () => {
  const message = 'Place is exported by src/core/a.ts as well: one name, one meaning'
  assert.deepEqual(doubledNames(tree, new Map([['text', 'a reason']])), [{ path: 'src/http/b.ts', line: 3, message }])
})

test('a name that is known to be shared is none, and one that is not is', () => {
  assert.equal(doubledNames(tree, new Map([['Place', 'a reason']])).length, 1)
})
