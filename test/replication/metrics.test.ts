// What the metrics of both clusters show while a secondary follows, is cut off, comes back and has to start over: whole
// servers in virtual time. Real processes: proof `faults.test.ts`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReplicationGauges } from '../../src/assembly/replication/replication-gauges.ts'
import { rowOf, WRITING_ROW } from '../../src/telemetry/cells.ts'
import { COMPUTED } from '../../src/telemetry/families.ts'
import { prometheusText } from '../../src/telemetry/prometheus.ts'
import { type Computed, readMetrics } from '../../src/telemetry/reading.ts'
import { readExposition } from '../fixtures/prometheus-text.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { followedServers, performanceServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

const NOT_COMPUTED = Object.fromEntries(Object.keys(COMPUTED).map((name) => [name, undefined])) as Computed
const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }

/** Samples of replication by name and labels, without the beginning that all have. */
async function metricsOf({ time }: ReplicatedServers, { server, metrics }: ReplicatedServer) {
  const { store, node } = server
  const { nodeRole, replication, services } = node
  const row = rowOf(metrics, WRITING_ROW)
  await time.until(
    new ReplicationGauges({
      store,
      operations: replication.operations,
      checks: services.treeChecks,
      nodeRole,
      synchronous: replication.synchronous,
      row,
    }).look(),
  )
  const { samples } = readExposition(
    prometheusText(readMetrics(metrics, { endpoints: [], namespaces: { byId: () => undefined } }, NOT_COMPUTED)),
  )
  return (name: string, labels = 'family="dr"'): number | undefined =>
    samples.get(`keywright_replication_${name}${labels === '' ? '' : `{${labels}}`}`)
}

async function write(primary: ReplicatedServer, count: number): Promise<void> {
  for (let each = 0; each < count; each++) await primary.must('PUT', `sys/policies/acl/p${each}`, POLICY)
}

test('a server that replicates with no other shows its log, and nothing of peers', async () => {
  const servers = new ReplicatedServers(81)
  const alone = await servers.start('one')
  const shown = await metricsOf(servers, alone)
  const { index } = await servers.time.until(alone.server.store.position())
  assert.equal(shown('log_last_index', ''), index)
  assert.ok((shown('log_retained_bytes', '') ?? 0) > 0)
  assert.deepEqual([shown('log_oldest_index', ''), shown('log_holds', 'kind="secondary"')], [1, 0])
  for (const name of ['connected', 'lag_seconds', 'lag_records', 'canary_age_seconds', 'last_remote_index'])
    assert.equal(shown(name), undefined, name)
  assert.equal(shown('secondaries', 'family="dr",link="connected"'), undefined)
  assert.equal(shown('links_total'), 0)
  assert.deepEqual([shown('tree_corrupted', ''), shown('tree_checks_total', '')], [0, 0])
})

test('checks of the tree are counted, and what they find', async () => {
  const servers = new ReplicatedServers(83)
  const alone = await servers.start('one')
  const counted = async () => {
    const shown = await metricsOf(servers, alone)
    return ['tree_checks_total', 'tree_damage_total', 'tree_corrupted'].map((name) => shown(name, ''))
  }
  await alone.must('PUT', 'sys/policies/acl/a', POLICY)
  await alone.must('POST', 'sys/replication/merkle-check')
  assert.deepEqual(await counted(), [1, 0, 0])
  const key = 'root/sys/policy/a'
  const entry = alone.tables.entries.byKey.get(key) ?? assert.fail('it is there')
  alone.tables.entries.remove(key)
  await alone.must('POST', 'sys/replication/merkle-check')
  assert.deepEqual(await counted(), [2, 1, 1])
  alone.tables.entries.set(key, entry)
  await alone.must('POST', 'sys/replication/merkle-check')
  assert.deepEqual(await counted(), [3, 1, 0])
})

