import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  HISTORY,
  NOW,
  outcome,
  primaryOfSet,
  RECEIVER,
  refusedWith,
  SetCluster,
  TTL_MS,
} from '../../../test/fixtures/set-cluster.ts'
import { classify } from '../../storage/classes.ts'
import { systemScope } from '../../storage/contract.ts'
import { encodeActivation } from './activation-bundle.ts'
import { newAuthority } from './certificates.ts'
import { clearHandingOver, isHandingOver, noteHandingOver } from './handing-over-note.ts'
import { putFilter, removeFilter } from './paths-filter.ts'
import { MAX_PEER_ID_BYTES } from './peer-name.ts'
import { disableFamily, enablePrimary, type Issuing, knownSecondaries, revokeSecondary } from './primary-operations.ts'
import {
  allSecondaries,
  familyParts,
  findSecondary,
  MAX_SECONDARIES,
  putSecondary,
  putState,
  readState,
  SETS_FOLDER,
  type SetTransaction,
} from './records.ts'
import { becomeSecondary, keepActivation, keepPendingKey } from './secondary-operations.ts'

test('primary/enable begins a set with a new id, an authority and no secondary; another call is refused', async () => {
  for (const family of ['dr', 'performance'] as const) {
    const cluster = new SetCluster(1)
    const setId = await cluster.begin(family, 'https://lb:8201')
    assert.deepEqual(await cluster.run((tx) => readState(tx, family)), {
      mode: 'primary',
      setId,
      epoch: 1,
      clusterAddress: 'https://lb:8201',
      isFenced: false,
      sinceMs: NOW,
    })
    assert.deepEqual(await cluster.run((tx) => knownSecondaries(tx, family)), [])
    const before = new Map(cluster.view.entries)
    await assert.rejects(cluster.begin(family), refusedWith(400, /in mode primary for/))
    assert.deepEqual(cluster.view.entries, before)
  }
  for (const address of ['http://lb:8201', 'https://lb', 'lb:8201', 'https://lb:8201/x'])
    await assert.rejects(new SetCluster(1).begin('dr', address), refusedWith(400, /^"primary_cluster_addr" /))
})

test('what is stored has keys and values of its class: dr stays here, performance goes to DR secondaries', async () => {
  for (const family of ['dr', 'performance'] as const) {
    const { cluster, bundle } = await primaryOfSet(2, family)
    await cluster.issue(family, '..')
    await cluster.issue(family, '.'.repeat(MAX_PEER_ID_BYTES))
    const other = new SetCluster(3)
    await other.run((tx) => keepPendingKey(tx, family, other.random.bytes(32)))
    await other.run((tx) => keepActivation(tx, 'secondary/enable', { bundle, receiver: RECEIVER }, RECEIVER))
    const pending = [...other.view.entries.keys()]
    await other.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, NOW))
    const keys = new Set([...cluster.view.entries.keys(), ...pending, ...other.view.entries.keys()])
    assert.equal(keys.size, 13)
    for (const key of keys)
      assert.equal(classify(systemScope, SETS_FOLDER + key), family === 'dr' ? 'ignored' : 'local', key)
  }
})

test('a token is for one secondary, holds what that needs, and says where the primary is', async () => {
  const { cluster, setId, bundle } = await primaryOfSet(4)
  assert.ok(encodeActivation(bundle).length > 0)
  assert.deepEqual([bundle.setId, bundle.id, bundle.epoch, bundle.historyId], [setId, 'site/b', 1, HISTORY])
  assert.deepEqual(
    [bundle.endsAtMs, bundle.clusterAddress, bundle.apiAddress],
    [NOW + TTL_MS, 'https://a1:8201', 'https://a:8200'],
  )
  assert.deepEqual(await cluster.run((tx) => knownSecondaries(tx, 'dr')), ['site/b'])
  const stored = [...cluster.view.entries.values()].map((value) => value.toString('latin1')).join('\n')
  for (const secret of [bundle.nonce, bundle.leafKey])
    for (const form of ['latin1', 'hex', 'base64'] as const)
      assert.ok(!stored.includes(secret.reveal().toString(form)), 'the primary keeps no secret of a token')
  for (const apiAddress of ['', 'unix:///a', `https://${'a'.repeat(300)}`])
    assert.equal((await cluster.issue('dr', 'c', { apiAddress })).bundle.apiAddress, '')
  const named = new SetCluster(5)
  await named.begin('dr', 'https://lb:8201')
  assert.equal((await named.issue('dr', 'b', { clusterAddress: '' })).bundle.clusterAddress, 'https://lb:8201')
})

