// Secondaries follow a primary over links, from end to end: real certificates and records, simulated network, virtual
// time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkedCluster, LinkedClusters, partOf, serverIdentity } from '../../../test/fixtures/linked-clusters.ts'
import { pseudoRandom } from '../../../test/fixtures/pseudo-random.ts'
import { seededRuns } from '../../../test/fixtures/seeded-runs.ts'
import type { Link } from '../../lib/links.ts'
import { StorageClosed, StorageFull } from '../../storage/errors.ts'
import { LINK_TIMES } from './link-times.ts'
import { MessageLink } from './message-link.ts'
import { type RefusedCode, refusedMessage } from './refusals.ts'

/** How soon both ends of a link must know that it is dead. */
const NOTICED_MS = 15_000
const FOLLOWS = 'A secondary follows'

async function followed(seed: number, family: 'dr' | 'performance' = 'dr') {
  const clusters = await LinkedClusters.begin(seed, family)
  await clusters.write(100)
  const s = await clusters.follow('s')
  await clusters.untilSame(s)
  return { clusters, primary: clusters.primary, s }
}

const connected = async ({ host }: LinkedCluster): Promise<readonly string[]> =>
  (await host.status()).secondaries.filter(({ isConnected }) => isConnected).map(({ id }) => id)

/** A host whose cluster port refuses everybody. */
async function refusing(
  clusters: LinkedClusters,
  name: string,
  code: RefusedCode,
  { retryAfterMs = 0, address = '', onDial = () => {} } = {},
): Promise<void> {
  const identity = await serverIdentity(clusters.registry, clusters.set)
  const thread = clusters.time.newThread()
  const parts = { world: thread, times: LINK_TIMES, count: () => {} }
  const accept = (link: Link): void => {
    onDial()
    const refused = { ...refusedMessage(code, 'Another one is it', retryAfterMs), address }
    void new MessageLink(link, parts, new Set()).hangUp(refused, 'refused')
  }
  const serving = { identities: () => identity, protocols: ['rep-dr/1'], accept }
  await clusters.network.host(name).links.listen({ host: name, port: 8_201 }, serving)
}

const countOf = ({ lines }: LinkedCluster, message: string): number =>
  lines.filter((line) => line.message === message).length

const idleReason = async (cluster: LinkedCluster): Promise<string | undefined> =>
  (await cluster.following()).idle?.reason

test('a secondary copies what its primary has, and follows what that writes', async () => {
  for (const family of ['dr', 'performance'] as const) {
    const { clusters, primary, s } = await followed(1, family)
    await clusters.write(5)
    assert.ok((await clusters.untilSame(s)) < 1_000)
    await clusters.requireSame(s)
    await clusters.time.pass(12_000)
    const { secondaries, ports, faults } = await primary.host.status()
    const { index } = await primary.store.position()
    assert.deepEqual([ports, faults], [[8_201], []])
    const { canaryAgeMs, lastBeatMs, clusterId, ...told } = secondaries[0] ?? assert.fail('it is not known')
    assert.notEqual(clusterId, '')
    assert.deepEqual(told, {
      family,
      id: 's',
      isConnected: true,
      apiAddress: 'https://s:8200',
      clusterAddress: 'https://s:8201',
      roundTripMs: 2,
      clockSkewMs: 0,
      acknowledgedIndex: index,
    })
    assert.ok((canaryAgeMs ?? 9_999) < 2_100 && clusters.time.nowMs - (lastBeatMs ?? 0) <= 1_001, String(canaryAgeMs))
    const { peers, progress, unheardMs, ...state } = await s.following()
    assert.ok(unheardMs !== undefined && unheardMs < 1_001, String(unheardMs))
    const primaryFacts = { primaryIndex: index, lagMs: 0, primaryVersion: '1.2.0' }
    assert.deepEqual(state, { family, connection: 'ready', idle: undefined, refused: undefined, ...primaryFacts })
    assert.deepEqual([progress?.what, progress?.index], ['stream', index])
    assert.deepEqual(
      peers.map((peer) => [
        peer.isConnected,
        peer.apiAddress,
        peer.clusterAddress,
        (peer.canaryAgeMs ?? 9_999) <= 1_001,
      ]),
      [[true, 'https://p:8200', 'https://p:8201', true]],
    )
    assert.deepEqual(s.owner.primaryAt, [[['https://p:8201'], 'https://p:8200']])
    assert.deepEqual(primary.owner.notes, [{ id: 's', acknowledged: index, api: 'https://s:8200' }])
  }
})

