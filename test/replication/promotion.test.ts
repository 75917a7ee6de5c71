// What a promoted cluster has of its primary, and what it does for it: whole servers over the simulated network, in
// virtual time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOT } from '../../src/api/namespace.ts'
import { SETS_FOLDER } from '../../src/replication/set/records.ts'
import { systemScope } from '../../src/storage/contract.ts'
import type { Promoted } from '../../src/system/replication-operations.ts'
import type { Called } from '../fixtures/memory-server.ts'
import { commitPromotion, takeStoredRole } from '../fixtures/promotion.ts'
import { operationsOf, type ReplicatedServer } from '../fixtures/replicated-server.ts'
import { followedServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS
const AUDIT_FILE = '/audit.log'
const NOT_VALID = new Set([400, 403])

const tokenOf = ({ body }: Called): string => (body.auth as { readonly client_token: string }).client_token

/** What a primary gave out. */
type GivenOut = {
  readonly service: string
  readonly batch: string
  /** Of a token that does not live without its parent. */
  readonly child: string
  readonly wrapped: string
  readonly lease: string
  /** Ends within the hour. */
  readonly short: string
  readonly revoked: string
}

async function giveOut({ servers, from }: { servers: ReplicatedServers; from: ReplicatedServer }): Promise<GivenOut> {
  const create = async (wanted: object, token?: string): Promise<string> =>
    tokenOf(await from.must('POST', 'auth/token/create', { ttl: '700h', policies: ['default'], ...wanted }, token))
  const service = await create({ policies: ['root'] })
  await from.must('POST', 'cubbyhole/own', { of: from.name }, service)
  const wrapping = await servers.time.until(
    from.server.call('POST', 'auth/token/create', { ttl: '700h' }, 'root', { wrapTtl: '700h' }),
  )
  const login = await from.must('POST', 'auth/userpass/login/ada', { password: 'countess' }, '')
  const { accessor } = login.body.auth as { readonly accessor: string }
  const { body } = await from.must('POST', 'auth/token/lookup-accessor', { accessor })
  const revoked = await create({})
  await from.must('POST', 'auth/token/revoke', { token: revoked })
  return {
    service,
    batch: await create({ type: 'batch', no_parent: true }),
    child: await create({}, service),
    wrapped: (wrapping.body.wrap_info as { readonly token: string }).token,
    lease: `${String(body.data?.path)}/`,
    short: await create({ ttl: '10m' }),
    revoked,
  }
}

/** All of it is as it was, on this cluster. A wrapping token gives what it holds once. */
async function requireGood(on: ReplicatedServer, given: GivenOut, from: string): Promise<void> {
  for (const token of [given.service, given.batch, given.child])
    await on.must('GET', 'auth/token/lookup-self', undefined, token)
  const own = await on.must('GET', 'cubbyhole/own', undefined, given.service)
  assert.equal(own.body.data?.of, from)
  const { body } = await on.must('LIST', `sys/leases/lookup/${given.lease}`)
  const keys = body.data?.keys
  assert.ok(Array.isArray(keys) && keys.length > 0)
  for (const token of [given.short, given.revoked])
    assert.equal((await on.call('GET', 'auth/token/lookup-self', undefined, token)).status, 403, from)
}

/** The operation, of which nobody hears but the cluster that is promoted. */
const promote = (servers: ReplicatedServers, cluster: ReplicatedServer): Promise<Promoted> =>
  servers.time.until(operationsOf(cluster).promote('dr', { clusterAddress: '', force: true }))

test('T59: what each era gave out is good after three failovers, and what ended or was used is not', async () => {
  const servers = new ReplicatedServers(59)
  let primary = await servers.start('one')
  await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.must('POST', 'auth/userpass/users/ada', { password: 'countess', token_ttl: '700h' })
  const eras: { readonly from: string; readonly given: GivenOut }[] = []
  const used: string[] = []
  for (const name of ['two', 'three', 'four']) {
    const next = await servers.start(name)
    await servers.activate(primary, next)
    await servers.level(primary, next)
    const given = await giveOut({ servers, from: primary })
    eras.push({ from: primary.name, given })
    const before = (await primary.must('GET', 'sys/key-status')).body.data
    await servers.level(primary, next)
    primary.kill()
    await promote(servers, next)
    // A new term: nothing is sealed under the key that the former primary has.
    const after = (await next.must('GET', 'sys/key-status')).body.data
    assert.equal(Number(after?.term), Number(before?.term) + 1)
    primary = next
    await servers.time.pass(HOUR_MS)
  }
  for (const { from, given } of eras) {
    await requireGood(primary, given, from)
    await primary.must('POST', 'sys/wrapping/unwrap', {}, given.wrapped)
    used.push(given.wrapped)
  }
  for (const token of used) {
    const { status } = await primary.call('POST', 'sys/wrapping/unwrap', {}, token)
    assert.ok(NOT_VALID.has(status), String(status))
  }
})

test('a promoted cluster goes on where its primary was: what was cut off, lockouts, limits and audit', async () => {
  const { servers, primary, secondary } = await followedServers(60)
  await primary.must('PUT', 'sys/audit/log', { type: 'file', options: { file_path: AUDIT_FILE } })
  for (const path of ['gone', 'stays']) {
    await primary.must('POST', `sys/mounts/${path}`, { type: 'transit' })
    await primary.must('POST', `${path}/keys/k`)
  }
  await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.must('POST', 'auth/userpass/users/ada', { password: 'countess' })
  const tuned = { user_lockout_config: { lockout_threshold: 2, lockout_duration: '10m' } }
  await primary.must('POST', 'sys/auth/userpass/tune', tuned)
  await primary.must('POST', 'sys/quotas/rate-limit/few', { path: 'stays/', rate: 1, interval: '1h' })
  const gone = primary.server.node.mounts.find(ROOT, 'gone/') ?? assert.fail()
  // The unmount is cut off behind its first step.
  const core = primary.server.node.storage.view(systemScope, 'root/core/')
  await servers.time.until(
    core.transaction(async (tx) => {
      const entry = (await tx.get(`mounts/${gone.uuid}`)) ?? assert.fail()
      tx.put(`unmounting/${gone.uuid}`, entry)
      tx.delete(`mounts/${gone.uuid}`)
    }),
  )
  await servers.level(primary, secondary)
  primary.kill()
  const { server } = secondary
  const dataOf = () => servers.time.until(server.store.list(`root/logical/${gone.uuid}/`))
  assert.notDeepEqual(await dataOf(), [])
  await promote(servers, secondary)
  assert.deepEqual(await dataOf(), [])
  // Counts of failures are in memory: they begin anew, under the settings of the mount.
  const login = async (password: string): Promise<number> =>
    (await secondary.call('POST', 'auth/userpass/login/ada', { password }, '')).status
  assert.deepEqual([await login('wrong'), await login('wrong')], [400, 400])
  assert.equal(await login('countess'), 403)
  await servers.time.pass(600 * SECOND_MS)
  assert.equal(await login('countess'), 200)
  assert.equal((await secondary.call('GET', 'stays/keys/k')).status, 200)
  assert.equal((await secondary.call('GET', 'stays/keys/k')).status, 429)
  const audited = String(server.machine.files.read(AUDIT_FILE))
  assert.match(audited, /"promoted":\{"at":"[^"]+","epoch":\d+\}/)
})

test('a promoted cluster rotates the data key when its primary would have', async () => {
  const { servers, primary, secondary } = await followedServers(62)
  await primary.must('POST', 'sys/rotate/config', { max_operations: 100_000_000, interval: '24h' })
  await servers.level(primary, secondary)
  primary.kill()
  await promote(servers, secondary)
  const term = async () => Number((await secondary.must('GET', 'sys/key-status')).body.data?.term)
  const before = await term()
  secondary.aheadMs = 25 * HOUR_MS
  await servers.time.pass(360 * SECOND_MS)
  assert.equal(await term(), before + 1)
  // What is not sent stays as the former primary had it.
  await secondary.must('POST', 'sys/rotate/config', { enabled: false })
  const { body } = await secondary.must('GET', 'sys/rotate/config')
  assert.deepEqual(body.data, { enabled: false, max_operations: 100_000_000, interval: 86_400 })
})

/** Tokens that end in ten minutes, and as many that do not. */
async function lend(primary: ReplicatedServer, count: number): Promise<void> {
  for (let each = 0; each < count; each++)
    for (const ttl of ['10m', '700h']) await primary.must('POST', 'auth/token/create', { ttl, policies: ['default'] })
}

const indexed = async (servers: ReplicatedServers, { server }: ReplicatedServer): Promise<number> =>
  (await servers.time.until(server.store.list('root/sys/token/id/', { limit: 100_000 }))).length

/** How often the storage is asked until the first client of a promoted cluster has its answer. */
async function readsBeforeFirstAnswer(leases: number): Promise<{ readonly reads: number; readonly removed: number }> {
  const { servers, primary, secondary } = await followedServers(66)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'transit/keys/k')
  await lend(primary, leases)
  await servers.level(primary, secondary)
  primary.kill()
  await servers.time.pass(HOUR_MS)
  const before = await indexed(servers, secondary)
  await servers.time.until(commitPromotion(secondary.server))
  let reads = 0
  const { backend } = secondary.server.machine
  for (const verb of ['get', 'list', 'scan'] as const) {
    const asked = backend[verb].bind(backend) as (...given: unknown[]) => never
    Object.assign(backend, {
      [verb]: (...given: unknown[]) => {
        reads++
        return asked(...given)
      },
    })
  }
  await servers.time.until(takeStoredRole(secondary.server))
  await secondary.must('POST', 'transit/encrypt/k', { plaintext: 'aGk=' })
  const after = { reads, removed: before - (await indexed(servers, secondary)) }
  await servers.time.pass(60 * SECOND_MS)
  assert.equal(before - (await indexed(servers, secondary)), leases)
  return after
}

test('T66: leases that ended meanwhile hold up no request, however many, and are revoked behind it', async () => {
  const few = await readsBeforeFirstAnswer(5)
  const many = await readsBeforeFirstAnswer(250)
  assert.deepEqual([few.removed, many.removed], [0, 0])
  assert.ok(few.reads > 0)
  assert.equal(many.reads, few.reads)
})

test('a cluster whose promotion was committed, and that died behind it, comes back as the primary', async () => {
  const { servers, primary, secondary } = await followedServers(61)
  const key = primary.server.shares[0] ?? assert.fail()
  await primary.must('PUT', 'sys/policies/acl/p', { policy: 'path "a" { capabilities = ["read"] }' })
  await servers.level(primary, secondary)
  primary.kill()
  await servers.time.until(commitPromotion(secondary.server))
  secondary.kill()
  await secondary.restart(key)
  assert.equal((await secondary.status()).mode, 'primary')
  await secondary.must('GET', 'sys/policies/acl/p')
  const sets = secondary.server.node.storage.view(systemScope, SETS_FOLDER)
  assert.equal(await servers.time.until(sets.get('taken-over')), undefined)
})
