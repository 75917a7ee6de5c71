// Whole servers in virtual time: entities, aliases and groups of a namespace go with it where a filter keeps it from a
// performance secondary, and come back whole with it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareOf } from '../fixtures/failing-over.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

const FILTER = 'sys/replication/performance/primary/paths-filter/two'
const DENIED = { mode: 'deny', paths: ['team'] }
const PASSWORD = { password: 'x' }

/** Keys of all classes, or of one, in which the name stands, and what is stored there. */
async function entriesWith({ server }: ReplicatedServer, name: string, storageClass?: string) {
  const snapshot = await server.store.snapshot()
  try {
    const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
    const found = entries.filter(({ key, class: of }) => key.includes(name) && (storageClass ?? of) === of)
    return found.map(({ key, leaf, value }) => [key, leaf.toString('hex'), value.toString('hex')] as const)
  } finally {
    await snapshot.close()
  }
}

const keysWith = async (cluster: ReplicatedServer, name: string, storageClass?: string): Promise<readonly string[]> =>
  (await entriesWith(cluster, name, storageClass)).map(([key]) => key)

/** The kinds of identities of the namespace, as their folders are named. */
const kindsOf = (keys: readonly string[]): readonly string[] =>
  [
    ...new Set(keys.filter((key) => /^root\/sys\/(local-)?identity\//.test(key)).map((key) => key.split('/')[3] ?? '')),
  ].sort()

const dataOf = async (cluster: ReplicatedServer, method: string, path: string, body?: object) =>
  (await cluster.must(method, path, body)).body.data ?? {}

async function login(cluster: ReplicatedServer, path: string): Promise<string> {
  const { body } = await cluster.must('POST', `${path}/login/ann`, PASSWORD, '')
  return String((body.auth as { readonly entity_id: string }).entity_id)
}

/** A namespace with all that identities can be. `id` is its own, `person` that of an entity, `known` of who logs in. */
async function furnish(primary: ReplicatedServer) {
  const id = String((await dataOf(primary, 'POST', 'sys/namespaces/team')).id)
  await primary.must('POST', 'team/sys/auth/people', { type: 'userpass' })
  await primary.must('POST', 'team/auth/people/users/ann', PASSWORD)
  const { accessor } = (await dataOf(primary, 'GET', 'team/sys/auth/people')) as { readonly accessor: string }
  const made = async (what: string, given: object) =>
    String((await dataOf(primary, 'POST', `team/identity/${what}`, given)).id)
  const person = await made('entity', { name: 'someone', metadata: { passport: 'X123' } })
  await made('entity-alias', { name: 'someone', canonical_id: person, mount_accessor: accessor })
  const inner = await made('group', { name: 'inner', member_entity_ids: [person] })
  await made('group', { name: 'outer', member_group_ids: [inner] })
  const staff = await made('group', { name: 'staff', type: 'external' })
  await made('group-alias', { name: 'staff', canonical_id: staff, mount_accessor: accessor })
  return { id, person, accessor, known: await login(primary, 'team/auth/people') }
}

const SHARED_KINDS = [
  ...['alias', 'alias-id', 'alias-name', 'entity', 'entity-group', 'entity-name'],
  ...['group', 'group-alias', 'group-alias-name', 'group-child', 'group-entity', 'group-name', 'group-parent'],
]

/** The namespace on two clusters that are level. */
async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const level = () => servers.level(primary, secondary, 60_000, 'performance')
  const team = await furnish(primary)
  await level()
  const filter = async (body: object | undefined) => {
    if (body === undefined) await primary.must('DELETE', FILTER)
    else await primary.must('POST', FILTER, body)
    await servers.time.pass(5_000)
  }
  return { servers, primary, secondary, level, filter, ...team }
}

test('T81: identities of a namespace that is filtered from the start never come', async () => {
  const servers = new ReplicatedServers(1)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  const { id, person, accessor } = await furnish(primary)
  assert.deepEqual(kindsOf(await keysWith(primary, id)), SHARED_KINDS)
  await servers.enable(primary, 'performance')
  const token = await servers.token(primary, 'two', {}, 'performance')
  await primary.must('POST', FILTER, DENIED)
  await secondary.must('POST', 'sys/replication/performance/secondary/enable', { token })
  await servers.level(primary, secondary, 60_000, 'performance')
  await servers.giveRootToken(primary, secondary)
  await primary.must('POST', 'team/identity/entity', { name: 'later' })
  await primary.must('POST', 'identity/entity', { name: 'seen' })
  await servers.level(primary, secondary, 60_000, 'performance')
  for (const name of [id, accessor]) assert.deepEqual(await keysWith(secondary, name), [])
  assert.equal((await secondary.call('GET', `identity/entity/id/${person}`)).status, 404)
  assert.equal((await secondary.call('GET', 'identity/entity/name/seen')).status, 200)
})

test('T82: identities of a namespace go with it from the secondary, and come back whole', async () => {
  const { servers, primary, secondary, level, filter, id, person, known } = await started(2)
  const requireSame = async () => {
    await level()
    await servers.time.pass(2_000)
    assert.deepEqual(await entriesWith(secondary, id, 'replicated'), await entriesWith(primary, id, 'replicated'))
  }
  await requireSame()
  assert.equal(await login(secondary, 'team/auth/people'), known)
  await filter(DENIED)
  assert.deepEqual(await keysWith(secondary, id, 'replicated'), [])
  // The primary goes on.
  await primary.must('POST', `team/identity/entity/id/${person}`, { metadata: { passport: 'X456' } })
  await primary.must('POST', 'team/identity/entity', { name: 'later' })
  await primary.must('DELETE', 'team/identity/group/name/outer')
  await level()
  assert.deepEqual(await keysWith(secondary, id, 'replicated'), [])
  await filter(undefined)
  await requireSame()
  const { metadata } = await dataOf(secondary, 'GET', 'team/identity/entity/name/someone')
  assert.deepEqual(metadata, { passport: 'X456' })
  assert.equal(await login(secondary, 'team/auth/people'), known)
  await primary.must('POST', 'team/identity/entity', { name: 'streamed' })
  await requireSame()
  assert.equal((await secondary.call('GET', 'team/identity/entity/name/streamed')).status, 200)
})

test('who logged in at a mount of the secondary itself is the same when the namespace is back', async () => {
  const { servers, secondary, level, filter, id } = await started(3)
  await secondary.must('POST', 'team/sys/auth/here', { type: 'userpass', local: true })
  await secondary.must('POST', 'team/auth/here/users/ann', PASSWORD)
  const entity = await login(secondary, 'team/auth/here')
  await level()
  const own = async () => (await keysWith(secondary, id, 'local')).filter((key) => key.includes('/local-identity/'))
  const before = await own()
  assert.deepEqual(kindsOf(before), ['alias', 'alias-id', 'alias-name'])
  await filter(DENIED)
  // What counts for nothing at two looks goes.
  for (let look = 0; look < 3; look++) await servers.time.until(secondary.server.node.aliasSweep.runNow())
  assert.deepEqual(await own(), before)
  await filter(undefined)
  await level()
  assert.equal(await login(secondary, 'team/auth/here'), entity)
  assert.deepEqual(await own(), before)
})

test('a filtered secondary that is promoted with force has nothing of identities that it lacked', async () => {
  const { servers, secondary, filter, id } = await started(4)
  await filter(DENIED)
  await secondary.must('POST', 'sys/replication/performance/secondary/promote', { force: true })
  await servers.time.pass(5_000)
  assert.deepEqual(await keysWith(secondary, id), [])
  await secondary.must('POST', 'sys/namespaces/team')
  assert.equal((await secondary.call('LIST', 'team/identity/entity/name')).status, 404)
})

test('a DR secondary of a filtered secondary forgets the identities as well', async () => {
  const { servers, primary, secondary, filter, id } = await started(5)
  const standIn = await servers.start('stand-in')
  await servers.activate(secondary, standIn)
  await servers.level(secondary, standIn)
  assert.deepEqual(kindsOf(await keysWith(standIn, id, 'replicated')), SHARED_KINDS)
  await filter(DENIED)
  await primary.must('POST', 'team/identity/entity', { name: 'later' })
  await servers.time.pass(40_000)
  await servers.level(secondary, standIn)
  for (const cluster of [secondary, standIn]) {
    assert.deepEqual(await keysWith(cluster, id, 'replicated'), [])
    const { firstIndex } = await cluster.server.store.retained()
    const records = await cluster.server.store.records(firstIndex - 1, 100_000)
    assert.ok(!records.some(({ record }) => record.includes(`identity/entity/${id}/`)), cluster.name)
  }
})

test('identities that an earlier program took for those of the root go when this one opens the store', async () => {
  const { servers, primary, secondary, filter, level, id } = await started(7)
  const { time } = servers
  const stored = async () => {
    const snapshot = await secondary.server.store.snapshot()
    const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
    await snapshot.close()
    return entries.filter(({ key }) => key.startsWith('root/sys/identity/') && key.includes(`/${id}/`))
  }
  const entries = await stored()
  assert.deepEqual(kindsOf(entries.map(({ key }) => key)), SHARED_KINDS)
  await filter(DENIED)
  assert.deepEqual(await stored(), [])
  const { store } = secondary.server
  const { origins } = await store.position()
  const at = origins.find(({ family }) => family === 'performance') ?? assert.fail('it follows')
  await time.until(store.adopt([], { mode: 'redo', after: at, at, state: { entries, gone: [] } }))
  assert.equal((await stored()).length, entries.length)
  secondary.kill()
  await time.until(secondary.restart(shareOf(primary)))
  await level()
  await time.pass(5_000)
  assert.deepEqual(await keysWith(secondary, id, 'replicated'), [])
  const { firstIndex } = await secondary.server.store.retained()
  const records = await secondary.server.store.records(firstIndex - 1, 100_000)
  assert.ok(!records.some(({ record }) => record.includes(`identity/entity/${id}/`)), 'nor in its log')
})

test('who is of a filtered namespace counts for nothing at a mount that has moved out of it', async () => {
  const { servers, primary, secondary, level, filter, known } = await started(6)
  await primary.must('POST', 'sys/remount', { from: 'team/auth/people', to: 'auth/people' })
  await level()
  await servers.time.pass(1_000)
  assert.equal(await login(secondary, 'auth/people'), known)
  await filter(DENIED)
  // The primary knows who it is; here the entity is none, so its token opens nothing.
  const given = await secondary.must('POST', 'auth/people/login/ann', PASSWORD, '')
  const { client_token: token } = given.body.auth as { readonly client_token: string }
  assert.equal((await secondary.call('GET', 'auth/token/lookup-self', undefined, token)).status, 403)
  // Who comes for the first time is of the namespace where the mount is now.
  await primary.must('POST', 'auth/people/users/bob', PASSWORD)
  await level()
  const { body } = await secondary.must('POST', 'auth/people/login/bob', PASSWORD, '')
  const { client_token: other } = body.auth as { readonly client_token: string }
  assert.equal((await secondary.call('GET', 'auth/token/lookup-self', undefined, other)).status, 200)
  await filter(undefined)
  assert.equal(await login(secondary, 'auth/people'), known)
})
