import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { GENERATED, GENERATED_FILES, listFaults, staleOutputs, unlisted } from './generated.ts'

const PROJECT = join(import.meta.dirname, '..')

const FRESH = `process.exitCode = process.argv[2] === '--check' ? 0 : 2`
const STALE = `console.log('out.md is stale'); process.exitCode = 1`
const LOST = 'out.md has lost make.ts, which writes it'
const MISSING = 'out.md is missing: npm run make'
const FAILED = ['out.md is stale', 'make.ts --check failed: npm run make']

const HELD = { script: 'make.ts', command: 'npm run make', heldBy: 'make.test.ts', outputs: ['out.md'] }

const CASES = [
  { name: 'fresh outputs', files: { 'make.ts': FRESH, 'out.md': '' }, stale: [] },
  { name: 'no script and no output', files: {}, stale: [] },
  { name: 'an output without its script', files: { 'out.md': '' }, stale: [LOST] },
  { name: 'a script without its output', files: { 'make.ts': FRESH }, stale: [MISSING] },
  { name: 'a stale output', files: { 'make.ts': STALE, 'out.md': '' }, stale: FAILED },
]

for (const { name, files, stale } of CASES) {
  test(`generated files: ${name}`, (context) => {
    const root = mkdtempSync(join(tmpdir(), 'generated-'))
    context.after(() => rmSync(root, { recursive: true }))
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
    assert.deepEqual(staleOutputs(root, [{ script: 'make.ts', command: 'npm run make', outputs: ['out.md'] }]), stale)
  })
}

const HELD_CASES = [
  { name: 'is not run', files: { 'make.ts': STALE, 'make.test.ts': '', 'out.md': '' }, stale: [] },
  { name: 'has lost its test', files: { 'make.ts': STALE, 'out.md': '' }, stale: ['make.ts has lost make.test.ts'] },
]

for (const { name, files, stale } of HELD_CASES) {
  test(`generated files: a program that a test holds ${name}`, (context) => {
    const root = mkdtempSync(join(tmpdir(), 'generated-'))
    context.after(() => rmSync(root, { recursive: true }))
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
    assert.deepEqual(staleOutputs(root, [HELD]), stale)
  })
}

test('generated files: a program that writes another file, or one less, than is listed is told of', () => {
  assert.deepEqual(listFaults(['out.md'], HELD), [])
  assert.deepEqual(listFaults(['out.md', 'more.md'], HELD), ['more.md is not in tools/generated.ts'])
  assert.deepEqual(listFaults([], HELD), ['out.md is written by nothing any more'])
})

test('generated files: a file whose head says that a program wrote it, and that is in no list, is found', () => {
  const files = new Map([
    ['docs/a.md', '# A\n\n<!-- Written by tools/a.ts from b: change that, not this page. -->\n'],
    ['src/b.ts', '// Written by tools/b.ts from c.\nexport const b = 1\n'],
    ['docs/c.md', '# C\n\n<!-- Written by tools/a.ts from b: change that, not this page. -->\n'],
    ['docs/d.md', '# D\n\nWritten by somebody.\n'],
  ])
  assert.deepEqual(unlisted(files, new Set(['docs/c.md'])), [
    'docs/a.md says that tools/a.ts wrote it',
    'src/b.ts says that tools/b.ts wrote it',
  ])
})

test('generated files: none of the repository is in no list, and none is listed twice', () => {
  const paths = globSync('{docs,src,test,tools,bench,emulator,examples}/**/*.{md,ts}', { cwd: PROJECT })
  const files = new Map(paths.map((path) => [path, readFileSync(join(PROJECT, path), 'utf8')]))
  assert.deepEqual(unlisted(files, GENERATED_FILES), [])
  const unheaded = [...GENERATED_FILES].filter((path) =>
    unlisted(files, new Set()).every((each) => !each.startsWith(path)),
  )
  assert.deepEqual(unheaded.sort(), ['docs/api/openapi.json', 'docs/clients.md'])
  assert.equal(GENERATED.flatMap(({ outputs }) => outputs).length, GENERATED_FILES.size)
})

test('generated files: biome looks at none, and npm runs what writes them', () => {
  const read = (path: string) => JSON.parse(readFileSync(join(PROJECT, path), 'utf8'))
  const excluded: readonly string[] = read('biome.json').files.includes.filter((each: string) => each.startsWith('!'))
  const seenByBiome = [...GENERATED_FILES].filter((path) => /\.(?:ts|js|json)$/.test(path))
  assert.deepEqual(
    seenByBiome.filter((path) => !excluded.includes(`!${path}`)),
    [],
  )
  const { scripts } = read('package.json')
  for (const { command, script } of GENERATED) {
    assert.equal(scripts[command.replace('npm run ', '')], `sh bin/with-runtime ${script}`)
  }
})
