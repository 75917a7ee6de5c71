import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CoherentCache } from './coherent-cache.ts'

type Thing = { readonly thing: true }
const makeThing = (): Thing => ({ thing: true })

test('a kept value is given at once, and loaded once', async () => {
  const cache = new CoherentCache<Thing>(2)
  const thing = makeThing()
  let loads = 0
  const load = async () => {
    loads += 1
    return thing
  }
  const both = [cache.get('k', load), cache.get('k', load)]
  assert.deepEqual(await Promise.all(both), [thing, thing])
  assert.equal(cache.get('k', load), thing)
  assert.equal(loads, 1)
})

test('D-09: what was given out cannot be changed for those who get it later', async () => {
  const cache = new CoherentCache<{ readonly policies: string[] }>(2)
  const load = async () => ({ policies: ['a'] })
  const got = await cache.get('k', load)
  assert.throws(() => got?.policies.push('root'), TypeError)
  assert.deepEqual(await cache.get('k', load), { policies: ['a'] })
})

test('a name without a value is asked for each time', async () => {
  const cache = new CoherentCache<Thing>(2)
  assert.equal(await cache.get('k', async () => undefined), undefined)
  const thing = makeThing()
  assert.equal(await cache.get('k', async () => thing), thing)
})

for (const [name, invalidate] of [
  ['forget', (cache: CoherentCache<Thing>) => cache.forget('k')],
  ['clear', (cache: CoherentCache<Thing>) => cache.clear()],
] as const) {
  test(`${name} during a load: what was loaded is not kept`, async () => {
    const cache = new CoherentCache<Thing>(2)
    const { promise, resolve } = Promise.withResolvers<Thing>()
    const [old, current] = [makeThing(), makeThing()]
    const first = cache.get('k', () => promise)
    invalidate(cache)
    const second = cache.get('k', async () => current)
    resolve(old)
    assert.equal(await first, old)
    assert.equal(await second, current)
    assert.equal(cache.get('k', assert.fail), current)
    invalidate(cache)
    assert.equal(await cache.get('k', async () => old), old)
  })
}

test('a load that fails is not kept', async () => {
  const cache = new CoherentCache<Thing>(2)
  await assert.rejects(async () => cache.get('k', async () => Promise.reject(new Error('no disk'))), /no disk/)
  const thing = makeThing()
  assert.equal(await cache.get('k', async () => thing), thing)
})

test('one value above the capacity, and the oldest goes', async () => {
  const cache = new CoherentCache<Thing>(2)
  const things = [makeThing(), makeThing(), makeThing()]
  for (const [index, thing] of things.entries()) await cache.get(`k${index}`, async () => thing)
  assert.equal(cache.get('k1', assert.fail), things[1])
  assert.equal(cache.get('k2', assert.fail), things[2])
  assert.ok(cache.get('k0', async () => things[0]) instanceof Promise)
})