const CUTS = {
  'in both directions': [
    ['p', 's'],
    ['s', 'p'],
  ],
  'from the primary': [['p', 's']],
  'from the secondary': [['s', 'p']],
} as const

for (const [where, paths] of Object.entries(CUTS)) {
  test(`T22: a link that is cut ${where} is noticed at both ends, and made again when it can be`, async () => {
    const { clusters, primary, s } = await followed(2)
    for (const [from, to] of paths) clusters.network.cut(from, to)
    await clusters.write(1)
    await clusters.time.pass(NOTICED_MS)
    assert.deepEqual(await connected(primary), [])
    const { connection, peers } = await s.following()
    assert.notEqual(connection, 'ready')
    assert.deepEqual(
      peers.map(({ isConnected }) => isConnected),
      [false],
    )
    for (const [from, to] of paths) clusters.network.heal(from, to)
    assert.ok((await clusters.untilSame(s, 20_000)) <= NOTICED_MS)
    await clusters.requireSame(s)
  })
}

test('T23: a side that lost its link without a word makes the other one notice', async () => {
  const { clusters, primary, s } = await followed(3)
  clusters.network.loseAt('p', 's')
  await clusters.time.pass(NOTICED_MS)
  await clusters.untilSame(s)
  assert.deepEqual(await connected(primary), ['s'])
  clusters.network.host('s').crash()
  await clusters.time.pass(NOTICED_MS)
  assert.deepEqual(await connected(primary), [])
  const [last] = (await primary.host.status()).secondaries
  assert.ok(last?.roundTripMs !== undefined && (last.canaryAgeMs ?? 0) >= 10_000, 'what was known of it stays')
})

test('after a cut only what was written meanwhile is sent', async () => {
  const { clusters, s } = await followed(4)
  await clusters.write(200, 2_000)
  await clusters.untilSame(s)
  clusters.network.reset('p', 's')
  await clusters.write(10)
  clusters.sentBytes = 0
  await clusters.untilSame(s)
  await clusters.requireSame(s)
  const { histories } = await s.owner.standing('dr')
  assert.ok(clusters.sentBytes < 6_000 + 200 * histories.length, `${clusters.sentBytes} bytes`)
})

test('T14: of two clusters with one identity the first one idles, and they do not flap', async () => {
  const { clusters, primary, s } = await followed(5)
  const bundle = await clusters.issue('t')
  await clusters.registry.letIn(bundle)
  const one = await clusters.followWith(bundle, 'one')
  await clusters.untilSame(one)
  const other = await clusters.followWith(bundle, 'other')
  await clusters.untilSame(other)
  await clusters.time.pass(50_000)
  const { connection, idle } = await one.following()
  assert.deepEqual([connection, idle?.reason], ['idle', 'replaced'])
  assert.match(idle?.sentence ?? '', /Another cluster follows with the id/)
  assert.equal((await other.following()).connection, 'ready')
  assert.deepEqual([countOf(primary, FOLLOWS), await connected(primary)], [3, ['s', 't']])
  // It comes again after a minute, and the other one idles then: never more often.
  await clusters.time.pass(120_000)
  assert.ok(countOf(primary, FOLLOWS) <= 6)
  assert.equal((await s.following()).connection, 'ready')
})

test('a secondary that is revoked is cut off within a second at both ends, and then refused', async () => {
  const { clusters, primary, s } = await followed(6)
  await clusters.revoke('s')
  const holds = primary.owner.holds.length
  await clusters.time.until(primary.host.disconnect('dr', 's'))
  assert.deepEqual(await connected(primary), [])
  await clusters.write(1)
  clusters.sentBytes = 0
  await clusters.time.pass(1_000)
  const { connection, idle } = await s.following()
  assert.deepEqual([connection, idle?.reason], ['idle', 'revoked'])
  assert.match(idle?.sentence ?? '', /revoked this secondary.* "secondary\/update-primary" takes it/)
  assert.ok(clusters.sentBytes < 2_000, `a greeting and its refusal have ${clusters.sentBytes} bytes`)
  assert.deepEqual([await connected(primary), primary.owner.holds.length], [[], holds])
  await clusters.time.pass(58_000)
  assert.equal(countOf(primary, 'A secondary was refused'), 1)
  await clusters.time.pass(20_000)
  assert.equal(countOf(primary, 'A secondary was refused'), 2)
})