test('connected, lag, places and counts move while a secondary follows and is cut off', async () => {
  const { servers, primary, secondary } = await followedServers(82)
  const both = async () => [await metricsOf(servers, primary), await metricsOf(servers, secondary)] as const
  const secondaries = (at: Awaited<ReturnType<typeof metricsOf>>) =>
    ['connected', 'disconnected'].map((link) => at('secondaries', `family="dr",link="${link}"`))
  await servers.time.pass(5_000)
  let [theirs, ours] = await both()
  assert.deepEqual(secondaries(theirs), [1, 0])
  assert.deepEqual([ours('connected'), ours('lag_records'), ours('lag_seconds')], [1, 0, 0])
  assert.deepEqual(
    [theirs('connected'), theirs('lag_seconds'), secondaries(ours)[0]],
    [undefined, undefined, undefined],
  )
  // It is further on where nothing in between was for the secondary.
  assert.ok((ours('last_remote_index') ?? 0) >= (theirs('log_last_dr_index', '') ?? 99))
  for (const shown of [theirs, ours]) assert.ok((shown('canary_age_seconds') ?? 99) < 3)
  assert.equal(theirs('log_holds', 'kind="secondary"'), 1)
  const links = ours('links_total') ?? assert.fail()
  assert.deepEqual([theirs('links_total'), theirs('divergences_total'), ours('divergences_total')], [links, 0, 0])
  assert.equal(ours('links_total', 'family="performance"'), 0)
  for (const shown of [theirs, ours]) assert.ok((shown('transfers_total', 'family="dr",kind="copy"') ?? 0) >= 1)
  const [sent, applied] = [theirs('sent_records_total') ?? 0, ours('applied_records_total') ?? 0]
  const received = ours('received_bytes_total') ?? 0
  assert.ok(received > 0 && received <= (theirs('sent_bytes_total') ?? 0))

  await write(primary, 10)
  await servers.level(primary, secondary)
  ;[theirs, ours] = await both()
  assert.ok((theirs('sent_records_total') ?? 0) >= sent + 10)
  assert.ok((ours('applied_records_total') ?? 0) >= applied + 10)
  assert.ok((ours('received_bytes_total') ?? 0) > received)

  servers.cut(primary, secondary)
  await write(primary, 10)
  await servers.time.pass(60_000)
  ;[theirs, ours] = await both()
  assert.deepEqual([secondaries(theirs), ours('connected')], [[0, 1], 0])
  for (const shown of [theirs, ours]) assert.ok((shown('canary_age_seconds') ?? 0) > 55)
  assert.ok((theirs('log_last_dr_index', '') ?? 0) >= (ours('last_remote_index') ?? 0) + 10)
  const ratio = theirs('log_limit_ratio', '') ?? 0
  assert.ok(ratio > 0 && ratio < 1, `${ratio} of the limit`)

  servers.heal(primary, secondary)
  await servers.level(primary, secondary)
  await servers.time.pass(5_000)
  ;[theirs, ours] = await both()
  assert.deepEqual([secondaries(theirs), ours('connected'), ours('lag_seconds')], [[1, 0], 1, 0])
  assert.deepEqual([ours('links_total'), theirs('links_total')], [links + 1, links + 1])
  for (const shown of [theirs, ours]) assert.ok((shown('canary_age_seconds') ?? 99) < 3)
})

test('a comparison behind the end of the log is counted at both ends', async () => {
  const { servers, primary, secondary } = await followedServers(83)
  servers.cut(primary, secondary)
  await write(primary, 3)
  await servers.time.pass(30_000)
  await primary.forgetLog()
  const broken = await metricsOf(servers, primary)
  assert.equal(broken('log_broken_holds', ''), 1)
  servers.heal(primary, secondary)
  await servers.level(primary, secondary)
  for (const cluster of [primary, secondary]) {
    const shown = await metricsOf(servers, cluster)
    assert.equal(shown('transfers_total', 'family="dr",kind="comparison"'), 1, cluster.name)
    assert.equal(shown('divergences_total'), 0, cluster.name)
  }
})

