// S6, D4: however many clusters seal with a key version, and whichever of them is the primary, the sum has its bound.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Killed, SMALL_LIMITS, TestCluster } from '../../../../test/fixtures/cluster-set.ts'
import { base64 } from '../../../../test/fixtures/mounted-transit.ts'
import { type PseudoRandom, pseudoRandom } from '../../../../test/fixtures/pseudo-random.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { Refusal } from '../../../api/errors.ts'
import { MessageBudget } from './message-budget.ts'
import { readClusters } from './message-ledger.ts'
import { MOST_CLUSTERS } from './message-limits.ts'

/** How many sets of clusters are played; `npm run torture:counts` plays more. */
const SETS = Number(process.env.SETS ?? '4')
const STEPS = 400

const plaintext = base64('the quick brown fox')
const batch = (count: number) => ({ batch_input: Array.from({ length: count }, () => ({ plaintext })) })

/** Counts what is really sealed of each version, on all clusters: a message counts as soon as it may be sealed. */
function countSealed(t: TestContext): ReadonlyMap<string, number> {
  const sealed = new Map<string, number>()
  const { take, spend } = MessageBudget.prototype
  const add = (identity: string, messages: number) => sealed.set(identity, (sealed.get(identity) ?? 0) + messages)
  t.mock.method(MessageBudget.prototype, 'take', function (this: MessageBudget, isAskedFor: boolean) {
    take.call(this, isAskedFor)
    add(this.pool.identity, 1)
  })
  t.mock.method(MessageBudget.prototype, 'spend', function (this: MessageBudget, messages: number) {
    spend.call(this, messages)
    add(this.pool.identity, messages)
  })
  return sealed
}

/** A set of a primary, two clusters that follow it, and one that may take its place; and what happens to them. */
class Clusters {
  readonly #random: PseudoRandom
  readonly #sealed: ReadonlyMap<string, number>
  #primary = new TestCluster('primary')
  /** A former primary that does not know of it yet: it goes on as before. */
  #former: TestCluster | undefined
  #secondaries = [new TestCluster('one'), new TestCluster('two')]
  #heir: TestCluster | undefined = new TestCluster('heir')

  constructor(random: PseudoRandom, sealed: ReadonlyMap<string, number>) {
    this.#random = random
    this.#sealed = sealed
  }

