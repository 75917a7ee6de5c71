import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wallFindings } from './import-walls.ts'
import { readImports } from './imports.ts'
import { readSource } from './source-text.ts'
import { formatFinding } from './tree.ts'

const START = 'src/process/start.ts'
const WALLS = new Map([[START, ['src/storage/writing.ts', 'src/seal/']]])

function check(files: Readonly<Record<string, string>>): string[] {
  const all = { 'src/storage/writing.ts': '', 'src/seal/a.ts': '', ...files }
  const imports = new Map(Object.entries(all).map(([path, source]) => [path, readImports(readSource(source))]))
  return wallFindings(imports, WALLS).map(formatFinding)
}

test('a start that loads a file behind a wall is refused, with the shortest way', () => {
  const files = {
    [START]: `import { a } from '../lib/a.ts'\nimport { b } from '../lib/b.ts'`,
    'src/lib/a.ts': `import { c } from './c.ts'`,
    'src/lib/b.ts': `export * from '../storage/writing.ts'`,
    'src/lib/c.ts': `import '../storage/writing.ts'`,
  }
  assert.deepEqual(check(files), [
    'src/process/start.ts:1: must not load src/storage/writing.ts, and does: ' +
      'src/process/start.ts > src/lib/b.ts > src/storage/writing.ts',
  ])
})

test('a start that loads a file of a folder behind a wall is refused, once for the folder', () => {
  const files = { [START]: `import { a } from '../seal/a.ts'\nimport { b } from '../seal/b.ts'`, 'src/seal/b.ts': '' }
  assert.deepEqual(check(files), [
    'src/process/start.ts:1: must not load src/seal/, and does: src/process/start.ts > src/seal/a.ts',
  ])
})

test('types behind a wall, and calls that load later, are no way', () => {
  const source = `import type { A } from '../seal/a.ts'\nexport const b = () => import('../storage/writing.ts')`
  assert.deepEqual(check({ [START]: source }), [])
})

test('a file whose path begins like that of a wall is not behind it', () => {
  const files = { [START]: `import { a } from '../seal.ts'`, 'src/seal.ts': `import type { A } from './seal/a.ts'` }
  assert.deepEqual(check(files), [])
})

test('a circle on the way ends', () => {
  assert.deepEqual(check({ [START]: `import '../a.ts'`, 'src/a.ts': `import './process/start.ts'` }), [])
})

test('a wall that stands nowhere is refused', () => {
  const imports = new Map([
    [START, []],
    ['src/storage/writing.ts', []],
  ])
  assert.deepEqual(wallFindings(imports, WALLS).map(formatFinding), [
    'src/process/start.ts:1: must not load src/seal/, which is not there: take it out of WALLS',
  ])
})

test('the walls of a start that is not among the files are left out', () => {
  assert.deepEqual(wallFindings(new Map(), WALLS), [])
})
