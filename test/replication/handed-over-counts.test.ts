// S6 on whole servers in virtual time: what a planned change of primary costs a key version. It costs so little because
// a primary grants nothing while it does not know what became of its handing over.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LEASE_MS } from '../../src/assembly/replication/handing-over.ts'
import { MESSAGE_LIMITS } from '../../src/engines/transit/budget/message-limits.ts'
import { StorageFull } from '../../src/storage/errors.ts'
import { SMALL_LIMITS } from '../fixtures/cluster-set.ts'
import { DR, operationToken, pair, promote, shareOf, takeBack } from '../fixtures/failing-over.ts'
import { operationsOf, type ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers } from '../fixtures/replicated-servers.ts'

const plaintext = 'YQ=='
const BATCH = 50
const batch = { batch_input: Array(BATCH).fill({ plaintext }) }
const { block } = SMALL_LIMITS

const real = { ...MESSAGE_LIMITS }
before(() => void Object.assign(MESSAGE_LIMITS, SMALL_LIMITS))
after(() => void Object.assign(MESSAGE_LIMITS, real))

async function pairWithKey(seed: number) {
  const set = await pair(seed)
  await set.primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await set.primary.must('POST', 'transit/keys/k')
  await set.primary.must('POST', 'transit/encrypt/k', { plaintext })
  await set.servers.level(set.primary, set.secondary)
  return set
}

async function regionWithKey(seed: number) {
  const set = await performanceServers(seed)
  const { servers, primary, secondary } = set
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'transit/keys/k')
  await servers.time.pass(12_000)
  await servers.level(primary, secondary, 60_000, 'performance')
  return set
}

const REFUSED = /^503 .*before those that follow it have caught up/
/** More batches than what a cluster has left at any moment. */
const MANY = 200

/** Seals until that is refused, at most so often; returns the refusal. */
async function sealedOut(cluster: ReplicatedServer, batches: number): Promise<string | undefined> {
  for (let turn = 0; turn < batches; turn++) {
    const { status, body } = await cluster.call('POST', 'transit/encrypt/k', batch)
    if (status !== 200) return `${status} ${body.errors}`
  }
  return undefined
}

const countOf = async (cluster: ReplicatedServer): Promise<number> => {
  const { body } = await cluster.must('GET', 'transit/keys/k')
  const counts = body.data?.encryption_counts ?? {}
  return (counts as Record<string, number>)[1] ?? 0
}

const CHANGES = 10

test(`S6: ${CHANGES} planned changes of primary cost a key version a block each`, async () => {
  const { servers, token, ...pairOf } = await pairWithKey(31)
  let [primary, secondary] = [pairOf.primary, pairOf.secondary]
  for (let change = 1; change <= CHANGES; change++) {
    assert.equal((await promote(secondary, token)).status, 200)
    await takeBack(servers, secondary, primary, token)
    ;[primary, secondary] = [secondary, primary]
    assert.equal(await sealedOut(primary, 1), undefined, `after ${change} changes`)
    await servers.level(primary, secondary)
  }
  const counted = await countOf(primary)
  assert.ok(counted >= CHANGES * block && counted <= (CHANGES + 2) * block, `${counted / block} blocks`)
})

test('S6: a primary that handed over, and heard no more, grants nothing until the other one is revoked', async () => {
  const { servers, primary, secondary, token } = await pairWithKey(32)
  const operation = { dr_operation_token: token }
  const promoted = secondary.server.call('POST', `${DR}/secondary/promote`, operation, '')
  while (secondary.server.node.nodeRole().dr !== 'primary') await servers.time.pass(1)
  servers.cut(primary, secondary)
  assert.equal((await servers.time.until(promoted)).status, 200)
  await servers.time.pass(LEASE_MS)
  assert.match((await sealedOut(primary, MANY)) ?? '', REFUSED)
  assert.deepEqual((await primary.status()).may_have_taken_over, [secondary.name])
  primary.kill()
  await primary.restart(shareOf(primary))
  assert.match((await sealedOut(primary, MANY)) ?? '', REFUSED)
  // A mount that nobody else knows of, and versions that nobody else has.
  for (const path of ['sys/mounts/another', 'another/keys/k'])
    await primary.must('POST', path, path.startsWith('sys') ? { type: 'transit' } : {})
  await primary.must('POST', 'another/encrypt/k', batch)
  await primary.must('POST', 'transit/keys/k/rotate')
  await primary.must('POST', 'transit/encrypt/k', batch)
  await primary.must('POST', `${DR}/primary/revoke-secondary`, { id: secondary.name })
  assert.equal(await sealedOut(primary, MANY), undefined)
  assert.equal((await primary.status()).may_have_taken_over, undefined)
})