  async begin(): Promise<void> {
    for (const name of ['a', 'b']) await this.#primary.client.write(`keys/${name}`)
    await this.#primary.transit.budgets.begin()
    for (const one of this.#secondaries) one.follow(this.#primary, 'performance')
    this.#heir?.follow(this.#primary, 'dr')
  }

  get #followers(): TestCluster[] {
    return [...this.#secondaries, ...(this.#heir === undefined ? [] : [this.#heir])]
  }

  async step(): Promise<void> {
    const random = this.#random
    const cluster = random.pick([this.#primary, ...this.#secondaries, this.#former ?? this.#primary])
    const choice = random.int(100)
    if (choice < 70) await this.#seal(cluster)
    else if (choice < 84) random.pick(this.#followers).deliver(random.chance(0.5) ? 1 + random.int(4) : undefined)
    else if (choice < 88) random.pick(this.#followers).isLinked = random.chance(0.7)
    else if (choice < 91) cluster.restart()
    else if (choice < 94) cluster.endThread()
    else if (choice < 95) random.pick(this.#secondaries).forgetCounts()
    else if (choice < 97) cluster.killAt = random.pick(['before', 'behind'])
    else if (choice < 98)
      await this.#primary.client.write(`keys/${random.pick(['a', 'b'])}/rotate`).catch(restarting(this.#primary))
    else if (choice < 99) await this.#failOver()
    else if (random.chance(0.3)) this.#primary.handOverTo(random.pick(this.#followers))
    else this.#comeBack()
    await this.#check()
  }

  async #seal(cluster: TestCluster): Promise<void> {
    const random = this.#random
    const client = random.chance(0.7) ? cluster.servingClient : cluster.client
    const name = random.chance(0.8) ? 'a' : 'b'
    const version = random.chance(0.7) ? { key_version: 1 } : {}
    const { batch_input } = batch(1 + random.int(90))
    const items = batch_input.map((item) => ({ ...item, ...version }))
    const body = random.chance(0.2) ? { plaintext, ...version } : { batch_input: items }
    const reply = await client.write(`encrypt/${name}`, body).catch(restarting(cluster))
    if (reply !== undefined && reply.status !== 200)
      assert.match(reply.errors[0] ?? '', /2\^32 messages|decryption goes on|encryption key not found|cannot/)
  }

  /** The primary is cut off, and another cluster takes its place. */
  async #failOver(): Promise<void> {
    if (this.#former !== undefined) return
    const next = this.#random.pick(this.#followers)
    this.#former = this.#primary
    const isPlanned = this.#random.chance(0.7)
    if (isPlanned) this.#former.handOverTo(next)
    await next.promote(isPlanned)
    this.#primary = next
    if (this.#heir === next) this.#heir = undefined
    this.#secondaries = this.#secondaries.filter((one) => one !== next)
    for (const one of this.#followers) {
      one.isLinked = true
      one.follow(next, one === this.#heir ? 'dr' : 'performance')
    }
  }

  /** The former primary follows the new one. */
  #comeBack(): void {
    if (this.#former === undefined) return
    const isHeir = this.#heir === undefined && this.#random.chance(0.5)
    this.#former.killAt = undefined
    this.#former.followers.clear()
    this.#former.asked.clear()
    this.#former.follow(this.#primary, isHeir ? 'dr' : 'performance')
    if (isHeir) this.#heir = this.#former
    else this.#secondaries.push(this.#former)
    this.#former = undefined
  }

  async #check(): Promise<void> {
    for (const [identity, messages] of this.#sealed)
      assert.ok(messages <= SMALL_LIMITS.most, `${messages} messages under ${identity}`)
    for (const name of ['a', 'b']) {
      const ring = await this.#primary.transit.keys.find(name)
      const shown = (await this.#primary.client.read(`keys/${name}`)).data.encryption_counts
      for (const { number, identity } of ring?.versions ?? [])
        assert.ok(shown[number] >= (this.#sealed.get(identity) ?? 0), `${name} ${number} is counted too low`)
    }
  }
}

const restarting =
  (cluster: TestCluster) =>
  (cause: unknown): undefined => {
    if (!(cause instanceof Killed)) throw cause
    cluster.restart()
  }

/** A primary with a key, and a cluster that follows it; `seal` uses up so many messages there. */
async function pair() {
  const primary = new TestCluster('primary')
  await primary.client.write('keys/k')
  await primary.transit.budgets.begin()
  const secondary = new TestCluster('secondary')
  secondary.follow(primary, 'performance')
  return { primary, secondary }
}

/** The next turn of the event loop: a call that no request awaits has ended by then. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Its name comes to the ledger with its first life, once; then the link goes down. */
async function join(secondary: TestCluster): Promise<void> {
  await secondary.transit.budgets.begin()
  await turn()
  secondary.isLinked = false
}

const { block, free, freeShare } = SMALL_LIMITS
/** What each start counts for the threads that it may have: eight lives. */
const OF_A_START = 8 * free
const LEDGER = /^(clusters|use\/.*)$/
const ledgerOf = ({ view }: TestCluster) =>
  [...view.entries].filter(([path]) => LEDGER.test(path)).map(([path, bytes]) => [path, String(bytes)])

test('S6 a secondary encrypts with keys that it never used, on a serving thread, and with the link down', async () => {
  const { primary, secondary } = await pair()
  await join(secondary)
  const before = ledgerOf(primary)
  const { servingClient: client } = secondary
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  const requests: readonly [string, object][] = [
    ['encrypt/k', { plaintext }],
    ['encrypt/k', batch(20)],
    ['datakey/plaintext/k', {}],
    ['datakeys/wrapped/k', { count: 10 }],
    ['rewrap/k', { ciphertext }],
    ['rewrap/k', { batch_input: [{ ciphertext }, { ciphertext }] }],
    ['hmac/k', { input: plaintext }],
    ['decrypt/k', { ciphertext }],
  ]
  for (const [path, body] of requests)
    assert.equal((await client.write(path, body as Record<string, string>)).status, 200, path)
  assert.deepEqual(ledgerOf(primary), before)
  assert.deepEqual(ledgerOf(secondary), before)
})

test('S6 a secondary without its primary ends with its blocks: 503, and decryption goes on', async () => {
  const { secondary } = await pair()
  await join(secondary)
  const { servingClient: client } = secondary
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  let sealed = 1
  let reply = await client.write('encrypt/k', { plaintext })
  for (; reply.status === 200 && sealed <= block; sealed += 1) reply = await client.write('encrypt/k', { plaintext })
  assert.equal(reply.status, 503)
  assert.match(reply.errors[0] ?? '', /primary granted.*decryption goes on/)
  assert.ok(sealed > block - freeShare && sealed <= block, `${sealed}`)
  assert.equal((await client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
  secondary.isLinked = true
  assert.equal((await client.write('encrypt/k', { plaintext })).status, 200)
})

test('S6 a secondary whose counts a filter took goes on under another name', async () => {
  const [primary, secondary] = [new TestCluster('primary'), new TestCluster('east')]
  await primary.client.write('keys/k')
  secondary.follow(primary, 'performance')
  const encrypt = () => secondary.servingClient.write('encrypt/k', batch(SMALL_LIMITS.free + 1))
  assert.equal((await encrypt()).status, 200)
  for (const begins of [false, true]) {
    secondary.forgetCounts()
    if (begins) secondary.endThread()
    for (let more = 0; more < 20; more++) assert.equal((await encrypt()).status, 200)
  }
})

test('S6 an owner whose counts are gone goes on under another name, and names no nameless one', async () => {
  const primary = new TestCluster('primary')
  await primary.client.write('keys/k')
  const encrypt = () => primary.servingClient.write('encrypt/k', batch(SMALL_LIMITS.free + 1))
  assert.equal((await encrypt()).status, 200)
  primary.forgetCounts()
  for (let more = 0; more < 20; more++) assert.equal((await encrypt()).status, 200)
  const { clusters } = await primary.view.transaction((tx) => readClusters(tx))
  assert.ok(clusters.length > 1 && !clusters.includes(''))
})

test('S6 a secondary asks ahead for its next block, and an answer that is lost costs none', async () => {
  const { primary, secondary } = await pair()
  const { handleClusterCall } = primary.transit
  let losses = 0
  primary.transit.handleClusterCall = async (...asked) => {
    await handleClusterCall.call(primary.transit, ...asked)
    losses += 1
    throw new Error('the answer was lost')
  }
  await secondary.transit.budgets.begin()
  await turn()
  secondary.deliver()
  const { identity } = ((await primary.transit.keys.find('k')) ?? assert.fail()).version(1)
  const grants = () => String(primary.view.entries.get(`use/${identity}`))
  while (losses < 4) assert.equal((await secondary.client.write('encrypt/k', { plaintext })).status, 200)
  const { granted, clusters } = JSON.parse(grants())
  assert.deepEqual([granted, Object.keys(clusters).length], [block, 1])
})

test('S6 the last messages of a set: the owner refuses by name, or rotates where a secondary asks', async () => {
  const { primary, secondary } = await pair()
  const fill = async (client: TestCluster['client']) => {
    for (let turn = 0; turn < 800; turn += 1) {
      const { status, errors, data } = await client.write('encrypt/k', batch(60))
      if (status !== 200) return errors[0] ?? ''
      if (data.batch_results[0].key_version > 1) return 'rotated'
      secondary.deliver()
    }
    return assert.fail('there is no end')
  }
  assert.match(await fill(primary.client), /2\^32 messages/)
  assert.match(await fill(secondary.servingClient), /2\^32 messages/)
  await primary.client.write('keys/k/config', { auto_rotate_period: '24h' })
  secondary.deliver()
  assert.equal(await fill(secondary.servingClient), 'rotated')
  assert.equal((await primary.client.read('keys/k')).data.latest_version, 2)
})

test('S6 the owner grants eight blocks, and no more before the first is with those that may be promoted', async () => {
  const { primary, secondary } = await pair()
  const { client } = primary
  let reply = await client.write('encrypt/k', batch(60))
  for (let turn = 0; reply.status === 200 && turn < 100; turn += 1) reply = await client.write('encrypt/k', batch(60))
  assert.equal(reply.status, 503)
  assert.match(reply.errors[0] ?? '', /before those that follow it have caught up/)
  secondary.deliver()
  assert.equal((await client.write('encrypt/k', batch(60))).status, 200)
})

test('S6 a cluster that takes the place of another one goes on under a name of its own, with two entries', async () => {
  const primary = new TestCluster('primary')
  for (let key = 0; key < 20; key += 1) await primary.client.write(`keys/k${key}`)
  await primary.client.write('encrypt/k0', batch(60))
  const heir = new TestCluster('heir')
  heir.follow(primary, 'dr')
  const written: string[] = []
  heir.view.onChange((path) => written.push(path))
  await heir.promote()
  assert.deepEqual(written.toSorted(), ['cluster/lives', 'clusters'])
  assert.notEqual(String(heir.view.entries.get('cluster/lives')), String(primary.view.entries.get('cluster/lives')))
  const { encryption_counts: counts } = (await heir.client.read('keys/k0')).data
  assert.equal(counts[1], 12 * block)
  await heir.client.write('keys/k0/rotate')
  assert.equal((await heir.client.read('keys/k0')).data.encryption_counts[2], OF_A_START)
})

test('S6 one that took over by agreement counts one block, sixty times over', async () => {
  let primary = new TestCluster('0')
  await primary.client.write('keys/k')
  await primary.client.write('encrypt/k', { plaintext })
  let changes = 0
  for (let status = 200; status === 200; changes += 1) {
    const next = new TestCluster(`${changes}`)
    next.follow(primary, 'dr')
    primary.handOverTo(next)
    await next.promote(true)
    const { encryption_counts: counts } = (await next.client.read('keys/k')).data
    assert.equal(counts[1], Math.min((changes + 1) * block, SMALL_LIMITS.most))
    status = (await next.client.write('encrypt/k', { plaintext })).status
    primary = next
  }
  assert.equal(changes, SMALL_LIMITS.most / block)
})

test('S6 who may have been replaced grants nothing, until it hears that it was not', async () => {
  const { primary, secondary } = await pair()
  await join(secondary)
  primary.handOverTo(secondary)
  const before = ledgerOf(primary)
  const fill = async (most: number): Promise<string> => {
    for (let turn = 0; turn < most; turn += 1) {
      const reply = await primary.client.write('encrypt/k', batch(60))
      if (reply.status !== 200) return `${reply.status} ${reply.errors[0]}`
    }
    return 'goes on'
  }
  assert.match(await fill(100), /^503 .*before those that follow it have caught up/)
  const another = { kind: 'join', cluster: nameOf(1) }
  assert.deepEqual(await primary.transit.handleClusterCall(another, 'another'), { isGranted: false })
  assert.deepEqual(ledgerOf(primary), before)
  await primary.client.write('keys/other')
  secondary.deliver()
  assert.equal(await fill(5), 'goes on')
  assert.deepEqual(await primary.transit.handleClusterCall(another, 'another'), { isGranted: true })
})

const nameOf = (at: number) => String(at).padStart(16, '0')

/** Fills the ledger with clusters that others have named, each as the secondary that `secondaryOf` says. */
async function fillLedger(primary: TestCluster, secondaryOf: (at: number) => string): Promise<void> {
  for (let at = 1; at < MOST_CLUSTERS; at += 1) {
    const question = { kind: 'join', cluster: nameOf(at) }
    assert.deepEqual(await primary.transit.handleClusterCall(question, secondaryOf(at)), { isGranted: true })
    for (const queue of primary.followers.values()) queue.length = 0
  }
}

test('S6 no more clusters are named than a set may have', async () => {
  const { primary } = await pair()
  for (let at = 1; at < MOST_CLUSTERS; at += 1) primary.followers.set(new TestCluster(`secondary-${at}`), [])
  await fillLedger(primary, (at) => `secondary-${at}`)
  const another = { kind: 'join', cluster: nameOf(MOST_CLUSTERS) }
  assert.deepEqual(await primary.transit.handleClusterCall(another, 'another'), { isGranted: false })
})

type Left = { name: string; secondaryOf: (at: number) => string; stays: number; areOwners?: true }
const LEFT: readonly Left[] = [
  { name: 'secondaries that were revoked', secondaryOf: (at) => `revoked-${at}`, stays: 0 },
  { name: 'the one that asks, from before it came again,', secondaryOf: () => 'secondary', stays: 0 },
  { name: 'another one, from before it came again,', secondaryOf: () => 'other', stays: 1 },
  { name: 'former owners that do not follow', secondaryOf: () => 'other', stays: 0, areOwners: true },
]
/** Names in the ledger, and of which secondaries they are. */
const clustersOf = ({ view }: TestCluster) =>
  JSON.parse(String(view.entries.get('clusters'))) as { clusters: string[]; of?: Record<string, string> }
const nameIn = ({ view }: TestCluster, clusters: object): Promise<void> =>
  view.transaction(async (tx) => tx.put('clusters', Buffer.from(JSON.stringify(clusters))))
for (const { name, secondaryOf, stays, areOwners } of LEFT) {
  test(`S6 clusters of ${name} make room: they count for their versions, and for no later one`, async () => {
    const { primary, secondary } = await pair()
    primary.followers.set(new TestCluster('other'), [])
    await fillLedger(primary, secondaryOf)
    const { of: _, ...ofOwners } = clustersOf(primary)
    // As they named themselves.
    if (areOwners) await nameIn(primary, ofOwners)
    const counts = async () => (await primary.client.read('keys/k')).data.encryption_counts
    const before = (await counts())[1]
    await join(secondary)
    assert.equal((await secondary.client.write('encrypt/k', { plaintext })).status, 200)
    const { clusters } = clustersOf(primary)
    assert.equal(clusters.length, stays + 2)
    primary.restart()
    await primary.client.write('keys/k/rotate')
    const { 1: first, 2: second } = await counts()
    assert.ok(first >= before + block, `${first}`)
    assert.equal(second, (1 + stays) * block + OF_A_START)
  })
}

test('S6 a former owner that follows is known as a secondary', async () => {
  const { primary } = await pair()
  const former = nameOf(77)
  const { clusters, ...others } = clustersOf(primary)
  await nameIn(primary, { ...others, clusters: [...clusters, former] })
  const question = { kind: 'join', cluster: former }
  assert.deepEqual(await primary.transit.handleClusterCall(question, 'former'), { isGranted: true })
  assert.equal(clustersOf(primary).of?.[former], 'former')
  assert.deepEqual(clustersOf(primary).clusters, [...clusters, former])
})

test('S6 what is no question of a cluster is refused, and what no key fits is not granted', async () => {
  const { primary, secondary } = await pair()
  const { identity } = ((await primary.transit.keys.find('k')) ?? assert.fail()).version(1)
  const good = { kind: 'block', cluster: 'A'.repeat(16), name: 'k', version: 1, identity, number: 1 }
  const malformed: readonly unknown[] = [
    undefined,
    null,
    7,
    'join',
    [],
    {},
    { kind: 'life' },
    { kind: 'join' },
    { kind: 'join', cluster: '__proto__' },
    { ...good, cluster: 'A'.repeat(17) },
    { ...good, name: 7 },
    { ...good, version: 0 },
    { ...good, version: 1.5 },
    { ...good, number: -1 },
    { ...good, identity: null },
  ]
  for (const question of malformed)
    await assert.rejects(primary.transit.handleClusterCall(question, 'one'), (cause: Error) => cause instanceof Refusal)
  for (const other of [{ name: 'x' }, { version: 2 }, { identity: 'A'.repeat(16) }, { number: 2 }, { number: 0 }]) {
    const answer = await primary.transit.handleClusterCall({ ...good, ...other }, 'one')
    assert.deepEqual(answer, { isGranted: 'number' in other && other.number === 0 }, JSON.stringify(other))
  }
  assert.deepEqual(await secondary.transit.handleClusterCall(good, 'one'), { isGranted: false })
  assert.equal(primary.view.entries.has(`use/${identity}`), false)
})

test(`S6 in ${SETS} sets no version is sealed with too often, through failovers and kills`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  const sealed = countSealed(t)
  for (let set = 0; set < SETS; set += 1) {
    const clusters = new Clusters(random, sealed)
    await clusters.begin()
    for (let step = 0; step < STEPS; step += 1) await clusters.step()
  }
  const most = Math.max(...sealed.values())
  t.diagnostic(`at most ${most} of ${SMALL_LIMITS.most}`)
  assert.ok(most > SMALL_LIMITS.most / 2, 'no version came near its limit')
})
