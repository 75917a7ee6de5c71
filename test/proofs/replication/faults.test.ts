// A secondary follows its primary through single faults, each seen from outside: what status says, what goes over the
// wire, what it costs in memory. The schedules of following.test.ts mix them. The ids are those of
// test/replication/README.md.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Direction } from '../../fixtures/fault-proxy.ts'
import { memoryOf } from '../../fixtures/process-figures.ts'
import { activate, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const PAUSED_MS = Number(process.env.PAUSED_MS ?? 2_000)
const MIB = 2 ** 20
/** What a primary may grow by while a secondary stands still: the window of one link, and what writes leave behind. */
const MOST_GROWTH = 150 * MIB

const temporary = temporaryDirectory()
let [primary, secondary]: Cluster[] = []
const both = () => [primary as Cluster, secondary as Cluster] as const

before(async () => {
  primary = await Cluster.make('one', temporary.path)
  secondary = await Cluster.make('two', temporary.path)
  await activate(primary, secondary)
  await levelled(primary, secondary)
})

after(async () => {
  for (const cluster of both()) await cluster.end()
  temporary.cleanUp()
})

const textOf = (bytes: number, name: number): object => ({
  policy: `path "a" { capabilities = ["read"] } # ${name} ${'x'.repeat(bytes)}`,
})

async function write(count: number, bytes: number, name = 'p'): Promise<void> {
  const [cluster] = both()
  const writes = Array.from({ length: count }, (_, each) => each)
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let each = writes.pop(); each !== undefined; each = writes.pop())
        await cluster.must('PUT', `sys/policies/acl/${name}${each}`, textOf(bytes, each))
    }),
  )
}

type Shown = { readonly atPrimary: unknown; readonly atSecondary: unknown }

async function shown(): Promise<Shown> {
  const [theirs, ours] = [await both()[0].status(), await both()[1].status()]
  const [peer] = theirs.secondaries as readonly Record<string, unknown>[]
  return { atPrimary: peer?.connection_status, atSecondary: ours.connection_state }
}

const isDead = async (): Promise<boolean> => {
  const { atPrimary, atSecondary } = await shown()
  return atPrimary === 'disconnected' && atSecondary !== 'ready'
}

/** Asks both for their status without a pause until it is stopped. Returns how often, and every answer of 5xx. */
function watchStatus(): () => Promise<{ readonly asked: number; readonly failed: readonly number[] }> {
  let isOver = false
  const failed: number[] = []
  let asked = 0
  const asking = both().map(async (cluster) => {
    while (!isOver) {
      const { status } = await cluster.call('GET', 'sys/replication/status', undefined, '')
      asked++
      if (status >= 500) failed.push(status)
      await sleep(20)
    }
  })
  return async () => {
    isOver = true
    await Promise.all(asking)
    return { asked, failed }
  }
}

for (const direction of ['down', 'up'] as const satisfies readonly Direction[]) {
  test(`T22 T96: a link that is dead "${direction}" alone is shown at both ends, and status answers`, async (t) => {
    const [one, two] = both()
    const watched = watchStatus()
    await levelled(one, two)
    one.proxy.set({ isCut: true }, [direction])
    const cutAt = performance.now()
    await until(isDead, 'both ends show it')
    const noticedMs = performance.now() - cutAt
    one.proxy.heal()
    await write(5, 100)
    await levelled(one, two)
    const { asked, failed } = await watched()
    t.diagnostic(`shown at both ends after ${Math.round(noticedMs)} ms; ${asked} questions of status`)
    assert.deepEqual(failed, [])
  })
}

