// Clusters in both families at once: a DR secondary stands in for a member of a performance set. Whole servers, over
// the simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INDEX_HEADER } from '../../src/core/consistency.ts'
import { bodyText } from '../../src/core/exchange.ts'
import { StorageRefused } from '../../src/storage/errors.ts'
import { has, operationToken, POLICY, promote, shareOf, write } from '../fixtures/failing-over.ts'
import { wireRequest } from '../fixtures/memory-server.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, performanceServers } from '../fixtures/replicated-servers.ts'

const PERFORMANCE = 'sys/replication/performance'
const DR = 'sys/replication/dr'
const FAMILY = 'performance'

/** A performance pair, and a DR secondary of one of the two. */
async function withStandIn(seed: number, of: 'primary' | 'secondary') {
  const all = await performanceServers(seed)
  const { servers, primary, secondary } = all
  await primary.must('POST', 'sys/mounts/shared', { type: 'transit' })
  await primary.must('POST', 'shared/keys/k')
  const token = await operationToken(primary)
  await write(primary, 5)
  await servers.level(primary, secondary, 60_000, FAMILY)
  const followed = all[of]
  await followed.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  await followed.must('POST', 'own/keys/k')
  const standIn = await servers.start('stand-in')
  await servers.activate(followed, standIn)
  await servers.level(followed, standIn)
  await servers.time.pass(1_000)
  await servers.level(followed, standIn)
  standIn.rootToken = followed.rootToken
  return { ...all, standIn, token }
}

const moveTo = (of: ReplicatedServer, to: ReplicatedServer) =>
  of.call('POST', `${PERFORMANCE}/secondary/update-primary`, { update_primary_addrs: [`https://${to.name}:8201`] })

test('T62: a DR secondary of a performance primary takes its place; secondaries follow by its address', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(62, 'primary')
  const before = await primary.status(FAMILY)
  assert.equal((await standIn.status(FAMILY)).mode, 'disabled', JSON.stringify(await standIn.status(FAMILY)))
  await write(primary, 3, 'last')
  await servers.level(primary, standIn)
  await servers.level(primary, secondary, 60_000, FAMILY)
  primary.kill()
  await servers.time.pass(15_000)
  const promoted = await promote(standIn, token)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  const after = await standIn.status(FAMILY)
  assert.deepEqual([after.mode, after.cluster_id, after.known_secondaries], ['primary', before.cluster_id, ['two']])
  await write(standIn, 3, 'new')
  servers.sentBytes = 0
  const moved = await moveTo(secondary, standIn)
  assert.equal(moved.status, 200, JSON.stringify(moved.body))
  await servers.level(standIn, secondary, 60_000, FAMILY)
  assert.ok(await has(secondary, 'last2'))
  assert.ok(await has(secondary, 'new2'))
  assert.ok(servers.sentBytes < 60_000, `${servers.sentBytes} bytes`)
  assert.equal((await secondary.status(FAMILY)).undone_records, undefined)

  await servers.time.until(primary.restart(shareOf(primary)))
  await servers.time.pass(15_000)
  assert.deepEqual([(await primary.status()).fenced, (await primary.status(FAMILY)).fenced], [true, true])
  assert.equal((await primary.call('PUT', 'sys/policies/acl/late', POLICY)).status, 503)
  await primary.must('POST', `${DR}/primary/demote`)
  const given = { dr_operation_token: token, token: await servers.token(standIn, 'one') }
  assert.equal((await primary.call('POST', `${DR}/secondary/update-primary`, given, '')).status, 200)
  await servers.level(standIn, primary)
  await servers.requireSame(standIn, primary)
  // And back: the set has its first primary again.
  await servers.time.pass(2_000)
  const back = await promote(primary, token)
  assert.equal(back.status, 200, JSON.stringify(back.body))
  assert.equal((await primary.status(FAMILY)).mode, 'primary')
  await write(primary, 2, 'back')
  assert.equal((await moveTo(secondary, primary)).status, 200)
  await servers.level(primary, secondary, 60_000, FAMILY)
  assert.ok(await has(secondary, 'back1'))
})