test('a token is refused for a bad id, a bad TTL, without a cluster address, and by what is no primary', async () => {
  const { cluster } = await primaryOfSet(6)
  const before = new Map(cluster.view.entries)
  const bad: readonly (readonly [RegExp, string, Partial<Issuing>])[] = [
    [/^"id" is empty/, '', {}],
    [/^"id" has more than 256 bytes/, 'x'.repeat(257), {}],
    [/^"id" holds a control character/, 'a\nb', {}],
    [/^"ttl" must be from 1 second to 768 hours/, 'a', { ttlMs: 999 }],
    [/^"ttl" must be/, 'a', { ttlMs: 768 * 3_600_000 + 1 }],
    [/^"ttl" must be/, 'a', { ttlMs: Number.NaN }],
    [/^The cluster address of this primary is not known: set "cluster_addr"/, 'a', { clusterAddress: '' }],
    [/set "cluster_addr"/, 'a', { clusterAddress: 'http://a:8201' }],
    [/authority of the set has ended.*begin a new one/, 'a', { nowMs: NOW + 3_650 * 86_400_000 }],
  ]
  for (const [message, id, changed] of bad)
    await assert.rejects(cluster.issue('dr', id, changed), refusedWith(400, message))
  assert.deepEqual(cluster.view.entries, before)
  await cluster.issue('dr', 'a', { ttlMs: 1_000 })
  await cluster.issue('dr', 'a', { ttlMs: 768 * 3_600_000 })
  await assert.rejects(cluster.issue('performance', 'a'), refusedWith(400, /"primary\/enable" makes it a primary/))
})

test('an id gets a new token if the old was not used, or its secondary is away or revoked; that voids it', async () => {
  const { cluster, bundle: first } = await primaryOfSet(9)
  const second = await cluster.issue('dr', 'site/b')
  assert.equal(second.replaced, 'unused token')
  outcome(await cluster.claim(first), 'revoked')
  // Who claims a token is handed the keys, and may never say that it has stored them.
  await cluster.claim(second.bundle)
  const claimed = await cluster.issue('dr', 'site/b')
  assert.equal(claimed.replaced, 'claimed token')
  outcome(await cluster.confirm(second.bundle), 'revoked')
  await cluster.letIn(claimed.bundle)
  cluster.connected = ['site/b']
  await assert.rejects(cluster.issue('dr', 'site/b'), refusedWith(400, /is connected: revoke it first/))
  outcome(await cluster.admit(claimed.bundle), 'admitted')
  cluster.connected = []
  const third = await cluster.issue('dr', 'site/b')
  assert.equal(third.replaced, 'secondary')
  outcome(await cluster.admit(claimed.bundle), 'revoked')
  // The nonce of an old token does not go with the leaf of a new one.
  outcome(await cluster.claim(third.bundle, RECEIVER, claimed.bundle.nonce.reveal()), 'token_unknown')
  await cluster.letIn(third.bundle)
  await cluster.run((tx) => revokeSecondary(tx, 'dr', 'site/b'))
  outcome(await cluster.admit(third.bundle), 'revoked')
  cluster.connected = ['site/b']
  const fourth = await cluster.issue('dr', 'site/b')
  assert.equal(fourth.replaced, 'nothing')
  outcome(await cluster.admit(third.bundle), 'revoked')
  await cluster.letIn(fourth.bundle)
  assert.deepEqual(await cluster.run((tx) => knownSecondaries(tx, 'dr')), ['site/b'])
})

test('a revoked secondary is refused for good, and an id that is not known is a 404', async () => {
  const { cluster, bundle } = await primaryOfSet(10)
  const revoke = (id: string) => cluster.run((tx) => revokeSecondary(tx, 'dr', id))
  await assert.rejects(revoke('site'), refusedWith(404, /known_secondaries/))
  await assert.rejects(revoke('a\nb'), refusedWith(404, /known_secondaries/))
  await assert.rejects(revoke(''), refusedWith(400, /^"id" is missing/))
  await cluster.letIn(bundle)
  await revoke('site/b')
  await assert.rejects(revoke('site/b'), refusedWith(404, /known_secondaries/))
  for (const answer of [await cluster.admit(bundle), await cluster.claim(bundle), await cluster.confirm(bundle)])
    outcome(answer, 'revoked')
  assert.deepEqual(await cluster.run((tx) => knownSecondaries(tx, 'dr')), [])
})

