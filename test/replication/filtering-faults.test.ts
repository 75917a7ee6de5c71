// Whole servers in virtual time: what goes wrong while a filter changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemScope } from '../../src/storage/contract.ts'
import { operationToken, promote, shareOf, write } from '../fixtures/failing-over.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, performanceServers } from '../fixtures/replicated-servers.ts'

const filterOf = (id: string): string => `sys/replication/performance/primary/paths-filter/${id}`
const FAMILY = 'performance'
const REACH = 'root/core/replication/performance/reach'

async function entriesOf({ server }: ReplicatedServer) {
  const snapshot = await server.store.snapshot()
  try {
    return await snapshot.stored('', Number.POSITIVE_INFINITY)
  } finally {
    await snapshot.close()
  }
}

/** Stored keys of the set that name one of these. */
const naming = async (cluster: ReplicatedServer, name: string): Promise<string[]> =>
  (await entriesOf(cluster)).filter(({ key, class: of }) => of === 'replicated' && key.includes(name)).map((e) => e.key)

async function uuidOf(cluster: ReplicatedServer, path: string): Promise<string> {
  const { body } = await cluster.must('GET', `sys/mounts/${path}`)
  return String((body.data as { readonly uuid: string }).uuid)
}

const found = async (cluster: ReplicatedServer, path: string): Promise<number> =>
  (await cluster.call('GET', path)).status

async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const level = () => servers.level(primary, secondary, 60_000, FAMILY)
  for (const path of ['open', 'kept']) {
    await primary.must('POST', `sys/mounts/${path}`, { type: 'transit' })
    await primary.must('POST', `${path}/keys/k`)
  }
  await level()
  const filter = async (body: object | undefined) => {
    if (body === undefined) await primary.must('DELETE', filterOf('two'))
    else await primary.must('POST', filterOf('two'), body)
  }
  const slow = (latencyMs: number) => {
    for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs: latencyMs })
  }
  const hidden = await uuidOf(primary, 'kept')
  return { servers, primary, secondary, level, filter, hidden, slow }
}

for (const waitMs of [800, 900, 1_000, 1_100, 1_200]) {
  test(`a mount that is forbidden again ${waitMs} ms into its comparison is not shown`, async () => {
    const { servers, secondary, filter, hidden, slow, level } = await started(1)
    await filter({ mode: 'deny', paths: ['kept'] })
    await servers.time.pass(5_000)
    assert.deepEqual(await naming(secondary, hidden), [])
    slow(100)
    await filter(undefined)
    await servers.time.pass(waitMs)
    await filter({ mode: 'deny', paths: ['kept'] })
    await servers.time.pass(10_000)
    await level()
    assert.deepEqual(await naming(secondary, hidden), [])
    assert.equal(await found(secondary, 'sys/mounts/kept'), 400)
  })
}

/** Runs it as soon as the cluster has news of its filter, before anything else happens. */
const onNews = ({ server }: ReplicatedServer, run: () => void): (() => boolean) => {
  let isDone = false
  server.store.onCommit(({ operations }) => {
    if (isDone || !operations.some(({ key }) => key === REACH)) return
    isDone = true
    run()
  })
  return () => isDone
}

/** A filtered secondary that has as many keys to remove as take two steps, and a DR secondary of it. */
async function withStandIn(seed: number) {
  const all = await started(seed)
  const { servers, primary, secondary } = all
  for (let key = 0; key < 30; key++) await primary.must('POST', `kept/keys/k${key}`)
  const token = await operationToken(primary)
  await all.level()
  const standIn = await servers.start('stand-in')
  await servers.activate(secondary, standIn)
  await servers.level(secondary, standIn)
  await servers.time.pass(1_000)
  await servers.level(secondary, standIn)
  standIn.rootToken = secondary.rootToken
  // It knows where the secondary stands in the log of the primary.
  await write(primary, 1)
  await all.level()
  await servers.level(secondary, standIn)
  return { ...all, standIn, token }
}

