import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { NOW, primaryOfSet, RECEIVER, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import { noteTrust } from '../../replication/set/admission.ts'
import { authorityMark, CLOSE_TO_END_MS, readAuthorities } from '../../replication/set/authorities.ts'
import { beginAuthorityChange, stepAuthority } from '../../replication/set/authority-change.ts'
import { holdsAt, issuerOf } from '../../replication/set/certificates.ts'
import { putPromotions } from '../../replication/set/records.ts'
import { becomeSecondary, copyIsWhole } from '../../replication/set/secondary-operations.ts'
import { OwnParts } from './own-parts.ts'

const NODE = 'a-node'
const ownPartsOf = (cluster: SetCluster): OwnParts =>
  new OwnParts({ clock: { nowMs: () => cluster.nowMs, monotonicMs: () => 0 }, random: cluster.random }, () => {})

test('a cluster plays the part that it has in each family', async () => {
  const { cluster, bundle } = await primaryOfSet(41)
  await cluster.begin('performance')
  const parts = await cluster.run((tx) => ownPartsOf(cluster).read(tx, NODE))
  assert.deepEqual(
    parts.map(({ role, set }) => [role, set.family]),
    [
      ['primary', 'dr'],
      ['primary', 'performance'],
    ],
  )
  const secondary = new SetCluster(42)
  await secondary.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, secondary.nowMs))
  const [part, ...others] = await secondary.run((tx) => ownPartsOf(secondary).read(tx, NODE))
  assert.deepEqual([part?.role, part?.set.family, others], ['secondary', 'dr', []])
})

test('what a DR secondary copied of its primary is no part of its own in the other family', async () => {
  const { bundle } = await primaryOfSet(43)
  const other = await primaryOfSet(44, 'performance')
  for (const isPrimary of [true, false]) {
    const secondary = new SetCluster(45)
    await secondary.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, secondary.nowMs))
    // As the copy brings it: performance/ is of class local, so that this cluster can take over.
    if (isPrimary) for (const [path, value] of other.cluster.view.entries) secondary.view.plant(path, value)
    else {
      const follower = new SetCluster(46)
      await follower.run((tx) => becomeSecondary(tx, { bundle: other.bundle, receiver: RECEIVER }, follower.nowMs))
      for (const [path, value] of follower.view.entries) secondary.view.plant(path, value)
    }
    for (const isWhole of [false, true]) {
      if (isWhole) await secondary.run((tx) => copyIsWhole(tx, 'dr', secondary.nowMs))
      const parts = await secondary.run((tx) => ownPartsOf(secondary).read(tx, NODE))
      assert.deepEqual(
        parts.map(({ role, set }) => [role, set.family]),
        [['secondary', 'dr']],
      )
    }
  }
})

const DAY_MS = 86_400_000

test('the leaf of a primary stays the same object, and is another one where it does not hold', async () => {
  const { cluster } = await primaryOfSet(21)
  let nowMs = NOW + DAY_MS
  const world = { random: cluster.random, clock: { nowMs: () => nowMs, monotonicMs: () => 0 } }
  const own = new OwnParts(world, () => {})
  const identity = async () => {
    const [part] = await cluster.run((tx) => own.read(tx, 'node'))
    assert.equal(part?.role, 'primary')
    assert.equal(holdsAt(readCertificate(part.identity.certificate), nowMs), 'now')
    return part.identity
  }
  const ahead = await identity()
  assert.equal(await identity(), ahead)
  // The clock was a day ahead, and is set.
  assert.equal(own.areGood, true)
  nowMs = NOW
  assert.equal(own.areGood, false)
  const put = await identity()
  assert.equal(own.areGood, true)
  assert.notEqual(put, ahead)
  assert.equal(await identity(), put)
})

test('records of one family that cannot be used leave the other one its links, and are logged', async () => {
  const { cluster } = await primaryOfSet(22)
  await cluster.begin('performance')
  const told: string[] = []
  const world = { random: cluster.random, clock: { nowMs: () => cluster.nowMs, monotonicMs: () => 0 } }
  const own = new OwnParts(world, (level, _message, fields) => void told.push(`${level} ${fields?.family}`))
  const families = async () => (await cluster.run((tx) => own.read(tx, NODE))).map(({ set }) => set.family)
  const authority = cluster.view.entries.get('performance/authority') ?? assert.fail()
  cluster.view.plant('performance/authority', Buffer.from('no certificate'))
  assert.deepEqual(await families(), ['dr'])
  assert.deepEqual(told, ['error performance'])
  assert.equal(own.areGood, false, 'it is looked at again')
  cluster.view.plant('performance/authority', authority)
  assert.deepEqual(await families(), ['dr', 'performance'])
  assert.equal(own.areGood, true)
})

