import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachOf } from './reach.ts'

const IMPORTS = `import { a } from '../storage/store.ts'\n`

test('tests that reach a file come in order: its own, by name, of its room, of the exchanges, others', () => {
  const tree = new Map([
    ['src/storage/store.ts', 'export const a = 1\n'],
    ['src/storage/store.test.ts', `import { a } from './store.ts'\n`],
    ['src/storage/tree.test.ts', `import { a } from './store.ts'\n`],
    ['src/storage/types.test.ts', `import type { A } from './store.ts'\n`],
    ['src/core/core.ts', IMPORTS],
    ['src/core/core.test.ts', `import { b } from './core.ts'\n`],
    ['src/core/all-stores.test.ts', `import { b } from './core.ts'\n`],
    ['src/main.ts', `import { b } from './core/core.ts'\n`],
    ['src/threads/thread.ts', IMPORTS],
    ['src/threads/pool.ts', `new Worker(new URL('./thread.ts', import.meta.url))\n`],
    ['src/threads/pool.test.ts', `import { c } from './pool.ts'\n`],
    ['test/conformance/storage.test.ts', `import { a } from '../../src/storage/store.ts'\n`],
    ['test/wire/replay.test.ts', `import { b } from '../../src/core/core.ts'\n`],
    ['test/fixtures/server-process.ts', 'export const start = 1\n'],
    ['test/start/start.test.ts', `import { start } from '../fixtures/server-process.ts'\n`],
    ['test/stores/all.test.ts', `import { b } from '../../src/core/core.ts'\n`],
    ['src/lib/bytes.test.ts', `import { d } from './bytes.ts'\n`],
  ])
  assert.deepEqual(reachOf(tree).testsOf('src/storage/store.ts'), [
    'src/storage/store.test.ts',
    'src/core/all-stores.test.ts',
    'test/stores/all.test.ts',
    'src/storage/tree.test.ts',
    'test/conformance/storage.test.ts',
    'test/wire/replay.test.ts',
    'src/core/core.test.ts',
    'src/threads/pool.test.ts',
    'test/start/start.test.ts',
  ])
  const importers = ['src/core/core.ts', 'src/storage/store.test.ts', 'src/storage/tree.test.ts']
  assert.deepEqual(reachOf(tree).importersOf('src/storage/store.ts').toSorted(), [
    ...importers,
    'src/storage/types.test.ts',
    'src/threads/thread.ts',
    'test/conformance/storage.test.ts',
  ])
})

test('a file of which types come in one statement, and what runs in another, is reached', () => {
  const tree = new Map([
    ['src/auth/rules.ts', 'export const a = 1\n'],
    ['src/auth/acl.ts', `import { a } from './rules.ts'\nexport type { A } from './rules.ts'\n`],
    ['src/auth/acl.test.ts', `import { b } from './acl.ts'\n`],
  ])
  assert.deepEqual(reachOf(tree).testsOf('src/auth/rules.ts'), ['src/auth/acl.test.ts'])
})
