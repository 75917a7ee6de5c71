// What is written much, fast or in large pieces, over links: hosts of links over stores in memory, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Change, type Scope, systemScope } from '../../src/storage/contract.ts'
import { LinkedClusters } from '../fixtures/linked-clusters.ts'

const MOUNT = '0b9f5f0e-0000-4000-8000-000000000001'
const SCOPE: Scope = { namespace: 'root', mount: MOUNT, local: false }
const keyOf = (each: number): string => `root/logical/${MOUNT}/key-${each}`
const BOTH_WAYS = [
  ['p', 's'],
  ['s', 'p'],
] as const

async function followed(seed: number, entries = 100, bytes = 20) {
  const clusters = await LinkedClusters.begin(seed)
  await put(clusters, 0, entries, bytes)
  const s = await clusters.follow('s')
  await clusters.untilSame(s)
  return { clusters, primary: clusters.primary, s }
}

/** Writes entries of these numbers in one transaction. */
async function put({ primary, time }: LinkedClusters, from: number, count: number, bytes: number): Promise<void> {
  await time.until(
    primary.store.transaction(async (tx) => {
      for (let each = from; each < from + count; each++) tx.put(SCOPE, keyOf(each), Buffer.alloc(bytes, each))
    }),
  )
}

/** The changes that a store takes from now on. */
function watched(store: { onCommit(listener: (change: Change) => void): void }): Change[] {
  const changes: Change[] = []
  store.onCommit((change) => void changes.push(change))
  return changes
}

/** What the buffers of both ends of a simulated link hold (test/simulator/simulated-link.ts). */
const WINDOW_BYTES = 256 << 10
const ROUND_TRIP_MS = 300

test('T25: with 300 ms there and back and 2 % loss a link carries most of its window', async () => {
  for (const [lossPerThousand, least] of [
    [0, 0.8],
    [20, 0.6],
  ] as const) {
    const { clusters, s } = await followed(51)
    for (const [from, to] of BOTH_WAYS) clusters.network.set(from, to, { delayMs: ROUND_TRIP_MS / 2, lossPerThousand })
    const [count, bytes] = [40, 250_000]
    const startMs = clusters.time.nowMs
    for (let each = 0; each < count; each++) await put(clusters, each, 1, bytes)
    await clusters.untilSame(s, 120_000)
    const part = (count * bytes * ROUND_TRIP_MS) / ((clusters.time.nowMs - startMs) * WINDOW_BYTES)
    assert.ok(part > least, `${part} of the window with ${lossPerThousand} lost of a thousand`)
    await clusters.requireSame(s)
  }
})

/** `KEYS=100000 MEGABYTES=50` is the long form. */
const KEYS = Number(process.env.KEYS ?? 10_000)
const MEGABYTES = Number(process.env.MEGABYTES ?? 10)

test(`T28: a transaction of ${KEYS} keys, and one of ${MEGABYTES} MB, are there whole or not at all`, async () => {
  const { clusters, s } = await followed(52)
  const changes = watched(s.store)
  await put(clusters, 1_000, KEYS, 10)
  await clusters.untilSame(s, 120_000)
  await put(clusters, 0, MEGABYTES, 1_000_000)
  await clusters.untilSame(s, 120_000)
  assert.deepEqual(
    changes.map(({ operations }) => operations.length),
    [KEYS, MEGABYTES],
  )
  const [theirs, ours] = [clusters.primary, s].map(({ store }) => clusters.time.until(store.roots()))
  assert.deepEqual((await ours)?.all, (await theirs)?.all)
})

test('T29: a key that is written 10,000 times has its values in order, and no comparison', async () => {
  const { clusters, s } = await followed(53)
  const changes = watched(s.store)
  const { store } = clusters.primary
  for (let each = 0; each < 10_000; each += 100) {
    const writes = Array.from({ length: 100 }, (_, at) =>
      store.transaction(async (tx) => tx.put(systemScope, 'root/sys/policy/hot', Buffer.from(String(each + at)))),
    )
    await clusters.time.until(Promise.all(writes))
    await clusters.time.pass(10)
  }
  await clusters.untilSame(s)
  const values = changes.flatMap(({ operations }) => operations.map(({ value }) => value.toString()))
  assert.deepEqual(
    values,
    Array.from({ length: 10_000 }, (_, each) => String(each)),
  )
})

const FEW = 10
const MANY = 20_000

test('T41: a difference of 10 among 20,000 entries moves less than a twentieth of the copy', async () => {
  const clusters = await LinkedClusters.begin(54)
  await put(clusters, 0, MANY, 200)
  const s = await clusters.follow('s')
  await clusters.untilSame(s)
  const copied = clusters.sentBytes
  const compared = async (write: () => Promise<void>): Promise<number> => {
    clusters.network.cut('p', 's')
    await clusters.time.pass(20_000)
    await write()
    clusters.horizon = (await clusters.time.until(clusters.primary.store.position())).index
    clusters.network.heal('p', 's')
    clusters.sentBytes = 0
    await clusters.untilSame(s)
    await clusters.requireSame(s)
    return clusters.sentBytes
  }
  const few = await compared(async () => {
    for (let each = 0; each < FEW; each++) await put(clusters, each * 1_999, 1, 201)
  })
  const one = await compared(() => put(clusters, 5, 1, 203))
  const all = await compared(() => put(clusters, 0, MANY, 202))
  assert.ok(one < few && few < copied / 20, `${one} and ${few} bytes, the copy had ${copied}`)
  assert.ok(all < copied * 2, `${all} bytes for all, the copy had ${copied}`)
})
