// docs/threats.md says that a test holds what attacks and clients found: each of its rows has one, by its id.
import { strict as assert } from 'node:assert'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROJECT } from '../fixtures/server-process.ts'

const HEADING = '\n## What attacks and clients found\n'
const page = readFileSync(join(PROJECT, 'docs/threats.md'), 'utf8')
const [, found = ''] = page.split(HEADING)
const ids = [...(found.split('\n### ')[0] ?? '').matchAll(/^\| ([A-Z]\d+|part \d+) \|/gm)].map(([, id = '']) => id)
const tests = globSync(['src/**/*.test.ts', 'test/**/*.ts'], { cwd: PROJECT })
  .map((path) => readFileSync(join(PROJECT, path), 'utf8'))
  .join('\n')

test('what attacks and clients found is held by tests that begin with its id', () => {
  assert.ok(ids.length > 20)
  assert.deepEqual(
    ids.filter((id) => !new RegExp(`\\btest\\(\\s*['"\`](?:[A-Z]\\d+, )*${id}[:,]`).test(tests)),
    [],
  )
})
