// Which authorities a secondary is told to trust, over the link that it follows by.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkedClusters } from '../../../test/fixtures/linked-clusters.ts'
import { authorityMark, readAuthorities, trustedOf } from '../set/authorities.ts'
import { beginAuthorityChange, stepAuthority } from '../set/authority-change.ts'
import { findSecondary } from '../set/records.ts'

const RENEWAL_MS = 60_000

/** A primary with a secondary that follows, which notes what it is told to trust. */
async function stage(seed: number) {
  const clusters = await LinkedClusters.begin(seed, 'dr', { renewalMs: RENEWAL_MS })
  await clusters.write(1)
  const s = await clusters.follow('s')
  const told: (readonly Buffer[])[] = []
  s.owner.onTrust = async (trusted = []) => void told.push(trusted)
  await clusters.untilSame(s)
  const { registry } = clusters
  const trusted = async () => trustedOf(await registry.run((tx) => readAuthorities(tx, 'dr')))
  const marks = async () => (await registry.run((tx) => findSecondary(tx, 'dr', 's')))?.trusts
  const begin = async () => {
    await registry.run((tx) => beginAuthorityChange(tx, 'dr', registry))
    // As the server does: its node trusts the next one from then on.
    await clusters.leap(0)
  }
  return { clusters, s, told, trusted, marks, begin, registry }
}

test('while there is one authority, nothing is told of it', async () => {
  const { clusters, told } = await stage(31)
  await clusters.time.pass(3 * RENEWAL_MS)
  assert.deepEqual(told, [])
})

test('a secondary is told at once, says what it has stored, and is not told again; the link stays', async () => {
  const { clusters, s, told, trusted, marks, begin, registry } = await stage(32)
  const links = () => s.lines.filter(({ message }) => message === 'This secondary follows its primary').length
  await begin()
  await clusters.time.pass(1_000)
  assert.deepEqual(told, [await trusted()])
  assert.deepEqual(await marks(), (await trusted()).map(authorityMark))
  assert.equal(links(), 1)
  clusters.network.reset('p', 's')
  await clusters.time.pass(3 * RENEWAL_MS)
  await clusters.untilSame(s)
  assert.equal(told.length, 1)
  assert.equal(await registry.run((tx) => stepAuthority(tx, 'dr', registry)), 'changed')
  assert.equal(links(), 2, 'that of before was reset')
})

test('one that cannot store it says nothing, and is told again after a while, and over the next link', async () => {
  const { clusters, s, told, marks, begin } = await stage(33)
  const before = await marks()
  s.owner.onTrust = async (trusted = []) => {
    told.push(trusted)
    throw new Error('The store does not take it')
  }
  await begin()
  await clusters.time.pass(1_000)
  assert.deepEqual([told.length, await marks()], [1, before])
  assert.ok(s.lines.some(({ message, why }) => /were not kept/.test(message) && /does not take it/.test(why)))
  await clusters.time.pass(RENEWAL_MS)
  assert.equal(told.length, 2)
  clusters.network.reset('p', 's')
  await clusters.time.pass(2_000)
  assert.deepEqual([told.length, await marks()], [3, before])
  await clusters.untilSame(s)
})

test('a program of before, which keeps nothing and says nothing, has its link as it was', async () => {
  const { clusters, s, told, marks, begin, registry } = await stage(34)
  const before = await marks()
  // It waits for a leaf, or has asked for none: it pays no heed.
  s.owner.onTrust = () => new Promise(() => {})
  await begin()
  await clusters.write(3)
  await clusters.time.pass(2 * RENEWAL_MS)
  await clusters.untilSame(s)
  assert.deepEqual([told, await marks()], [[], before])
  assert.equal(await registry.run((tx) => stepAuthority(tx, 'dr', registry)), undefined)
})

test('a primary that cannot note whom a secondary trusts keeps the link, and asks again after a while', async () => {
  const { clusters, s, told, trusted, marks, begin } = await stage(35)
  const links = () => s.lines.filter(({ message }) => message === 'This secondary follows its primary').length
  const { owner } = clusters.primary
  const { trusts, trustFor } = owner
  const fails = async (): Promise<never> => {
    throw new Error('The store takes nothing now')
  }
  owner.trusts = fails
  const before = await marks()
  await begin()
  await clusters.time.pass(1_000)
  assert.deepEqual([told.length, await marks()], [1, before])
  Object.assign(owner, { trusts, trustFor: fails })
  await clusters.time.pass(RENEWAL_MS)
  assert.deepEqual([told.length, await marks()], [1, before])
  owner.trustFor = trustFor
  await clusters.time.pass(RENEWAL_MS)
  await clusters.untilSame(s)
  assert.deepEqual(await marks(), (await trusted()).map(authorityMark))
  assert.deepEqual([told.length, links()], [2, 1])
})
