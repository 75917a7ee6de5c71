import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { PRIMARY_TOLD, replicationDouble, SECONDARY_TOLD, SET_ID } from '../../../test/fixtures/replication-double.ts'
import { servingBeside } from '../../../test/fixtures/serving-node.ts'
import { ACTIVE_PRIMARY, type NodeRole, type RoleState } from '../../api/node-role.ts'
import { misfits } from '../../api/shape.ts'
import type { Position, RetainedLog } from '../../storage/peer-log.ts'
import { ReplicationFacts } from '../replication-facts.ts'
import { REPLICATION_STATUS_ENDPOINTS } from './replication-status-endpoints.ts'

/** A tree that nothing was found in. */
const NEVER = {
  told: async () => ({ buckets: 0, entries: 0, checkedAtMs: null, reindexedAtMs: null, reindex: undefined }),
}

const roleOf = (role: Partial<NodeRole>): RoleState => ({ role: { ...ACTIVE_PRIMARY, ...role }, primaryAddress: '' })
const MODE_ALONE = { mode: 'disabled' }
const PATHS = ['sys/replication/dr/status', 'sys/replication/performance/status'] as const

/** Of a server whose links tell nothing. */
const UNTOLD = {
  state: 'idle',
  idle_reason: 'unknown',
  idle_sentence: 'What the links do could not be found out: the log of this server has the cause',
  corrupted_merkle_tree: false,
  last_corruption_check_epoch: '-62135596800',
  last_reindex_epoch: '0',
  ssct_generation_counter: 0,
}

test('a family that is disabled shows its mode alone, and what is bootstrapping has no log to show', async () => {
  const { operations } = replicationDouble({ told: async () => SECONDARY_TOLD })
  const server = await startMemoryServer({ replication: operations })
  const status = async () => (await server.call('GET', 'sys/replication/status', undefined, '')).body.data
  assert.deepEqual(await status(), { dr: MODE_ALONE, performance: MODE_ALONE })
  await server.node.changeRole(roleOf({ performance: 'bootstrapping' }))
  const { dr, performance } = (await status()) as Record<string, Record<string, unknown>>
  assert.deepEqual(dr, MODE_ALONE)
  assert.deepEqual(
    [performance?.mode, performance?.cluster_id, performance?.secondary_id],
    ['bootstrapping', SET_ID, 'site-b'],
  )
  for (const name of ['merkle_root', 'last_remote_wal', 'epoch', 'retained_for'])
    assert.equal(performance?.[name], undefined, name)
})

test('every member that is shown is declared, in each mode', async () => {
  for (const mode of ['bootstrapping', 'primary', 'secondary'] as const) {
    const { operations } = replicationDouble({ told: async () => (mode === 'primary' ? PRIMARY_TOLD : SECONDARY_TOLD) })
    const server = await startMemoryServer({ replication: operations })
    await server.node.changeRole(roleOf({ dr: mode }))
    const { status, body } = await server.call('GET', PATHS[0], undefined, '')
    assert.equal(status, 200)
    assert.equal(body.data?.mode, mode)
    assert.equal(body.data?.cluster_id, SET_ID)
    const { response } = REPLICATION_STATUS_ENDPOINTS.find(({ path }) => `sys/${path}` === PATHS[0]) ?? assert.fail()
    assert.deepEqual(misfits(response ?? {}, body.data), [])
  }
})

test('links that cannot be asked keep the status from nobody', async () => {
  const logged: string[] = []
  const { operations } = replicationDouble({
    told: async () => {
      throw new Error('the thread of the links has ended')
    },
  })
  const log = (level: string, message: string): void => void logged.push(`${level} ${message}`)
  const server = await startMemoryServer({ replication: operations, log })
  await server.node.changeRole(roleOf({ dr: 'primary' }))
  const { status, body } = await server.call('GET', PATHS[0], undefined, '')
  assert.equal(status, 200)
  assert.deepEqual([body.data?.mode, body.data?.state, body.data?.idle_reason], ['primary', 'idle', 'unknown'])
  assert.equal(body.data?.last_wal, (await server.store.position()).index)
  assert.ok(logged.includes('warn What the links of replication do could not be found out'))
})

