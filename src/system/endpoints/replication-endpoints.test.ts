import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { servingBeside } from '../../../test/fixtures/serving-node.ts'
import { ACTIVE_PRIMARY, type NodeRole, type RoleState } from '../../api/node-role.ts'
import { misfits } from '../../api/shape.ts'
import type { Position, RetainedLog } from '../../storage/peer-log.ts'
import { ReplicationFacts } from '../replication-facts.ts'
import { REPLICATION_ENDPOINTS } from './replication-endpoints.ts'

const roleOf = (role: Partial<NodeRole>): RoleState => ({ role: { ...ACTIVE_PRIMARY, ...role }, primaryAddress: '' })
const MODE_ALONE = { mode: 'disabled' }
const PATHS = ['sys/replication/dr/status', 'sys/replication/performance/status'] as const

test('S3: a family that is disabled or bootstrapping shows its mode alone', async () => {
  const server = await startMemoryServer()
  const status = async () => (await server.call('GET', 'sys/replication/status', undefined, '')).body.data
  assert.deepEqual(await status(), { dr: MODE_ALONE, performance: MODE_ALONE })
  await server.node.changeRole(roleOf({ performance: 'bootstrapping' }))
  assert.deepEqual(await status(), { dr: MODE_ALONE, performance: { mode: 'bootstrapping' } })
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
    const { response } = REPLICATION_ENDPOINTS.find((one) => `sys/${one.path}` === path) ?? assert.fail(path)
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
  const MEMBERS = ['epoch', 'history_id', 'mode', 'retained_for', 'retained_wal_bytes', 'retained_wal_from']
  assert.deepEqual(Object.keys(rest).sort(), MEMBERS)
  assert.equal((await status(0)).mode, 'primary')
  await server.node.changeRole(roleOf({ performance: 'secondary', dr: 'secondary' }))
  assert.deepEqual(await status(1), MODE_ALONE)
  assert.equal((await status(0)).last_remote_wal, 0)
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
  const facts = new ReplicationFacts(store, { nowMs: () => nowMs, monotonicMs: () => nowMs })
  const shown = await facts.of('dr', 'secondary')
  assert.deepEqual(shown, {
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
