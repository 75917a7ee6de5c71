import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, outcome, primaryOfSet, RECEIVER, refusedWith, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { authoritiesIn } from './activation-bundle.ts'
import { noteTrust, trustFor } from './admission.ts'
import { authorityMark, CLOSE_TO_END_MS, readAuthorities, signingAuthority, trustedOf } from './authorities.ts'
import { beginAuthorityChange, stepAuthority, waitedFor } from './authority-change.ts'
import { AUTHORITY_LIFE_MS, newAuthority, readAuthority, readLeaf, renewalDueMs } from './certificates.ts'
import { promotePrimary, takeConflict } from './changing-hands.ts'
import { noteHandingOver } from './handing-over-note.ts'
import { disableFamily, revokeSecondary } from './primary-operations.ts'
import { findSecondary, putSecondary, setPath } from './records.ts'
import { becomeSecondary, copyIsWhole, keepRenewedLeaf, keepTrust, ownIdentity } from './secondary-operations.ts'

const DAY_MS = 86_400_000
const DUE_MS = NOW + (AUTHORITY_LIFE_MS * 2) / 3
const END_MS = NOW + AUTHORITY_LIFE_MS

const step = (cluster: SetCluster, family: ReplicationFamily = 'dr') =>
  cluster.run((tx) => stepAuthority(tx, family, cluster))
const begin = (cluster: SetCluster) => cluster.run((tx) => beginAuthorityChange(tx, 'dr', cluster))
const kept = (cluster: SetCluster, family: ReplicationFamily = 'dr') => cluster.run((tx) => readAuthorities(tx, family))
const signing = async (cluster: SetCluster) => {
  const { certificate, key } = await cluster.run((tx) => signingAuthority(tx, 'dr', cluster.nowMs))
  key.fill(0)
  return certificate
}
type Bundle = Awaited<ReturnType<typeof primaryOfSet>>['bundle']
const toTrust = (cluster: SetCluster, bundle: Bundle, leaf = bundle.leaf) =>
  cluster.run((tx) => trustFor(tx, cluster.greeting(bundle, leaf)))
/** The secondary says that it trusts what it is told. */
async function trusts(cluster: SetCluster, bundle: Bundle, leaf = bundle.leaf): Promise<boolean> {
  const told = (await toTrust(cluster, bundle, leaf)) ?? assert.fail('it is told something')
  return cluster.run((tx) => noteTrust(tx, cluster.greeting(bundle, leaf), told.map(authorityMark)))
}

/** A primary with one secondary that is let in, which knows itself too. */
async function letIn(seed: number) {
  const { cluster, bundle } = await primaryOfSet(seed)
  await cluster.letIn(bundle)
  const secondary = new SetCluster(seed + 1_000)
  await secondary.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, NOW))
  return { cluster, bundle, secondary }
}

for (const family of ['dr', 'performance'] as const) {
  test(`${family}: without secondaries an authority that is due is followed at once, and not before`, async () => {
    const cluster = new SetCluster(71)
    const setId = await cluster.begin(family)
    const first = await kept(cluster, family)
    cluster.nowMs = DUE_MS - 1_000
    assert.equal(await step(cluster, family), undefined)
    cluster.nowMs = DUE_MS
    assert.equal(await step(cluster, family), 'begun')
    const both = await kept(cluster, family)
    assert.deepEqual([both.present, both.old], [first.present, undefined])
    assert.equal(await step(cluster, family), 'changed')
    assert.deepEqual(await kept(cluster, family), { present: both.next, next: undefined, old: first.present })
    assert.equal(await step(cluster, family), 'dropped')
    assert.equal(await step(cluster, family), undefined)
    assert.deepEqual(await kept(cluster, family), { present: both.next, next: undefined, old: undefined })
    const read = readAuthority({ setId, family }, both.next ?? assert.fail())
    assert.equal(read.notBeforeMs, readCertificate(first.present).notBeforeMs, 'it holds for a clock that is set back')
    assert.equal(read.notAfterMs, DUE_MS + AUTHORITY_LIFE_MS)
    assert.ok(!cluster.view.entries.has(setPath(family, 'next-authority-key')))
    // The key goes with the certificate.
    const { bundle } = await cluster.issue(family, 'b')
    assert.equal(readLeaf(read, bundle.leaf).peer.id, 'b')
  })
}

