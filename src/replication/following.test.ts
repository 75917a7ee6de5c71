// P-50, P-52: a secondary follows a primary, both in memory, over links that are cut: whatever happens, it has in the
// end what the primary has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FollowedPair, NARROW } from '../../test/fixtures/followed-pair.ts'
import { type PseudoRandom, pseudoRandom } from '../../test/fixtures/pseudo-random.ts'
import { seededRuns } from '../../test/fixtures/seeded-runs.ts'
import { type Scope, type Store, systemScope } from '../storage/contract.ts'
import type { Counted } from './counts.ts'

const RUNS = Number(process.env.FOLLOWINGS ?? 30)
const MOUNT = '0b9f5f0e-0000-4000-8000-000000000001'
const LOCAL_MOUNT = '0b9f5f0e-0000-4000-8000-000000000002'
const scopeOf = (mount: string): Scope => ({ namespace: 'root', mount, local: mount === LOCAL_MOUNT })

/** Writes some entries of every class in one transaction. */
async function writeSome(store: Store, random: PseudoRandom, keys: number): Promise<void> {
  await store.transaction(async (tx) => {
    for (let count = random.int(4) + 1; count > 0; count--) {
      const mount = random.pick([MOUNT, LOCAL_MOUNT])
      const [scope, key] = random.pick([
        [scopeOf(mount), `root/logical/${mount}/key-${random.int(keys)}`],
        [scopeOf(MOUNT), `root/logical/${MOUNT}/cluster/count-${random.int(5)}`],
        [systemScope, `root/sys/policy/p-${random.int(keys)}`],
        [systemScope, `root/core/reload/r-${random.int(3)}`],
      ] as const)
      if (random.int(4) === 0) tx.delete(scope, key)
      else tx.put(scope, key, Buffer.alloc(random.int(random.pick([20, 20, 4_000])), random.int(256)))
    }
  })
}

async function pass(random: PseudoRandom): Promise<void> {
  for (let turns = random.int(random.pick([6, 60])); turns > 0; turns--) await turn()
}

async function filled(seed: number, family: 'dr' | 'performance', entries: number, limits?: typeof NARROW) {
  const pair = new FollowedPair(seed, family, limits)
  const random = pseudoRandom(seed)
  for (let count = 0; count < entries; count++) await writeSome(pair.primary, random, 200)
  return pair
}

test('a secondary copies what there is, and follows what comes', async () => {
  for (const family of ['dr', 'performance'] as const) {
    const pair = await filled(5, family, 150)
    await pair.settle()
    await pair.requireEqual()
    const random = pseudoRandom(6)
    for (let count = 0; count < 50; count++) await writeSome(pair.primary, random, 200)
    await pair.settle()
    await pair.requireEqual()
    assert.equal(pair.sent.get('roots'), undefined, 'no comparison was needed')
    assert.ok((pair.sent.get('piece') ?? 0) > 1)
    await pair.cut()
  }
})

test('data keys come before what is sealed under them, in a copy and in a comparison', async () => {
  const keyring = 'root/core/keyring'
  for (const family of ['dr', 'performance'] as const) {
    const pair = new FollowedPair(15, family, NARROW)
    const random = pseudoRandom(15)
    /** Adds a term, and then much that comes before and behind the keyring in every order. */
    const rotate = async (term: number): Promise<void> => {
      await pair.primary.transaction(async (tx) => tx.put(systemScope, keyring, Buffer.alloc(40, term)))
      for (let count = 0; count < 60; count++) await writeSome(pair.primary, random, 200)
      await pair.primary.transaction(async (tx) =>
        tx.put(scopeOf(MOUNT), `root/auth/${MOUNT}/user`, Buffer.alloc(400, term)),
      )
    }
    const begins: string[] = []
    let isFirst = true
    pair.secondary.onCommit(({ operations }) => {
      const sent = operations.filter((one) => one.class !== 'ignored')
      if (isFirst && sent.length > 0) begins.push(sent.some(({ key }) => key === keyring) ? 'data keys' : 'others')
      isFirst &&= sent.length === 0
    })
    await rotate(1)
    await pair.settle()
    await pair.cut()
    await rotate(2)
    pair.horizon = (await pair.primary.position()).index
    isFirst = true
    await pair.settle()
    await pair.requireEqual()
    assert.ok((pair.sent.get('values') ?? 0) > 2)
    assert.deepEqual(begins, ['data keys', 'data keys'], family)
    await pair.cut()
  }
})