for (const family of ['dr', 'performance'] as const) {
  test(`S6: a primary whose secondary for ${family} asked and died grants again when that one follows`, async () => {
    const { servers, primary, secondary } = family === 'dr' ? await pairWithKey(34) : await regionWithKey(35)
    const token = family === 'dr' ? { dr_operation_token: await operationToken(primary) } : {}
    await servers.level(primary, secondary, 60_000, family)
    const path = `sys/replication/${family}/secondary/promote`
    secondary.server.call('POST', path, token, secondary.rootToken).catch(() => {})
    while (primary.server.node.nodeRole().isHandingOver !== true) await servers.time.pass(1)
    secondary.kill()
    await servers.time.pass(LEASE_MS)
    assert.match((await sealedOut(primary, MANY)) ?? '', REFUSED)
    await secondary.restart(shareOf(primary))
    await servers.level(primary, secondary, 60_000, family)
    await servers.time.pass(2_000)
    assert.equal((await primary.status(family)).may_have_taken_over, undefined)
    assert.equal(await sealedOut(primary, 20), undefined)
  })
}

test('S6: a primary that handed over to a region, of which it never hears, grants nothing', async () => {
  const { servers, primary, secondary } = await regionWithKey(36)
  await primary.must('POST', 'transit/encrypt/k', { plaintext })
  await servers.level(primary, secondary, 60_000, 'performance')
  await servers.time.pass(1_000)
  assert.equal((await secondary.call('POST', 'sys/replication/performance/secondary/promote')).status, 200)
  await servers.time.pass(LEASE_MS + 1_000)
  assert.match((await sealedOut(primary, MANY)) ?? '', REFUSED)
  // The name of the former primary, and three for those that may be named in its place.
  const counted = await countOf(secondary)
  assert.ok(counted >= 4 * block && counted < 5 * block, `${counted / block} blocks`)
  assert.equal(await sealedOut(secondary, 20), undefined)
})

test('a primary that is demoted at once behind the promotion of a region takes no write in between', async () => {
  const { servers, primary, secondary } = await regionWithKey(43)
  const promoted = await secondary.call('POST', 'sys/replication/performance/secondary/promote')
  assert.equal(promoted.status, 200)
  assert.equal((await primary.call('POST', 'transit/keys/late')).status, 503)
  await servers.time.pass(LEASE_MS / 2)
  await primary.must('POST', 'sys/replication/performance/primary/demote')
  assert.equal((await primary.status('performance')).mode, 'secondary')
  const counted = await countOf(secondary)
  assert.ok(counted < 5 * block, `${counted / block} blocks`)
})

test('a demotion that waits for its device and for a secondary takes no write in between', async () => {
  const { servers, primary, secondary } = await regionWithKey(44)
  const { backend } = primary.server.machine
  const { append } = backend
  const { timers } = servers.time.newThread()
  backend.append = async (...given: Parameters<typeof append>) => {
    backend.append = append
    await timers.sleep(6_000)
    await append.apply(backend, given)
  }
  let isDone = false
  const begunMs = servers.time.nowMs
  const { server, rootToken } = primary
  const demoted = server.call('POST', 'sys/replication/performance/primary/demote', {}, rootToken).finally(() => {
    isDone = true
  })
  let isCut = false
  for (let each = 0; !isDone; each++) {
    await servers.time.pass(200)
    if (servers.time.nowMs - begunMs > 5_700 && !isCut) {
      isCut = true
      servers.cut(primary, secondary)
    }
    if (isCut && !isDone) assert.equal((await primary.call('POST', `transit/keys/late-${each}`)).status, 503)
  }
  assert.equal((await demoted).status, 200)
  assert.ok(servers.time.nowMs - begunMs > LEASE_MS, `${servers.time.nowMs - begunMs} ms`)
})

test('a demotion whose lease ends while it waits is refused, and the cluster stays a primary that writes', async () => {
  const { servers, primary } = await regionWithKey(45)
  const { timers } = servers.time.newThread()
  const { store } = primary.server
  const { position } = store
  let isLate = false
  store.position = async () => {
    if (!isLate && primary.server.node.nodeRole().isHandingOver) {
      isLate = true
      await timers.sleep(LEASE_MS + 1)
    }
    return position.call(store)
  }
  const { status, body } = await primary.call('POST', 'sys/replication/performance/primary/demote')
  assert.ok(isLate)
  assert.equal(status, 503)
  assert.match(String(body.errors), /too slow: it has begun to write again/)
  assert.equal((await primary.status('performance')).mode, 'primary')
  await primary.must('POST', 'transit/keys/after')
})

/** How many messages a cluster seals until it is refused. */
async function sealedIn(cluster: ReplicatedServer): Promise<number> {
  for (let count = 0; count <= 2 * SMALL_LIMITS.most; count += BATCH)
    if ((await cluster.call('POST', 'transit/encrypt/k', batch)).status !== 200) return count
  return assert.fail('there is no end')
}

async function requireBound(...clusters: readonly ReplicatedServer[]): Promise<void> {
  let total = 0
  for (const cluster of clusters) total += await sealedIn(cluster)
  assert.ok(total > 0 && total <= SMALL_LIMITS.most, `${total} messages of ${SMALL_LIMITS.most}`)
}

/** A region, and a DR secondary that may take the place of its primary. The two do not hear each other. */
async function regionAndStandIn(seed: number) {
  const { servers, primary, secondary } = await regionWithKey(seed)
  const standIn = await servers.start('three')
  await servers.activate(primary, standIn, 'three', 'dr')
  const token = await operationToken(primary)
  await servers.level(primary, secondary, 60_000, 'performance')
  await servers.level(primary, standIn)
  await servers.time.pass(2_000)
  servers.cut(secondary, standIn)
  return { servers, primary, secondary, standIn, token }
}

