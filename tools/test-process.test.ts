import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../test/fixtures/server-process.ts'
import { runTestGroup } from './test-process.ts'

const PASSING = `test('passes', () => {})\n`
const FAILING = `test('around', (t) => t.test('fails', () => { throw new Error('as planted') }))\n`

/** What the files, sources by name, gave in one process: counts and failures by name. */
async function runTogether(context: TestContext, sources: Readonly<Record<string, string>>) {
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
  const results = await runTestGroup(root, Object.keys(sources), { tell: () => {} })
  return Object.fromEntries(
    [...results].map(([name, { result }]) => {
      const { tests, pass, fail } = result.counts
      return [name, { tests, pass, fail, failures: result.failures.map(({ title, text }) => `${title}: ${text}`) }]
    }),
  )
}

test('files that share a process have their own tests, failures and hooks', async (t) => {
  const given = await runTogether(t, {
    'good.test.mjs': `${PASSING}test.skip('is skipped', () => {})\n`,
    'bad.test.mjs': PASSING + FAILING,
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
  assert.deepEqual(given['good.test.mjs'], { tests: 2, pass: 1, fail: 0, failures: [] })
  assert.deepEqual(given['last.test.mjs'], { tests: 1, pass: 1, fail: 0, failures: [] })
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
    // What its last tests gave may be lost with it, also of the file before.
    for (const name of ['ends.test.mjs', 'later.test.mjs'])
      assert.match(given[name]?.failures.join() ?? '', /ended before all its tests had run/)
    const failures = Object.values(given).flatMap((file) => file.failures)
    assert.equal(
      failures.some((text) => text.includes('exit code 3')),
      code === 3,
    )
    assert.equal(
      failures.some((text) => text.includes('holds no test')),
      false,
    )
  })
}
