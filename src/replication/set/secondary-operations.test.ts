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
} from '../../../test/fixtures/set-cluster.ts'
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import { encodeActivation } from './activation-bundle.ts'
import { openActivation, readActivationToken, sealActivation } from './activation-token.ts'
import { MAX_KEPT_ADDRESSES, noteSecondary } from './admission.ts'
import { signingAuthority } from './authorities.ts'
import {
  CLIENT_LIFE_MS,
  EARLY_MS,
  LAST_DAYS_MS,
  newLeaf,
  newLeafKey,
  publicKeyOf,
  renewalDueMs,
} from './certificates.ts'
import { disableFamily } from './primary-operations.ts'
import { familyParts, findSecondary, readState, type SetTransaction } from './records.ts'
import {
  activationOf,
  activationWasHeard,
  becomeSecondary,
  copyIsWhole,
  keepActivation,
  keepPendingKey,
  keepPrimaryAddresses,
  keepRenewedLeaf,
  keptActivation,
  ownIdentity,
  pendingKey,
} from './secondary-operations.ts'

const DAY_MS = 86_400_000
/** The digest of a text that a token came as. */
const OF = Buffer.alloc(32, 4)

test('a cluster becomes a secondary from a sealed token, and is the one that the primary lets in', async () => {
  const { cluster, bundle, setId } = await primaryOfSet(17)
  const secondary = new SetCluster(18)
  const first = secondary.random.bytes(32)
  const firstText = await secondary.run((tx) => keepPendingKey(tx, 'dr', first))
  const keyText = await secondary.run((tx) => keepPendingKey(tx, 'dr', secondary.random.bytes(32)))
  const opened = async (text: string) => {
    const token = readActivationToken(text)
    assert.ok(token.kind === 'sealed')
    return openActivation(token, { family: 'dr', seed: await secondary.run((tx) => pendingKey(tx, 'dr')) })
  }
  // A new key voids what was sealed for the one before.
  await assert.rejects(opened(sealActivation(bundle, firstText, cluster.random)), { reason: 'receiver' })
  const got = await opened(sealActivation(bundle, keyText, cluster.random))

  const receiver = secondary.random.bytes(32)
  await secondary.run((tx) => keepActivation(tx, 'secondary/enable', { bundle: got, receiver }, OF))
  assert.equal((await secondary.run(familyParts)).dr.mode, 'disabled')
  const kept = (await secondary.run((tx) => keptActivation(tx, 'dr'))) ?? assert.fail()
  assert.deepEqual(await secondary.run((tx) => activationOf(tx, 'dr', OF)), kept, 'the next try goes on from it')
  assert.equal(await secondary.run((tx) => activationOf(tx, 'dr', Buffer.alloc(32, 9))), undefined)
  assert.deepEqual([encodeActivation(kept.bundle), kept.receiver], [encodeActivation(bundle), receiver])
  outcome(await cluster.claim(kept.bundle), 'admitted')
  await secondary.run((tx) => becomeSecondary(tx, kept, NOW + 1))
  assert.equal(await secondary.run((tx) => pendingKey(tx, 'dr')), undefined)
  outcome(await cluster.confirm(kept.bundle), 'admitted')
  await secondary.run(async (tx) => activationWasHeard(tx, 'dr', kept.bundle.nonce.reveal()))
  assert.equal(await secondary.run((tx) => keptActivation(tx, 'dr')), undefined)
  const entries = ['dr/identity', 'dr/leaf-key', 'dr/receiver', 'dr/state']
  assert.deepEqual(
    [...secondary.view.entries.keys()].toSorted(),
    entries,
    'the next shares are sealed for the receiver',
  )
  assert.equal((await secondary.run(familyParts)).dr.mode, 'bootstrapping')
  assert.equal(await secondary.run((tx) => copyIsWhole(tx, 'dr', NOW + 2)), true)
  assert.equal(await secondary.run((tx) => copyIsWhole(tx, 'dr', NOW + 3)), false)
  assert.deepEqual(await secondary.run((tx) => readState(tx, 'dr')), {
    mode: 'secondary',
    setId,
    epoch: 1,
    clusterAddress: '',
    isFenced: false,
    sinceMs: NOW + 2,
  })
  const identity = (await secondary.run((tx) => ownIdentity(tx, 'dr'))) ?? assert.fail()
  assert.deepEqual(identity.peer, { setId, family: 'dr', role: 'secondary', id: 'site/b' })
  assert.deepEqual(publicKeyOf(identity.own.key), identity.leaf.spki)
  outcome(await cluster.admit(bundle, identity.own.certificate), 'admitted')
  for (const again of [
    keepActivation(await tx(secondary), 'secondary/enable', kept, OF),
    becomeSecondary(await tx(secondary), { bundle, receiver: RECEIVER }, NOW),
  ])
    await assert.rejects(again, refusedWith(400, /gives it another primary/))
  await secondary.run((tx) => disableFamily(tx, 'dr', 'secondary/disable'))
  assert.equal(secondary.view.entries.size, 0)
})