test('a damaged record of who a promoted cluster was leaves it its part as primary, and is logged', async () => {
  const { cluster } = await primaryOfSet(24)
  const told: string[] = []
  const world = { random: cluster.random, clock: { nowMs: () => cluster.nowMs, monotonicMs: () => 0 } }
  const own = new OwnParts(world, (level, message) => void told.push(`${level} ${message}`))
  const note = {
    epoch: 2,
    historyId: RECEIVER.subarray(16).toString('base64'),
    followed: null,
    isHalf: false,
    atMs: NOW,
  }
  await cluster.run(async (tx) => putPromotions(tx, 'dr', [note]))
  for (const entry of ['replaced', 'identity', 'leaf-key', 'receiver'])
    cluster.view.plant(`former/0000000000000002/${entry}`, Buffer.from('no such record'))
  const roles = (await cluster.run((tx) => own.read(tx, NODE))).map(({ role }) => role)
  assert.deepEqual(roles, ['primary'])
  assert.match(told.join(), /^error A former primary cannot be told/)
})

test('links stay while the clock is beyond the end of the authority, and go on when it is set', async () => {
  const { cluster } = await primaryOfSet(23)
  let nowMs = NOW
  const world = { random: cluster.random, clock: { nowMs: () => nowMs, monotonicMs: () => 0 } }
  const own = new OwnParts(world, () => {})
  const identity = async () => (await cluster.run((tx) => own.read(tx, NODE)))[0]?.identity
  const before = await identity()
  nowMs += 100 * 365 * DAY_MS
  assert.equal(await identity(), before)
  assert.equal(own.areGood, false)
  nowMs = NOW + DAY_MS
  assert.ok((await identity()) !== undefined)
  assert.equal(own.areGood, true)
})

test('a node trusts the next authority at once, and has a leaf of it when it signs', async () => {
  const { cluster, bundle } = await primaryOfSet(25)
  await cluster.letIn(bundle)
  const own = ownPartsOf(cluster)
  const identity = async () => (await cluster.run((tx) => own.read(tx, NODE)))[0]?.identity ?? assert.fail()
  const first = await identity()
  await cluster.run((tx) => beginAuthorityChange(tx, 'dr', cluster))
  const { present, next = assert.fail() } = await cluster.run((tx) => readAuthorities(tx, 'dr'))
  const trusting = await identity()
  assert.deepEqual([trusting.certificate, trusting.key], [first.certificate, first.key])
  assert.deepEqual([first.trusted, trusting.trusted], [[present], [present, next]])
  assert.equal(await identity(), trusting)
  const marks = [present, next].map(authorityMark)
  await cluster.run((tx) => noteTrust(tx, cluster.greeting(bundle), marks))
  await cluster.run((tx) => stepAuthority(tx, 'dr', cluster))
  const changed = await identity()
  assert.deepEqual(changed.trusted, [next, present])
  assert.deepEqual(issuerOf(changed.trusted, changed.certificate), next)
  assert.equal(own.areGood, true)
})

test('close to the end of the authority a node has a leaf of the next one, though not all trust it', async () => {
  const { cluster, bundle } = await primaryOfSet(26)
  await cluster.letIn(bundle)
  await cluster.run((tx) => beginAuthorityChange(tx, 'dr', cluster))
  const own = ownPartsOf(cluster)
  const { present, next } = await cluster.run((tx) => readAuthorities(tx, 'dr'))
  const issuer = async () => {
    const [part] = await cluster.run((tx) => own.read(tx, NODE))
    const { certificate } = part?.identity ?? assert.fail()
    return issuerOf([present, next ?? assert.fail()], certificate)
  }
  cluster.nowMs = readCertificate(present).notAfterMs - CLOSE_TO_END_MS - 1_000
  assert.deepEqual(await issuer(), present)
  assert.equal(own.areGood, true)
  cluster.nowMs += 1_000
  assert.equal(own.areGood, false, 'its leaf holds on, and is due')
  assert.deepEqual(await issuer(), next)
  // The clock was ahead, and is set.
  cluster.nowMs = NOW
  assert.deepEqual(await issuer(), present)
})
