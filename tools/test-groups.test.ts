import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ALONE, groupTests } from './test-groups.ts'

const PROOFS = ['test/proofs/a.test.ts', 'test/proofs/b.test.ts']
const EXACT = Array.from({ length: 200 }, (_, at) => `src/${at}.test.ts`)
const LONG = 'test/long.test.ts'

test('each file is in one group, proofs and long ones alone, the others several together in their order', () => {
  const groups = groupTests([LONG, ...PROOFS, ...EXACT], 2, [LONG])
  assert.deepEqual(groups.flat(), [LONG, ...PROOFS, ...EXACT])
  assert.deepEqual(groups.slice(0, 3), [[LONG], ...PROOFS.map((path) => [path])])
  assert.equal(groups.length, 3 + 25)
  assert.deepEqual(groups[3], EXACT.slice(0, 8))
})

test('few files keep all lanes at work', () => {
  const groups = groupTests(EXACT.slice(0, 20), 2, [])
  assert.deepEqual(
    groups.map(({ length }) => length),
    Array.from({ length: 10 }, () => 2),
  )
  assert.equal(groupTests(EXACT.slice(0, 16), 2, []).length, 16)
})

test('files that cannot share a process are there', () => {
  for (const path of Object.keys(ALONE)) assert.ok(existsSync(join(import.meta.dirname, '..', path)), path)
})

test('a test that others would see has a process of its own', () => {
  const alone = 'test/coverage/new-key-type.test.ts'
  const groups = groupTests([...EXACT.slice(0, 3), alone, ...EXACT.slice(3, 40)], 1, [])
  assert.deepEqual(
    groups.filter((group) => group.includes(alone)),
    [[alone]],
  )
})
