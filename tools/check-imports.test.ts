import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkImports, FOLDERS, ROOMS } from './check-imports.ts'
import { formatFinding } from './tree.ts'

function check(files: Record<string, string>, packages: string[] = [], knots: [string, number][] = []): string[] {
  return checkImports(new Map(Object.entries(files)), packages, new Map(knots)).map(formatFinding)
}

const ALLOWED = [
  { name: 'a room below', path: 'src/core/a.ts', source: `import { b } from '../storage/b.ts'` },
  { name: 'the own room', path: 'src/lib/a.ts', source: `import { b } from './b.ts'` },
  { name: 'the own engine', path: 'src/engines/transit/a.ts', source: `import { b } from './b.ts'` },
  {
    name: 'a type of storage in an engine',
    path: 'src/engines/transit/a.ts',
    source: `import type { B } from '../../storage/b.ts'`,
  },
  {
    name: 'the contract in an engine',
    path: 'src/engines/transit/a.ts',
    source: `import { B } from '../../storage/contract.ts'`,
  },
  {
    name: 'a folder further down',
    path: 'src/engines/transit/endpoints/a.ts',
    source: `import { b } from '../ring/b.ts'\nimport { c } from '../c.ts'`,
  },
  {
    name: 'a folder of the same line',
    path: 'src/crypto/forms/a.ts',
    source: `import { b } from '../key-types/b.ts'`,
  },
  { name: 'the process in main.ts', path: 'src/main.ts', source: `import { b } from './process/b.ts'` },
  { name: 'the version in main.ts', path: 'src/main.ts', source: `import { VERSION } from './version.ts'` },
  { name: 'the version in assembly', path: 'src/assembly/a.ts', source: `import { VERSION } from '../version.ts'` },
  { name: 'a row that names one engine', path: 'src/config/a.ts', source: `import { b } from '../engines/cloud/b.ts'` },
  { name: 'any room in a test beside its file', path: 'src/lib/a.test.ts', source: `import { b } from '../core/b.ts'` },
  {
    name: 'any room in test',
    path: 'test/wire/a.ts',
    source: `import { b } from '../../src/core/b.ts'\nimport fc from 'fast-check'`,
  },
  { name: 'lib in the emulator', path: 'emulator/a.ts', source: `import { b } from '../src/lib/b.ts'` },
  { name: 'the emulator in a test', path: 'test/clients/a.ts', source: `import { b } from '../../emulator/b.ts'` },
  { name: 'a module of the runtime', path: 'src/lib/a.ts', source: `import { isIP } from 'node:net'` },
  { name: 'a package of run time', path: 'src/lib/a.ts', source: `import { b } from '@noble/curves/nist.js'` },
]

for (const { name, path, source } of ALLOWED) {
  test(`imports allow ${name}`, () => {
    assert.deepEqual(check({ [path]: source }, ['@noble/curves']), [])
  })
}