const asksAsRegion = (region: ReplicatedServer) =>
  region.server.call('POST', 'sys/replication/performance/secondary/promote', {}, region.rootToken)

for (const isForced of [true, false]) {
  const how = isForced ? 'which did not hear of it' : 'at the same moment'
  test(`S6: a primary hands over to a region, and is lost to a stand-in ${how}: both keep the bound`, async () => {
    const { servers, primary, secondary, standIn, token } = await regionAndStandIn(37)
    const asked = isForced ? undefined : asksAsRegion(secondary)
    servers.cut(primary, standIn)
    assert.equal((await servers.time.until(asked ?? asksAsRegion(secondary))).status, 200)
    primary.kill()
    await servers.time.pass(16_000)
    assert.equal((await promote(standIn, token, { force: isForced })).status, 200)
    await requireBound(standIn, secondary)
  })
}

test('a planned promotion of a region waits for no stand-in that is away', async () => {
  const { servers, primary, secondary, standIn } = await regionAndStandIn(42)
  standIn.kill()
  await servers.time.pass(30_000)
  const asked = asksAsRegion(secondary)
  const begunMs = servers.time.nowMs
  while (secondary.server.node.nodeRole().performance !== 'primary') await servers.time.pass(5)
  assert.ok(servers.time.nowMs - begunMs < 500, `${servers.time.nowMs - begunMs} ms`)
  assert.equal((await servers.time.until(asked)).status, 200)
  // It counts what the stand-in may grant.
  const counted = await countOf(secondary)
  assert.ok(counted >= 12 * block && counted < 13 * block, `${counted / block} blocks`)
  assert.ok(primary.server.node.nodeRole().isHandingOver)
})

test('S6: a region and a stand-in ask at once: both keep the bound', async () => {
  for (const apartMs of [0, 2, 8]) {
    const { servers, primary, secondary, standIn, token } = await regionAndStandIn(38)
    const operation = { dr_operation_token: token }
    const heir = standIn.server.call('POST', `${DR}/secondary/promote`, operation, '')
    await servers.time.pass(apartMs)
    const region = asksAsRegion(secondary)
    assert.equal((await servers.time.until(heir)).status, 200)
    const isPromoted = (await servers.time.until(region)).status === 200
    primary.kill()
    await servers.time.pass(1_000)
    if (isPromoted) await requireBound(standIn, secondary)
  }
})

// Behind a sync that failed, what was written before it is there at the next start, or is not.
test('S6: a promotion of which nobody knows whether it is stored is not taken back', async () => {
  const { servers, primary, secondary } = await regionWithKey(39)
  const { backend } = secondary.server.machine
  const { append } = backend
  let late: Parameters<typeof append> | undefined
  backend.append = async (...given: Parameters<typeof append>) => {
    if (given[0].every(({ change }) => change.beginsHistory === undefined)) return append.apply(backend, given)
    late = given
    throw new Error('a sync failed')
  }
  assert.equal((await servers.time.until(asksAsRegion(secondary))).status, 500)
  await servers.time.pass(1_000)
  assert.equal(primary.server.node.nodeRole().isHandingOver, true)
  backend.append = append
  servers.cut(primary, secondary)
  secondary.kill()
  await append.apply(backend, late ?? assert.fail('it was promoted'))
  await secondary.restart(shareOf(primary))
  assert.equal((await secondary.status('performance')).mode, 'primary')
  await servers.time.pass(LEASE_MS)
  await requireBound(primary, secondary)
})

for (const family of ['dr', 'performance'] as const) {
  test(`S6: who may have taken over for ${family} is heard where nothing is written`, async () => {
    const { servers, primary, secondary } = family === 'dr' ? await pair(40) : await performanceServers(41)
    const token = family === 'dr' ? { dr_operation_token: await operationToken(primary) } : {}
    const another = await servers.start('three')
    await servers.activate(primary, another, 'three', family)
    if (family === 'performance') await servers.giveRootToken(primary, another)
    await servers.level(primary, another, 60_000, family)
    await servers.time.pass(30_000)
    const path = `sys/replication/${family}/secondary/promote`
    secondary.server.call('POST', path, token, secondary.rootToken).catch(() => {})
    while (primary.server.node.nodeRole().isHandingOver !== true) await servers.time.pass(1)
    secondary.kill()
    await secondary.restart(shareOf(primary))
    // Another one asks within the lease, and takes it back.
    await servers.time.pass(6_000)
    const { backend } = another.server.machine
    const { append } = backend
    backend.append = async (...given: Parameters<typeof append>) => {
      if (given[0].some(({ change }) => change.beginsHistory !== undefined)) throw new StorageFull('full')
      await append.apply(backend, given)
    }
    assert.equal((await another.call('POST', path, token)).status, 507)
    await servers.time.pass(30_000)
    assert.equal(await servers.time.until(operationsOf(primary).mayBeReplaced('replicated')), false)
  })
}