test('T62: secondaries of a fenced performance primary are sent away, and follow the one that took over', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(621, 'primary')
  assert.equal((await promote(standIn, token)).status, 200)
  await servers.time.pass(5_000)
  const { mode, state, idle_reason: reason } = await secondary.status(FAMILY)
  assert.deepEqual([mode, state, reason], ['secondary', 'idle', 'fenced'])
  assert.deepEqual([(await primary.status()).fenced, (await primary.status(FAMILY)).fenced], [true, true])
  await write(standIn, 2, 'new')
  assert.equal((await moveTo(secondary, standIn)).status, 200)
  await servers.level(standIn, secondary, 60_000, FAMILY)
  assert.ok(await has(secondary, 'new1'))
  // The former primary has the certificates of the set, and is followed no more for all that: the good link stays.
  const refused = await moveTo(secondary, primary)
  assert.equal(refused.status, 400)
  assert.match(JSON.stringify(refused.body), /one:8201 refuses: Another cluster took over/)
  await write(standIn, 1, 'later')
  await servers.level(standIn, secondary, 60_000, FAMILY)
  assert.ok(await has(secondary, 'later0'))
  assert.equal((await secondary.status(FAMILY)).primary_cluster_addr, 'https://stand-in:8201')
})

test('a former primary that does not know that it was replaced is not followed by its address', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(623, 'primary')
  primary.kill()
  await servers.time.pass(15_000)
  assert.equal((await promote(standIn, token)).status, 200)
  assert.equal((await moveTo(secondary, standIn)).status, 200)
  await write(standIn, 2, 'new')
  await servers.level(standIn, secondary, 60_000, FAMILY)
  servers.cut(primary, standIn)
  await servers.time.until(primary.restart(shareOf(primary)))
  const refused = await moveTo(secondary, primary)
  assert.equal(refused.status, 400)
  assert.match(JSON.stringify(refused.body), /followed a log that is not known here/)
  await write(standIn, 1, 'later')
  await servers.level(standIn, secondary, 60_000, FAMILY)
  // Among several addresses, those of the present primary are kept.
  const both = { update_primary_addrs: ['https://one:8201', 'https://stand-in:8201'] }
  assert.equal((await secondary.call('POST', `${PERFORMANCE}/secondary/update-primary`, both)).status, 200)
  await servers.level(standIn, secondary, 60_000, FAMILY)
  assert.equal((await secondary.status(FAMILY)).primary_cluster_addr, 'https://stand-in:8201')
})

test('a region whose first copy is not whole when its primary is replaced gives it up, and comes anew', async () => {
  const { servers, primary, standIn, token } = await withStandIn(627, 'primary')
  const region = await servers.start('three')
  const policy = `${POLICY.policy} # ${'x'.repeat(20_000)}`
  for (let each = 0; each < 20; each++) await primary.must('PUT', `sys/policies/acl/q${each}`, { policy })
  servers.network.set('one', 'three', { bytesPerSecond: 10_000 })
  await servers.activate(primary, region, 'three', FAMILY)
  await servers.level(primary, standIn)
  primary.kill()
  await servers.time.pass(15_000)
  assert.equal((await promote(standIn, token)).status, 200)
  await servers.time.until(primary.restart(shareOf(primary)))
  await servers.time.pass(120_000)
  const { mode, idle_reason: reason } = await region.status(FAMILY)
  assert.deepEqual([mode, reason], ['bootstrapping', 'fenced'])
  await servers.giveRootToken(primary, region)
  const told = await moveTo(region, standIn)
  assert.equal(told.status, 503)
  assert.match(JSON.stringify(told.body), /give it up with \\"secondary\/disable\\"/)
  await region.must('POST', `${PERFORMANCE}/secondary/disable`)
  await servers.activate(standIn, region, 'three', FAMILY)
  await servers.level(standIn, region, 60_000, FAMILY)
  assert.equal((await region.status(FAMILY)).primary_cluster_addr, 'https://stand-in:8201')
  assert.deepEqual((await standIn.status(FAMILY)).known_secondaries, ['three', 'two'])
})

test('while a DR secondary takes the place of a performance primary, that one stays what it is', async () => {
  const { servers, primary, standIn, token } = await withStandIn(624, 'primary')
  // It asks its primary to hand over, and ends before it is promoted.
  const asked = standIn.server.call('POST', `${DR}/secondary/promote`, { dr_operation_token: token }, '')
  asked.catch(() => {})
  while (primary.server.node.nodeRole().isHandingOver !== true) await servers.time.pass(1)
  standIn.kill()
  const operations = [
    `${PERFORMANCE}/primary/demote`,
    `${PERFORMANCE}/primary/paths-filter/two`,
    `${DR}/primary/disable`,
  ] as const
  for (const path of operations) {
    const refused = await primary.call('POST', path)
    assert.equal(refused.status, 503, path)
    assert.match(JSON.stringify(refused.body), /hands over/)
    assert.equal((await primary.call('PUT', 'sys/policies/acl/late', POLICY)).status, 503, `${path}: it writes nothing`)
  }
  await servers.time.pass(15_000)
  await primary.must('PUT', 'sys/policies/acl/late', POLICY)
  await primary.must('POST', `${PERFORMANCE}/primary/demote`)
})