test('a listener that withholds addresses withholds those of the other clusters', async () => {
  const { operations } = replicationDouble({ told: async () => SECONDARY_TOLD })
  const redacts = { addresses: true, version: true, clusterName: false }
  const server = await startMemoryServer({ replication: operations, listener: { redacts } })
  await server.node.changeRole(roleOf({ dr: 'secondary' }))
  const { body } = await server.call('GET', 'sys/replication/status', undefined, '')
  assert.doesNotMatch(JSON.stringify(body), /peer\.test|first\.test|1\.2\.3/)
})

test('paths of mounts are shown to whoever asks, unless the listener withholds addresses', async () => {
  for (const addresses of [false, true]) {
    const { operations } = replicationDouble({ told: async () => SECONDARY_TOLD })
    const redacts = { addresses, version: false, clusterName: false }
    const server = await startMemoryServer({ replication: operations, listener: { redacts } })
    server.node.mounts.conflicting = () => ['own/']
    await server.node.changeRole(roleOf({ performance: 'secondary' }))
    const { data } = (await server.call('GET', PATHS[1], undefined, '')).body
    assert.deepEqual(data?.conflicting_local_mounts, addresses ? undefined : ['own/'])
  }
})

test('an operation shows at once, and the links are asked once a second at most', async () => {
  let asked = 0
  let known = ['site-b']
  const { operations } = replicationDouble({
    told: async () => {
      asked++
      return { ...PRIMARY_TOLD, knownSecondaries: known }
    },
    revokeSecondary: async () => {
      known = []
      return false
    },
  })
  const server = await startMemoryServer({ replication: operations })
  await server.node.changeRole(roleOf({ dr: 'primary' }))
  const shown = async () => (await server.call('GET', PATHS[0], undefined, '')).body.data?.known_secondaries
  assert.deepEqual(await shown(), ['site-b'])
  await shown()
  server.advance(0.999)
  await shown()
  assert.equal(asked, 1)
  assert.equal((await server.call('POST', 'sys/replication/dr/primary/revoke-secondary', { id: 'site-b' })).status, 204)
  assert.deepEqual(await shown(), [])
  assert.equal(asked, 2)
  server.advance(1)
  await shown()
  assert.equal(asked, 3)
})

test('S3: a primary shows its log as the store tells it, in both calls, on every thread, without a token', async () => {
  const server = await startMemoryServer()
  const { store, node } = server
  await node.changeRole(roleOf({ dr: 'primary', performance: 'primary' }))
  const serving = await servingBeside(server, '')
  await server.call('POST', 'sys/policies/acl/p', { policy: '' })
  await server.call('POST', 'auth/token/create', { ttl: '1h' })
  await store.hold({ name: 'site-b', kind: 'secondary', from: 3 })
  const { index, epoch, historyId, lastReplicatedIndex, lastLocalIndex } = await store.position()
  assert.ok(lastLocalIndex > lastReplicatedIndex)
  const { all, replicated } = await store.roots()
  const { bytes, firstIndex, caps, holds } = await store.retained()
  const common = {
    mode: 'primary',
    ...UNTOLD,
    epoch,
    history_id: historyId.toString('hex'),
    last_wal: index,
    retained_wal_from: firstIndex,
    retained_wal_bytes: bytes,
    retained_for: [
      { name: 'site-b', kind: 'secondary', after: 3, bytes: holds[0]?.bytes, max_bytes: caps.secondary, broken: false },
    ],
  }
  const dr = { ...common, last_dr_wal: lastLocalIndex, merkle_root: all.toString('hex') }
  const performance = {
    ...common,
    last_performance_wal: lastReplicatedIndex,
    merkle_root: replicated.toString('hex'),
  }
  for (const path of ['sys/replication/status', ...PATHS]) {
    const shown = path === PATHS[0] ? dr : path === PATHS[1] ? performance : { dr, performance }
    const here = await server.call('GET', path, undefined, '')
    assert.deepEqual(here.body.data, shown, path)
    assert.deepEqual((await serving.send('GET', path, undefined)).body.data, shown, path)
    const { response } = REPLICATION_STATUS_ENDPOINTS.find((one) => `sys/${one.path}` === path) ?? assert.fail(path)
    assert.deepEqual(misfits(response ?? {}, here.body.data), [])
  }
})