test('a DR secondary of a filtered secondary restarts while that one removes', async () => {
  const { servers, primary, secondary, filter, hidden, standIn } = await withStandIn(2)
  const isNews = onNews(standIn, () => servers.cut(secondary, standIn))
  await filter({ mode: 'deny', paths: ['kept'] })
  await servers.time.pass(100)
  assert.ok(isNews())
  const left = await naming(standIn, hidden)
  assert.ok(left.length > 10, `${left.length}`)
  standIn.kill()
  await servers.time.until(standIn.restart(shareOf(primary)))
  await servers.time.pass(20_000)
  assert.deepEqual(await naming(standIn, hidden), left)
  servers.heal(secondary, standIn)
  await servers.time.pass(20_000)
  await servers.level(secondary, standIn)
  await servers.requireSame(secondary, standIn)
  assert.deepEqual(await naming(standIn, hidden), [])
})

test('a DR secondary that leaves a filtered secondary in the middle removes what was left', async () => {
  const { servers, secondary, filter, hidden, standIn, token } = await withStandIn(3)
  const isNews = onNews(standIn, () => servers.cut(secondary, standIn))
  await filter({ mode: 'deny', paths: ['kept'] })
  await servers.time.pass(100)
  assert.ok(isNews())
  await standIn.must('POST', 'sys/replication/dr/secondary/disable', { dr_operation_token: token })
  await servers.time.pass(20_000)
  assert.deepEqual(await naming(standIn, hidden), [])
})

test('a DR secondary that takes the place of a filtered secondary removes what was left', async () => {
  const { servers, primary, secondary, filter, hidden, standIn, token } = await withStandIn(4)
  const isNews = onNews(standIn, () => servers.cut(secondary, standIn))
  await filter({ mode: 'deny', paths: ['kept'] })
  await servers.time.pass(100)
  assert.ok(isNews())
  secondary.kill()
  await servers.time.pass(20_000)
  const promoted = await promote(standIn, token, { force: true })
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  await servers.time.pass(20_000)
  assert.deepEqual(await naming(standIn, hidden), [])
  await servers.level(primary, standIn, 60_000, FAMILY)
})

/** Keys of all classes that name it. */
const allNaming = async (cluster: ReplicatedServer, name: string): Promise<string[]> =>
  (await entriesOf(cluster)).map(({ key }) => key).filter((key) => key.includes(name))

test('what servers have noted of reloads of a mount goes with it, and not that of a mount of their own', async () => {
  const { servers, secondary, level, filter, hidden, standIn } = await withStandIn(10)
  await secondary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  const [own, open] = [await uuidOf(secondary, 'own'), await uuidOf(secondary, 'open')]
  await secondary.must('POST', 'sys/plugins/reload/backend', { mounts: ['open', 'kept', 'own'] })
  // As one has that was promoted, and follows again.
  const reloaded = [hidden, own, open].map((uuid) => `root/core/reload/${uuid}`)
  const note = (await secondary.server.store.get(`root/core/reload/${hidden}`)) ?? assert.fail('it is noted')
  await servers.time.until(
    standIn.server.store.transaction(async (tx) => {
      for (const key of reloaded) tx.put(systemScope, key, note)
    }),
  )
  await level()
  await servers.level(secondary, standIn)
  await filter({ mode: 'deny', paths: ['kept'] })
  await servers.time.pass(40_000)
  for (const cluster of [secondary, standIn]) {
    assert.deepEqual(await allNaming(cluster, hidden), [])
    assert.deepEqual(await allNaming(cluster, 'core/reload/'), reloaded.slice(1).sort())
    assert.equal(await recordsWith(cluster, `core/reload/${hidden}`), 0)
  }
})

test('what is allowed and forbidden again while the store forgets it is removed once more', async () => {
  const { servers, secondary, filter, hidden, standIn } = await withStandIn(5)
  const forbid = () => filter({ mode: 'deny', paths: ['kept'] })
  await forbid()
  await servers.time.pass(3_000)
  assert.deepEqual(await naming(secondary, hidden), [])
  await filter(undefined)
  await servers.time.pass(3_000)
  assert.equal(await found(secondary, 'kept/keys/k29'), 200)
  await forbid()
  await servers.time.pass(30_000)
  assert.deepEqual([await naming(secondary, hidden), await naming(standIn, hidden)], [[], []])
})

