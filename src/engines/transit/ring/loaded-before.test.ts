import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { LoadedBefore, MOST_KEPT } from './loaded-before.ts'
import type { LoadedRing } from './loaded-ring.ts'

const MARK = { older: undefined, newest: { bytes: 1, digest: Buffer.alloc(32) } }
const last = (ring: LoadedRing) => ({ ring, mark: MARK, beginnings: 0 })

async function ringOf(versions: number): Promise<LoadedRing> {
  const { client, transit } = mountTransit()
  await client.write('keys/k')
  for (let version = 1; version < versions; version += 1) await client.write('keys/k/rotate')
  return (await transit.keys.find('k')) ?? assert.fail()
}

test('a ring is found again by its name, the one that was loaded last, from two versions on', async () => {
  const loaded = new LoadedBefore()
  const [one, two, three] = [await ringOf(1), await ringOf(2), await ringOf(3)]
  loaded.keep('k', last(two))
  loaded.keep('other', last(two))
  assert.deepEqual([loaded.find('k')?.ring === two, loaded.find('missing')], [true, undefined])
  loaded.keep('k', last(three))
  assert.ok(loaded.find('k')?.ring === three)
  loaded.keep('k', last(one))
  assert.deepEqual([loaded.find('k'), loaded.find('other')?.ring === two], [undefined, true])
  loaded.clear()
  assert.equal(loaded.find('other'), undefined)
})

test(`of one more than ${MOST_KEPT} rings the one that was loaded first goes`, async () => {
  const loaded = new LoadedBefore()
  const ring = await ringOf(2)
  for (let at = 0; at < MOST_KEPT; at += 1) loaded.keep(`k${at}`, last(ring))
  // A ring that is loaded again goes last.
  loaded.keep('k0', last(ring))
  assert.ok(loaded.find('k1') !== undefined)
  loaded.keep('more', last(ring))
  const left = ['k0', 'k1', 'k2', 'more'].map((name) => loaded.find(name) !== undefined)
  assert.deepEqual(left, [true, false, true, true])
})
