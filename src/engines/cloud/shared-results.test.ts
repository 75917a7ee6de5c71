import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { realWorld } from '../../lib/world.ts'
import { LoginDeadline } from './deadline.ts'
import { SharedResults } from './shared-results.ts'

function start(maxEntries: number) {
  let nowMs = 0
  const world = { ...realWorld(), clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } }
  const results = new SharedResults<string>(world.clock, 1_000, { maxEntries, isKept: (text) => text !== 'passing' })
  const loaded: string[] = []
  const get = (key: string) =>
    results.get(key, new LoginDeadline(world), async () => {
      loaded.push(key)
      return key
    })
  return { results, loaded, get, advance: (ms: number) => (nowMs += ms) }
}

test('what is too old is not kept in memory until somebody asks for it again', async () => {
  const { results, loaded, get, advance } = start(10)
  await get('a')
  advance(500)
  await get('b')
  assert.equal(results.size, 2)
  advance(500)
  await get('b')
  assert.deepEqual([results.size, loaded], [1, ['a', 'b']])
  advance(500)
  await get('c')
  assert.equal(results.size, 1)
})

test('what is not worth keeping is fetched each time', async () => {
  const { loaded, get } = start(10)
  for (const key of ['passing', 'passing', 'a', 'a']) await get(key)
  assert.deepEqual(loaded, ['passing', 'passing', 'a'])
})

test('no more are kept than there is room for: the oldest goes', async () => {
  const { results, loaded, get } = start(2)
  for (const key of ['a', 'b', 'c', 'b', 'a']) await get(key)
  assert.equal(results.size, 2)
  assert.deepEqual(loaded, ['a', 'b', 'c', 'a'])
})