test('a cluster that was revoked does not push aside the one that has its id now', async () => {
  const { clusters, primary } = await followed(17)
  const revoked = await clusters.issue('t')
  await clusters.registry.letIn(revoked)
  await clusters.revoke('t')
  const bundle = await clusters.issue('t')
  await clusters.registry.letIn(bundle)
  for (const [from, to] of [
    ['p', 'n'],
    ['n', 'p'],
  ] as const) {
    clusters.network.set(from, to, { delayMs: 200 })
  }
  const successor = await clusters.followWith(bundle, 'n')
  // Its greeting takes longer than the other needs to come again.
  for (let each = 0; each < 20; each++) {
    await clusters.dial(revoked, 'rep-dr/1')
    await clusters.dial(revoked, 'rep-boot/1')
    await clusters.time.pass(100)
  }
  assert.deepEqual(await connected(primary), ['s', 't'])
  await clusters.untilSame(successor)
})

test('P-55 T9: an older secondary is told to upgrade first, and a newer one follows', async () => {
  const { clusters, primary } = await followed(7)
  const older = await clusters.follow('older', { version: '1.1.9' })
  const newer = await clusters.follow('newer', { version: '1.3.0' })
  await clusters.untilSame(newer)
  const { connection, idle } = await older.following()
  assert.deepEqual([connection, idle?.reason], ['idle', 'version'])
  const sentence = 'The primary has version 1.2.0, and the secondary 1.1.9: upgrade the secondary first'
  assert.equal(idle?.sentence, sentence)
  assert.deepEqual(await connected(primary), ['s', 'newer'])
  // It is upgraded.
  await older.play({ facts: { ...older.facts, version: '1.2.0' } })
  await clusters.untilSame(older, 90_000)
})

test('T31: 20 secondaries are all back within 15 seconds after their primary', async () => {
  const clusters = await LinkedClusters.begin(8)
  await clusters.write(20)
  const secondaries: LinkedCluster[] = []
  for (let each = 0; each < 20; each++) secondaries.push(await clusters.follow(`s${each}`))
  for (const s of secondaries) await clusters.untilSame(s)
  clusters.primary.kill()
  // The pauses of all have become long.
  await clusters.time.pass(40_000)
  await clusters.primary.restart()
  await clusters.time.pass(NOTICED_MS)
  assert.equal((await connected(clusters.primary)).length, 20)
})

/** The primary has another seal. */
function rekey({ owner, host }: LinkedCluster, number: number): void {
  owner.seal = `seal ${number}`
  host.sealChanged(owner.seal)
}

test('a seal that was rekeyed comes to secondaries that are connected, and to others when they connect', async () => {
  const { clusters, primary, s } = await followed(9)
  const away = await clusters.follow('away')
  await clusters.untilSame(away)
  away.kill()
  rekey(primary, 2)
  await clusters.time.pass(100)
  assert.deepEqual([s.owner.seals, away.owner.seals], [['seal 2'], []])
  await away.restart()
  await clusters.untilSame(away)
  await clusters.time.pass(100)
  assert.deepEqual([s.owner.seals, away.owner.seals], [['seal 2'], ['seal 2']])
  clusters.network.reset('p', 's')
  await clusters.untilSame(s)
  await clusters.time.pass(1_000)
  assert.deepEqual(s.owner.seals, ['seal 2'])
})

test('what a synchronous secondary has of the log and of the seal is told when it says so', async () => {
  const { clusters, primary, s } = await followed(19)
  const parts = primary.state.parts.map((part) => ({ ...part, synchronous: ['s'] }))
  await primary.play({ parts })
  await clusters.time.pass(1_000)
  const index = await primary.store.lastIndex()
  const told = () => primary.owner.progress.splice(0).at(-1)
  assert.deepEqual(told(), ['s', index, 'seal 1'])
  clusters.network.set('p', 's', { delayMs: 100 })
  rekey(primary, 2)
  await clusters.time.pass(99)
  assert.deepEqual(told(), ['s', index, undefined])
  await clusters.time.pass(10)
  assert.deepEqual(told(), ['s', index, 'seal 2'])
  s.kill()
  await clusters.time.pass(1_000)
  assert.deepEqual(told(), ['s', undefined, 'seal 2'])
  s.owner.sealId = 'seal 1'
  s.owner.takeFails = new StorageFull('The device of the data directory is full')
  await s.restart()
  await clusters.time.pass(1_000)
  assert.deepEqual(primary.owner.progress.at(-1)?.[2], undefined, 'its disk was put back, and the seal is sent again')
})

