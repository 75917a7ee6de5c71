// Runs ok.ts and run-tests.ts as processes, in small projects of their own: CI reads what they print.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants, getPriority, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'

const PROJECT = join(import.meta.dirname, '..')
const COPIED = ['bin', 'biome.json', 'tsconfig.json', 'package.json', '.gitignore']
/** Headings and rows that the copied files cite, without the text, which cites files that are not copied. */
const THREATS = readFileSync(join(PROJECT, 'docs/threats.md'), 'utf8').match(/^(?:#|\| [A-Z]-\d).*/gm) ?? []
const HEAD = `import { test } from 'node:test'\n\n`
const PASSING = `${HEAD}test('passes', () => {})\n`
const SKIPPED = `${HEAD}test('needs wrk', { skip: ['the Debian package wrk is not installed'].join('') }, () => {})\n`
const FAILING = `${HEAD}console.log('seed=7')\n\ntest('outer', async (t) => {
  await t.test('inner', () => {
    throw new Error('one is not two')
  })
})\n`

function makeProject(context: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'ok-'))
  context.after(() => rmSync(root, { recursive: true }))
  for (const path of COPIED) cpSync(join(PROJECT, path), join(root, path), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
  for (const [path, text] of Object.entries({ 'docs/threats.md': THREATS.join('\n'), ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** `require` is KEYWRIGHT_REQUIRE. The runner refuses to run inside a test, so it is not told that it does. */
function call(
  tool: string,
  root: string,
  args: readonly string[] = [],
  require = '',
): { status: number | null; said: string } {
  const env: NodeJS.ProcessEnv = { ...process.env, KEYWRIGHT_REQUIRE: require }
  delete env.NODE_TEST_CONTEXT
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, tool), ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return { status, said: `${stdout}${stderr}` }
}

test('ok prints a line for each phase, the sizes and the counts', (context) => {
  const { status, said } = call('ok.ts', makeProject(context, { 'src/lib/a.test.ts': PASSING }))
  assert.equal(status, 0, said)
  const shape = said.replaceAll(/[\d.]+ s$/gm, 'N s').replaceAll(/duration_ms .*/g, 'duration_ms N')
  assert.deepEqual(shape.trimEnd().split('\n'), [
    'ok      format and lint  N s',
    'ok      types            N s',
    'ok      tidy             N s',
    'ok      imports          N s',
    'ok      citations        N s',
    'ok      generated files  N s',
    'files over 300 lines: 0',
    'functions over 50 lines: 0',
    'functions with more than 4 parameters: 0',
    '# tests 1',
    '# suites 0',
    '# pass 1',
    '# fail 0',
    '# cancelled 0',
    '# skipped 0',
    '# todo 0',
    '# duration_ms N',
    'exact 1, proofs 0, unsteady 0, skipped 0',
    'ok      tests            N s',
  ])
})

/** One fault for each phase, with what it says of it. */
const FAULTS: Readonly<Record<string, { readonly path: string; readonly text: string; readonly says: string }>> = {
  'format and lint': { path: 'src/lib/a.ts', text: 'export const a = 1;\n', says: 'src/lib/a.ts: format' },
  types: { path: 'src/lib/b.ts', text: `export const b: number = 'b'\n`, says: 'src/lib/b.ts(1,14): error TS' },
  tidy: { path: 'src/lib/c.ts', text: 'export const c = () => Date.now()\n', says: 'src/lib/c.ts:1: Z-02' },
  imports: { path: 'src/a/d.ts', text: 'export {}\n', says: 'src/a/d.ts:1: belongs to no room' },
  citations: { path: 'src/lib/e.ts', text: '// decision 1\n', says: 'src/lib/e.ts:1: docs/decisions has no' },
  'generated files': {
    path: 'tools/generate.ts',
    text: 'process.exitCode = 1\n',
    says: 'tools/generate.ts --check failed: npm run generate',
  },
}

test('ok says what is wrong in each phase, and runs no test then', (context) => {
  const files = Object.fromEntries(Object.values(FAULTS).map(({ path, text }) => [path, text]))
  const { status, said } = call('ok.ts', makeProject(context, { ...files, 'src/lib/z.test.ts': FAILING }))
  assert.equal(status, 1, said)
  for (const [phase, { says }] of Object.entries(FAULTS)) {
    assert.ok(said.includes(says), `${phase}: ${said}`)
    assert.match(said, new RegExp(`^FAILED {2}${phase} +[\\d.]+ s$`, 'm'))
  }
  assert.doesNotMatch(said, /# tests|one is not two/)
})

test('ok with a pattern runs the tests that it names and nothing else', (context) => {
  const root = makeProject(context, {
    'src/lib/a.test.ts': PASSING,
    'src/api/b.test.ts': FAILING,
    'src/lib/c.ts': 'broken',
  })
  for (const pattern of ['src/lib', 'src/*/a.test.ts', './src/lib/a.test.ts']) {
    const { status, said } = call('ok.ts', root, [pattern])
    assert.equal(status, 0, said)
    assert.match(said, /^# tests 1$/m)
  }
  // Also beside one that names some: a misspelt path must not pass for tests that were run.
  const { status, said } = call('ok.ts', root, ['src/lib', 'src/http'])
  assert.equal(status, 1)
  assert.match(said, /^no test file matches src\/http$/m)
})

test('tests: a failure is printed whole, with its place and what its file wrote', (context) => {
  const { status, said } = call('run-tests.ts', makeProject(context, { 'src/lib/a.test.ts': FAILING }))
  assert.equal(status, 1)
  assert.match(said, /^✖ src\/lib\/a\.test\.ts:6 outer > inner\nError: one is not two\n {4}at /m)
  assert.match(said, /^output of src\/lib\/a\.test\.ts\nseed=7$/m)
  assert.match(said, /^# fail 2$/m)
  assert.doesNotMatch(said, /subtest/)
  // The last line, which is often all that is shown.
  assert.match(said.trimEnd(), /\nfailed: src\/lib\/a\.test\.ts:6 outer > inner: Error: one is not two at .*$/)
})

/** Fails in its first run and passes in the second one. */
const unsteady = (
  root: string,
  name: string,
) => `import { existsSync, writeFileSync } from 'node:fs'\n${HEAD}test('${name}', (t) => {
  t.diagnostic('seed=11')
  const marker = '${root}/${name}'
  if (existsSync(marker)) return
  writeFileSync(marker, '')
  throw new Error('the first time')
})\n`
/** Fails in its first run, and is skipped in the second one. */
const skippedThen = (
  root: string,
  name: string,
) => `import { existsSync, writeFileSync } from 'node:fs'\n${HEAD}const marker = '${root}/${name}'
test('${name}', { skip: existsSync(marker) && 'not now' }, () => {
  writeFileSync(marker, '')
  throw new Error('the first time')
})\n`
/** Fails in its first run. In the second one its process ends, well as it says, after another test. */
const endedThen = (
  root: string,
  name: string,
) => `import { existsSync, writeFileSync } from 'node:fs'\n${HEAD}const marker = '${root}/${name}'
test('before', () => {})
test('between', () => new Promise((go) => setImmediate(() => (existsSync(marker) ? process.exit(0) : go()))))
test('${name}', () => {
  writeFileSync(marker, '')
  throw new Error('the first time')
})\n`
const BROKEN = `${HEAD}test('broken', () => {\n  throw new Error('each time')\n})\n`
const MARKS = mkdtempSync(join(tmpdir(), 'ok-marks-'))
after(() => rmSync(MARKS, { recursive: true }))

const VERDICTS = [
  {
    name: 'an exact failure fails the run, and is not run again',
    files: { 'src/a.test.ts': unsteady(MARKS, 'exact'), 'test/proofs/b.test.ts': PASSING },
    status: 1,
    says: [/^exact 1, proofs 1, unsteady 0, skipped 0$/m, /^failed: src\/a\.test\.ts:4 exact: Error: the first time /m],
    never: /once more/,
  },
  {
    name: 'an unsteady proof is run once more, and told of with its failure and its seed',
    files: { 'src/a.test.ts': PASSING, 'test/proofs/b.test.ts': unsteady(MARKS, 'one') },
    status: 0,
    says: [
      /^✖ test\/proofs\/b\.test\.ts:4 one\nError: the first time\n {4}at /m,
      /^once more, by itself: test\/proofs\/b\.test\.ts$/m,
      /^# pass 2\n# fail 0$/m,
      /^exact 1, proofs 1, unsteady 1, skipped 0\nunsteady test\/proofs\/b\.test\.ts:4 one, seed=11\nError: the /m,
    ],
    never: /^failed/m,
  },
  {
    name: 'three unsteady proofs fail the run',
    files: Object.fromEntries(
      ['b', 'c', 'd'].map((name) => [`test/proofs/${name}.test.ts`, unsteady(MARKS, `three-${name}`)]),
    ),
    status: 1,
    says: [/^exact 0, proofs 3, unsteady 3, skipped 0$/m, /^failed: 3 proofs are unsteady, at most 2 may be$/m],
    never: /^failed: test/m,
  },
  {
    name: 'a broken proof fails both times, and the run',
    files: { 'test/proofs/b.test.ts': BROKEN, 'test/proofs/c.test.ts': unsteady(MARKS, 'beside') },
    status: 1,
    says: [
      /^exact 0, proofs 2, unsteady 1, skipped 0$/m,
      /^failed: test\/proofs\/b\.test\.ts:3 broken: Error: each time /m,
      /^unsteady test\/proofs\/c\.test\.ts:4 beside, seed=11$/m,
    ],
    never: /^failed: test\/proofs\/c/m,
  },
  {
    name: 'a proof whose tests are made by a helper is unsteady as well, and run as the file that it is',
    files: {
      'src/a.test.ts': PASSING,
      'test/proofs/b.test.ts': `import './help.ts'\n`,
      'test/proofs/help.ts': unsteady(MARKS, 'helped'),
    },
    status: 0,
    says: [
      /^once more, by itself: test\/proofs\/b\.test\.ts$/m,
      /^exact 1, proofs 1, unsteady 1, skipped 0\nunsteady test\/proofs\/help\.ts:4 helped, seed=11$/m,
    ],
    never: /^failed/m,
  },
  {
    name: 'a proof that fails, and is skipped when it is run once more, fails the run',
    files: { 'test/proofs/b.test.ts': skippedThen(MARKS, 'gone') },
    status: 1,
    says: [
      /^failed: test\/proofs\/b\.test\.ts:5 gone was skipped when its file was run once more, which shows nothing$/m,
    ],
    never: /^# fail [1-9]/m,
  },
  {
    name: 'a proof that ends itself when it is run once more is broken',
    files: { 'test/proofs/b.test.ts': endedThen(MARKS, 'ended') },
    status: 1,
    says: [/^failed: test\/proofs\/b\.test\.ts:1: ended before all its tests had run$/m],
    never: /^unsteady/m,
  },
  {
    name: 'a proof that is known to be unsteady may be so until its day',
    files: {
      'test/proofs/b.test.ts': unsteady(MARKS, 'known'),
      'test/proofs/unsteady.json': known('test/proofs/b.test.ts', '9999-12-31'),
    },
    status: 0,
    says: [/^unsteady test\/proofs\/b\.test\.ts:4 known, seed=11 \(known until 9999-12-31: slow disks\)$/m],
    never: /^failed/m,
  },
  {
    name: 'and fails the run when it is so after its day',
    files: {
      'test/proofs/b.test.ts': unsteady(MARKS, 'late'),
      'test/proofs/unsteady.json': known('test/proofs/b.test.ts', '2020-12-31'),
    },
    status: 1,
    says: [/^failed: test\/proofs\/b\.test\.ts is unsteady for longer than 2020-12-31: mend it$/m],
    never: /^failed: test\/proofs\/b\.test\.ts:/m,
  },
  {
    name: 'a list that names no proof of the tree fails the run',
    files: {
      'src/a.test.ts': PASSING,
      'test/proofs/unsteady.json': known('src/a.test.ts', '9999-12-31'),
    },
    status: 1,
    says: [/^failed: test\/proofs\/unsteady\.json names src\/a\.test\.ts, which is no proof$/m],
    never: /once more/,
  },
]

function known(file: string, until: string): string {
  return JSON.stringify([{ file, until, reason: 'slow disks' }])
}

for (const { name, files, status, says, never } of VERDICTS) {
  test(`verdicts: ${name}`, (context) => {
    const { status: given, said } = call('run-tests.ts', makeProject(context, files))
    assert.equal(given, status, said)
    for (const line of says) assert.match(said, line)
    assert.doesNotMatch(said, never)
  })
}

test('tests: a file that ends badly or holds no test is a failure', (context) => {
  const root = makeProject(context, {
    'src/a.test.ts': `${PASSING}setImmediate(() => process.exit(3))\n`,
    'tools/b.test.ts': 'export const a = 1\n',
  })
  const { status, said } = call('run-tests.ts', root)
  assert.equal(status, 1)
  assert.match(said, /^✖ src\/a\.test\.ts:1\ntest failed \(the file ended with exit code 3\)$/m)
  assert.match(said, /^✖ tools\/b\.test\.ts:1\nholds no test$/m)
})

test('tests: a file that ends with exit code 0 before its tests have run is a failure', (context) => {
  const late = `test('waits', () => new Promise((go) => setTimeout(go, 60_000)))\n${FAILING.slice(HEAD.length)}`
  const { status, said } = call(
    'run-tests.ts',
    makeProject(context, { 'src/a.test.ts': `${PASSING}${late}setImmediate(() => process.exit(0))\n` }),
  )
  assert.equal(status, 1, said)
  assert.match(said, /^✖ src\/a\.test\.ts:1\n(ended before all its tests had run|holds no test)$/m)
})

test('tests: a suite that is skipped is told of, and a failure where everything is required', (context) => {
  const text = `import { suite, test } from 'node:test'\n
suite('load', { skip: 'no machine for it' }, () => {
  test('one', () => {})
})\n`
  const root = makeProject(context, { 'src/a.test.ts': PASSING, 'test/b.test.ts': text })
  const lenient = call('run-tests.ts', root)
  assert.equal(lenient.status, 0, lenient.said)
  assert.match(lenient.said, /^skipped 1: no machine for it$/m)
  assert.match(lenient.said, /^exact 2, proofs 0, unsteady 0, skipped 1$/m)
  const strict = call('run-tests.ts', root, [], 'all')
  assert.equal(strict.status, 1, strict.said)
})

test('tests: what is skipped is one line a reason, and a failure where everything is required', (context) => {
  const list = 'curl  # requests\nwrk  # load\n'
  const root = makeProject(context, { 'test/a.test.ts': SKIPPED, 'bench/b.test.ts': SKIPPED, '.ci/packages': list })
  const lenient = call('run-tests.ts', root)
  assert.equal(lenient.status, 0, lenient.said)
  assert.match(lenient.said, /^skipped 2: the Debian package wrk is not installed$/m)
  assert.match(lenient.said, /^left out for want of Debian packages: wrk. Install: apt-get install wrk$/m)
  const strict = call('run-tests.ts', root, [], 'all')
  assert.equal(strict.status, 1, strict.said)
  assert.match(strict.said, /^skipped, though nothing may be: bench\/b\.test\.ts:3 needs wrk: the Debian package wrk /m)
  assert.match(strict.said, /^# skipped 2$/m)
})

test('tests: with --times FILE it says how long each file took, the longest first', (context) => {
  const root = makeProject(context, {
    'src/a.test.ts': PASSING,
    'src/b.test.ts': PASSING,
    'test/proofs/c.test.ts': unsteady(MARKS, 'timed'),
  })
  for (const tool of ['run-tests.ts', 'ok.ts']) {
    const times = join(root, `${tool}.times`)
    const { status, said } = call(tool, root, ['--times', times, 'src/a.test.ts', 'test/proofs'])
    assert.equal(status, 0, said)
    const rows = [...readFileSync(times, 'utf8').matchAll(/^(\d+\.\d) (\S+)\n/gm)]
    assert.deepEqual(rows.map(([, , path]) => path).toSorted(), ['src/a.test.ts', 'test/proofs/c.test.ts'])
    const seconds = rows.map((row) => Number(row[1]))
    assert.ok(
      seconds.every((each, i) => each > 0 && each <= (seconds[i - 1] ?? each)),
      seconds.join(),
    )
  }
})

test('tests: an exact file that runs beside proofs leaves them the cores, and one alone does not', (context) => {
  // The proof waits until the other file has begun, and that one ends first.
  const mark = join(MARKS, 'priority')
  const priority = `import { writeFileSync } from 'node:fs'\nimport { getPriority } from 'node:os'\n${HEAD}
test('writes', () => writeFileSync('${mark}', String(getPriority())))\n`
  const waiting = `import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'\n${HEAD}
test('waits', async () => {\n  while (!existsSync('${mark}')) await sleep(5)\n})\n`
  const files = { 'src/a.test.ts': priority, 'test/proofs/b.test.ts': waiting }
  const more = Object.fromEntries(
    Array.from({ length: availableParallelism() }, (_, i) => [`test/proofs/c${i}.test.ts`, waiting]),
  )
  const beside = call('run-tests.ts', makeProject(context, { ...files, ...more }))
  assert.equal(beside.status, 0, beside.said)
  assert.equal(Number(readFileSync(mark, 'utf8')), Math.min(constants.priority.PRIORITY_LOW, getPriority() + 5))
  const alone = call('run-tests.ts', makeProject(context, { 'src/a.test.ts': priority }))
  assert.equal(alone.status, 0, alone.said)
  assert.equal(Number(readFileSync(mark, 'utf8')), getPriority())
})

test('tests: each file runs with the flags of the server', (context) => {
  const text = `${HEAD}test('flags', () => {\n  if ('__proto__' in {}) throw new Error('no flags')\n})\n`
  const { status, said } = call('run-tests.ts', makeProject(context, { 'src/a.test.ts': text }))
  assert.equal(status, 0, said)
})
