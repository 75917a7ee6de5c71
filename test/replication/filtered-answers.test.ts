// What a filtered secondary answers and keeps: of what is filtered, no more than of what never was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLACED_ENDPOINTS, type Placed, pathsOf, WIRE_METHODS } from '../fixtures/endpoint-table.ts'
import type { Called, Headers } from '../fixtures/memory-server.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

const FILTER = 'sys/replication/performance/primary/paths-filter/two'
const EVERYTHING = 'path "*" { capabilities = ["create","read","update","patch","delete","list","scan","sudo"] }'

/** A name that is there and filtered, and one of the same length that never was there. */
const [HIDDEN, NEVER] = ['zqhidden', 'zqnever1']

type Ask = (method: string, path: string, body?: unknown, headers?: Headers) => Promise<Called>

/** Of a name that is there: a mount, a login method and a namespace with a mount. */
async function grow(primary: ReplicatedServer): Promise<readonly string[]> {
  const shared = async (path: string, body: object) => primary.must('POST', path, body)
  await primary.must('PUT', 'sys/policies/acl/admin', { policy: EVERYTHING })
  await shared('sys/mounts/open', { type: 'transit' })
  await shared(`sys/mounts/${HIDDEN}`, { type: 'transit', description: 'zq-secret-text' })
  await shared(`${HIDDEN}/keys/k`, {})
  await shared(`sys/auth/${HIDDEN}`, { type: 'userpass', description: 'zq-secret-text' })
  await shared(`auth/${HIDDEN}/users/u`, { password: 'some-long-password' })
  await shared(`sys/namespaces/${HIDDEN}ns`, { custom_metadata: { of: 'zq-secret-text' } })
  await shared(`${HIDDEN}ns/sys/mounts/inner`, { type: 'transit' })
  return factsOf(primary)
}

const FILTERED = { mode: 'deny', paths: [HIDDEN, `auth/${HIDDEN}`, `${HIDDEN}ns`] }

/** All of that is filtered, after the secondary has seen it. */
async function stage(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const facts = await grow(primary)
  await servers.level(primary, secondary, 60_000, 'performance')
  await primary.must('POST', FILTER, FILTERED)
  await servers.time.pass(100)
  await servers.level(primary, secondary, 60_000, 'performance')
  const made = await secondary.must('POST', 'auth/token/create', { policies: ['admin'] })
  const token = (made.body.auth as { readonly client_token: string }).client_token
  const ask: Ask = (method, path, body, headers) =>
    servers.time.until(secondary.server.call(method, path, body, token, headers))
  return { servers, primary, secondary, facts, ask }
}

/** By what it could be recognised in an answer. */
async function factsOf(primary: ReplicatedServer): Promise<readonly string[]> {
  const facts = ['zq-secret-text']
  for (const path of [`mounts/${HIDDEN}`, `auth/${HIDDEN}`]) {
    const { uuid, accessor } = (await primary.must('GET', `sys/${path}`)).body.data as Record<string, string>
    facts.push(String(uuid), String(accessor))
  }
  const { id, uuid } = (await primary.must('GET', `sys/namespaces/${HIDDEN}ns`)).body.data as Record<string, string>
  return [...facts, String(id), String(uuid)]
}

const textOf = ({ status, body }: Called): string => {
  const { request_id: _id, ...rest } = body
  return `${status} ${JSON.stringify(rest)}`
}

/** Requests that say something of a name. A mount, a login method, or a namespace has it. */
const SAME: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', 'NAME/keys/k'],
  ['LIST', 'NAME/keys'],
  ['POST', 'NAME/keys/k'],
  ['POST', 'NAME/keys/other'],
  ['DELETE', 'NAME/keys/k'],
  ['POST', 'NAME/encrypt/k', { plaintext: 'YQ==' }],
  ['POST', 'auth/NAME/login/u', { password: 'some-long-password' }],
  ['GET', 'auth/NAME/users/u'],
  ['POST', 'auth/NAME/users/u', { password: 'another-long-one' }],
  ['GET', 'sys/mounts/NAME'],
  ['GET', 'sys/mounts/NAME/tune'],
  ['GET', 'sys/mounts/auth/NAME/tune'],
  ['GET', 'sys/auth/NAME'],
  ['GET', 'sys/auth/NAME/tune'],
  ['GET', 'sys/internal/ui/mounts/NAME'],
  ['POST', 'sys/capabilities-self', { paths: ['NAME/keys/k'] }],
  ['LIST', 'sys/leases/lookup/NAME'],
  ['LIST', 'sys/leases/lookup/auth/NAME/login'],
  ['PUT', 'sys/leases/revoke-prefix/NAME'],
  ['GET', 'sys/namespaces/NAMEns'],
  ['GET', 'NAMEns/sys/mounts'],
  ['GET', 'NAMEns/inner/keys/k'],
  ['POST', 'NAMEns/sys/mounts/new', { type: 'transit' }],
  ['POST', 'NAMEns/inner/keys/k'],
  ['POST', 'sys/wrapping/wrap', { NAME: 1 }],
]