/** A seal has come, and the store of the secondary takes it only when the gate opens. */
async function storingLate(seed: number) {
  const { clusters, primary, s } = await followed(seed)
  const { owner, host } = s
  const taken = owner.sealCame.bind(owner)
  const gate = Promise.withResolvers<void>()
  let before: Promise<unknown> = gate.promise
  // As in a server: one after the other, and a commit is heard of by all.
  owner.sealCame = (...given) => {
    const result = before.then(() => taken(...given)).finally(() => host.sealChanged(owner.sealId))
    before = result
    return result
  }
  rekey(primary, 2)
  await clusters.time.pass(100)
  return { clusters, primary, owner, gate }
}

test('a seal that an earlier link brought, and that is stored late, is not the last one', async () => {
  const { clusters, primary, owner, gate } = await storingLate(21)
  clusters.network.reset('p', 's')
  rekey(primary, 3)
  await clusters.time.pass(20_000)
  assert.equal(owner.sealId, 'seal 1')
  gate.resolve()
  await clusters.time.pass(1_000)
  assert.deepEqual(owner.seals, ['seal 2', 'seal 3'])
})

test('a seal that is stored while the next link is dialed is told of over that link', async () => {
  const { clusters, primary, owner, gate } = await storingLate(25)
  const standing = owner.standing.bind(owner)
  const asked = Promise.withResolvers<void>()
  owner.standing = async (family) => {
    const stands = await standing(family)
    asked.resolve()
    return stands
  }
  rekey(primary, 1)
  clusters.network.set('p', 's', { delayMs: 200 })
  clusters.network.reset('p', 's')
  await clusters.time.until(asked.promise)
  gate.resolve()
  await clusters.time.pass(20_000)
  assert.deepEqual([owner.seals, owner.sealId], [['seal 2', 'seal 1'], 'seal 1'])
})

test('a seal that is the former one again comes behind the one between, which is on its way', async () => {
  const { clusters, primary, s } = await followed(22)
  clusters.network.set('p', 's', { delayMs: 100 })
  rekey(primary, 2)
  await clusters.time.pass(50)
  rekey(primary, 1)
  await clusters.time.pass(1_000)
  assert.deepEqual(s.owner.seals, ['seal 2', 'seal 1'])
})

test('a primary hears which seal its secondary has, also where that is not of this primary', async () => {
  const { clusters, s } = await followed(23)
  s.owner.sealId = 'seal of another'
  s.host.sealChanged(s.owner.sealId)
  await clusters.time.pass(1_000)
  assert.deepEqual([s.owner.seals, s.owner.sealId], [['seal 1'], 'seal 1'])
})

test('a seal that a secondary does not take is not sent again and again', async () => {
  const { clusters, primary, s } = await followed(24)
  let came = 0
  s.owner.sealCame = async () => {
    came++
    return s.owner.sealId
  }
  rekey(primary, 2)
  await clusters.time.pass(60_000)
  assert.equal(came, 1)
})

test('a seal that could not be stored comes again, though nothing else is written', async () => {
  const { clusters, primary, s } = await followed(18)
  s.owner.takeFails = new StorageFull('The device of the data directory is full')
  rekey(primary, 2)
  await clusters.time.pass(1_000)
  assert.deepEqual([s.owner.seals, await idleReason(s)], [[], 'storage_full'])
  s.owner.takeFails = undefined
  await clusters.time.pass(90_000)
  assert.deepEqual(s.owner.seals, ['seal 2'])
})

test('T12: a secondary whose disk is full says so, and goes on when there is room', async () => {
  const { clusters, primary, s } = await followed(10)
  s.owner.takeFails = new StorageFull('The device of the data directory is full')
  await clusters.write(1)
  await clusters.time.pass(1_000)
  const { connection, idle } = await s.following()
  assert.deepEqual([connection, idle?.reason], ['idle', 'storage_full'])
  assert.ok(
    primary.lines.some(({ why }) => why.includes('is full')),
    'the primary is told',
  )
  s.owner.takeFails = undefined
  await clusters.time.pass(25_000)
  assert.equal(await idleReason(s), 'storage_full')
  assert.ok((await clusters.untilSame(s)) < NOTICED_MS)
})

