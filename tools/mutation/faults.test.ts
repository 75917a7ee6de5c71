// The rules on one small file, in a project of its own.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { faultsOf, RULE_NAMES, type RuleName } from './faults.ts'
import { Types } from './types.ts'

function typesOf(context: TestContext, files: Readonly<Record<string, string>>): { types: Types; root: string } {
  const root = mkdtempSync(join(tmpdir(), 'faults-'))
  mkdirSync(join(root, 'src'))
  const config = {
    compilerOptions: { strict: true, target: 'esnext', types: [], noUnusedLocals: true },
    include: ['src'],
  }
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(config))
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
  const types = new Types(root)
  context.after(() => {
    types.close()
    rmSync(root, { recursive: true })
  })
  return { types, root }
}

const CASES: readonly { readonly rule: RuleName; readonly text: string; readonly becomes: readonly string[] }[] = [
  { rule: 'negate', text: 'if (a) b()', becomes: ['if (!(a)) b()'] },
  { rule: 'negate', text: 'const c = a ? 1 : 2', becomes: ['const c = !(a) ? 1 : 2'] },
  { rule: 'compare', text: 'f(a < b)', becomes: ['f(a <= b)'] },
  { rule: 'compare', text: 'f(a !== b)', becomes: ['f(a === b)'] },
  { rule: 'logic', text: 'f(a && b || c)', becomes: ['f(a && b && c)', 'f(a || b || c)'] },
  { rule: 'arithmetic', text: 'f(a + 1)', becomes: ['f(a - 1)'] },
  { rule: 'one side', text: 'f(a ?? b)', becomes: ['f(a)', 'f(b)'] },
  { rule: 'no call', text: 'await f(1)', becomes: ['{}'] },
  { rule: 'no assignment', text: 'this.a = 1', becomes: ['{}'] },
  { rule: 'no assignment', text: 'a++', becomes: ['{}'] },
  { rule: 'no guard', text: 'if (a) { continue }', becomes: ['{}'] },
  { rule: 'no guard', text: 'if (a) return; else b()', becomes: [] },
  { rule: 'early return', text: 'function f(): void { a() }', becomes: ['function f(): void {\n  return; a() }'] },
  {
    rule: 'early return',
    text: 'const f = (): Promise<boolean> => a',
    becomes: ['const f = (): Promise<boolean> => true', 'const f = (): Promise<boolean> => false'],
  },
  { rule: 'swap arguments', text: 'f(a, b, c)', becomes: ['f(b, a, c)', 'f(a, c, b)'] },
  { rule: 'swap arguments', text: 'new F(a, a)', becomes: [] },
  { rule: 'swap arguments', text: 'Math.min(a, b)', becomes: [] },
  { rule: 'no last argument', text: 'f(a, b)', becomes: ['f(a, ...[])'] },
  { rule: 'off by one', text: 'f(16)', becomes: ['f(17)', 'f(15)'] },
  { rule: 'flip', text: 'f(true)', becomes: ['f(false)'] },
  { rule: 'other method', text: 'a.every(b)', becomes: ['a.some(b)'] },
  { rule: 'no step', text: 'f(a.filter(b).map(c))', becomes: ['f(a.map(c))'] },
  { rule: 'no property', text: 'f({ a, b: 1 })', becomes: ['f({ ...{}, b: 1 })', 'f({ a, ...{} })'] },
  { rule: 'no element', text: 'f([a, b])', becomes: ['f([...[], b])', 'f([a, ...[]])'] },
]

test('every rule plants what it says, and nothing else', (context) => {
  const files = Object.fromEntries(CASES.map(({ text }, at) => [`src/f${at}.ts`, `${text}\n`]))
  const { types } = typesOf(context, files)
  for (const [at, { rule, text, becomes }] of CASES.entries()) {
    const faults = faultsOf(types.tree(`src/f${at}.ts`)).filter((fault) => fault.rule === rule)
    const results = faults.map(({ start, end, to }) => text.slice(0, start) + to + text.slice(end))
    assert.deepEqual(results.toSorted(), becomes.toSorted(), `${rule}: ${text}`)
  }
  assert.deepEqual([...new Set(CASES.map(({ rule }) => rule))].toSorted(), RULE_NAMES.toSorted())
})

test('types, imports, assertions, the log and the words of an error stay as they are', (context) => {
  const text = `import { a } from './a.js'
type B = 1 | 2
interface C { d: [1, 2] }
assert(a > 1, 'x')
log.warn('y', { a: 1 })
this.#log.info('y')
throw new Error('z', { cause: 1 })
`
  const { types } = typesOf(context, { 'src/a.ts': text })
  assert.deepEqual(faultsOf(types.tree('src/a.ts')), [])
})

test('a fault with wrong types is told from one that only leaves something unused', (context) => {
  const { types, root } = typesOf(context, {
    'src/a.ts': 'export const f = (a: number) => a\n',
    'src/b.ts': `import { f } from './a'\nexport const b = f(1)\n`,
  })
  const write = (text: string): void => {
    writeFileSync(join(root, 'src/b.ts'), text)
    types.changed('src/b.ts')
  }
  assert.ok(types.areRight(['src/a.ts', 'src/b.ts']))
  write(`import { f } from './a'\nexport const b = f()\n`)
  assert.ok(!types.areRight(['src/b.ts']))
  write(`import { f } from './a'\nexport const b = 1\n`)
  assert.ok(types.areRight(['src/b.ts']))
  write('export const b = (\n')
  assert.ok(!types.areRight(['src/b.ts']))
})
