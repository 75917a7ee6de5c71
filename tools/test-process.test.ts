import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../test/fixtures/server-process.ts'
import { runTestGroup } from './test-process.ts'

const PASSING = `test('passes', () => {})\n`
const FAILING = `test('around', (t) => t.test('fails', () => { throw new Error('as planted') }))\n`

/** What the files, sources by name, gave in one process: counts and failures by name. */
async function runTogether(context: TestContext, sources: Readonly<Record<string, string>>, mostMs?: number) {
  const { path: root, cleanUp } = temporaryDirectory()
  const runner = process.env.NODE_TEST_CONTEXT
  context.after(() => {
    cleanUp()
    if (runner !== undefined) process.env.NODE_TEST_CONTEXT = runner
  })
  // The runner does nothing where it finds that it was called by a test of its own.
  delete process.env.NODE_TEST_CONTEXT
  mkdirSync(join(root, 'bin'))
  writeFileSync(join(root, 'bin/runtime.flags'), '')
  for (const [name, source] of Object.entries(sources))
    writeFileSync(join(root, name), `import { beforeEach, test } from 'node:test'\n${source}`)
  const limits = mostMs === undefined ? {} : { mostMs }
  const results = await runTestGroup(root, Object.keys(sources), { tell: () => {}, ...limits })
  return Object.fromEntries(
    [...results].map(([name, { result }]) => {
      const { tests, pass, fail } = result.counts
      const failures = result.failures.map(({ title, text }) => `${title}: ${text}`)
      return [name, { tests, pass, fail, failures, output: result.output }]
    }),
  )
}

test('files that share a process have their own tests, failures and hooks', async (t) => {
  const given = await runTogether(t, {
    'good.test.mjs': `${PASSING}test('is skipped', (t) => t['skip']())\n`,
    'bad.test.mjs': `${PASSING}${FAILING}console.log('seed=7')\n`,
    'empty.test.mjs': '',
    'hooked.test.mjs': `beforeEach(() => { throw new Error('of this file alone') })\n${PASSING}`,
    'broken.test.mjs': `import './none.mjs'\n${PASSING}`,
    'last.test.mjs': PASSING,
  })
  assert.deepEqual(Object.keys(given).toSorted(), [
    'bad.test.mjs',
    'broken.test.mjs',
    'empty.test.mjs',
    'good.test.mjs',
    'hooked.test.mjs',
    'last.test.mjs',
  ])
  assert.partialDeepStrictEqual(given['good.test.mjs'], { tests: 2, pass: 1, fail: 0, failures: [] })
  assert.partialDeepStrictEqual(given['last.test.mjs'], { tests: 1, pass: 1, fail: 0, failures: [] })
  assert.partialDeepStrictEqual(given['bad.test.mjs'], { tests: 3, pass: 1, fail: 2 })
  assert.match(given['bad.test.mjs']?.output ?? '', /seed=7/)
  assert.match(given['bad.test.mjs']?.failures.join() ?? '', /^bad\.test\.mjs:3 around > fails: Error: as planted/)
  assert.match(given['empty.test.mjs']?.failures.join() ?? '', /holds no test/)
  assert.match(given['hooked.test.mjs']?.failures.join() ?? '', /passes: .*of this file alone/s)
  assert.match(given['broken.test.mjs']?.failures.join() ?? '', /none\.mjs/)
})

for (const code of [0, 3]) {
  test(`a process that ends with code ${code} in the middle fails what had not ended`, async (t) => {
    const given = await runTogether(t, {
      'first.test.mjs': PASSING,
      'ends.test.mjs': `${PASSING}test('ends it', () => new Promise(() => process.exit(${code})))\n`,
      'later.test.mjs': PASSING,
    })
    assert.match(given['later.test.mjs']?.failures.join() ?? '', /ended before all its tests had run/)
    assert.ok((given['ends.test.mjs']?.failures.length ?? 0) > 0)
    // What the files told at the end is lost with the process, so the failure names all of them.
    const failures = Object.values(given).flatMap((file) => file.failures)
    if (code > 0)
      assert.match(failures.join('\n'), /in one process: .*ends\.test\.mjs .*\(the file ended with exit code 3\)/)
  })
}

test('a file whose loading hangs is ended and named', async (t) => {
  const hanging = `await new Promise(() => setInterval(() => {}, 1_000))\n${PASSING}`
  const given = await runTogether(t, { 'hangs.test.mjs': hanging, 'later.test.mjs': PASSING }, 2_000)
  assert.equal(given['hangs.test.mjs']?.failures.length, 1)
  assert.match(given['later.test.mjs']?.failures.join() ?? '', /ended before all its tests had run/)
})

test('an error behind the end of the last test is a failure, with its cause', async (t) => {
  const late = `${PASSING}setTimeout(() => { throw new Error('too late') }, 50)\n`
  const given = await runTogether(t, { 'first.test.mjs': PASSING, 'late.test.mjs': late })
  assert.deepEqual(given['first.test.mjs']?.failures, [])
  assert.match(given['late.test.mjs']?.failures.join() ?? '', /too late/)
})
