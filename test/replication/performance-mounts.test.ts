// Whole servers in virtual time: a performance secondary follows the mounts and namespaces of its primary, beside the
// mounts that are its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOT } from '../../src/api/namespace.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, performanceServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'
import { servingBeside } from '../fixtures/serving-node.ts'

const SHARED = { type: 'transit' }
const LOCAL = { type: 'transit', local: true }
const plaintext = 'YQ=='

async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const level = () => servers.level(primary, secondary, 60_000, 'performance')
  return { servers, primary, secondary, level }
}

const keysOf = async (cluster: ReplicatedServer, mount: string): Promise<unknown> => {
  const { status, body } = await cluster.call('LIST', `${mount}/keys`)
  return status === 200 ? body.data?.keys : status
}
const conflicts = async (cluster: ReplicatedServer): Promise<unknown> =>
  (await cluster.status('performance')).conflicting_local_mounts
const storedOf = async ({ server }: ReplicatedServer, part: string): Promise<readonly string[]> =>
  (await server.store.scan('', '', 100_000)).map(({ key }) => key).filter((key) => key.includes(part))

/** Keys that a secondary writes from now on by itself: what is replicated comes from its primary. */
function ownWrites({ server }: ReplicatedServer): string[] {
  const own: string[] = []
  server.store.onCommit(({ operations }) => {
    own.push(...operations.filter((one) => one.class !== 'replicated').map(({ key }) => key))
  })
  return own
}

/** What its log has beyond the ordinary: a hook that came to a write was refused, and would be there. */
const faultsOf = ({ server }: ReplicatedServer) => server.logged.filter((line) => / (warn|error) /.test(line))

test('T78: mounts that come, change, move and go are followed on every thread, and no hook writes', async () => {
  const { servers, primary, secondary, level } = await started(1)
  const serving = await servingBeside(secondary.server, secondary.rootToken)
  const own = ownWrites(secondary)
  const found = async (path: string) => {
    const here = (await secondary.call('GET', path)).status
    assert.equal((await servers.time.until(serving.send('GET', path, undefined))).status, here, path)
    return here
  }
  for (const type of ['transit']) await primary.must('POST', `sys/mounts/${type}`, { type })
  for (const type of ['userpass', 'approle', 'cloud']) await primary.must('POST', `sys/auth/${type}`, { type })
  await primary.must('POST', 'transit/keys/k')
  await primary.must('POST', 'auth/userpass/users/ann', { password: 'x' })
  await primary.must('POST', 'auth/approle/role/r')
  await level()
  assert.deepEqual(
    [await found('transit/keys/k'), await found('auth/userpass/users/ann'), await found('auth/approle/role/r')],
    [200, 200, 200],
  )
  await primary.must('POST', 'sys/mounts/transit/tune', { description: 'tuned', max_lease_ttl: '1h' })
  await level()
  const tuned = await secondary.must('GET', 'sys/mounts/transit')
  assert.equal(tuned.body.data?.description, 'tuned')
  await primary.must('POST', 'sys/remount', { from: 'transit', to: 'moved' })
  await level()
  assert.deepEqual([await found('transit/keys/k'), await found('moved/keys/k')], [404, 200])
  for (const path of ['sys/mounts/moved', 'sys/auth/userpass', 'sys/auth/approle', 'sys/auth/cloud'])
    await primary.must('DELETE', path)
  await level()
  assert.deepEqual([await found('moved/keys/k'), await found('auth/userpass/users/ann')], [404, 404])
  await servers.time.pass(6_000)
  assert.deepEqual(await storedOf(secondary, '/logical/'), [])
  assert.deepEqual([own.filter((key) => !key.includes('/cluster/')), faultsOf(secondary)], [[], []])
})

