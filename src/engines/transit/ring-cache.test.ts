import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEY_TYPES } from '../../crypto/key-types.ts'
import { realWorld } from '../../lib/world.ts'
import { LoadedRing } from './loaded-ring.ts'
import { newRing } from './new-key.ts'
import { RingCache } from './ring-cache.ts'

const type = KEY_TYPES.get('aes128-gcm96') ?? assert.fail()

function makeRing(): LoadedRing {
  const flags = { derived: false, convergent: false, exportable: false, allowPlaintextBackup: false }
  return new LoadedRing(newRing({ type, ...flags, autoRotatePeriodSeconds: 0 }, realWorld()))
}

test('a kept ring is given at once, and loaded once', async () => {
  const cache = new RingCache(2)
  const ring = makeRing()
  let loads = 0
  const load = async () => {
    loads += 1
    return ring
  }
  const both = [cache.get('k', load), cache.get('k', load)]
  assert.deepEqual(await Promise.all(both), [ring, ring])
  assert.equal(cache.get('k', load), ring)
  assert.equal(loads, 1)
})

test('a name without a ring is asked for each time', async () => {
  const cache = new RingCache(2)
  assert.equal(await cache.get('k', async () => undefined), undefined)
  const ring = makeRing()
  assert.equal(await cache.get('k', async () => ring), ring)
})

for (const [name, invalidate] of [
  ['forget', (cache: RingCache) => cache.forget('k')],
  ['clear', (cache: RingCache) => cache.clear()],
] as const) {
  test(`${name} during a load: what was loaded is not kept`, async () => {
    const cache = new RingCache(2)
    const { promise, resolve } = Promise.withResolvers<LoadedRing>()
    const [old, current] = [makeRing(), makeRing()]
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
  const cache = new RingCache(2)
  await assert.rejects(async () => cache.get('k', async () => Promise.reject(new Error('no disk'))), /no disk/)
  const ring = makeRing()
  assert.equal(await cache.get('k', async () => ring), ring)
})

test('one ring above the capacity, and the oldest goes', async () => {
  const cache = new RingCache(2)
  const rings = [makeRing(), makeRing(), makeRing()]
  for (const [index, ring] of rings.entries()) await cache.get(`k${index}`, async () => ring)
  assert.equal(cache.get('k1', assert.fail), rings[1])
  assert.equal(cache.get('k2', assert.fail), rings[2])
  assert.ok(cache.get('k0', async () => rings[0]) instanceof Promise)
})
