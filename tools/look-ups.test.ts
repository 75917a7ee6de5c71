import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualFileSystem } from 'typescript/unstable/fs'
import { lookUps } from './look-ups.ts'
import type { KnownLookUps } from './rule.ts'

const ROOT = '/program'

/** Lines of the file at `path` that are refused. */
function refused(text: string, known: KnownLookUps = {}, path = 'src/core/a.ts'): number[] {
  const compilerOptions = { strict: true, target: 'esnext', lib: ['esnext'], types: [], noEmit: true }
  const fs = createVirtualFileSystem({
    [`${ROOT}/tsconfig.json`]: JSON.stringify({ compilerOptions, include: ['src'] }),
    [`${ROOT}/${path}`]: text,
  })
  return lookUps(ROOT, known, fs).map(({ line }) => line)
}

const CASES: readonly {
  readonly name: string
  readonly refused: readonly string[]
  readonly allowed: readonly string[]
}[] = [
  {
    name: 'a text that indexes a plain object',
    refused: [
      'export const a = (o: Record<string, string>, name: string) => o[name]',
      'export const a = (o: Record<string, string>, name: string) => o?.[name.toLowerCase()]',
      'export const a = (o: Record<string, string>, name: string) => o[`x-$' + '{name}`]',
      "export const a = (o: { readonly p: Record<string, string> }, name: 'k' | string) => o.p[name]",
      'export const a = (o: any, name: any) => o[name]',
      'export const a = (o: Record<string, string>, name: string) => { o[name] = name }',
      'export const a = (o: object, name: string) => name in o',
    ],
    allowed: [
      'export const a = (o: string[], i: number) => o[i]',
      "export const a = (o: Record<'x' | 'y', string>, name: 'x' | 'y') => o[name]",
      "export const a = (o: Record<string, string>) => o['x']",
      'export const a = <T extends object>(o: T, name: keyof T & symbol) => o[name]',
      'export const a = (o: Map<string, string>, name: string) => o.get(name)',
    ],
  },
  {
    name: 'the object is asked before, for the same name',
    refused: [
      'export const a = (o: Record<string, string>, p: object, n: string) => Object.hasOwn(p, n) ? o[n] : undefined',
      'export const a = (o: Record<string, string>, n: string, m: string) => Object.hasOwn(o, m) ? o[n] : undefined',
      'export const a = (o: Record<string, string>, n: string) => Object.hasOwn(o, n) ? undefined : o[n]',
      'export const a = (o: Record<string, string>, n: string) => Object.hasOwn(o, n) || o[n]',
    ],
    allowed: [
      'export const a = (o: Record<string, string>, n: string) => Object.hasOwn(o, n) ? o[n] : undefined',
      'export const a = (o: object, n: string) => Object.hasOwn(o, n) ? (o as Record<string, string>)[n] : undefined',
      "export const a = (o: Record<string, string>, n: string) => Object.hasOwn(o, n) && o[n] === ''",
    ],
  },
  {
    name: 'the name is one of all that the object has',
    refused: [
      'export const a = (o: Record<string, string>, p: object) => { for (const n in p) o[n] }',
      "export const a = (o: Record<string, string>) => { for (const n in o) o[n] = '' }",
    ],
    allowed: [
      'export const a = (o: Record<string, string>) => { for (const n in o) o[n] }',
      'export const a = (o: Record<string, string>) => { for (const n of Object.keys(o)) o[n] }',
    ],
  },
  {
    name: 'the object inherits nothing',
    refused: [
      'export const a = (n: string) => { const o: Record<string, string> = {}; o[n] = n }',
      'const o: Record<string, string> = Object.create(null)\n' +
        'export const a = (o: Record<string, string>, n: string) => o[n]',
      'export const a = (n: string, p: object) => { let o = Object.create(null); o = p; return o[n] }',
    ],
    allowed: [
      'export const a = (n: string) => { const o: Record<string, string> = Object.create(null); o[n] = n }',
      'const dictionary = <T>(): Record<string, T> => Object.create(null)\n' +
        'export const a = (n: string) => { const o = dictionary<string>(); return () => o[n] }',
    ],
  },
]

for (const { name, refused: wrong, allowed } of CASES) {
  test(`Z-07 look-ups: ${name}`, () => {
    for (const text of wrong) assert.notDeepEqual(refused(text), [], text)
    for (const text of allowed) assert.deepEqual(refused(text), [], text)
  })
}

test('Z-07 look-ups: the line is told, and tests may look up', () => {
  const text = '\n\nexport const a = (o: Record<string, string>, name: string) => o[name]'
  assert.deepEqual(refused(text), [3])
  assert.deepEqual(refused(text, {}, 'src/core/a.test.ts'), [])
})

test('Z-07 look-ups: an exception is for one expression of one file, and ends with it', () => {
  const text = 'export const a = (o: Record<string, string>, name: string) => o[name]'
  assert.deepEqual(refused(text, { 'src/core/a.ts': { 'o[name]': 'reason' } }), [])
  assert.deepEqual(refused(text, { 'src/core/a.ts': { 'p[name]': 'reason' } }), [1, 1])
  assert.deepEqual(refused(text, { 'src/core/b.ts': { 'o[name]': 'reason' } }), [1])
})