test('while a DR secondary takes the place of a performance secondary, that one is not promoted', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(629, 'secondary')
  const asked = standIn.server.call('POST', `${DR}/secondary/promote`, { dr_operation_token: token }, '')
  asked.catch(() => {})
  while (secondary.server.node.nodeRole().isHandingOver !== true) await servers.time.pass(1)
  standIn.kill()
  const refused = await secondary.call('POST', `${PERFORMANCE}/secondary/promote`)
  assert.equal(refused.status, 503)
  assert.match(JSON.stringify(refused.body), /hands over/)
  await write(primary, 1, 'goes-on')
  assert.equal((await moveTo(secondary, primary)).status, 503)
  await servers.time.pass(15_000)
  await secondary.must('POST', `${PERFORMANCE}/secondary/promote`)
  await write(secondary, 1, 'new')
})

test('while a performance secondary hands over, a token that it was given is not used up', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(633, 'secondary')
  const given = { token: await servers.token(primary, 'two-again', {}, FAMILY) }
  const asked = standIn.server.call('POST', `${DR}/secondary/promote`, { dr_operation_token: token }, '')
  asked.catch(() => {})
  while (secondary.server.node.nodeRole().isHandingOver !== true) await servers.time.pass(1)
  standIn.kill()
  const update = () => secondary.call('POST', `${PERFORMANCE}/secondary/update-primary`, given)
  const refused = await update()
  assert.equal(refused.status, 503)
  assert.match(JSON.stringify(refused.body), /hands over/)
  await servers.time.pass(15_000)
  const done = await update()
  assert.equal(done.status, 200, JSON.stringify(done.body))
  await write(primary, 1, 'on')
  await servers.level(primary, secondary, 60_000, FAMILY)
})

test('of two clusters that were promoted, one alone is the primary of the performance set too', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(625, 'primary')
  const other = await servers.start('other')
  await servers.activate(primary, other)
  await servers.level(primary, other)
  await servers.time.pass(1_000)
  primary.kill()
  await servers.time.pass(15_000)
  const both = [standIn, other]
  for (const one of both) assert.equal((await promote(one, token, { force: true })).status, 200)
  assert.equal((await moveTo(secondary, standIn)).status, 200)
  await servers.level(standIn, secondary, 60_000, FAMILY)
  servers.cut(primary, standIn)
  await servers.time.until(primary.restart(shareOf(primary)))
  await servers.time.pass(20_000)
  servers.heal(primary, standIn)
  await servers.time.pass(20_000)
  const fenced = async (family: 'dr' | 'performance') =>
    Promise.all(both.map(async (one) => (await one.status(family)).fenced))
  const ofDr = await fenced('dr')
  assert.deepEqual(ofDr, [true, false], 'the other one was heard first')
  assert.deepEqual(await fenced('performance'), ofDr)
  assert.equal((await secondary.status(FAMILY)).idle_reason, 'fenced')
  assert.equal((await moveTo(secondary, standIn)).status, 400)
  const token2 = await servers.token(other, 'two', {}, FAMILY)
  const led = await secondary.call('POST', `${PERFORMANCE}/secondary/update-primary`, { token: token2 })
  assert.equal(led.status, 200, JSON.stringify(led.body))
  await servers.level(other, secondary, 60_000, FAMILY)
})

test('T62: what a performance secondary had ahead of the cluster that took over is undone, and kept', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(622, 'primary')
  servers.cut(primary, standIn)
  await write(primary, 3, 'ahead')
  await servers.level(primary, secondary, 60_000, FAMILY)
  primary.kill()
  await servers.time.pass(15_000)
  assert.equal((await promote(standIn, token, { force: true })).status, 200)
  await write(standIn, 3, 'new')
  assert.equal((await moveTo(secondary, standIn)).status, 200)
  await servers.level(standIn, secondary, 60_000, FAMILY)
  assert.ok(!(await has(secondary, 'ahead0')))
  assert.ok(await has(secondary, 'new2'))
  // The status is that of a moment ago.
  await servers.time.pass(1_000)
  assert.equal((await secondary.status(FAMILY)).undone_records, 3)
})