test('R-02, P-54: what is filtered is answered as what never was there', async () => {
  const { ask } = await stage(41)
  for (const [method, path, body] of SAME) {
    const answers: string[] = []
    for (const name of [HIDDEN, NEVER]) {
      const of = (text: string): string => text.replaceAll('NAME', name)
      const sent = body === undefined ? undefined : JSON.parse(of(JSON.stringify(body)))
      const answer = await ask(method, of(path), sent)
      answers.push(
        textOf(answer)
          .replaceAll(name, 'NAME')
          .replaceAll(/"(token|accessor|creation_time)":"[^"]*"/g, ''),
      )
    }
    assert.equal(answers[0], answers[1], `${method} ${path}`)
  }
  const inside = (name: string) => ask('GET', 'sys/mounts', undefined, { namespace: `${name}ns` })
  const [hidden, never] = [await inside(HIDDEN), await inside(NEVER)]
  assert.deepEqual([hidden.status, textOf(hidden)], [404, textOf(never)])
})

test('R-02, P-54: no list and no other read of the secondary tells of what is filtered', async () => {
  const { primary, secondary, facts, ask } = await stage(42)
  const reads = PLACED_ENDPOINTS.filter(
    ({ mountPath, endpoint: { operation, givesStream } }) =>
      ['sys/', 'identity/', 'auth/token/'].includes(mountPath) &&
      ['read', 'list', 'scan'].includes(operation) &&
      givesStream !== true,
  )
  assert.ok(reads.length > 60)
  const wanted = [...facts, HIDDEN]
  const told = async (of: (placed: Placed, path: string) => Promise<Called>) => {
    const tellers: string[] = []
    for (const placed of reads)
      for (const path of pathsOf(placed, 'x')) {
        const text = textOf(await of(placed, path))
        if (wanted.some((fact) => text.includes(fact))) tellers.push(placed.endpoint.id)
      }
    return tellers
  }
  const methodOf = ({ endpoint }: Placed): string => WIRE_METHODS[endpoint.operation]
  assert.deepEqual(await told((placed, path) => ask(methodOf(placed), path)), [])
  // On the primary the same question finds them.
  const there = await told((placed, path) => primary.call(methodOf(placed), path))
  for (const id of ['mounts-list', 'auth-list', 'namespaces-list']) assert.ok(there.includes(id), `${id}: ${there}`)
  const { body } = await secondary.call('GET', 'sys/replication/performance/status', undefined, '')
  assert.equal(body.data?.filtered, true)
})

test('4c.22: a change that names what is filtered is 404 on the secondary, and changes nothing', async () => {
  const { servers, primary, facts, ask } = await stage(43)
  const before = await servers.time.until(primary.server.store.lastIndex())
  const asked: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['POST', `sys/mounts/${HIDDEN}/tune`, { description: 'x' }],
    ['DELETE', `sys/mounts/${HIDDEN}`],
    ['POST', `sys/auth/${HIDDEN}/tune`, { description: 'x' }],
    ['DELETE', `sys/auth/${HIDDEN}`],
    ['POST', 'sys/remount', { from: HIDDEN, to: 'elsewhere' }],
    ['POST', 'sys/remount', { from: `${HIDDEN}ns/inner`, to: 'elsewhere' }],
    ['POST', 'sys/remount', { from: 'open', to: `${HIDDEN}ns/open` }],
    ['POST', `sys/namespaces/${HIDDEN}ns`, { custom_metadata: {} }],
    ['DELETE', `sys/namespaces/${HIDDEN}ns`],
    ['POST', `sys/namespaces/api-lock/lock/${HIDDEN}ns`],
    ['POST', 'sys/quotas/rate-limit/q', { path: `${HIDDEN}/`, rate: 1 }],
    ['POST', 'sys/quotas/rate-limit/q', { path: `${HIDDEN}ns/`, rate: 1 }],
  ]
  for (const [method, path, body] of asked) {
    const answer = await ask(method, path, body)
    const text = textOf(answer)
    assert.equal(answer.status, 404, `${method} ${path}: ${text}`)
    for (const fact of facts) assert.ok(!text.includes(fact), `${method} ${path}: ${text}`)
  }
  assert.equal(await servers.time.until(primary.server.store.lastIndex()), before)
  // A name that is taken shows as that, and as nothing else.
  const taken = [HIDDEN, `${HIDDEN}/more`, `${HIDDEN}ns`, `${HIDDEN}ns/more`]
  for (const path of taken.map((one) => `sys/mounts/${one}`)) {
    const { status, body } = await ask('POST', path, { type: 'transit' })
    assert.deepEqual([status, body.errors], [400, ['path is already in use']])
  }
})