test('a sealed server and a revoked secondary are shown as what they are', async () => {
  const { servers, primary, secondary } = await followedServers(84)
  await primary.must('POST', 'sys/replication/dr/primary/revoke-secondary', { id: secondary.name })
  await servers.time.pass(1_000)
  const shown = await metricsOf(servers, primary)
  assert.equal(shown('secondaries', 'family="dr",link="connected"'), 0)
  assert.equal(shown('secondaries', 'family="dr",link="disconnected"'), 0)
  assert.equal(shown('log_holds', 'kind="secondary"'), 0)
  const cutOff = await metricsOf(servers, secondary)
  assert.equal(cutOff('connected'), 0)
  await primary.must('POST', 'sys/seal')
  const sealed = await metricsOf(servers, primary)
  assert.equal(sealed('secondaries', 'family="dr",link="connected"'), undefined)
  assert.ok((sealed('log_last_index', '') ?? 0) > 0)
})

test('the same is told of the family for performance, where records that are not sent are no lag', async () => {
  const { servers, primary, secondary } = await performanceServers(84)
  await primary.must('POST', 'auth/token/create', {})
  await servers.time.pass(5_000)
  const [theirs, ours] = [await metricsOf(servers, primary), await metricsOf(servers, secondary)]
  const secondaries = (family: string) => theirs('secondaries', `family="${family}",link="connected"`)
  assert.deepEqual([secondaries('performance'), secondaries('dr')], [1, undefined])
  const family = 'family="performance"'
  assert.deepEqual(
    ['connected', 'lag_records', 'lag_seconds'].map((name) => ours(name, family)),
    [1, 0, 0],
  )
  assert.deepEqual([ours('connected'), ours('last_remote_index')], [undefined, undefined])
  const [last, sent] = [theirs('log_last_dr_index', '') ?? 0, theirs('log_last_performance_index', '') ?? 0]
  assert.ok(sent > 0 && sent < last, `${sent} of ${last}`)
  assert.ok((ours('last_remote_index', family) ?? 0) >= sent)
  for (const shown of [theirs, ours]) assert.ok((shown('canary_age_seconds', family) ?? 99) < 3)
  assert.ok((ours('transfers_total', 'family="performance",kind="copy"') ?? 0) >= 1)

  servers.cut(primary, secondary)
  await write(primary, 10)
  await servers.time.pass(60_000)
  const [cut, alone] = [await metricsOf(servers, primary), await metricsOf(servers, secondary)]
  assert.deepEqual([cut('secondaries', `${family},link="disconnected"`), alone('connected', family)], [1, 0])
  assert.ok((alone('canary_age_seconds', family) ?? 0) > 55)
})

test('who waits for secondaries is counted, and the secondaries by their states', async () => {
  const { servers, primary, secondary } = await followedServers(84)
  const synchronous = async () => {
    const shown = await metricsOf(servers, primary)
    const of = (name: string, labels: string) => shown(`synchronous_${name}`, labels)
    const states = ['in-step', 'waiting', 'away', 'unknown'].map((state) => of('secondaries', `state="${state}"`))
    const results = ['confirmed', 'alone', 'unconfirmed'].map((result) => of('writes_total', `result="${result}"`))
    return { states, results, waiting: of('waiting', ''), seconds: of('wait_seconds_total', '') }
  }
  const NONE = [undefined, undefined, undefined, undefined]
  assert.deepEqual(await synchronous(), { states: NONE, results: [0, 0, 0], waiting: undefined, seconds: 0 })
  await servers.time.until(primary.server.node.replication.waitFor({ ids: ['two', 'three'], timeoutMs: 5_000 }))
  await servers.time.pass(2_000)
  await write(primary, 3)
  const counted = await synchronous()
  assert.deepEqual(
    [counted.states, counted.results],
    [
      [1, 0, 0, 1],
      [3, 0, 0],
    ],
  )
  servers.cut(primary, secondary)
  const answer = primary.server.call('PUT', 'sys/policies/acl/late', POLICY)
  await servers.time.pass(4_000)
  assert.equal((await synchronous()).waiting, 1)
  await servers.time.until(answer)
  const late = await synchronous()
  assert.deepEqual([late.states, late.results, late.waiting], [[0, 0, 1, 1], [3, 1, 0], 0])
  assert.ok((late.seconds ?? 0) >= 4)
})
