// A cluster is let in: what it asks of the primary, and what its operator reads where that fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEY_PACKAGE } from '../../../test/fixtures/link-owner.ts'
import { LinkedCluster, LinkedClusters } from '../../../test/fixtures/linked-clusters.ts'
import { THIEF } from '../../../test/fixtures/set-cluster.ts'
import { findSecondary } from '../set/records.ts'
import type { ActivationKnock, Knocked } from './link-sides.ts'

async function withToken(seed: number) {
  const clusters = await LinkedClusters.begin(seed)
  await clusters.write(1)
  const bundle = await clusters.issue('s')
  const s = new LinkedCluster(clusters, 's')
  const ask = (what: ActivationKnock['what'], changed: Partial<ActivationKnock> = {}): Promise<Knocked> =>
    clusters.time.until(s.host.knock(clusters.knock(bundle, what, changed)))
  const state = () => clusters.registry.run(async (tx) => (await findSecondary(tx, 'dr', 's'))?.state)
  return { clusters, bundle, s, ask, state }
}

const kindOf = (knocked: Knocked): string => ('code' in knocked ? knocked.code : knocked.kind)

test('T5: a look changes nothing, a claim gives the keys, a confirmation uses the token up', async () => {
  const { clusters, ask, state } = await withToken(1)
  assert.deepEqual(await ask('look'), { kind: 'welcome', version: '1.2.0', clockSkewMs: 0 })
  // A look with another key did not bind the token to that.
  assert.equal(kindOf(await ask('look', { receiver: THIEF })), 'welcome')
  assert.deepEqual(await ask('claim'), { kind: 'package', package: KEY_PACKAGE, clockSkewMs: 0 })
  assert.equal(await state(), 'issued')
  assert.equal(kindOf(await ask('claim', { receiver: THIEF })), 'token')
  // It did not get the answer, or crashed.
  assert.equal(kindOf(await ask('claim')), 'package')
  assert.equal(kindOf(await ask('confirm')), 'welcome')
  assert.equal(kindOf(await ask('confirm')), 'welcome')
  assert.equal(await state(), 'active')
  const refused = await ask('claim')
  assert.ok(refused.kind === 'refused' && /was used already: issue a new one/.test(refused.sentence), kindOf(refused))
  assert.deepEqual(
    clusters.primary.lines.map(({ message }) => message).filter((one) => /was given the keys/.test(one)),
    ['A secondary was given the keys of this cluster', 'A secondary was given the keys of this cluster'],
  )
})

test('a wrong nonce, a confirmation before a claim and a token that was replaced are refused', async () => {
  const { clusters, ask } = await withToken(2)
  assert.equal(kindOf(await ask('claim', { nonce: Buffer.alloc(32, 9) })), 'token')
  assert.equal(kindOf(await ask('confirm')), 'not-activated')
  await clusters.issue('s')
  assert.equal(kindOf(await ask('look')), 'revoked')
  await clusters.time.leap(1_800_000)
})

test('an older cluster is not let in', async () => {
  const { ask } = await withToken(3)
  const facts = { version: '1.0.0', clusterId: 'n', clusterAddresses: [], apiAddress: '' }
  const refused = await ask('look', { facts })
  assert.ok(refused.kind === 'refused' && refused.code === 'version')
  assert.match(refused.sentence, /1\.2\.0.*1\.0\.0: upgrade the secondary first/)
})

test('a primary whose clock is off shows by how much', async () => {
  const { clusters, ask } = await withToken(4)
  const off = { nowMs: () => clusters.time.nowMs + 90_000 }
  const skewed = new LinkedCluster(clusters, 's', undefined, off)
  const bundle = await clusters.issue('t')
  const answer = await clusters.time.until(skewed.host.knock(clusters.knock(bundle, 'look')))
  assert.ok(answer.kind === 'welcome' && answer.clockSkewMs === -90_000, JSON.stringify(answer))
  assert.equal(kindOf(await ask('look')), 'welcome')
})

test('a secondary confirms by itself what its primary has not heard, and then follows', async () => {
  const { clusters, bundle, ask, state } = await withToken(5)
  assert.equal(kindOf(await ask('claim')), 'package')
  // The link is lost behind the package: what it gave was stored, and the primary does not know.
  clusters.network.reset('p', 's')
  clusters.network.cut('s', 'p')
  const { nonce, receiver } = clusters.knock(bundle, 'confirm')
  const s = new LinkedCluster(clusters, 's')
  s.owner.toConfirm = { nonce, receiver }
  await s.followToken(bundle)
  await clusters.time.pass(20_000)
  const { connection, idle } = await s.following()
  assert.deepEqual([connection === 'ready', idle?.reason, await state()], [false, 'timeout', 'issued'])
  clusters.network.heal('s', 'p')
  await clusters.untilSame(s)
  assert.deepEqual([s.owner.toConfirm, await state()], [undefined, 'active'])
})