test('a quota of what is filtered is not shown on the secondary, and one of what it has is', async () => {
  const { servers, primary, secondary, ask } = await stage(46)
  const paths = { open: 'open/keys/', mount: `${HIDDEN}/`, inner: `${HIDDEN}ns/inner/`, namespace: `${HIDDEN}ns/` }
  for (const [name, path] of Object.entries(paths))
    await primary.must('POST', `sys/quotas/rate-limit/zq-${name}`, { path, rate: 100 })
  await primary.must('POST', 'sys/quotas/rate-limit/zq-all', { rate: 100 })
  await servers.level(primary, secondary, 60_000, 'performance')
  const keysOf = ({ body }: Called) => (body.data as { readonly keys: readonly string[] }).keys
  assert.deepEqual(keysOf(await ask('LIST', 'sys/quotas/rate-limit')), ['zq-all', 'zq-open'])
  assert.deepEqual(keysOf(await ask('LIST', 'sys/quotas/rate-limit?limit=1&after=zq-all')), ['zq-open'])
  for (const name of ['mount', 'inner', 'namespace'])
    assert.equal((await ask('GET', `sys/quotas/rate-limit/zq-${name}`)).status, 404, name)
  for (const [name, path] of [
    ['all', ''],
    ['open', paths.open],
  ])
    assert.equal((await ask('GET', `sys/quotas/rate-limit/zq-${name}`)).body.data?.path, path)
  const all = await primary.must('LIST', 'sys/quotas/rate-limit')
  assert.deepEqual(keysOf(all), ['zq-all', 'zq-inner', 'zq-mount', 'zq-namespace', 'zq-open'])
  // With the filter gone it counts, and so it shows.
  await primary.must('DELETE', FILTER)
  await servers.time.pass(5_000)
  assert.equal((await ask('GET', 'sys/quotas/rate-limit/zq-mount')).body.data?.path, paths.mount)
})

test('the status of a move is not told where a filter has taken the mount, or a namespace that it names', async () => {
  const { servers, primary, secondary } = await performanceServers(47)
  for (const name of ['team', 'other']) await primary.must('POST', `sys/namespaces/${name}`)
  for (const path of ['plain', 'team/inner', 'kept']) {
    const within = path.startsWith('team/') ? 'team/' : ''
    await primary.must('POST', `${within}sys/mounts/${path.slice(within.length)}`, { type: 'transit' })
  }
  await servers.level(primary, secondary, 60_000, 'performance')
  const ids: string[] = []
  for (const [from, to] of [
    ['plain', 'plain2'],
    ['team/inner', 'other/inner'],
    ['kept', 'kept2'],
  ])
    ids.push(String((await secondary.must('POST', 'sys/remount', { from, to })).body.data?.migration_id))
  const statuses = async (of: ReplicatedServer) => {
    const answers = await Promise.all(ids.map((id) => of.call('GET', `sys/remount/status/${id}`)))
    return answers.map(({ status }) => status)
  }
  assert.deepEqual(await statuses(secondary), [200, 200, 200])
  await servers.level(primary, secondary, 60_000, 'performance')
  assert.deepEqual(await statuses(secondary), [200, 200, 200])
  await primary.must('POST', FILTER, { mode: 'deny', paths: ['kept2', 'team'] })
  await servers.time.pass(100)
  assert.deepEqual(await statuses(secondary), [200, 404, 404])
  assert.deepEqual(await statuses(primary), [200, 200, 200])
})