/** A transaction that is read from, and whose writes are dropped. */
async function tx(cluster: SetCluster): Promise<SetTransaction> {
  let found: SetTransaction | undefined
  await cluster.run(async (one) => {
    found = one
  })
  return found ?? assert.fail()
}

test('a primary makes no key for activation, and keeps no activation of its own', async () => {
  const { cluster, bundle } = await primaryOfSet(23)
  const before = new Map(cluster.view.entries)
  const seed = cluster.random.bytes(32)
  for (const work of [
    (tx: SetTransaction) => keepPendingKey(tx, 'dr', seed),
    (tx: SetTransaction) => keepActivation(tx, 'secondary/enable', { bundle, receiver: seed }, OF),
    (tx: SetTransaction) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, NOW),
  ])
    await assert.rejects(cluster.run<unknown>(work), refusedWith(400, /in mode primary/))
  assert.deepEqual(cluster.view.entries, before)
})

test('a secondary keeps a renewed leaf with its key, and no leaf that is not its own', async () => {
  const { cluster, bundle } = await primaryOfSet(19)
  const secondary = new SetCluster(20)
  await assert.rejects(
    secondary.run((tx) =>
      keepRenewedLeaf(
        tx,
        'dr',
        {
          certificate: bundle.leaf,
          key: bundle.leafKey.reveal(),
          trusted: [bundle.authority],
        },
        NOW,
      ),
    ),
    { name: 'CertificateRefused' },
  )
  await cluster.letIn(bundle)
  await secondary.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, NOW))
  cluster.nowMs = NOW + (CLIENT_LIFE_MS * 2) / 3
  const renewed = await cluster.renew(bundle)
  assert.ok('certificate' in renewed)
  const { certificate, key } = renewed
  const { bundle: other } = await cluster.issue('dr', 'site/c')
  const before = new Map(secondary.view.entries)
  const authority = await cluster.run((tx) => signingAuthority(tx, 'dr', cluster.nowMs))
  const trusted = [authority.certificate]
  const node = newLeaf(authority, { ...bundle, role: 'primary' }, publicKeyOf(key), cluster)
  for (const bad of [
    { certificate: node, key },
    { certificate, key: newLeafKey(cluster.random) },
    { certificate: other.leaf, key: other.leafKey.reveal() },
    { certificate: Buffer.alloc(3), key },
  ])
    await assert.rejects(
      secondary.run((tx) => keepRenewedLeaf(tx, 'dr', { ...bad, trusted }, cluster.nowMs)),
      { name: 'CertificateRefused' },
    )
  assert.deepEqual(secondary.view.entries, before)
  await secondary.run((tx) => keepRenewedLeaf(tx, 'dr', { certificate, key, trusted }, cluster.nowMs))
  const identity = (await secondary.run((tx) => ownIdentity(tx, 'dr'))) ?? assert.fail()
  assert.deepEqual(identity.own, { certificate, key })
  outcome(await cluster.admit(bundle, identity.own.certificate), 'admitted')
})