test('a secondary tells the status of each move that it answered, with the link down and once promoted', async () => {
  const { servers, primary, secondary, level } = await started(11)
  const serving = await servingBeside(secondary.server, secondary.rootToken)
  for (const path of ['one', 'two']) await primary.must('POST', `sys/mounts/${path}`, SHARED)
  await primary.must('POST', 'sys/namespaces/team', {})
  await level()
  for (const path of ['own', 'alone']) await secondary.must('POST', `sys/mounts/${path}`, LOCAL)
  const bySecondary = (from: string, to: string) => secondary.call('POST', 'sys/remount', { from, to })
  const byThread = (from: string, to: string) =>
    servers.time.until(serving.send('POST', 'sys/remount', Buffer.from(JSON.stringify({ from, to }))))
  const moves: { readonly id: unknown; readonly move: object; readonly isShared: boolean }[] = []
  const move = async (by: typeof bySecondary, from: string, to: string, isShared = false): Promise<void> => {
    const { status, body } = await by(from, to)
    assert.equal(status, 200, JSON.stringify(body))
    const info = { source_mount: `${from}/`, target_mount: `${to}/`, status: 'success' }
    moves.push({ id: body.data?.migration_id, move: info, isShared })
  }
  const bothThreads = [
    (path: string) => secondary.call('GET', path),
    (path: string) => servers.time.until(serving.send('GET', path, undefined)),
  ]
  const isTold = async (threads = bothThreads): Promise<void> => {
    for (const { id, move: told } of moves)
      for (const ask of threads) {
        const { status, body } = await ask(`sys/remount/status/${id}`)
        assert.deepEqual([status, body.data?.migration_info], [200, told])
      }
  }
  await move(bySecondary, 'one', 'moved', true)
  await move(byThread, 'two', 'team/moved', true)
  await move(bySecondary, 'own', 'mine')
  await isTold()
  for (const { id, isShared } of moves)
    assert.equal((await primary.call('GET', `sys/remount/status/${id}`)).status, isShared ? 200 : 404)
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  await move(byThread, 'alone', 'alone2')
  await isTold()
  assert.equal((await bySecondary('moved', 'further')).status, 503)
  assert.equal((await secondary.call('GET', 'sys/remount/status/none')).status, 404)
  await secondary.must('POST', 'sys/replication/performance/secondary/promote', { force: true })

  test('the status of a move is told by the secondary for a mount that had not come when it was asked', async () => {
    const { servers, primary, secondary } = await performanceServers(41)
    await servers.time.pass(3_000)
    for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs: 100 })
    await primary.must('POST', 'sys/mounts/fresh', { type: 'transit' })
    const { body } = await secondary.must('POST', 'sys/remount', { from: 'fresh', to: 'moved' })
    await servers.level(primary, secondary, 60_000, 'performance')
    await secondary.must('GET', `sys/remount/status/${String(body.data?.migration_id)}`)
  })
  // Nobody tells the other thread the new term.
  await isTold(bothThreads.slice(0, 1))
})

test('T78: namespaces that come, change and go are followed with what is in them, on every thread', async () => {
  const { servers, primary, secondary, level } = await started(2)
  const serving = await servingBeside(secondary.server, secondary.rootToken)
  const own = ownWrites(secondary)
  const found = async (path: string) => {
    const here = (await secondary.call('GET', path)).status
    assert.equal((await servers.time.until(serving.send('GET', path, undefined))).status, here, path)
    return here
  }
  await primary.must('POST', 'sys/namespaces/team', {})
  await primary.must('POST', 'team/sys/namespaces/in', {})
  await primary.must('POST', 'team/in/sys/mounts/t', SHARED)
  await primary.must('POST', 'team/in/t/keys/k')
  await level()
  assert.equal(await found('team/in/t/keys/k'), 200)
  const { unlock_key } = (await primary.must('POST', 'team/sys/namespaces/api-lock/lock', {})).body.data ?? {}
  await level()
  assert.equal(await found('team/in/t/keys/k'), 503)
  await primary.must('POST', 'team/sys/namespaces/api-lock/unlock', { unlock_key })
  await level()
  assert.equal(await found('team/in/t/keys/k'), 200)
  await primary.must('DELETE', 'team/sys/namespaces/in')
  await primary.must('DELETE', 'sys/namespaces/team')
  await servers.time.pass(1_000)
  await level()
  assert.equal(await found('team/in/t/keys/k'), 404)
  assert.deepEqual([own.filter((key) => !key.includes('/cluster/')), faultsOf(secondary)], [[], []])
})