test('T63: a DR secondary of a performance secondary takes over who it is, and the old one is refused', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(63, 'secondary')
  const before = await secondary.status(FAMILY)
  servers.cut(secondary, standIn)
  servers.cut(secondary, primary)
  await servers.time.pass(15_000)
  await write(primary, 3, 'later')
  servers.sentBytes = 0
  const promoted = await promote(standIn, token, { force: true })
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  await servers.level(primary, standIn, 60_000, FAMILY)
  const after = await standIn.status(FAMILY)
  assert.deepEqual([after.mode, after.cluster_id, after.secondary_id], ['secondary', before.cluster_id, 'two'])
  assert.ok(await has(standIn, 'later2'))
  await standIn.must('POST', 'own/keys/k/rotate')
  await standIn.must('GET', 'auth/token/lookup-self')
  assert.deepEqual((await primary.status(FAMILY)).known_secondaries, ['two'])
  // The old one comes back to the primary, and does not hear of the promotion itself.
  servers.heal(secondary, primary)
  await servers.time.pass(60_000)
  const old = await secondary.status(FAMILY)
  assert.deepEqual([old.mode, old.state, old.idle_reason], ['secondary', 'idle', 'replaced'])
  const links = standIn.links
  await servers.time.pass(300_000)
  assert.equal(standIn.links, links, 'its link was never broken off')
  await write(primary, 2, 'on')
  await servers.level(primary, standIn, 60_000, FAMILY)
  // It sealed under no term of its own, and has those that its primary adds.
  await primary.must('POST', 'sys/rotate')
  await servers.level(primary, standIn, 60_000, FAMILY)
  const term = async (of: ReplicatedServer) => (await of.must('GET', 'sys/key-status')).body.data?.term
  assert.equal(await term(standIn), await term(primary))
  // The old one follows where it was followed, and can take its place again.
  servers.heal(secondary, standIn)
  await servers.time.pass(15_000)
  assert.equal((await secondary.status()).fenced, true)
  await secondary.must('POST', `${DR}/primary/demote`)
  const given = { dr_operation_token: token, token: await servers.token(standIn, 'old') }
  assert.equal((await secondary.call('POST', `${DR}/secondary/update-primary`, given, '')).status, 200)
  await servers.level(standIn, secondary)
  await servers.requireSame(standIn, secondary)
  await servers.time.pass(2_000)
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.level(primary, secondary, 60_000, FAMILY)
  await servers.time.pass(15_000)
  assert.equal((await standIn.status(FAMILY)).idle_reason, 'replaced')
})

test('who takes the place of a performance secondary compares what it has, and is whole behind that', async () => {
  const { servers, primary, standIn, token } = await withStandIn(630, 'secondary')
  servers.cut(primary, standIn)
  assert.equal((await promote(standIn, token)).status, 200)
  const promoted = () => standIn.call('POST', `${PERFORMANCE}/secondary/promote`)
  for (const moment of ['at once', 'after a restart']) {
    const refused = await promoted()
    assert.equal(refused.status, 503, moment)
    assert.match(JSON.stringify(refused.body), /it is being compared with its primary/, moment)
    if (moment !== 'at once') continue
    standIn.kill()
    await servers.time.until(standIn.restart(shareOf(primary)))
  }
  servers.heal(primary, standIn)
  await write(primary, 1, 'on')
  await servers.level(primary, standIn, 60_000, FAMILY)
  const done = await promoted()
  assert.equal(done.status, 200, JSON.stringify(done.body))
})

/** With the index of an answer, or without. */
const sendingIn =
  ({ time }: Pick<Awaited<ReturnType<typeof withStandIn>>['servers'], 'time'>) =>
  (to: ReplicatedServer, method: string, path: string, index = '') => {
    const request = wireRequest(method, path, method === 'GET' ? undefined : POLICY, to.rootToken ?? '')
    const headers = index === '' ? request.headers : { ...request.headers, index }
    return time.until(to.server.node.core.handle({ ...request, headers }))
  }