test('S3: a secondary shows how far it has applied the log of its primary', async () => {
  const server = await startMemoryServer()
  await server.node.changeRole(roleOf({ performance: 'secondary', dr: 'primary' }))
  const status = async (of: number) => (await server.call('GET', PATHS[of] ?? '', undefined, '')).body.data ?? {}
  const { last_remote_wal: applied, merkle_root: root, ...rest } = await status(1)
  assert.equal(applied, 0)
  assert.equal(root, (await server.store.roots()).replicated.toString('hex'))
  const MEMBERS = ['connection_state', 'epoch', 'history_id', 'mode', 'retained_for', 'retained_wal_bytes']
  assert.deepEqual(Object.keys(rest).sort(), [...MEMBERS, 'retained_wal_from', ...Object.keys(UNTOLD)].sort())
  assert.equal((await status(0)).mode, 'primary')
  await server.node.changeRole(roleOf({ performance: 'secondary', dr: 'secondary' }))
  assert.deepEqual(await status(1), MODE_ALONE)
  assert.equal((await status(0)).last_remote_wal, 0)
  await server.node.changeRole(roleOf({ performance: 'secondary', dr: 'bootstrapping' }))
  assert.deepEqual(await status(1), MODE_ALONE)
})

test('S3: the store is looked at once a second at most, however often the status is asked for', async () => {
  let nowMs = 5_000
  const looks = { position: 0, rootsNow: 0, retained: 0 }
  const position: Position = {
    index: 9,
    epoch: 2,
    chain: Buffer.alloc(16),
    historyId: Buffer.alloc(16, 1),
    lastReplicatedIndex: 7,
    lastLocalIndex: 8,
    origins: [{ family: 'dr', historyId: Buffer.alloc(16, 2), index: 77, chain: Buffer.alloc(16) }],
  }
  let fails = false
  const store = {
    position: async () => {
      looks.position++
      return position
    },
    rootsNow: async () => {
      looks.rootsNow++
      return undefined
    },
    retained: async (): Promise<RetainedLog> => {
      looks.retained++
      if (fails) throw new Error('the disk is gone')
      return { firstIndex: 4, bytes: 600, caps: { secondary: 1, copy: 2 }, holds: [] }
    },
  }
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const facts = new ReplicationFacts({ store, operations: undefined, checks: NEVER, clock, log: () => {} })
  const shown = await facts.of('dr', 'secondary')
  assert.deepEqual(shown, {
    ...UNTOLD,
    connection_state: 'idle',
    epoch: 2,
    history_id: '01'.repeat(16),
    last_remote_wal: 77,
    retained_wal_from: 4,
    retained_wal_bytes: 600,
    retained_for: [],
  })
  await Promise.all([facts.of('dr', 'secondary'), facts.of('performance', 'primary')])
  nowMs += 999
  await facts.of('dr', 'secondary')
  assert.deepEqual(looks, { position: 1, rootsNow: 1, retained: 1 })
  nowMs += 1
  fails = true
  await assert.rejects(facts.of('dr', 'secondary'), /the disk is gone/)
  fails = false
  await facts.of('dr', 'secondary')
  assert.deepEqual(looks, { position: 3, rootsNow: 3, retained: 3 })
})