test('T78: what a secondary counted for itself in a shared mount goes soon after the mount does', async () => {
  const { servers, primary, secondary, level } = await started(3)
  await primary.must('POST', 'sys/mounts/transit', SHARED)
  await primary.must('POST', 'transit/keys/k')
  await primary.must('POST', 'sys/namespaces/team', {})
  await primary.must('POST', 'team/sys/mounts/transit', SHARED)
  await primary.must('POST', 'team/transit/keys/k')
  await primary.must('POST', 'sys/mounts/stays', SHARED)
  await primary.must('POST', 'stays/keys/k')
  await level()
  const batch_input = Array(3_000).fill({ plaintext })
  for (const mount of ['transit', 'team/transit', 'stays']) {
    await secondary.must('POST', `${mount}/encrypt/k`, { batch_input })
  }
  assert.equal((await storedOf(secondary, '/cluster/')).length, 6)
  await primary.must('DELETE', 'sys/mounts/transit')
  await level()
  await servers.time.pass(6_000)
  assert.equal((await storedOf(secondary, '/cluster/')).length, 4)
  await primary.must('DELETE', 'sys/namespaces/team')
  await servers.time.pass(1_000)
  await level()
  await servers.time.pass(6_000)
  const uuid = secondary.server.node.mounts.find(ROOT, 'stays/')?.uuid ?? assert.fail()
  const left = await storedOf(secondary, '/cluster/')
  assert.ok(left.length === 2 && left.every((key) => key.includes(uuid)), left.join())
})

test('T79: a shared mount at the path of a local one is hidden, and appears when that goes', async () => {
  const { servers, primary, secondary, level } = await started(4)
  await secondary.must('POST', 'sys/mounts/own', LOCAL)
  await secondary.must('POST', 'own/keys/mine')
  assert.equal(await conflicts(secondary), undefined)
  await primary.must('POST', 'sys/mounts/own', SHARED)
  await primary.must('POST', 'own/keys/shared')
  await level()
  assert.deepEqual([await keysOf(secondary, 'own'), await conflicts(secondary)], [['mine'], ['own/']])
  assert.equal(await conflicts(primary), undefined)
  await servers.time.pass(1_000)
  assert.equal((await secondary.status('performance')).state, 'stream-wals')
  assert.equal((await secondary.call('GET', 'sys/health', undefined, '')).status, 200)
  // The local one is what requests about the path mean.
  await secondary.must('POST', 'sys/mounts/own/tune', { description: 'mine' })
  await secondary.must('POST', 'own/keys/later')
  assert.equal((await primary.must('GET', 'sys/mounts/own')).body.data?.description, '')
  await secondary.must('DELETE', 'sys/mounts/own')
  assert.deepEqual([await keysOf(secondary, 'own'), await conflicts(secondary)], [['shared'], undefined])
  await primary.must('POST', 'own/keys/more')
  await level()
  assert.deepEqual(await keysOf(secondary, 'own'), ['more', 'shared'])
})

test('T79: of mounts that nest, each request goes to the longer path, and status names the local ones', async () => {
  const { primary, secondary, level } = await started(5)
  for (const path of ['a/b', 'c', 'alone']) {
    await secondary.must('POST', `sys/mounts/${path}`, LOCAL)
    await secondary.must('POST', `${path}/keys/mine`)
  }
  for (const path of ['a', 'c/d/e', 'aside']) {
    await primary.must('POST', `sys/mounts/${path}`, SHARED)
    await primary.must('POST', `${path}/keys/shared`)
  }
  await level()
  const found = await Promise.all(['a', 'a/b', 'c', 'c/d/e', 'alone'].map((path) => keysOf(secondary, path)))
  assert.deepEqual(found, [['shared'], ['mine'], ['mine'], ['shared'], ['mine']])
  assert.deepEqual(await conflicts(secondary), ['a/b/', 'c/'])
  await primary.must('DELETE', 'sys/mounts/a')
  await primary.must('DELETE', 'sys/mounts/c/d/e')
  await level()
  assert.equal(await conflicts(secondary), undefined)
})