test('the next one signs when all that are let in have said that they trust it, and leaves of both count', async () => {
  const { cluster, bundle } = await letIn(72)
  assert.equal(await toTrust(cluster, bundle), undefined)
  assert.deepEqual(await begin(cluster), ['site/b'])
  const { present, next } = await kept(cluster)
  assert.deepEqual(await toTrust(cluster, bundle), [present, next])
  assert.equal(await step(cluster), undefined)
  assert.deepEqual(await signing(cluster), present)
  assert.equal(await trusts(cluster, bundle), true)
  assert.equal(await toTrust(cluster, bundle), undefined)
  assert.deepEqual(await cluster.run((tx) => waitedFor(tx, 'dr', NOW)), [])
  assert.equal(await step(cluster), 'changed')
  assert.deepEqual(await signing(cluster), next)
  outcome(await cluster.admit(bundle), 'admitted')
  assert.equal(await step(cluster), undefined, 'a leaf is of the old one')
  cluster.nowMs = renewalDueMs(readCertificate(bundle.leaf))
  const renewed = await cluster.renew(bundle)
  assert.ok('certificate' in renewed)
  assert.equal(await step(cluster), undefined, 'it was not used yet')
  outcome(await cluster.admit(bundle, renewed.certificate), 'admitted')
  assert.equal(await step(cluster), 'dropped')
  assert.deepEqual(await toTrust(cluster, bundle, renewed.certificate), [next])
  assert.equal(await trusts(cluster, bundle, renewed.certificate), true)
  assert.equal(await toTrust(cluster, bundle, renewed.certificate), undefined)
})

test('who is revoked, or has not used its token in time, is not waited for; who has claimed it is', async () => {
  const { cluster, bundle } = await letIn(73)
  const { bundle: claimed } = await cluster.issue('dr', 'claimed')
  outcome(await cluster.claim(claimed), 'admitted')
  await cluster.issue('dr', 'unused')
  assert.deepEqual(new Set(await begin(cluster)), new Set(['claimed', 'site/b', 'unused']))
  const { bundle: late } = await cluster.issue('dr', 'late')
  const { present, next } = await kept(cluster)
  assert.deepEqual(authoritiesIn(late), [present, next], 'a token of now has both')
  assert.equal((await cluster.run((tx) => waitedFor(tx, 'dr', NOW))).includes('late'), false)
  assert.equal(await trusts(cluster, bundle), true)
  cluster.nowMs = NOW + DAY_MS
  assert.equal(await step(cluster), undefined)
  assert.deepEqual(await cluster.run((tx) => waitedFor(tx, 'dr', cluster.nowMs)), ['claimed'])
  assert.equal(await toTrust(cluster, claimed), undefined, 'it is not let in yet')
  await cluster.run((tx) => revokeSecondary(tx, 'dr', 'claimed'))
  assert.equal(await step(cluster), 'changed')
  const { bundle: after } = await cluster.issue('dr', 'after')
  assert.deepEqual(authoritiesIn(after), [next])
})

test('what a secondary says it trusts is noted for itself, and is not taken for the next authority', async () => {
  const { cluster, bundle } = await letIn(74)
  await begin(cluster)
  const { present, next } = await kept(cluster)
  const other = authorityMark(newAuthority({ setId: bundle.setId, family: 'dr' }, cluster).certificate)
  const says = (marks: readonly string[]) => cluster.run((tx) => noteTrust(tx, cluster.greeting(bundle), marks))
  assert.equal(await says([authorityMark(present), other]), true)
  assert.deepEqual(await cluster.run((tx) => waitedFor(tx, 'dr', NOW)), ['site/b'])
  assert.deepEqual(await toTrust(cluster, bundle), [present, next], 'it is told again')
  assert.equal(await says([authorityMark(present), other]), false)
  await cluster.run((tx) => revokeSecondary(tx, 'dr', 'site/b'))
  assert.equal(await says([authorityMark(present)]), false)
  assert.equal(await toTrust(cluster, bundle), undefined)
  assert.equal((await cluster.run((tx) => findSecondary(tx, 'dr', 'site/b')))?.trusts.includes(other), true)
})

test('a day before its end the next one signs, and the present one again where the clock is set back', async () => {
  const { cluster, bundle } = await letIn(75)
  cluster.nowMs = END_MS - CLOSE_TO_END_MS
  const { present } = await kept(cluster)
  assert.deepEqual(await signing(cluster), present, 'there is no other')
  assert.equal(await step(cluster), 'begun')
  assert.equal(await step(cluster), undefined)
  const { next } = await kept(cluster)
  assert.deepEqual(await signing(cluster), next)
  const { bundle: late } = await cluster.issue('dr', 'late')
  assert.deepEqual(authoritiesIn(late), [next])
  cluster.nowMs = END_MS - CLOSE_TO_END_MS - 1
  assert.deepEqual(await signing(cluster), present)
  cluster.nowMs = NOW
  assert.deepEqual(await signing(cluster), present)
  outcome(await cluster.admit(bundle), 'admitted')
  assert.equal(await trusts(cluster, bundle), true)
  // One that was made by a clock that was ahead is good when it is right.
  assert.equal(await step(cluster), 'changed')
  outcome(await cluster.admit((await cluster.issue('dr', 'c')).bundle), 'not_activated')
})

