import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentExports } from './silent-exports.ts'

const lines = (path: string, text: string): number[] => silentExports(new Map([[path, text]])).map(({ line }) => line)

test('an exported thing without a sentence above it is found', () => {
  const declarations = ['const a = 1', 'type A = 1', 'class A {}', 'async function a() {}', 'abstract class A {}']
  for (const declaration of declarations) {
    assert.deepEqual(lines('src/core/a.ts', `export ${declaration}\n`), [1], declaration)
    assert.deepEqual(lines('tools/a.ts', `// The head of the file.\n\nexport ${declaration}\n`), [3], declaration)
    assert.deepEqual(lines('src/core/a.ts', `const b = 2 // Two.\nexport ${declaration}\n`), [2], declaration)
    assert.deepEqual(lines('src/core/a.ts', `/** What it is for. */\nexport ${declaration}\n`), [], declaration)
    assert.deepEqual(
      lines('src/core/a.ts', `/**\n * What it\n * is for.\n */\nexport ${declaration}\n`),
      [],
      declaration,
    )
  }
})

test('what is not exported, what tests export and what is text needs none', () => {
  assert.deepEqual(lines('src/core/a.ts', `const a = 1\nexport { a }\nconst b = '\\nexport const c = 1'\n`), [])
  assert.deepEqual(lines('src/core/a.test.ts', 'export const a = 1\n'), [])
  assert.deepEqual(lines('test/fixtures/a.ts', 'export const a = 1\n'), [])
})