test('a secondary whose confirmation is refused idles with the reason', async () => {
  const { clusters, bundle } = await withToken(6)
  const s = new LinkedCluster(clusters, 's')
  s.owner.toConfirm = { nonce: Buffer.alloc(32, 9), receiver: THIEF }
  await s.followToken(bundle)
  await clusters.time.pass(1_000)
  const { connection, idle } = await s.following()
  assert.deepEqual([connection, idle?.reason], ['idle', 'token'])
})

test('a link that ends before the answer, and a primary that gives none, are told', async () => {
  const { clusters, ask } = await withToken(7)
  const { time, network, primary } = clusters
  primary.owner.claim = () => new Promise(() => {})
  const asked = ask('look')
  await time.pass(5_000)
  network.reset('p', 's')
  const cut = await asked
  assert.ok(cut.kind === 'no-link' && cut.reason === 'cut', JSON.stringify(cut))
  assert.match(cut.sentence, /^The link to p:8201 ended before the answer \(.+\)\. Try again$/)
  const startedMs = time.nowMs
  const late = await ask('look')
  assert.ok(late.kind === 'no-link' && late.reason === 'timeout', JSON.stringify(late))
  assert.match(late.sentence, /^p:8201 took the link, and did not answer within 15 s$/)
  assert.ok(time.nowMs - startedMs <= 15_100)
})

test('T8: what is wrong with an address is said with host and port and what to do', async () => {
  const { clusters, bundle, ask } = await withToken(8)
  const { network } = clusters
  network.host('q').foreign(1, 'http')
  network.host('q').foreign(2, 'tls')
  network.host('q').foreign(3, 'silent')
  const stranger = await LinkedClusters.begin(9)
  const strange = await stranger.issue('s')
  const { identity } = stranger.knock(strange, 'look')
  const cases: readonly (readonly [Partial<ActivationKnock>, string, RegExp])[] = [
    [{ address: 'https://nowhere:8201' }, 'unreachable', /^nowhere:8201 cannot be reached.*Check "cluster_addr"/],
    [{ address: 'https://p:8202' }, 'refused', /^p:8202 refuses connections.*firewalls/],
    [{ address: 'https://q:1' }, 'foreign', /^q:1 does not speak TLS.*must pass TCP through/],
    [{ address: 'https://q:2' }, 'foreign', /^q:2 .*must pass TCP through/],
    [{ address: 'https://q:3' }, 'timeout', /^q:3 takes connections, and does not answer.*Check "cluster_addr"/],
    [{ set: stranger.set, identity }, 'rejected', /^p:8201 does not serve this set.*leads to the primary of this set/],
    [
      { identity },
      'untrusted',
      /^p:8201 showed a certificate.*does it lead to another cluster\? .* a new activation token is needed$/,
    ],
    [{ address: 'http://p:8201' }, 'unreachable', /^The address of the cluster port is no address that begins with/],
  ]
  for (const [changed, reason, sentence] of cases) {
    const knocked = await ask('look', changed)
    assert.ok(knocked.kind === 'no-link', JSON.stringify(knocked))
    assert.equal(knocked.reason, reason, knocked.sentence)
    assert.match(knocked.sentence, sentence)
  }
  network.host('s').clock = { nowMs: () => bundle.endsAtMs + 400 * 86_400_000 }
  const early = await ask('look')
  assert.ok(early.kind === 'no-link' && early.reason === 'clock' && /Set the clocks/.test(early.sentence))
})

test('a question is given up where its server is sealed: its keys are needed no more', async () => {
  const { clusters, bundle, s } = await withToken(9)
  for (const [from, to] of [
    ['s', 'p'],
    ['p', 's'],
  ] as const) {
    clusters.network.set(from, to, { delayMs: 200 })
  }
  // In the midst of the dial, and of the question.
  for (const afterMs of [300, 700]) {
    let isOver = false
    const asked = s.host.knock(clusters.knock(bundle, 'look')).finally(() => {
      isOver = true
    })
    await clusters.time.pass(afterMs)
    assert.equal(isOver, false)
    await s.play({ listenAt: [], parts: [] })
    await clusters.time.pass(500)
    assert.equal(isOver, true)
    assert.equal((await asked).kind, 'no-link')
  }
})