test('a registry has at most 1,000 entries; revoked ones are forgotten when their leaves end', async () => {
  const { cluster, bundle } = await primaryOfSet(14)
  const entry = (await cluster.run((tx) => findSecondary(tx, 'dr', 'site/b'))) ?? assert.fail()
  await cluster.run(async (tx) => {
    for (let at = 1; at < MAX_SECONDARIES; at++) {
      const state = at % 2 === 0 ? 'revoked' : 'active'
      putSecondary(tx, 'dr', { ...entry, id: `s${at}`, state })
    }
  })
  assert.equal((await cluster.run((tx) => allSecondaries(tx, 'dr'))).length, MAX_SECONDARIES)
  await assert.rejects(cluster.issue('dr', 'one more'), refusedWith(400, /has 1000 secondaries/))
  await cluster.issue('dr', 's2')
  cluster.nowMs = entry.leaf.notAfterMs + 1
  await cluster.issue('dr', 'one more')
  // s2 has a token again; 498 revoked ones are gone.
  assert.equal((await cluster.run((tx) => allSecondaries(tx, 'dr'))).length, MAX_SECONDARIES - 498 + 1)
  await cluster.run((tx) => disableFamily(tx, 'dr', 'primary/disable'))
  assert.equal(cluster.view.entries.size, 0)
  assert.equal(bundle.id, 'site/b')
})

test('disabling destroys authority, registry and identity: a set begun anew knows none of before', async () => {
  const { cluster, bundle, setId } = await primaryOfSet(15)
  await cluster.letIn(bundle)
  await assert.rejects(
    cluster.run((tx) => disableFamily(tx, 'dr', 'secondary/disable')),
    refusedWith(400, /in mode primary/),
  )
  await cluster.run((tx) => enableOther(tx, cluster))
  await cluster.run((tx) => disableFamily(tx, 'dr', 'primary/disable'))
  assert.deepEqual(
    [...cluster.view.entries.keys()].filter((key) => key.startsWith('dr/')),
    [],
  )
  assert.deepEqual(await cluster.run(familyParts), {
    dr: { mode: 'disabled', isFenced: false },
    performance: { mode: 'primary', isFenced: false },
  })
  outcome(await cluster.admit(bundle), 'not_primary')
  assert.notEqual(await cluster.begin('dr'), setId)
  outcome(await cluster.admit(bundle), 'set_mismatch')
  assert.deepEqual(await cluster.run((tx) => knownSecondaries(tx, 'dr')), [])
})

async function enableOther(tx: SetTransaction, cluster: SetCluster): Promise<void> {
  const set = { family: 'performance' as const, setId: cluster.random.uuid() }
  await enablePrimary(tx, { ...set, authority: newAuthority(set, cluster), clusterAddress: '', nowMs: NOW })
}

test('a fenced primary admits no secondary and issues nothing, and can be disabled', async () => {
  const { cluster, bundle } = await primaryOfSet(16)
  await cluster.letIn(bundle)
  await cluster.run(async (tx) => {
    putState(tx, 'dr', { ...((await readState(tx, 'dr')) ?? assert.fail()), isFenced: true })
  })
  outcome(await cluster.admit(bundle), 'fenced')
  await assert.rejects(cluster.issue('dr', 'x'), refusedWith(503, /took over/))
  await cluster.run((tx) => disableFamily(tx, 'dr', 'primary/disable'))
})

test('a cluster that hands over changes nothing of its performance set, which another would not have', async () => {
  const { cluster, bundle } = await primaryOfSet(9, 'performance')
  await cluster.run((tx) => noteHandingOver(tx, NOW))
  const refused = refusedWith(503, /hands over, .* could be lost/)
  await assert.rejects(cluster.issue('performance', 'site/c'), refused)
  await assert.rejects(
    cluster.run((tx) => revokeSecondary(tx, 'performance', bundle.id)),
    refused,
  )
  await assert.rejects(
    cluster.run((tx) => disableFamily(tx, 'performance', 'primary/disable')),
    refused,
  )
  const filter = { id: bundle.id, mode: 'deny' as const, paths: ['secret/'] }
  await assert.rejects(
    cluster.run((tx) => putFilter(tx, filter)),
    refused,
  )
  await assert.rejects(
    cluster.run((tx) => removeFilter(tx, bundle.id)),
    refused,
  )
  await cluster.run(async (tx) => clearHandingOver(tx))
  await cluster.run((tx) => putFilter(tx, filter))
  await cluster.run((tx) => revokeSecondary(tx, 'performance', bundle.id))
})

test('a cluster that hands over begins and ends no set, as it would write again', async () => {
  const { cluster } = await primaryOfSet(10, 'performance')
  await cluster.run((tx) => noteHandingOver(tx, NOW))
  await assert.rejects(cluster.begin('dr'), refusedWith(503, /hands over/))
  await cluster.run(async (tx) => clearHandingOver(tx))
  await cluster.begin('dr')
  await cluster.run((tx) => noteHandingOver(tx, NOW))
  await assert.rejects(
    cluster.run((tx) => disableFamily(tx, 'dr', 'primary/disable')),
    refusedWith(503, /hands over/),
  )
  assert.ok(await cluster.run(isHandingOver))
})
