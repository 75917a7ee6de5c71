import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Marks } from './marks.ts'

test('the time of the newest mark that was reached and of the oldest that was not are known', () => {
  const marks = new Marks('last')
  assert.deepEqual([marks.reachedAtMs, marks.missingSinceMs], [undefined, undefined])
  for (const [index, atMs] of [
    [5, 100],
    [5, 200],
    [8, 300],
  ] as const)
    marks.add(index, atMs)
  marks.reach(7)
  assert.deepEqual([marks.reachedAtMs, marks.missingSinceMs], [200, 300])
  marks.reach(8)
  assert.deepEqual([marks.reachedAtMs, marks.missingSinceMs], [300, undefined])
})

test('of marks with one index the first counts where that is asked for', () => {
  const marks = new Marks('first')
  marks.add(5, 100)
  marks.add(5, 200)
  assert.equal(marks.missingSinceMs, 100)
})

test('few marks stay of many, and the ages are never too low', () => {
  const marks = new Marks('last')
  for (let index = 1; index <= 100_000; index++) marks.add(index, index)
  assert.equal(marks.missingSinceMs, 1)
  marks.reach(50_000)
  const reached = marks.reachedAtMs ?? assert.fail('some were reached')
  assert.ok(reached <= 50_000 && reached > 49_000, String(reached))
})