test('T79: a local audit device hides a shared one at its path, and is the one that goes; both record', async () => {
  const { servers, primary, secondary, level } = await started(23)
  const device = (file_path: string, more: object = {}) => ({ type: 'file', options: { file_path }, ...more })
  const shown = async (cluster: ReplicatedServer): Promise<unknown> => {
    const { data = {} } = (await cluster.must('GET', 'sys/audit')).body
    return Object.values(data as Record<string, { local: boolean; path: string }>).map(({ local, path }) => [
      path,
      local,
    ])
  }
  const recordsIn = async (cluster: ReplicatedServer, file: string): Promise<boolean> => {
    const lines = () => String(cluster.server.machine.files.read(file)).split('\n').length
    const before = lines()
    await cluster.call('GET', 'sys/mounts')
    return lines() > before
  }
  await secondary.must('POST', 'sys/audit/log', device('/own.log', { local: true }))
  await primary.must('POST', 'sys/audit/log', device('/shared.log'))
  await level()
  assert.deepEqual(await shown(secondary), [['log/', true]])
  assert.deepEqual(await shown(primary), [['log/', false]])
  for (const file of ['/own.log', '/shared.log']) assert.ok(await recordsIn(secondary, file), file)
  servers.cut(primary, secondary)
  await secondary.must('DELETE', 'sys/audit/log')
  servers.heal(primary, secondary)
  await level()
  assert.deepEqual([await shown(secondary), await shown(primary)], [[['log/', false]], [['log/', false]]])
  for (const cluster of [primary, secondary]) assert.ok(await recordsIn(cluster, '/shared.log'), cluster.name)
  await secondary.must('DELETE', 'sys/audit/log')
  await level()
  assert.deepEqual([await shown(secondary), await shown(primary)], [[], []])
})

test('T79: a namespace hides local mounts at its path, until they are moved or it is deleted', async () => {
  const { servers, primary, secondary, level } = await started(6)
  for (const path of ['team', 'crew/x', 'club/x']) {
    await secondary.must('POST', `sys/mounts/${path}`, LOCAL)
    await secondary.must('POST', `${path}/keys/mine`)
  }
  for (const name of ['team', 'crew', 'club']) await primary.must('POST', `sys/namespaces/${name}`, {})
  await primary.must('POST', 'club/sys/mounts/x', SHARED)
  await primary.must('POST', 'club/x/keys/shared')
  await level()
  const found = await Promise.all(['team', 'crew/x', 'club/x'].map((path) => keysOf(secondary, path)))
  assert.deepEqual(found, [404, 404, ['shared']])
  assert.deepEqual(await conflicts(secondary), ['club/x/', 'crew/x/', 'team/'])
  await secondary.must('POST', 'sys/remount', { from: 'crew/x', to: 'kept' })
  assert.deepEqual(await keysOf(secondary, 'kept'), ['mine'])
  await secondary.must('DELETE', 'sys/mounts/club/x')
  assert.deepEqual(await keysOf(secondary, 'club/x'), ['shared'])
  assert.deepEqual(await conflicts(secondary), ['team/'])
  await primary.must('DELETE', 'sys/namespaces/team')
  await servers.time.pass(1_000)
  await level()
  assert.deepEqual([await keysOf(secondary, 'team'), await conflicts(secondary)], [['mine'], undefined])
})

test('T79: a local mount is not made at, around or within the path of a shared one', async () => {
  const { primary, secondary, level } = await started(7)
  await primary.must('POST', 'sys/mounts/a/b', SHARED)
  await level()
  for (const [path, taken] of Object.entries({ a: 'a/b/', 'a/b': 'a/b/', 'a/b/c': 'a/b/' })) {
    const { status, body } = await secondary.call('POST', `sys/mounts/${path}`, LOCAL)
    assert.deepEqual([status, body.errors], [400, [`path is already in use at ${taken}`]])
  }
})

