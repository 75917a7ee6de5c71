import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import type { Transit } from '../transit.ts'
import { LoadedRing } from './loaded-ring.ts'

const NAMES = Array.from({ length: 12 }, (_, index) => `k${index}`)

/** Returns how many keys are still cached after each was asked for once. */
async function kept(transit: Transit): Promise<number> {
  for (const name of NAMES) await transit.keys.find(name)
  return NAMES.filter((name) => transit.keys.find(name) instanceof LoadedRing).length
}

test('scenario 37: the size of the cache is 0 or 10 and more, and a write without one sets 0', async () => {
  const { client, view } = mountTransit()
  const size = async () => (await client.read('cache-config')).data.size
  assert.equal(await size(), 0)
  assert.deepEqual((await client.write('cache-config', { size: 12345 })).data, { size: 12345 })
  assert.equal(await size(), 12345)
  for (const wrong of [5, 9, -1, 'x']) {
    const { status, errors } = await client.write('cache-config', { size: wrong })
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', /size/)
  }
  assert.equal(await size(), 12345)
  assert.deepEqual((await client.write('cache-config')).data, { size: 0 })
  view.plant('config/cache', Buffer.from('{"format":1,"size":3}'))
  await assert.rejects(client.read('cache-config'), /has a "size" that cannot be/)
})

test('another size holds when the mount was reloaded, and not before', async () => {
  const { client, transit } = mountTransit()
  for (const name of NAMES) await client.write(`keys/${name}`)
  assert.equal(await kept(transit), 12)
  await client.write('cache-config', { size: 10 })
  assert.equal(await kept(transit), 12)
  transit.reset()
  assert.equal(await kept(transit), 10)
  await client.write('cache-config', { size: 0 })
  assert.equal(await kept(transit), 10)
  transit.reset()
  assert.equal(await kept(transit), 12)
})

test('a key is found also while the setting cannot be read, as soon as it can', async () => {
  const { client, transit, view } = mountTransit()
  await client.write('keys/k0')
  view.plant('config/cache', Buffer.from('broken'))
  transit.reset()
  await assert.rejects(async () => transit.keys.find('k0'))
  view.plant('config/cache', Buffer.from('{"format":1,"size":10}'))
  assert.ok((await transit.keys.find('k0')) instanceof LoadedRing)
})
