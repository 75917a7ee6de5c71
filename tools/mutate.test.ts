// The whole program on a project with one file, one good test, and one that fails anyway.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TreeCopy } from './mutation/copy.ts'
import type { Record } from './mutation/record.ts'

const PROJECT = join(import.meta.dirname, '..')
const SOURCE = `export function isSmall(n: number): boolean {\n  return -10 < n && n < 10\n}\n`
const IMPORTS = [
  'import assert from "node:assert"',
  'import { test } from "node:test"',
  'import { isSmall } from "./small.ts"',
]
const HEAD = `${IMPORTS.join('\n')}\n`
const WEAK = `${HEAD}test('nine is small', () => assert.ok(isSmall(9)))\n`
const BOUNDS = 'assert.ok(!isSmall(10) && isSmall(-9) && !isSmall(-10))'
const STRONG = `${WEAK}test('bounds', () => ${BOUNDS})\n`
const BROKEN = `${HEAD}test('never', () => assert.ok(isSmall(11)))\n`

function makeProject(context: TestContext, files: { readonly [path: string]: string }): string {
  const root = mkdtempSync(join(tmpdir(), 'mutate-'))
  context.after(() => rmSync(root, { recursive: true }))
  for (const path of ['tsconfig.json', 'package.json', '.gitignore']) cpSync(join(PROJECT, path), join(root, path))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
  assert.equal(spawnSync('git', ['init', '-q'], { cwd: root }).status, 0)
  return root
}

function mutate(root: string, args: readonly string[] = []): { lines: string[]; record: Record } {
  const results = join(root, 'results.json')
  const words = [join(PROJECT, 'tools/mutate.ts'), '--results', results, '--count', '100', ...args]
  const env: NodeJS.ProcessEnv = { ...process.env }
  delete env.NODE_TEST_CONTEXT
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, env, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return { lines: stdout.trimEnd().split('\n'), record: JSON.parse(readFileSync(results, 'utf8')) as Record }
}

const PATH = 'src/storage/small.ts'

test('Q-26: faults that a test notices are told from others, and a run goes on where one ended', (context) => {
  const root = makeProject(context, {
    [PATH]: SOURCE,
    'src/storage/small.test.ts': BROKEN,
    'src/storage/weak.test.ts': WEAK,
  })
  const { lines, record } = mutate(root)
  assert.ok(lines.includes('src/storage/small.test.ts fails without a fault: it is left out'), lines.join('\n'))
  const verdicts = record.planted.map(({ rule, to, verdict }) => `${rule} ${to.trim()} ${verdict}`).toSorted()
  assert.deepEqual(verdicts, [
    'compare <= survived',
    'compare <= survived',
    'early return return false; noticed',
    'early return return true; survived',
    'logic || survived',
    'off by one 11 survived',
    'off by one 11 survived',
    'off by one 9 noticed',
    'off by one 9 survived',
    'one side -10 < n survived',
    'one side n < 10 survived',
  ])
  assert.equal(
    lines.at(-1),
    'seed 1: 11 planted, 2 noticed, 9 survived, 0 of them equivalent: 18.2 % noticed; 0 had wrong types',
  )
  assert.ok(lines.includes(`survived: ${PATH}:2 compare: < -> <=`))
  assert.equal(readFileSync(join(root, PATH), 'utf8'), SOURCE)

  // A further run plants nothing twice; with better tests the survivors are tried again.
  assert.deepEqual(mutate(root).record, record)
  writeFileSync(join(root, 'src/storage/weak.test.ts'), STRONG)
  const last = mutate(root, ['--again']).lines.at(-1)
  assert.equal(
    last,
    'seed 1: 11 planted, 11 noticed, 0 survived, 0 of them equivalent: 100.0 % noticed; 0 had wrong types',
  )
})

test('a test file is ended where the first of its tests failed', async (context) => {
  const endless = `test('endless', () => new Promise(() => setInterval(() => {}, 1_000)))`
  const text = `import { test } from 'node:test'\ntest('first', () => Promise.reject(new Error()))\n${endless}\n`
  const copy = new TreeCopy(makeProject(context, { 'src/endless.test.ts': text }))
  context.after(() => copy.remove())
  const { passed, timedOut, failed } = await copy.run(['src/endless.test.ts'], 120)
  assert.deepEqual({ passed, timedOut, failed }, { passed: false, timedOut: false, failed: 'first' })
})