test('who was away for years does not keep a set from a third authority', async () => {
  const { cluster } = await letIn(76)
  cluster.nowMs = DUE_MS
  assert.equal(await step(cluster), 'begun')
  const { present, next } = await kept(cluster)
  for (const nowMs of [END_MS + DAY_MS, DUE_MS + (AUTHORITY_LIFE_MS * 2) / 3 - DAY_MS]) {
    cluster.nowMs = nowMs
    assert.equal(await step(cluster), undefined)
  }
  cluster.nowMs += DAY_MS
  assert.equal(await step(cluster), undefined, 'the clock alone says so')
  await cluster.letIn((await cluster.issue('dr', 'c')).bundle)
  assert.equal(await step(cluster), 'changed')
  assert.equal(await step(cluster), 'begun')
  const third = await kept(cluster)
  assert.deepEqual([third.present, third.old], [next, present])
  assert.equal(await step(cluster), undefined)
})

test('one that is revoked is refused with a leaf of either authority, at each step', async () => {
  for (const steps of [0, 1, 2]) {
    const { cluster, bundle } = await letIn(84)
    cluster.nowMs = renewalDueMs(readCertificate(bundle.leaf))
    await begin(cluster)
    await trusts(cluster, bundle)
    if (steps > 0) assert.equal(await step(cluster), 'changed')
    const renewed = await cluster.renew(bundle)
    assert.ok('certificate' in renewed)
    if (steps > 1) outcome(await cluster.admit(bundle, renewed.certificate), 'admitted')
    await cluster.run((tx) => revokeSecondary(tx, 'dr', 'site/b'))
    for (const leaf of [bundle.leaf, renewed.certificate]) outcome(await cluster.admit(bundle, leaf), 'revoked')
    assert.equal(await step(cluster), steps === 0 ? 'changed' : 'dropped')
    assert.equal(await step(cluster), steps === 0 ? 'dropped' : undefined)
    // Who has a leaf of an authority that is gone is not of the set at all.
    outcome(await cluster.admit(bundle), 'set_mismatch')
  }
})

test('a clock that is years ahead takes the place of the old one from nobody whose leaf is of it', async () => {
  const { cluster, bundle } = await letIn(81)
  await begin(cluster)
  await trusts(cluster, bundle)
  assert.equal(await step(cluster), 'changed')
  await begin(cluster)
  await trusts(cluster, bundle)
  const before = await kept(cluster)
  cluster.nowMs = END_MS + AUTHORITY_LIFE_MS
  assert.equal(await step(cluster), undefined)
  assert.deepEqual(await kept(cluster), before)
  cluster.nowMs = NOW
  outcome(await cluster.admit(bundle), 'admitted')
})

test('one that is made while the clock is years behind ends no earlier than that which it follows', async () => {
  const { cluster, bundle } = await letIn(82)
  cluster.nowMs = NOW - 5 * AUTHORITY_LIFE_MS
  await begin(cluster)
  cluster.nowMs = NOW
  const { present, next = assert.fail() } = await kept(cluster)
  assert.deepEqual([readCertificate(next).notAfterMs, readCertificate(present).notAfterMs], [END_MS, END_MS])
  await trusts(cluster, bundle)
  assert.equal(await step(cluster), 'changed')
  outcome(await cluster.admit((await cluster.issue('dr', 'c')).bundle), 'not_activated')
})

test('the old one stays while a leaf of it counts, be it one that was not used yet', async () => {
  const { cluster, bundle } = await letIn(83)
  await begin(cluster)
  await trusts(cluster, bundle)
  assert.equal(await step(cluster), 'changed')
  const { present, old } = await kept(cluster)
  const entry = (await cluster.run((tx) => findSecondary(tx, 'dr', 'site/b'))) ?? assert.fail()
  const ofNew = { ...entry.leaf, authority: authorityMark(present) }
  await cluster.run(async (tx) => putSecondary(tx, 'dr', { ...entry, leaf: ofNew, renewed: entry.leaf }))
  assert.equal(await step(cluster), undefined)
  assert.deepEqual((await kept(cluster)).old, old)
  await cluster.run(async (tx) => putSecondary(tx, 'dr', { ...entry, leaf: ofNew, renewed: null }))
  assert.equal(await step(cluster), 'dropped')
})