test('data keys come before what is written while a comparison begins', async () => {
  const keyring = 'root/core/keyring'
  for (const family of ['dr', 'performance'] as const) {
    const pair = new FollowedPair(16, family, NARROW)
    const putKeyring = (term: number) =>
      pair.primary.transaction(async (tx) => tx.put(systemScope, keyring, Buffer.alloc(40, term)))
    await putKeyring(1)
    await pair.settle()
    await pair.cut()
    await putKeyring(2)
    pair.horizon = (await pair.primary.position()).index
    let first: readonly string[] | undefined
    pair.secondary.onCommit(({ operations }) => {
      const sent = operations.filter((one) => one.class !== 'ignored').map(({ key }) => key)
      if (sent.length > 0) first ??= sent
    })
    const settled = pair.settle()
    for (let count = 0; count < 40; count++) {
      await pair.primary.transaction(async (tx) => tx.put(systemScope, 'root/sys/policy/p', Buffer.alloc(40, count)))
      await turn()
    }
    await settled
    assert.ok((pair.sent.get('roots') ?? 0) > 0, 'they were compared')
    assert.deepEqual(first, [keyring], family)
    await pair.requireEqual()
    await pair.cut()
  }
})

test('after a cut only what was missed is sent, from the log', async () => {
  const pair = await filled(5, 'dr', 100)
  await pair.settle()
  await pair.cut()
  const [before, pieces] = [pair.bytes, pair.sent.get('piece')]
  const random = pseudoRandom(6)
  for (let count = 0; count < 10; count++) await writeSome(pair.primary, random, 200)
  const written = (await pair.primary.records((await pair.primary.position()).index - 10, 10)).map(
    ({ record }) => record,
  )
  await pair.settle()
  await pair.requireEqual()
  const most = 2 * written.reduce((sum, { length }) => sum + length, 0) + 2_000
  assert.ok(pair.bytes - before < most, `${pair.bytes - before} bytes, at most ${most}`)
  assert.equal(pair.sent.get('piece'), pieces)
  await pair.cut()
})

test('behind a log that was shortened, the comparison moves what differs and little more', async () => {
  const pair = await filled(5, 'dr', 2_000)
  await pair.settle()
  await pair.cut()
  const [copied, values] = [pair.bytes, pair.sent.get('values')]
  const random = pseudoRandom(6)
  for (let count = 0; count < 10; count++) await writeSome(pair.primary, random, 200)
  pair.horizon = (await pair.primary.position()).index
  await pair.settle()
  await pair.requireEqual()
  assert.ok((pair.sent.get('values') ?? 0) > (values ?? 0))
  const moved = pair.bytes - copied
  assert.ok(moved < copied / 4, `${moved} bytes, the copy took ${copied}`)
  await pair.cut()
})

test('both ends count copies, records, comparisons and what differs', async () => {
  const pair = await filled(5, 'dr', 100)
  await pair.settle()
  const { primary, secondary } = pair.counts
  const of = (what: Counted) => [primary.get(what), secondary.get(what)]
  assert.deepEqual(
    [of('copies'), of('comparisons')],
    [
      [1, 1],
      [undefined, undefined],
    ],
  )
  const [sent = 0, applied = 0] = [primary.get('sentRecords'), secondary.get('appliedRecords')]
  for (let count = 0; count < 10; count++) {
    const value = Buffer.from(`${count}`)
    await pair.primary.transaction(async (tx) => tx.put(systemScope, 'root/sys/policy/counted', value))
  }
  await pair.settle()
  assert.deepEqual([primary.get('sentRecords'), secondary.get('appliedRecords')], [sent + 10, applied + 10])
  pair.isWatched = false
  const stray = 'root/sys/policy/stray'
  await pair.secondary.transaction(async (tx) => tx.put(systemScope, stray, Buffer.from('not of the primary')))
  pair.tellRoot()
  for (let turns = 0; secondary.get('comparisons') !== 1; turns++) {
    assert.ok(turns < 1_000)
    await turn()
  }
  await pair.settle()
  assert.deepEqual(
    [of('copies'), of('comparisons'), of('divergences')],
    [
      [1, 1],
      [1, 1],
      [1, 1],
    ],
  )
  await pair.cut()
})

