import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSizes, oversizes, readFunctions } from './sizes.ts'

const CASES = [
  { name: 'a function', text: 'function a(b: number, c = [1, 2]) {\n}', functions: ['a 2 2'] },
  { name: 'a function with a return type', text: 'function a(): { b: number } {\n  c()\n}', functions: ['a 3 0'] },
  { name: 'a return type over lines', text: 'function a(): Promise<\n  B | { c: D }\n> {\n}', functions: ['a 4 0'] },
  { name: 'a method', text: 'class A {\n  b(c: D): void {\n  }\n}', functions: ['b 2 1'] },
  { name: 'an arrow', text: 'const a = (b: Map<string, number>, c: D) => {\n}', functions: [' 2 2'] },
  { name: 'an arrow with a return type', text: 'const a = (b: C): b is D => {\n}', functions: [' 2 1'] },
  {
    name: 'an arrow of one line with a return type, and what stands behind it',
    text: 'const a = (b: C): D => b.e({})\n\nclass F {\n  g(): H {\n  }\n}',
    functions: ['g 2 0'],
  },
  {
    name: 'an arrow of one line whose type is a type in brackets',
    text: 'const a = (b: C): (D | E) => b\nclass F {\n}',
    functions: [],
  },
  {
    name: 'an arrow that gives an object',
    text: 'const a = (b: C): D => ({\n  e: b,\n})\nclass F {\n}',
    functions: [],
  },
  {
    name: 'a return type that is a function',
    text: 'function a(b: C): (d: { e: F }) => { g: H } {\n  return i\n}',
    functions: ['a 3 1'],
  },
  {
    name: 'an arrow that gives a function',
    text: 'const a = (b: C): (() => void) => {\n}\nconst d = (): ((e: F) => G) => h\nclass I {\n}',
    functions: [' 2 1'],
  },
  {
    name: 'a function type with a pattern, and an arrow whose type is an object in brackets',
    text: 'function a(): ({ b }: C) => D {\n}\nconst e = (): ({ f: G } | H) => {\n}',
    functions: ['a 2 0', ' 2 0'],
  },
  {
    name: 'a declaration without a body, and what stands behind it',
    text: 'declare function a(): B\nclass C {\n}\nabstract class D {\n  abstract e(): F\n  g = {\n  }\n}',
    functions: [],
  },
  {
    name: 'a choice, and what stands behind it',
    text: 'const a = b ? (c) : d\nclass E {\n}',
    functions: [],
  },
  { name: 'a pattern as one parameter', text: 'function a({ b, c }: D, [e, f]: G,) {}', functions: ['a 1 2'] },
  { name: 'a function as a parameter', text: 'function a(b: (c: D, e: F) => G, h: I) {}', functions: ['a 1 2'] },
  { name: 'a function in a function', text: 'function a() {\n  b(() => {\n  })\n}', functions: ['a 4 0', ' 2 0'] },
  { name: 'no statement', text: 'if (a) {\n}\nfor (const b of c) {\n}\nwhile (d) {}', functions: [] },
  { name: 'no type and no call', text: 'type A = { b(c: D): E }\nf(g, h)\nconst i = j ? (k) : l', functions: [] },
]

for (const { name, text, functions } of CASES) {
  test(`sizes read ${name}`, () => {
    assert.deepEqual(
      readFunctions(text).map((each) => `${each.name} ${each.lines} ${each.parameters}`),
      functions,
    )
  })
}

test('sizes report what is over a limit, largest first, and not tests', () => {
  const body = (lines: number): string => `function a() {\n${'b()\n'.repeat(lines - 2)}}\n`
  const sizes = oversizes(
    new Map([
      ['src/a.ts', body(50)],
      ['src/b.ts', `${body(51)}${body(52)}`],
      ['src/c.ts', 'a()\n'.repeat(300)],
      ['src/d.ts', 'a()\n'.repeat(301)],
      ['src/e.ts', 'function a(b, c, d, e, f) {}\nfunction g(h, i, j, k) {}\n'],
      ['src/f.test.ts', body(400)],
      ['src/client/endpoints.ts', body(400)],
    ]),
  )
  assert.deepEqual(sizes, {
    files: [{ path: 'src/d.ts', line: 1, name: 'lines', size: 301 }],
    functions: [
      { path: 'src/b.ts', line: 52, name: 'a', size: 52 },
      { path: 'src/b.ts', line: 1, name: 'a', size: 51 },
    ],
    parameters: [{ path: 'src/e.ts', line: 1, name: 'a', size: 5 }],
  })
  assert.equal(
    formatSizes(sizes, 1),
    [
      'files over 300 lines: 1',
      '  301  src/d.ts:1 lines',
      'functions over 50 lines: 2',
      '  52  src/b.ts:52 a',
      'functions with more than 4 parameters: 1',
      '  5  src/e.ts:1 a',
    ].join('\n'),
  )
})