test('4c.22: what is of a filtered namespace is as unknown to identities as what never was', async () => {
  const { servers, primary, secondary, ask } = await stage(46)
  const made = async (path: string, body: object): Promise<string> =>
    String((await primary.must('POST', path, body)).body.data?.id)
  const entity = await made(`${HIDDEN}ns/identity/entity`, { name: 'e' })
  const group = await made(`${HIDDEN}ns/identity/group`, { name: 'g' })
  const outer = await made(`${HIDDEN}ns/identity/group`, { name: 'outer', type: 'external' })
  const root = await made('identity/entity', { name: 'e' })
  const inner = await made('identity/group', { name: 'inner' })
  await primary.must('POST', 'sys/auth/login', { type: 'userpass' })
  const accessor = (await primary.must('GET', 'sys/auth/login')).body.data?.accessor
  await servers.level(primary, secondary, 60_000, 'performance')
  const alias = { name: 'a', mount_accessor: accessor }
  const asked: readonly (readonly [path: string, id: string, body: (id: string) => object, says: RegExp])[] = [
    ['identity/group', entity, (id) => ({ name: 'x', member_entity_ids: [root, id] }), /no entity has one of the ids/],
    ['identity/group', group, (id) => ({ name: 'x', member_group_ids: [id] }), /no group has one of the ids/],
    ['identity/group/name/x', entity, (id) => ({ member_entity_ids: [id] }), /no entity has one of the ids/],
    [`identity/group/id/${inner}`, group, (id) => ({ member_group_ids: [id] }), /no group has one of the ids/],
    ['identity/group', group, (id) => ({ id, policies: ['p'] }), /no group has this id/],
    ['identity/entity-alias', entity, (id) => ({ ...alias, canonical_id: id }), /no entity has this id/],
    ['identity/entity-alias', entity, (id) => ({ ...alias, entity_id: id }), /no entity has this id/],
    ['identity/group-alias', outer, (id) => ({ ...alias, canonical_id: id }), /no group has this id/],
  ]
  const before = await servers.time.until(primary.server.store.lastIndex())
  for (const [path, id, body, says] of asked) {
    const answers: string[] = []
    for (const one of [id, id.replace(/^.{8}/, '00000000')]) answers.push(textOf(await ask('POST', path, body(one))))
    assert.match(answers[0] ?? '', says, path)
    assert.equal(answers[0], answers[1], path)
  }
  assert.equal(await servers.time.until(primary.server.store.lastIndex()), before)
  // What the primary made a member shows in the group on both: the list may be written back, with another member.
  await primary.must('POST', `identity/group/id/${inner}`, { member_entity_ids: [entity], member_group_ids: [group] })
  await servers.level(primary, secondary, 60_000, 'performance')
  const shown = (await ask('GET', `identity/group/id/${inner}`)).body.data
  assert.deepEqual([shown?.member_entity_ids, shown?.member_group_ids], [[entity], [group]])
  const members = { member_entity_ids: [entity, root], member_group_ids: [group] }
  for (const path of [`identity/group/id/${inner}`, 'identity/group/name/inner', 'identity/group']) {
    const body = path === 'identity/group' ? { ...members, name: 'inner' } : members
    assert.equal((await ask('POST', path, body)).status, 200, path)
  }
  // By the primary itself a namespace hides nothing.
  await primary.must('POST', 'identity/group', { name: 'all', member_entity_ids: [entity], member_group_ids: [group] })
})

/** Which of these stand in clear in what the store of a cluster keeps: keys, the log, the tree. */
function keptOf({ tables }: ReplicatedServer, facts: readonly string[]): string[] {
  const { entries, log, tree, buckets } = tables
  const texts = [...entries.keys, ...(tree?.pages.keys() ?? []), ...buckets.map(({ key }) => key)]
  const all = Buffer.concat([Buffer.from(texts.join('\n')), ...log.map(({ record }) => record)])
  return facts.filter((fact) => all.includes(fact))
}

/** UUIDs and ids are in the keys of what is stored. What a mount is called is sealed. */
const inKeys = (facts: readonly string[]): string[] =>
  facts.filter((fact) => !/^(zq|auth_|userpass_|transit_)/.test(fact))

test('R-01: what is filtered later goes from all that the store of the secondary keeps', async () => {
  const { servers, primary, secondary, facts } = await stage(44)
  const marks = inKeys(facts)
  assert.deepEqual(keptOf(primary, marks).length, marks.length - 1)
  await servers.time.pass(60_000)
  assert.deepEqual(keptOf(secondary, marks), [])
})

test('R-03: of what was filtered before its activation the secondary never keeps anything', async () => {
  const servers = new ReplicatedServers(45)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  const facts = await grow(primary)
  await servers.enable(primary, 'performance')
  const token = await servers.token(primary, 'two', {}, 'performance')
  await primary.must('POST', FILTER, FILTERED)
  await secondary.must('POST', 'sys/replication/performance/secondary/enable', { token })
  await servers.level(primary, secondary, 60_000, 'performance')
  await servers.giveRootToken(primary, secondary)
  assert.equal((await secondary.call('GET', 'open/keys/none')).status, 404)
  await secondary.must('POST', 'open/keys/k')
  for (let each = 0; each < 5; each++) {
    await primary.must('POST', `${HIDDEN}/keys/k/rotate`)
    await servers.time.pass(100)
    assert.deepEqual(keptOf(secondary, inKeys(facts)), [])
  }
})