test('an answer of a mount that is forbidden is not unwrapped any more, and any other is', async () => {
  const { servers, secondary, filter } = await started(6)
  const wrapped: string[] = []
  for (const path of ['open', 'kept']) {
    const asked = secondary.server.call('GET', `${path}/keys/k`, undefined, secondary.rootToken, { wrapTtl: '1h' })
    const { body } = await servers.time.until(asked)
    wrapped.push(String((body.wrap_info as { readonly token: string }).token))
  }
  await filter({ mode: 'deny', paths: ['kept'] })
  await servers.time.pass(1_000)
  const unwrapped: number[] = []
  for (const token of wrapped) unwrapped.push((await secondary.call('POST', 'sys/wrapping/unwrap', { token })).status)
  assert.deepEqual(unwrapped, [200, 400])
})

/** Records of the log of a cluster that tell of this. */
async function recordsWith({ server }: ReplicatedServer, text: string): Promise<number> {
  const { firstIndex } = await server.store.retained()
  const records = await server.store.records(firstIndex - 1, 100_000)
  return records.filter(({ record }) => record.includes(text)).length
}

test('a DR secondary forgets what a filter takes from its primary, also if it stops before', async () => {
  const { servers, primary, secondary, filter, hidden, standIn } = await withStandIn(7)
  assert.notEqual(await recordsWith(standIn, '/key/k29'), 0)
  const forget = async () => {
    await filter({ mode: 'deny', paths: ['kept'] })
    await servers.time.pass(40_000)
  }
  await forget()
  assert.deepEqual([await naming(secondary, hidden), await naming(standIn, hidden)], [[], []])
  assert.deepEqual([await recordsWith(secondary, '/key/k29'), await recordsWith(standIn, '/key/k29')], [0, 0])
  await filter({ mode: 'deny', paths: ['open'] })
  await primary.must('POST', 'kept/keys/again')
  await servers.time.pass(5_000)
  assert.notEqual(await recordsWith(standIn, '/key/again'), 0)
  standIn.kill()
  await forget()
  await servers.time.until(standIn.restart(shareOf(primary)))
  await servers.time.pass(30_000)
  await servers.level(secondary, standIn)
  assert.deepEqual([await recordsWith(secondary, '/key/again'), await recordsWith(standIn, '/key/again')], [0, 0])
})

test('a DR secondary that is being copied forgets what a filter takes from its primary meanwhile', async () => {
  const { servers, primary, secondary, filter } = await started(8)
  for (let key = 0; key < 30; key++) await primary.must('POST', `kept/keys/k${key}`)
  const policy = `path "a" { capabilities = ["read"] } # ${'x'.repeat(20_000)}`
  for (let each = 0; each < 300; each++) await primary.must('PUT', `sys/policies/acl/q${each}`, { policy })
  await servers.level(primary, secondary, 60_000, FAMILY)
  const standIn = await servers.start('stand-in')
  servers.network.set('two', 'stand-in', { bytesPerSecond: 100_000 })
  await servers.activate(secondary, standIn)
  await servers.time.pass(20_000)
  assert.notEqual(await recordsWith(standIn, '/key/k29'), 0)
  await filter({ mode: 'deny', paths: ['kept'] })
  await servers.time.pass(25_000)
  assert.equal((await standIn.status()).mode, 'bootstrapping')
  await servers.level(secondary, standIn, 120_000)
  await servers.time.pass(30_000)
  assert.deepEqual([await recordsWith(secondary, '/key/k29'), await recordsWith(standIn, '/key/k29')], [0, 0])
})

test('a DR secondary that is compared forgets what the comparison removes', async () => {
  const { servers, primary, secondary, filter, hidden, standIn } = await withStandIn(9)
  standIn.kill()
  await filter({ mode: 'deny', paths: ['kept'] })
  while ((await naming(secondary, hidden)).length > 0) await servers.time.pass(100)
  await secondary.forgetLog()
  // Its primary forgets in a moment, and its log says so while the trees are compared.
  for (const [from, to] of bothWays(secondary, standIn)) servers.network.set(from, to, { delayMs: 1_000 })
  await servers.time.until(standIn.restart(shareOf(primary)))
  const isNews = onNews(standIn, () => {})
  while (!isNews()) await servers.time.pass(100)
  assert.notDeepEqual(await naming(standIn, hidden), [], 'the news comes before the removals')
  await servers.level(secondary, standIn)
  await servers.time.pass(30_000)
  assert.deepEqual(await naming(standIn, hidden), [])
  assert.deepEqual([await recordsWith(secondary, '/key/k29'), await recordsWith(standIn, '/key/k29')], [0, 0])
})
