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

test('what is used stays, what is not goes', async () => {
  const cache = new CoherentCache<Thing>(4)
  const things = new Map(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, makeThing()]))
  const load = async (name: string) => things.get(name)
  for (const name of ['a', 'b', 'c', 'd']) await cache.get(name, load)
  for (const name of ['a', 'c']) assert.ok(!(cache.get(name, load) instanceof Promise))
  for (const name of ['e', 'f']) await cache.get(name, load)
  for (const name of ['a', 'c', 'e', 'f']) assert.equal(cache.get(name, assert.fail), things.get(name))
  for (const name of ['b', 'd']) assert.ok(cache.get(name, load) instanceof Promise, name)
})

test('a smaller capacity holds from the next value on, also where all were used', async () => {
  const cache = new CoherentCache<Thing>(100)
  const load = async () => makeThing()
  for (let index = 0; index < 100; index += 1) await cache.get(`k${index}`, load)
  for (let index = 0; index < 100; index += 1) await cache.get(`k${index}`, assert.fail)
  cache.capacity = 10
  await cache.get('new', load)
  let kept = 0
  for (let index = 0; index < 100; index += 1) if (!(cache.get(`k${index}`, load) instanceof Promise)) kept += 1
  assert.equal(kept, 9)
})

test('A-09: values that weigh more than all may go for each other, whatever their number', async () => {
  const cache = new CoherentCache<string>(100, { of: (text) => text.length, most: 10 })
  const load = (text: string) => async () => text
  const isKept = (name: string): boolean => !(cache.get(name, async () => undefined) instanceof Promise)
  for (const name of ['a', 'b', 'c']) await cache.get(name, load('xxx'))
  assert.deepEqual(['a', 'b', 'c'].map(isKept), [true, true, true])
  // All were used: the oldest goes.
  await cache.get('d', load('xxxx'))
  assert.deepEqual(['a', 'b', 'c', 'd'].map(isKept), [false, true, true, true])
  cache.forget('b')
  await cache.get('e', load('xxx'))
  assert.deepEqual(['c', 'd', 'e'].map(isKept), [true, true, true])
  await cache.get('f', load('x'.repeat(11)))
  assert.deepEqual(['c', 'd', 'e', 'f'].map(isKept), [false, false, false, true])
  cache.clear()
  for (const name of ['g', 'h']) await cache.get(name, load('xxxxx'))
  assert.deepEqual(['g', 'h'].map(isKept), [true, true])
})