/** The secondary becomes the primary, and the former primary its secondary. */
async function swap(servers: ReplicatedServers, former: ReplicatedServer, next: ReplicatedServer): Promise<void> {
  const path = 'sys/replication/performance'
  await next.must('POST', `${path}/secondary/promote`, {})
  await former.must('POST', `${path}/primary/demote`, {})
  const { body } = await former.must('POST', `${path}/secondary/generate-public-key`)
  const key = { secondary_public_key: body.data?.secondary_public_key }
  const token = await servers.token(next, former.name, key, 'performance')
  await former.must('POST', `${path}/secondary/update-primary`, { token })
  await servers.level(next, former, 60_000, 'performance')
}

test('T79: a shared mount that a local one of the primary hides serves aliases and filters as any other', async () => {
  const { servers, primary: former, secondary } = await started(24)
  for (const path of ['sys/mounts/own', 'sys/mounts/other']) await secondary.must('POST', path, LOCAL)
  await secondary.must('POST', 'sys/auth/up', { type: 'userpass', local: true })
  for (const path of ['sys/mounts/own', 'sys/mounts/other', 'sys/mounts/third']) await former.must('POST', path, SHARED)
  await former.must('POST', 'own/keys/k')
  await former.must('POST', 'sys/auth/up', { type: 'userpass' })
  await swap(servers, former, secondary)
  const level = () => servers.level(secondary, former, 60_000, 'performance')

  const accessor = (await former.must('GET', 'sys/auth/up')).body.data?.accessor
  const made = await former.must('POST', 'identity/entity-alias', { name: 'ann', mount_accessor: accessor })
  await level()
  const alias = await former.must('GET', `identity/entity-alias/id/${made.body.data?.id}`)
  assert.deepEqual([alias.body.data?.mount_accessor, alias.body.data?.mount_path], [accessor, 'auth/up/'])

  const policy = 'path "*" { capabilities = ["create", "read", "update", "list"] }'
  await secondary.must('POST', 'sys/policies/acl/all', { policy })
  await level()
  const { auth } = (await former.must('POST', 'auth/token/create', { policies: ['all'] })).body
  const token = (auth as { readonly client_token: string }).client_token
  const filter = { mode: 'deny', paths: ['other', 'third'] }
  await secondary.must('POST', `sys/replication/performance/primary/paths-filter/${former.name}`, filter)
  await servers.time.pass(5_000)
  const asked = async (method: string, path: string, body?: object) =>
    (await former.call(method, path, body, token)).status
  assert.equal((await asked('POST', 'own/keys/k/rotate', {})) < 300, true)
  assert.equal((await asked('POST', 'own/keys/new', {})) < 300, true)
  for (const path of ['other', 'third']) assert.equal(await asked('GET', `${path}/keys/k`), 404, path)
})

test('T79: a secondary changes the shared mount that a local one of its new primary hides, not that one', async () => {
  const { servers, primary: former, secondary, level } = await started(8)
  await secondary.must('POST', 'sys/mounts/own', LOCAL)
  await secondary.must('POST', 'own/keys/mine')
  await secondary.must('POST', 'sys/auth/up', { type: 'userpass', local: true })
  await secondary.must('POST', 'auth/up/users/ann', { password: 'x' })
  await former.must('POST', 'sys/mounts/own', SHARED)
  await former.must('POST', 'own/keys/shared')
  await former.must('POST', 'sys/auth/up', { type: 'userpass' })
  await level()
  const login = await secondary.must('POST', 'auth/up/login/ann', { password: 'x' }, '')
  const token = String((login.body.auth as { readonly client_token: string }).client_token)

  await swap(servers, former, secondary)

  const localOnes = async () =>
    await Promise.all(
      ['sys/mounts/own', 'sys/auth/up'].map(async (path) => (await secondary.must('GET', path)).body.data),
    )
  const before = await localOnes()
  const described = async (path: string) => (await former.must('GET', path)).body.data?.description
  await former.must('POST', 'sys/mounts/own/tune', { description: 'tuned' })
  assert.equal(await described('sys/mounts/own'), 'tuned')
  await former.must('POST', 'sys/quotas/rate-limit/q', { path: 'own/', rate: 1, interval: '1h' })
  for (let each = 0; each < 3; each++) await secondary.must('GET', 'own/keys/mine')
  await former.must('DELETE', 'sys/quotas/rate-limit/q')
  await former.must('POST', 'sys/remount', { from: 'own', to: 'ours' })
  assert.deepEqual([await described('sys/mounts/ours'), await keysOf(former, 'ours')], ['tuned', ['shared']])
  await former.must('DELETE', 'sys/auth/up')
  assert.equal((await former.call('GET', 'sys/auth/up')).status, 400)

  assert.deepEqual(await localOnes(), before)
  assert.deepEqual([await keysOf(secondary, 'own'), await keysOf(secondary, 'ours')], [['mine'], ['shared']])
  assert.equal((await secondary.must('GET', 'auth/token/lookup-self', undefined, token)).status, 200)
  assert.equal(await conflicts(secondary), undefined)
  assert.deepEqual([faultsOf(former), faultsOf(secondary)], [[], []])
})