const REFUSED = [
  {
    name: 'what uses a folder in the folder',
    path: 'src/engines/transit/ring/a.ts',
    source: `import type { B } from '../endpoints/b.ts'`,
    finding:
      'src/engines/transit/ring/a.ts:1: engines/transit is in order: src/engines/transit/ring/a.ts may not import ' +
      'src/engines/transit/endpoints/b.ts, which uses it',
  },
  {
    name: 'what gathers a room in the room',
    path: 'src/engines/transit/a.ts',
    source: `import type { B } from './transit.ts'`,
    finding:
      'src/engines/transit/a.ts:1: engines/transit is in order: src/engines/transit/a.ts may not import ' +
      'src/engines/transit/transit.ts, which uses it',
  },
  {
    name: 'a folder that has no place in the order',
    path: 'src/crypto/other/a.ts',
    source: `import type { B } from '../primitives/b.ts'`,
    finding: 'src/crypto/other/a.ts:1: stands in a folder that FOLDERS does not know in crypto',
  },
  {
    name: 'the emulator in the product',
    path: 'src/main.ts',
    source: `import { b } from '../emulator/b.ts'`,
    finding: 'src/main.ts:1: src may not import emulator/b.ts, which is no part of the program',
  },
  {
    name: 'a room of the product in the emulator',
    path: 'emulator/a.ts',
    source: `import { b } from '../src/crypto/b.ts'`,
    finding: 'emulator/a.ts:1: the emulator may not import src/crypto/b.ts, only src/lib/',
  },
  {
    name: 'a development package in the emulator',
    path: 'emulator/a.ts',
    source: `import { b } from '@azure/identity'`,
    finding: 'emulator/a.ts:1: @azure/identity is not among the "dependencies" of package.json',
  },
  {
    name: 'a room above',
    path: 'src/lib/a.ts',
    source: `\nimport { b } from '../core/b.ts'`,
    finding: 'src/lib/a.ts:2: lib may not import core, only nothing',
  },
  {
    name: 'a type of a room above',
    path: 'src/crypto/a.ts',
    source: `import type { B } from '../storage/b.ts'`,
    finding: 'src/crypto/a.ts:1: crypto may not import storage, only lib',
  },
  {
    name: 'what is passed on from a room above',
    path: 'src/http/a.ts',
    source: `export * from '../storage/b.ts'`,
    finding: 'src/http/a.ts:1: http may not import storage, only lib, api, core',
  },
  {
    name: 'a call for a room above',
    path: 'src/http/a.ts',
    source: `export const b = await import('../auth/b.ts')`,
    finding: 'src/http/a.ts:1: http may not import auth, only lib, api, core',
  },
  {
    name: 'a computed path',
    path: 'src/http/a.ts',
    source: `export const b = await import(c)`,
    finding: 'src/http/a.ts:1: import() of a computed path cannot be checked: write the path out',
  },
  {
    name: 'another engine',
    path: 'src/engines/transit/a.ts',
    source: `import type { B } from '../cubbyhole/b.ts'`,
    finding:
      'src/engines/transit/a.ts:1: engines/transit may not import engines/cubbyhole, only lib, crypto, storage, api',
  },
  {
    name: 'a value of storage in an engine',
    path: 'src/engines/transit/a.ts',
    source: `import { b } from '../../storage/b.ts'`,
    finding:
      'src/engines/transit/a.ts:1: an engine takes only types (import type) or src/storage/contract.ts, ' +
      'src/storage/errors.ts, src/storage/stored-record.ts from storage',
  },
  {
    name: 'main.ts in a room',
    path: 'src/core/a.ts',
    source: `import { b } from '../main.ts'`,
    finding: 'src/core/a.ts:1: no room imports src/main.ts: what starts the program hands in what it needs',
  },
  {
    name: 'another engine than the row names',
    path: 'src/config/a.ts',
    source: `import type { B } from '../engines/transit/b.ts'`,
    finding: `src/config/a.ts:1: config may not import engines/transit, only ${ROOMS.get('config')?.join(', ')}`,
  },
  {
    name: 'the process in assembly',
    path: 'src/assembly/a.ts',
    source: `import type { B } from '../process/b.ts'`,
    finding: `src/assembly/a.ts:1: assembly may not import process, only ${ROOMS.get('assembly')?.join(', ')}`,
  },
  {
    name: 'an engine in main.ts',
    path: 'src/main.ts',
    source: `import { b } from './engines/transit/b.ts'`,
    finding: `src/main.ts:1: the entry may not import engines/transit, only ${ROOMS.get('the entry')?.join(', ')}`,
  },
  {
    name: 'the version in a room that does not start the server',
    path: 'src/http/a.ts',
    source: `import { VERSION } from '../version.ts'`,
    finding: 'src/http/a.ts:1: http may not import version.ts, only lib, api, core',
  },
  {
    name: 'a test in the program',
    path: 'src/main.ts',
    source: `import { b } from './lib/b.test.ts'`,
    finding: 'src/main.ts:1: only tests may import src/lib/b.test.ts',
  },
  {
    name: 'another folder in the program',
    path: 'src/main.ts',
    source: `import { b } from '../tools/b.ts'`,
    finding: 'src/main.ts:1: src may not import tools/b.ts, which is no part of the program',
  },
  {
    name: 'a package that is not listed',
    path: 'src/lib/a.ts',
    source: `import fc from 'fast-check'`,
    finding: 'src/lib/a.ts:1: fast-check is not among the "dependencies" of package.json',
  },
  {
    name: 'a file in no room',
    path: 'src/a/b.ts',
    source: '',
    finding: `src/a/b.ts:1: belongs to no room: src holds ${[...ROOMS.keys()].join(', ')}`,
  },
  {
    name: 'a new file beside the rooms',
    path: 'src/a.ts',
    source: '',
    finding: `src/a.ts:1: belongs to no room: src holds ${[...ROOMS.keys()].join(', ')}`,
  },
  {
    name: 'an engine without a folder',
    path: 'src/engines/a.ts',
    source: '',
    finding: `src/engines/a.ts:1: belongs to no room: src holds ${[...ROOMS.keys()].join(', ')}`,
  },
]