test('F-13 T43: an entry changed behind the back of the secondary is found by the root and mended', async () => {
  const pair = await filled(5, 'dr', 100)
  await pair.settle()
  const key = 'root/sys/policy/stray'
  pair.isWatched = false
  await pair.secondary.transaction(async (tx) => tx.put(systemScope, key, Buffer.from('not of the primary')))
  pair.tellRoot()
  for (let turns = 0; pair.sent.get('roots') === undefined; turns++) {
    assert.ok(turns < 1_000)
    await turn()
  }
  await pair.settle()
  await pair.requireEqual()
  assert.equal(await pair.secondary.get(key), undefined)
  await pair.cut()
})

test('T43: a change that does not fit what is here is not applied: the trees are compared', async () => {
  const pair = await filled(5, 'dr', 100)
  await pair.settle()
  const key = 'root/sys/policy/both'
  pair.isWatched = false
  await pair.secondary.transaction(async (tx) => tx.put(systemScope, key, Buffer.from('not of the primary')))
  await pair.primary.transaction(async (tx) => tx.put(systemScope, key, Buffer.from('of the primary')))
  await pair.settle()
  await pair.requireEqual()
  assert.deepEqual([pair.sent.get('compare'), pair.sent.get('roots')], [1, 1])
  await pair.cut()
})

for (const disorder of ['twice', 'swapped'] as const) {
  test(`T27: of runs that come ${disorder} nothing is applied wrongly, and the next link mends it`, async () => {
    const pair = await filled(7, 'dr', 100)
    await pair.settle()
    const random = pseudoRandom(8)
    pair.disorder = disorder
    for (let turns = 0; pair.ended === undefined; turns++) {
      assert.ok(turns < 1_000)
      await writeSome(pair.primary, random, 200)
      await pass(random)
    }
    assert.match(String(pair.ended), /SinkStopped|ProtocolFault/)
    pair.ended = undefined
    await pair.cut()
    await pair.settle()
    await pair.requireEqual()
    await pair.cut()
  })
}

test(`${RUNS} random runs with cuts, shortened logs, new histories and strays end with equal stores`, (t) =>
  seededRuns(t, RUNS, randomRun))

async function randomRun(seed: number): Promise<void> {
  const random = pseudoRandom(seed)
  const limits = random.pick([undefined, NARROW])
  const pair = await filled(seed, random.pick(['dr', 'performance']), random.int(150), limits)
  const keys = random.pick([10, 200])
  await writeSome(pair.primary, random, keys)
  for (let steps = random.int(60); steps > 0; steps--) {
    const kind = random.int(14)
    if (kind < 7) await writeSome(pair.primary, random, keys)
    else if (kind < 10) await pair.link()
    else if (kind === 10) await pair.cut()
    else if (kind === 11) pair.horizon = (await pair.primary.position()).index
    else if (kind === 12) pair.tellRoot()
    else await newHistory(pair.primary, random)
    pair.beat()
    await pass(random)
  }
  // The primary goes on writing while the secondary catches up.
  for (let writes = random.int(30); writes > 0; writes--) {
    await pair.link()
    await pass(random)
    await writeSome(pair.primary, random, keys)
  }
  await pair.settle()
  await pair.requireEqual()
  pair.beat()
  const { index } = await pair.primary.position()
  for (let turns = 0; pair.has !== index; turns++) {
    assert.ok(turns < 1_000, `The source knows of ${pair.has}, and the secondary has ${index}`)
    await turn()
  }
  await pair.cut()
}

async function newHistory(store: Store, random: PseudoRandom): Promise<void> {
  const id = Buffer.from(Array.from({ length: 16 }, () => random.int(256)))
  const next = { id, knownIndex: 0, knownEpoch: 0 }
  await store.beginHistory(async (tx) => tx.put(systemScope, 'root/sys/policy/era', id), next)
}