test('clients of who takes the place of a performance secondary read by their indexes, its primary away', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(631, 'secondary')
  const send = sendingIn(servers)
  const written = await send(secondary, 'PUT', 'sys/policies/acl/mine')
  const before = written.headers?.[INDEX_HEADER] ?? assert.fail('it has one')
  await servers.level(primary, secondary, 60_000, FAMILY)
  await servers.time.pass(2_000)
  await servers.level(secondary, standIn)
  servers.cut(primary, standIn)
  servers.cut(primary, secondary)
  assert.equal((await promote(standIn, token)).status, 200)
  const rotated = await send(standIn, 'POST', 'own/keys/k/rotate')
  const own = rotated.headers?.[INDEX_HEADER] ?? assert.fail('it has one')
  for (const index of [before, own, `${before},${own}`]) {
    const read = await send(standIn, 'GET', 'sys/policies/acl/mine', index)
    assert.equal(read.status, 200, bodyText(read))
  }
})

test('who was compared with a stand-in that had less says so to who has read more', async () => {
  const { servers, primary, secondary, standIn, token } = await withStandIn(635, 'secondary')
  const send = sendingIn(servers)
  servers.cut(secondary, standIn)
  servers.cut(primary, standIn)
  const written = await send(secondary, 'PUT', 'sys/policies/acl/mine')
  const index = written.headers?.[INDEX_HEADER] ?? assert.fail('it has one')
  await servers.level(primary, secondary, 60_000, FAMILY)
  assert.equal((await send(secondary, 'GET', 'sys/policies/acl/mine', index)).status, 200)
  assert.equal((await promote(standIn, token, { force: true })).status, 200)
  servers.cut(primary, secondary)
  servers.heal(secondary, standIn)
  await servers.time.pass(15_000)
  await secondary.must('POST', `${DR}/primary/demote`)
  const given = { dr_operation_token: token, token: await servers.token(standIn, 'old') }
  assert.equal((await secondary.call('POST', `${DR}/secondary/update-primary`, given, '')).status, 200)
  await servers.level(standIn, secondary)
  await servers.time.pass(2_000)
  assert.equal((await promote(secondary, token)).status, 200)
  assert.equal((await send(secondary, 'GET', 'sys/policies/acl/mine')).status, 404)
  assert.equal((await send(secondary, 'GET', 'sys/policies/acl/mine', index)).status, 412)
  servers.heal(primary, secondary)
  await servers.level(primary, secondary, 60_000, FAMILY)
  assert.equal((await send(secondary, 'GET', 'sys/policies/acl/mine', index)).status, 200)
})

test('who is promoted in the middle of a comparison takes each index of before for one of a lost write', async () => {
  for (const family of ['dr', FAMILY] as const) {
    const { servers, primary, secondary, standIn, token } = await withStandIn(637, 'primary')
    const send = sendingIn(servers)
    const promoted = family === 'dr' ? standIn : secondary
    primary.rootToken = 'root'
    promoted.kill()
    const written = await send(primary, 'PUT', 'sys/policies/acl/mine')
    const index = written.headers?.[INDEX_HEADER] ?? assert.fail('it has one')
    await primary.forgetLog()
    for (const [from, to] of bothWays(primary, promoted)) servers.network.set(from, to, { delayMs: 1_000 })
    await servers.time.until(promoted.restart(shareOf(primary)))
    const isCompared = async () => (await promoted.status(family)).state === 'merkle-diff'
    for (let each = 0; each < 200 && !(await isCompared()); each++) await servers.time.pass(100)
    assert.ok(await isCompared())
    primary.kill()
    await servers.time.pass(20_000)
    const path = `${PERFORMANCE}/secondary/promote`
    const force = { force: true }
    const done = family === 'dr' ? await promote(promoted, token, force) : await promoted.call('POST', path, force)
    assert.equal(done.status, 200, JSON.stringify(done.body))
    if (family === 'dr') promoted.rootToken = 'root'
    const read = (by?: string) => send(promoted, 'GET', 'sys/policies/acl/mine', by)
    assert.equal((await read()).status, 404)
    const refused = await read(index)
    assert.equal(refused.status, 412)
    assert.match(bodyText(refused), /was lost in a failover/)
    const next = (await send(promoted, 'PUT', 'sys/policies/acl/mine')).headers?.[INDEX_HEADER]
    assert.equal((await read(next)).status, 200)
  }
})