for (const { name, path, source, finding } of REFUSED) {
  test(`imports refuse ${name}`, () => {
    assert.deepEqual(check({ [path]: source }), [finding])
  })
}

test('imports refuse a circle, once, at the line that closes it', () => {
  const files = {
    'src/lib/a.ts': `import { b } from './b.ts'`,
    'src/lib/b.ts': `\nimport { c } from './c.ts'`,
    'src/lib/c.ts': `\n\nexport { a } from './a.ts'`,
  }
  const circle = 'src/lib/a.ts > src/lib/b.ts > src/lib/c.ts > src/lib/a.ts'
  assert.deepEqual(check(files), [`src/lib/c.ts:3: closes a circle of imports: ${circle}`])
})

test('imports refuse a file that imports itself', () => {
  assert.equal(check({ 'tools/a.ts': `import './a.ts'` }).length, 1)
})

/** A circle that types close: without them its files import each other in one direction. */
const CIRCLE_OF_TYPES = {
  'src/lib/a.ts': `import { b } from './b.ts'`,
  'src/lib/b.ts': `import type { C } from './c.ts'`,
  'src/lib/c.ts': `export type { A } from './a.ts'`,
  'src/lib/d.ts': `import { a } from './a.ts'`,
}

test('imports refuse a circle that types close', () => {
  const circle = 'src/lib/a.ts > src/lib/b.ts > src/lib/c.ts > src/lib/a.ts'
  assert.deepEqual(check(CIRCLE_OF_TYPES), [`src/lib/a.ts:1: is in a circle of types, of 3 files: ${circle}`])
})

test('imports allow a circle of types that is known, and as large as that', () => {
  const withBound = (most: number) => check(CIRCLE_OF_TYPES, [], [['src/lib/b.ts', most]])
  assert.deepEqual(withBound(3), [])
  assert.match(withBound(2).join('\n'), /^src\/lib\/b\.ts:1: .* 3 files, at most 2/)
  assert.match(withBound(4).join('\n'), /^src\/lib\/b\.ts:1: .* lower the bound to 3$/)
})

test('imports allow a circle of types that a test closes', () => {
  assert.deepEqual(
    check({
      'src/lib/a.test.ts': `import { b } from './b.ts'`,
      'src/lib/b.ts': '',
      'test/a.ts': `import './b.ts'`,
      'test/b.ts': `import type { A } from './a.ts'`,
    }),
    [],
  )
})

test('imports allow two ways to one file', () => {
  const files = {
    'src/lib/a.ts': `import './b.ts'\nimport './c.ts'`,
    'src/lib/b.ts': `import './d.ts'`,
    'src/lib/c.ts': `import './d.ts'`,
    'src/lib/d.ts': '',
  }
  assert.deepEqual(check(files), [])
})

test('every room that the table names is in it', () => {
  for (const [room, allowed] of ROOMS) {
    for (const each of allowed) assert.ok(ROOMS.has(folderOf(each)), `${room}: ${each}`)
  }
})

test('the order of folders is that of rooms, and names each once', () => {
  for (const [room, lines] of FOLDERS) {
    assert.ok(ROOMS.has(folderOf(room)), room)
    assert.equal(new Set(lines.flat()).size, lines.flat().length, room)
    assert.ok(lines.flat().includes('.'), room)
  }
})

test('no room of the table may import itself by way of others', () => {
  const done = new Set<string>()
  const visit = (room: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(room), [...trail, room].join(' > '))
    if (done.has(room)) return
    for (const each of ROOMS.get(room) ?? []) visit(folderOf(each), [...trail, room])
    done.add(room)
  }
  for (const room of ROOMS.keys()) visit(room, [])
})

/** `engines` for `engines/cloud`. */
function folderOf(room: string): string {
  return room.split('/')[0] ?? ''
}