test('metrics of both ends show the link, the lag and what was moved, without a token', async () => {
  const [one, two] = both()
  const name = 'keywright_replication_'
  const shownBy = async (cluster: Cluster, of: string, labels = 'family="dr"') =>
    (await cluster.metrics()).get(`${name}${of}{${labels}}`)
  const linked = () => shownBy(one, 'secondaries', 'family="dr",link="connected"')
  await levelled(one, two)
  await until(async () => (await linked()) === 1 && (await shownBy(two, 'connected')) === 1, 'both show the link')
  const before = await shownBy(two, 'applied_records_total')
  const links = (await shownBy(two, 'links_total')) ?? assert.fail()
  await write(20, 1_000, 's')
  await levelled(one, two)
  assert.ok(((await shownBy(two, 'applied_records_total')) ?? 0) >= (before ?? 0) + 20)
  assert.ok(((await shownBy(one, 'sent_bytes_total')) ?? 0) > 20_000)
  const index = (await two.status()).last_remote_wal
  await until(async () => ((await shownBy(two, 'last_remote_index')) ?? 0) >= Number(index), 'the place is shown')
  assert.deepEqual([await shownBy(two, 'lag_records'), await shownBy(two, 'lag_seconds')], [0, 0])
  const atPrimary = await one.metrics()
  assert.ok((atPrimary.get('vault_replication_wal_last_dr_wal') ?? 0) > 0)
  assert.equal(atPrimary.get(`${name}log_holds{kind="secondary"}`), 1)
  assert.ok(((await two.metrics()).get('vault_replication_fsm_last_remote_wal{family="dr"}') ?? 0) > 0)
  one.proxy.refuse()
  const isCut = async (): Promise<boolean> => (await linked()) === 0 && (await shownBy(two, 'connected')) === 0
  await until(isCut, 'both show the cut')
  one.proxy.heal()
  await levelled(one, two)
  await until(async () => (await linked()) === 1 && (await shownBy(two, 'connected')) === 1, 'both show the link')
  assert.ok(((await shownBy(two, 'links_total')) ?? 0) > links)
})

test('T21: a link that is made again moves what was written meanwhile, and no more', async (t) => {
  const [one, two] = both()
  await write(200, 2_000, 'q')
  await levelled(one, two)
  one.proxy.refuse()
  await write(20, 5_000, 'r')
  const before = one.proxy.bytes
  one.proxy.heal()
  await levelled(one, two)
  const moved = one.proxy.bytes - before
  t.diagnostic(`${moved} bytes for 20 writes of 5,000`)
  assert.ok(moved > 100_000 && moved < 100_000 * 1.3 + 60_000, `${moved} bytes`)
})

test('T30: a secondary that stands still costs its primary no memory', async (t) => {
  const [one, two] = both()
  await write(50, 20_000, 't')
  await levelled(one, two)
  const baseline = memoryOf(one.pid).bytes
  process.kill(two.pid, 'SIGSTOP')
  let written = 0
  try {
    for (const endMs = performance.now() + PAUSED_MS; performance.now() < endMs; written += 50) {
      await write(50, 50_000, 't')
    }
  } finally {
    process.kill(two.pid, 'SIGCONT')
  }
  const grown = memoryOf(one.pid).bytes - baseline
  t.diagnostic(`${written} writes of 50,000 bytes, and ${Math.round(grown / MIB)} MiB more in memory`)
  assert.ok(grown < MOST_GROWTH, `${grown} bytes`)
  await levelled(one, two)
})

async function hasOneRoot(): Promise<boolean> {
  const [one, two] = both()
  return (await one.status()).merkle_root === (await two.status()).merkle_root
}

test('T49: a primary that is restored goes on in a new history, and the secondary follows into it', async () => {
  const [one, two] = both()
  const headers = { 'X-Vault-Token': one.token }
  const address = `${one.address}/v1/sys/storage/snapshot`
  const snapshot = await (await fetch(address, { headers })).arrayBuffer()
  // The second restore leaves the history that the first one began.
  for (const round of ['once', 'again']) {
    await write(5, 100, `undone-${round}`)
    await levelled(one, two)
    const { history_id: historyId } = await one.status()
    const before = one.proxy.bytes
    const restored = await fetch(address, { method: 'POST', headers, body: snapshot })
    assert.equal(restored.status, 200, await restored.text())
    await one.unseal()
    await write(1, 100, 'afterwards')
    await levelled(one, two)
    // Two looks, each of which may tell of the second before.
    await until(hasOneRoot, 'both have one root')
    assert.notEqual((await one.status()).history_id, historyId)
    assert.ok(one.proxy.bytes - before < 300_000, `${one.proxy.bytes - before} bytes: no copy anew`)
  }
})