/** Paths of all that was undone here and kept. */
async function keptUndone(cluster: ReplicatedServer): Promise<readonly string[]> {
  const { body } = await cluster.must('GET', 'sys/replication/undone')
  const sets = body.data?.undone as readonly { readonly id: string }[]
  const paths: string[] = []
  for (const { id } of sets) {
    const shown = await cluster.must('GET', `sys/replication/undone/${id}`)
    const records = shown.body.data?.records as readonly { operations: readonly { path: string }[] }[]
    paths.push(...records.flatMap(({ operations }) => operations.map(({ path }) => path)))
  }
  return paths
}

// The log of the lost primary is not among the histories of its stand-in, and is its own log all the same.
test('what a stand-in has of a lost performance primary is kept when another primary undoes it', async () => {
  for (const isDemotedBefore of [true, false]) {
    const { servers, primary, secondary, standIn, token } = await withStandIn(636, 'primary')
    servers.cut(primary, secondary)
    await write(primary, 3, 'ahead')
    if (isDemotedBefore) await primary.must('POST', `${PERFORMANCE}/primary/demote`)
    await servers.level(primary, standIn)
    primary.kill()
    await servers.time.pass(15_000)
    await secondary.must('POST', `${PERFORMANCE}/secondary/promote`, { force: true })
    await write(secondary, 1, 'new')
    assert.equal((await promote(standIn, token, { force: true })).status, 200)
    if (!isDemotedBefore) await standIn.must('POST', `${PERFORMANCE}/primary/demote`)
    const given = { token: await servers.token(secondary, 'again', {}, FAMILY) }
    const led = await standIn.call('POST', `${PERFORMANCE}/secondary/update-primary`, given)
    assert.equal(led.status, 200, JSON.stringify(led.body))
    await servers.level(secondary, standIn, 60_000, FAMILY)
    assert.deepEqual([await has(standIn, 'ahead0'), await has(standIn, 'new0')], [false, true])
    const kept = await keptUndone(standIn)
    for (const each of [0, 1, 2]) assert.ok(kept.includes(`sys/policy/ahead${each}`), kept.join())
  }
})

test('a performance secondary that was demoted for DR takes nothing of that set, over a new link either', async () => {
  const { servers, primary, secondary, token } = await withStandIn(632, 'secondary')
  await secondary.must('POST', `${DR}/primary/demote`)
  const { owner } = secondary.server.node.replication
  const taking = async () => {
    // As a link asks that begins before it hears what this cluster is now.
    const { applied } = (await owner?.standing(FAMILY)) ?? {}
    const at = applied ?? assert.fail('it has followed')
    return owner?.take(FAMILY, { mode: 'redo', after: at, records: [], at, transfer: undefined })
  }
  await assert.rejects(servers.time.until(taking()), StorageRefused)
  assert.equal((await promote(secondary, token, { force: true })).status, 200)
  await write(primary, 2, 'later')
  await servers.level(primary, secondary, 60_000, FAMILY)
  assert.ok(await has(secondary, 'later1'))
})

test('who takes the place of a performance secondary that follows nobody is not said to be compared', async () => {
  const { servers, secondary, standIn, token } = await withStandIn(634, 'secondary')
  await secondary.must('POST', `${PERFORMANCE}/secondary/update-primary`, { token: ' ' })
  await servers.level(secondary, standIn)
  await servers.time.pass(2_000)
  assert.equal((await promote(standIn, token)).status, 200)
  const refused = await standIn.call('POST', `${PERFORMANCE}/secondary/promote`)
  assert.equal(refused.status, 503)
  assert.match(JSON.stringify(refused.body), /it left its primary, and hears of nothing .* \\"force\\" promotes it/)
  await standIn.must('POST', `${PERFORMANCE}/secondary/promote`, { force: true })
})

test('a DR secondary that leaves its set has no part in the performance set of its primary', async () => {
  for (const which of ['primary', 'secondary'] as const) {
    const { servers, primary, secondary, standIn, token } = await withStandIn(67, which)
    const left = await standIn.call('POST', `${DR}/secondary/disable`, { dr_operation_token: token }, '')
    assert.equal(left.status, 200, JSON.stringify(left.body))
    assert.deepEqual(await standIn.status(FAMILY), { mode: 'disabled' })
    await write(standIn, 2, 'alone')
    await servers.time.pass(10_000)
    assert.equal((await secondary.status(FAMILY)).state, 'stream-wals')
    assert.ok(!(await has(secondary, 'alone1')))
    await write(primary, 2, 'on')
    await servers.level(primary, secondary, 60_000, FAMILY)
  }
})