test('T79: what is local to a primary is not there for what a secondary hands over', async () => {
  const { primary, secondary, level } = await started(9)
  await primary.must('POST', 'sys/mounts/theirs', LOCAL)
  await primary.must('POST', 'theirs/keys/k')
  await primary.must('POST', 'sys/auth/up', { type: 'userpass', local: true })
  await primary.must('POST', 'sys/audit/file', { type: 'file', local: true, options: { file_path: '/a.log' } })
  const accessor = String((await primary.must('GET', 'sys/auth/up')).body.data?.accessor)
  const made = async (path: string, sent: object) =>
    String((await primary.must('POST', path, sent)).body.data?.id ?? assert.fail('it has an id'))
  const entity = await made('identity/entity', { name: 'ann' })
  const group = await made('identity/group', { name: 'g', type: 'external' })
  const alias = await made('identity/entity-alias', { name: 'ann', mount_accessor: accessor, canonical_id: entity })
  await level()
  const all = async () => [
    (await primary.must('GET', 'sys/mounts/theirs')).body.data,
    (await primary.must('GET', 'sys/auth/up')).body.data,
    (await primary.must('GET', 'sys/audit')).body.data,
    (await primary.must('GET', `identity/entity-alias/id/${alias}`)).body.data,
    await keysOf(primary, 'theirs'),
  ]
  const before = await all()

  const asked = (mount: string, device: string, at: string, id: string): readonly [string, string, object?][] => [
    ['DELETE', `sys/mounts/${mount}`],
    ['POST', `sys/mounts/${mount}/tune`, { description: 'x' }],
    ['POST', 'sys/remount', { from: mount, to: 'elsewhere' }],
    ['POST', 'sys/plugins/reload/backend', { mounts: `${mount}/`, scope: 'global' }],
    ['POST', 'sys/quotas/rate-limit/q', { path: `${mount}/`, rate: 1 }],
    ['DELETE', `sys/audit/${device}`],
    ['POST', 'identity/entity-alias', { name: 'bob', mount_accessor: at, canonical_id: entity }],
    ['POST', 'identity/group-alias', { name: 'gg', mount_accessor: at, canonical_id: group }],
    ['POST', `identity/entity-alias/id/${id}`, { name: 'bob' }],
    ['DELETE', `identity/entity-alias/id/${id}`],
  ]
  const answers = async (...named: Parameters<typeof asked>) => {
    const found: unknown[] = []
    for (const [method, path, sent] of asked(...named)) {
      const { status, body } = await secondary.call(method, path, sent)
      found.push([method, status, JSON.stringify(body.errors)?.replaceAll(named[0], 'MOUNT')])
    }
    return found
  }
  const nothing = await answers('absent', 'absent', 'auth_userpass_00000000', alias.replace(/^./, 'x'))
  assert.deepEqual(await answers('theirs', 'file', accessor, alias), nothing)
  assert.ok(!JSON.stringify(nothing).includes('403'), JSON.stringify(nothing))
  const login = async (mount: string) => (await secondary.call('DELETE', `sys/auth/${mount}`)).status
  assert.deepEqual([await login('up'), await login('absent')], [204, 204])
  assert.deepEqual(await all(), before)
})
