import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Import, readImports } from './imports.ts'
import { readSource } from './source-text.ts'

const PLAIN: Import = { line: 1, specifier: './b.ts', names: [], typeOnly: false, dynamic: false }

const CASES: readonly { name: string; source: string; imports: readonly Partial<Import>[] }[] = [
  { name: 'names', source: `import { a, b as c } from './b.ts'`, imports: [{ names: ['a', 'b'] }] },
  { name: 'a default', source: `import a from './b.ts'`, imports: [{ names: ['default'] }] },
  { name: 'a default and names', source: `import a, { b } from "./b.ts"`, imports: [{ names: ['default', 'b'] }] },
  { name: 'everything', source: `import * as a from './b.ts'`, imports: [{ names: ['*'] }] },
  { name: 'nothing but the effect', source: `import './b.ts'`, imports: [{}] },
  { name: 'types', source: `import type { a } from './b.ts'`, imports: [{ names: ['a'], typeOnly: true }] },
  { name: 'a type among values', source: `import { type a, b } from './b.ts'`, imports: [{ names: ['b'] }] },
  { name: 'only marked types, which still runs', source: `import { type a } from './b.ts'`, imports: [{}] },
  { name: 'a value called type', source: `import { type } from './b.ts'`, imports: [{ names: ['type'] }] },
  { name: 'a default called type', source: `import type from './b.ts'`, imports: [{ names: ['default'] }] },
  { name: 'names over lines', source: `import {\n  a,\n  b,\n} from './b.ts'`, imports: [{ names: ['a', 'b'] }] },
  { name: 'what is passed on', source: `export { a } from './b.ts'`, imports: [{ names: ['a'] }] },
  { name: 'everything passed on', source: `export * from './b.ts'`, imports: [{ names: ['*'] }] },
  { name: 'types passed on', source: `export type { a } from './b.ts'`, imports: [{ names: ['a'], typeOnly: true }] },
  { name: 'a call', source: `await import('./b.ts')`, imports: [{ names: ['*'], dynamic: true }] },
  { name: 'a computed call', source: `import(a)`, imports: [{ names: ['*'], dynamic: true, specifier: undefined }] },
  {
    name: 'two statements',
    source: `export { a }\nimport b from './b.ts'`,
    imports: [{ line: 2, names: ['default'] }],
  },
  {
    name: 'no comment, string or property',
    source: `// import './a.ts'\n"import './b.ts'"; a.import('c')`,
    imports: [],
  },
  { name: 'no other export', source: `export default 'a'\nexport const from = 'b'\nimport.meta.url`, imports: [] },
]

for (const { name, source, imports } of CASES) {
  test(`imports finds ${name}`, () => {
    assert.deepEqual(
      readImports(readSource(source)),
      imports.map((each) => ({ ...PLAIN, ...each })),
    )
  })
}