test('a leaf that does not hold yet by the clock here is kept only when the one before soon ends', async () => {
  const { cluster, bundle } = await primaryOfSet(25)
  const secondary = new SetCluster(26)
  await cluster.letIn(bundle)
  await secondary.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, NOW))
  const trusted = [bundle.authority]
  const lastMs = readCertificate(bundle.leaf).notAfterMs
  const kept = async () => ((await secondary.run((tx) => ownIdentity(tx, 'dr'))) ?? assert.fail()).own.certificate
  /** What a primary with this clock answers, to a secondary whose clock is so far behind. */
  const take = async (nowMs: number, behindMs: number): Promise<Buffer> => {
    cluster.nowMs = nowMs
    const renewed = await cluster.renew(bundle)
    assert.ok('certificate' in renewed)
    await secondary.run((tx) => keepRenewedLeaf(tx, 'dr', { ...renewed, trusted }, nowMs - behindMs))
    return renewed.certificate
  }
  const due = renewalDueMs(readCertificate(bundle.leaf))
  for (const [nowMs, behindMs] of [
    [due, EARLY_MS + 1_000],
    [due, 25 * DAY_MS],
    [lastMs - LAST_DAYS_MS - 1_000, EARLY_MS + 1_000],
  ] as const) {
    const clocks = new RegExp(
      `begins ${new Date(nowMs - EARLY_MS).toISOString()}, and the clock here says ` +
        `${new Date(nowMs - behindMs).toISOString()}`,
    )
    await assert.rejects(take(nowMs, behindMs), { name: 'CertificateRefused', message: clocks })
    assert.deepEqual(await kept(), bundle.leaf)
    outcome(await cluster.admit(bundle), 'admitted')
  }
  // The last days, by the clock of the primary.
  const late = await take(lastMs - LAST_DAYS_MS + 1_000, 2 * DAY_MS)
  assert.deepEqual(await kept(), late)
})

test('a leaf that began an hour ago by the clock of the primary is kept by one that is an hour behind', async () => {
  const { cluster, bundle } = await primaryOfSet(27)
  const secondary = new SetCluster(28)
  await cluster.letIn(bundle)
  await secondary.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, NOW))
  cluster.nowMs = renewalDueMs(readCertificate(bundle.leaf))
  const renewed = await cluster.renew(bundle)
  assert.ok('certificate' in renewed)
  const leaf = { ...renewed, trusted: [bundle.authority] }
  await secondary.run((tx) => keepRenewedLeaf(tx, 'dr', leaf, cluster.nowMs - EARLY_MS))
  const identity = (await secondary.run((tx) => ownIdentity(tx, 'dr'))) ?? assert.fail()
  assert.deepEqual(identity.own.certificate, renewed.certificate)
})

test('what each side tells the other of itself is kept, without what is no address', async () => {
  const { cluster, bundle } = await primaryOfSet(21)
  const acknowledged = { historyId: HISTORY.toString('base64'), index: 7 }
  const many = Array.from({ length: MAX_KEPT_ADDRESSES + 1 }, (_, at) => `https://b${at}:8201`)
  const told = { acknowledged, clusterAddresses: ['http://b:1', '', ...many], apiAddress: 'ftp://b' }
  const note = () => cluster.run((tx) => noteSecondary(tx, 'dr', 'site/b', told))
  const found = () => cluster.run((tx) => findSecondary(tx, 'dr', 'site/b'))
  await note()
  assert.equal((await found())?.acknowledged, null, 'it was not let in yet')
  await cluster.letIn(bundle)
  await note()
  const entry = await found()
  assert.deepEqual(
    [entry?.acknowledged, entry?.clusterAddresses, entry?.apiAddress],
    [acknowledged, many.slice(0, MAX_KEPT_ADDRESSES), ''],
  )
  const secondary = new SetCluster(22)
  await secondary.run((tx) => keepPrimaryAddresses(tx, 'dr', many, ''))
  assert.equal(secondary.view.entries.size, 0)
  await secondary.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, NOW))
  await secondary.run((tx) => keepPrimaryAddresses(tx, 'dr', told.clusterAddresses, 'https://a2:8200'))
  const { record } = (await secondary.run((tx) => ownIdentity(tx, 'dr'))) ?? assert.fail()
  assert.deepEqual([record.clusterAddress, record.knownAddresses], ['https://a1:8201', many.slice(0, 16)])
  assert.equal(record.apiAddress, 'https://a2:8200')
  const again = (api: string) => secondary.run((tx) => keepPrimaryAddresses(tx, 'dr', told.clusterAddresses, api))
  assert.deepEqual([await again('https://a2:8200'), await again('no address')], [false, false], 'nothing is new')
})