test('only the primary that writes begins one, and asking twice begins one', async () => {
  const { cluster, bundle, secondary } = await letIn(77)
  await assert.rejects(begin(secondary), refusedWith(400, /in mode bootstrapping/))
  await secondary.run((tx) => copyIsWhole(tx, 'dr', NOW))
  for (const other of [secondary, cluster]) other.nowMs = DUE_MS
  assert.equal(await step(secondary), undefined)
  await cluster.run((tx) => noteHandingOver(tx, NOW))
  assert.equal(await step(cluster), undefined)
  await assert.rejects(begin(cluster), refusedWith(503, /hands over/))
  await cluster.run(async (tx) => tx.delete(setPath('dr', 'handing-over')))
  await begin(cluster)
  const before = new Map(cluster.view.entries)
  await begin(cluster)
  assert.deepEqual(cluster.view.entries, before)
  assert.equal(await toTrust(cluster, bundle), undefined, 'its leaf has ended')
  await cluster.run((tx) => takeConflict(tx, 'dr'))
  assert.equal(await step(cluster), undefined, 'it is fenced')
  await assert.rejects(begin(cluster), refusedWith(503, /took over/))
})

test('all that there was of a change is gone with the set, and with a promotion', async () => {
  const { cluster, bundle, secondary } = await letIn(78)
  await begin(cluster)
  const told = (await toTrust(cluster, bundle)) ?? assert.fail()
  await secondary.run((tx) => keepTrust(tx, 'dr', told))
  await cluster.run((tx) => disableFamily(tx, 'dr', 'primary/disable'))
  assert.deepEqual([...cluster.view.entries.keys()], [])
  await secondary.run((tx) => copyIsWhole(tx, 'dr', NOW))
  const authority = newAuthority({ setId: bundle.setId, family: 'dr' }, secondary)
  const promotion = { family: 'dr', authority, clusterAddress: '', historyId: Buffer.alloc(16, 9) } as const
  await secondary.run((tx) => promotePrimary(tx, { ...promotion, followed: undefined, nowMs: NOW }))
  assert.deepEqual(trustedOf(await kept(secondary)), [authority.certificate])
})

test('a secondary trusts what it is told, if that has the authority of its leaf, and nothing else', async () => {
  const { cluster, bundle, secondary } = await letIn(79)
  await begin(cluster)
  const { present, next = assert.fail() } = await kept(cluster)
  const keep = (trusted: readonly Buffer[]) => secondary.run((tx) => keepTrust(tx, 'dr', trusted))
  const trusted = async () => (await secondary.run((tx) => ownIdentity(tx, 'dr')))?.trusted
  const ofOtherSet = newAuthority({ setId: cluster.random.uuid(), family: 'dr' }, cluster).certificate
  const bad = [[], [next], [present, ofOtherSet], [present, bundle.leaf], [present, Buffer.alloc(9)]]
  const before = new Map(secondary.view.entries)
  for (const one of [...bad, [present, next, next, next]])
    await assert.rejects(keep(one), { name: 'CertificateRefused' })
  await assert.rejects(
    new SetCluster(80).run((tx) => keepTrust(tx, 'dr', [present])),
    { name: 'CertificateRefused' },
  )
  assert.deepEqual(secondary.view.entries, before)
  assert.equal(await keep([present]), false)
  assert.equal(await keep([next, present]), true)
  assert.equal(await keep([present, next]), false)
  assert.deepEqual(await trusted(), [present, next])
  assert.equal(await trusts(cluster, bundle), true)
  assert.equal(await step(cluster), 'changed')
  cluster.nowMs = renewalDueMs(readCertificate(bundle.leaf))
  const renewed = await cluster.renew(bundle)
  assert.ok('certificate' in renewed)
  const { certificate, key } = renewed
  await assert.rejects(
    secondary.run((tx) => keepRenewedLeaf(tx, 'dr', { certificate, key, trusted: [present] }, cluster.nowMs)),
    { name: 'CertificateRefused' },
  )
  await secondary.run((tx) => keepRenewedLeaf(tx, 'dr', { certificate, key, trusted: [next, present] }, cluster.nowMs))
  assert.deepEqual(await trusted(), [next, present])
  assert.equal(await keep([next]), true)
  assert.deepEqual(await trusted(), [next])
})
