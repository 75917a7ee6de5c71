import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { CoherentCache } from './coherent-cache.ts'
import { Invalidation } from './invalidation.ts'

test('a kept value is given at once, and loaded once however many ask', async () => {
  const cache = new CoherentCache<string>(10)
  let loads = 0
  const load = async (key: string) => `${key}${++loads}`
  assert.deepEqual(await Promise.all([cache.get('a', load), cache.get('a', load)]), ['a1', 'a1'])
  assert.equal(cache.get('a', load), 'a1')
  assert.equal(loads, 1)
})

test('what changed while it was loaded is not kept', async () => {
  const cache = new CoherentCache<string>(10)
  let answer: (value: string) => void = () => {}
  const slow = cache.get(
    'a',
    () =>
      new Promise((resolve) => {
        answer = resolve
      }),
  )
  cache.forget('a')
  answer('old')
  assert.equal(await slow, 'old')
  assert.equal(await cache.get('a', async () => 'new'), 'new')
})

test('a failed load, and one that found nothing, are tried again', async () => {
  const cache = new CoherentCache<string | undefined>(10)
  await assert.rejects(async () => cache.get('a', async () => Promise.reject(new Error('gone'))))
  assert.equal(await cache.get('a', async () => undefined), undefined)
  assert.equal(await cache.get('a', async () => 'there'), 'there')
})

test('it holds no more than its capacity', async () => {
  const cache = new CoherentCache<string>(3)
  for (const key of ['a', 'b', 'c', 'd']) await cache.get(key, async () => key)
  assert.equal(
    cache.get('d', async () => 'again'),
    'd',
  )
  assert.equal(await cache.get('a', async () => 'again'), 'again')
})

test('a change reaches every cache whose prefix it has, in any namespace', () => {
  const invalidation = new Invalidation()
  const seen: string[] = []
  invalidation.register({
    prefix: 'sys/policy/',
    changed: (rest) => seen.push(`policy ${rest}`),
    reset: () => seen.push('reset'),
  })
  invalidation.register({
    prefix: 'sys/',
    changed: (rest) => seen.push(`sys ${rest}`),
    reset: () => seen.push('reset'),
  })
  invalidation.changed('root/sys/policy/a')
  invalidation.changed('team/sys/token/id/x')
  invalidation.changed('root/logical/u/key/k')
  assert.deepEqual(seen, ['policy a', 'sys policy/a', 'sys token/id/x'])
  invalidation.reset()
  assert.equal(seen.length, 5)
})