test('a secondary that waits goes on at once when it is told to', async () => {
  const { clusters, s } = await followed(19)
  s.owner.takeFails = new StorageFull('The device of the data directory is full')
  await clusters.write(1)
  await clusters.time.pass(1_000)
  assert.equal(await idleReason(s), 'storage_full')
  s.owner.takeFails = undefined
  await s.host.recover('performance')
  await clusters.time.pass(1_000)
  assert.equal(await idleReason(s), 'storage_full')
  await s.host.recover('dr')
  assert.ok((await clusters.untilSame(s)) < 1_000)
  // With a link there is nothing to do.
  await s.host.recover('dr')
  await clusters.time.pass(1_000)
  assert.equal((await s.following()).connection, 'ready')
})

test('T43: a secondary compares as often as it is told to, over new links where it has to', async () => {
  const { clusters, primary, s } = await followed(20)
  for (let time = 0; time < 5; time++) {
    await s.host.compareAgain('dr')
    await clusters.time.pass(3_000)
    await clusters.write(1)
    await clusters.untilSame(s)
  }
  assert.equal((await s.following()).idle, undefined)
  // Only a comparison that did not help says that a tree is wrong.
  assert.ok(primary.owner.differing.length > 0)
})

test('a store that is being replaced ends the link, and the secondary comes again', async () => {
  const { clusters, primary, s } = await followed(11)
  primary.readsFail = new StorageClosed('The store is being replaced')
  await clusters.time.pass(3_000)
  assert.deepEqual(await connected(primary), [])
  primary.readsFail = undefined
  assert.ok((await clusters.untilSame(s)) < NOTICED_MS)
})

test('a cluster that is no primary any more closes its links, and one that follows no more dials none', async () => {
  const { clusters, primary, s } = await followed(12)
  const { parts } = primary.state
  await primary.play({ parts: [] })
  await clusters.time.pass(1_000)
  const { connection, idle } = await s.following()
  assert.deepEqual([connection, idle?.reason, await connected(primary)], ['transient_failure', 'rejected', []])
  assert.match(idle?.sentence ?? '', /^p:8201 does not serve this set.*Check whether the address leads to the primary/)
  await primary.play({ parts })
  await clusters.untilSame(s)
  await s.play({ parts: [] })
  await clusters.time.pass(20_000)
  assert.deepEqual([await connected(primary), (await s.host.status()).primaries], [[], []])
})

test('no addresses close the port and what came by it', async () => {
  const { clusters, primary, s } = await followed(13)
  await primary.play({ listenAt: [] })
  await clusters.time.pass(1_000)
  assert.deepEqual([(await primary.host.status()).ports, await connected(primary)], [[], []])
  const { idle } = await s.following()
  assert.equal(idle?.reason, 'refused')
  assert.match(idle?.sentence ?? '', /^p:8201 refuses connections: nothing listens there\. Check "cluster_addr"/)
})

test('a server that is sealed says so of the links that it ends', async () => {
  const { clusters, primary } = await followed(16)
  await primary.play({ listenAt: [], parts: [] })
  await clusters.time.pass(1_000)
  const ended = primary.lines.filter(({ message }) => message === 'The link to a secondary has ended')
  assert.deepEqual(
    ended.map(({ why }) => why),
    ['this server is sealed or stops'],
  )
})

test('a port that is in use is said to be so, and opened when it is free', async () => {
  const clusters = await LinkedClusters.begin(14)
  const serving = { identities: () => undefined, protocols: [], accept: () => {} }
  const other = await clusters.network.host('p').links.listen({ host: 'p', port: 9_000 }, serving)
  await clusters.primary.play({ listenAt: [{ host: 'p', port: 9_000 }] })
  const before = await clusters.primary.host.status()
  assert.deepEqual(before.ports, [])
  assert.match(before.faults.join(), /^The cluster port p:9000 is in use: stop what listens there/)
  other.close()
  await clusters.time.pass(5_000)
  const { ports, faults } = await clusters.primary.host.status()
  assert.deepEqual([ports, faults], [[9_000], []])
})

test('T33: the next address is dialed where the first does not answer, and new addresses end a pause', async () => {
  const clusters = await LinkedClusters.begin(15)
  await clusters.write(1)
  const bundle = await clusters.issue('s')
  await clusters.registry.letIn(bundle)
  const s = await clusters.followWith(bundle, 's')
  await clusters.untilSame(s)
  clusters.primary.kill()
  await clusters.time.pass(60_000)
  assert.equal((await s.following()).connection, 'transient_failure')
  await clusters.primary.restart()
  await s.play({ parts: [{ ...partOf(bundle), addresses: ['https://nowhere:8201', 'https://p:8201'] }] })
  await clusters.time.pass(500)
  const { connection, peers } = await s.following()
  assert.deepEqual([connection, peers[0]?.clusterAddress], ['ready', 'https://p:8201'])
})

test('an address that comes while another one is dialed is dialed at once, whatever that one answers', async () => {
  for (let ms = 0; ms < 6; ms++) {
    const clusters = await LinkedClusters.begin(17)
    await clusters.write(1)
    await refusing(clusters, 'former', 'fenced')
    const bundle = await clusters.issue('s')
    await clusters.registry.letIn(bundle)
    const s = new LinkedCluster(clusters, 's')
    const follow = (name: string) => s.play({ parts: [{ ...partOf(bundle), addresses: [`https://${name}:8201`] }] })
    await follow('former')
    await clusters.time.pass(ms)
    await follow('p')
    await clusters.time.pass(500)
    assert.equal((await s.following()).connection, 'ready', `after ${ms} ms`)
  }
})

test('T32: a node that is not active sends a secondary on, and two of them do not play with it', async () => {
  const clusters = await LinkedClusters.begin(16)
  await clusters.write(1)
  let dialed = 0
  const standby = (name: string, address: string): Promise<void> =>
    refusing(clusters, name, 'not-active', { retryAfterMs: 1_000, address, onDial: () => void dialed++ })
  await standby('a', 'https://p:8201')
  await standby('b', 'https://c:8201')
  await standby('c', 'https://b:8201')
  const bundle = await clusters.issue('s')
  await clusters.registry.letIn(bundle)
  const s = new LinkedCluster(clusters, 's')
  const follow = (address: string): Promise<void> => s.play({ parts: [{ ...partOf(bundle), addresses: [address] }] })
  await follow('https://a:8201')
  await clusters.time.pass(90)
  assert.equal((await s.following()).peers[0]?.clusterAddress, 'https://p:8201')
  await follow('https://b:8201')
  clusters.network.reset('p', 's')
  await clusters.time.pass(10_000)
  assert.equal(await idleReason(s), 'not_active')
  assert.ok(dialed < 20, `it dialed ${dialed} times in 10 s`)
})

const RUNS = Number(process.env.LINKED ?? 4)

test(`${RUNS} random runs over bad networks, with restarts and cuts, end with equal stores`, (t) =>
  seededRuns(t, RUNS, randomRun))

async function randomRun(seed: number): Promise<void> {
  const random = pseudoRandom(seed)
  const clusters = await LinkedClusters.begin(seed, random.pick(['dr', 'performance']))
  const { network, time, primary } = clusters
  await clusters.write(random.int(300) + 1, random.pick([20, 3_000]))
  const ss = [await clusters.follow('s'), await clusters.follow('t')]
  for (const { name } of ss) {
    const bytesPerSecond = random.pick([50_000, 1_000_000])
    const settings = {
      delayMs: random.int(300),
      jitterMs: random.int(50),
      lossPerThousand: random.int(30),
      bytesPerSecond,
    }
    network.set('p', name, settings)
    network.set(name, 'p', settings)
  }
  for (let steps = 20; steps > 0; steps--) {
    const s = random.pick(ss)
    const [from, to] = random.pick([
      ['p', s.name],
      [s.name, 'p'],
    ])
    const kind = random.int(9)
    if (kind < 4) await clusters.write(random.int(20) + 1, random.pick([20, 3_000]))
    else if (kind === 4) network.cut(from, to)
    else if (kind === 5) network.heal(from, to)
    else if (kind === 6) network.reset(from, to)
    else if (kind === 7) network.flipNext(from, to)
    else {
      const killed = random.pick([...ss, primary])
      killed.kill()
      await time.pass(random.int(3_000))
      await killed.restart()
    }
    await time.pass(random.int(random.pick([300, 6_000])))
  }
  for (const { name } of ss) {
    network.heal('p', name)
    network.heal(name, 'p')
  }
  for (const s of ss) {
    await clusters.untilSame(s, 120_000)
    await clusters.requireSame(s)
  }
}
