// A thing that goes by several spellings of one name: no policy and no quota is passed by with another of them.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { parsePattern, type Segment } from '../../src/api/pattern.ts'
import { TABLES } from '../../tools/endpoint-tables.ts'
import { PLACED_ENDPOINTS, type Placed, WIRE_METHODS } from '../fixtures/endpoint-table.ts'
import { type Called, type MemoryHouse, startMemoryHouse } from '../fixtures/memory-house.ts'

let house: MemoryHouse
before(async () => {
  house = await startMemoryHouse()
  for (const { mountPath, type } of TABLES) {
    const path = mountPath.slice(0, -1)
    const under = path.startsWith('auth/') ? `sys/${path}` : `sys/mounts/${path}`
    if (type !== undefined) await done(house.call('POST', under, { type }))
  }
})

async function done(called: Promise<Called>): Promise<Called> {
  const answer = await called
  assert.ok(answer.status < 300, JSON.stringify(answer))
  return answer
}

/** A token with these rules alone: by path, capabilities and what else the rule says. */
async function tokenWith(rules: Readonly<Record<string, string>>): Promise<string> {
  const text = Object.entries(rules).map(([path, rule]) => `path "${path}" { ${rule} }`)
  await done(house.call('POST', 'sys/policies/acl/tested', { policy: text.join('\n') }))
  const { body } = await done(
    house.call('POST', 'auth/token/create', { policies: ['tested'], no_default_policy: true }),
  )
  return String((body.auth as { readonly client_token: string }).client_token)
}

const grant = (...words: string[]) => `capabilities = ${JSON.stringify(words)}`
const EVERYTHING = grant('create', 'read', 'update', 'delete', 'list', 'sudo')
const DENIED = grant('deny')

async function statuses(token: string, calls: readonly (readonly [string, string, unknown?])[]): Promise<number[]> {
  const found: number[] = []
  for (const [method, path, body] of calls) found.push((await house.call(method, path, body, token)).status)
  return found
}

test('what is denied of an AppRole role is denied by every spelling of its name', async () => {
  await done(house.call('POST', 'auth/approle/role/admin', { token_policies: ['strong'] }))
  const token = await tokenWith({ 'auth/approle/role/*': EVERYTHING, 'auth/approle/role/admin*': DENIED })
  for (const name of ['admin', 'Admin', 'ADMIN', 'aDmin'])
    assert.deepEqual(
      await statuses(token, [
        ['GET', `auth/approle/role/${name}/role-id`],
        ['POST', `auth/approle/role/${name}/secret-id`, {}],
        ['LIST', `auth/approle/role/${name}/secret-id`],
        ['POST', `auth/approle/role/${name}`, {}],
        ['DELETE', `auth/approle/role/${name}`],
      ]),
      [403, 403, 403, 403, 403],
      name,
    )
  assert.deepEqual(await statuses(token, [['POST', 'auth/approle/role/Other', {}]]), [204])
})

test('what is denied of a policy is denied with blanks and other letters, by both of its paths', async () => {
  const policy = 'path "a" { capabilities = ["read"] }'
  await done(house.call('POST', 'sys/policies/acl/admin1', { policy }))
  const token = await tokenWith({
    'sys/policies/acl/*': EVERYTHING,
    'sys/policies/acl/admin1': DENIED,
    'sys/policy/*': EVERYTHING,
    'sys/policy/admin1': DENIED,
  })
  for (const name of ['admin1', 'ADMIN1', '%20admin1', 'admin1%20', '%20Admin1%20'])
    for (const path of [`sys/policies/acl/${name}`, `sys/policy/${name}`])
      assert.deepEqual(
        await statuses(token, [
          ['POST', path, { policy: 'path "*" { capabilities = ["sudo"] }' }],
          ['GET', path],
          ['DELETE', path],
        ]),
        [403, 403, 403],
        path,
      )
  const { body } = await house.call('GET', 'sys/policies/acl/admin1')
  assert.deepEqual([body.data?.version, body.data?.policy], [1, policy])
  assert.deepEqual(await statuses(token, [['POST', 'sys/policies/acl/Admin2', { policy }]]), [200])
})

/** Of a secret id that is made for a role, and of the role that is read. */
const useOfRole = (token: string, name: string): Promise<number[]> =>
  statuses(token, [
    ['POST', `auth/approle/role/${name}/secret-id`, {}],
    ['GET', `auth/approle/role/${name}`],
  ])

test('who writes a name otherwise goes on so, where no rule is about how it is kept', async () => {
  await done(house.call('POST', 'auth/approle/role/MyRole', {}))
  const token = await tokenWith({
    'auth/approle/role/MyRole/secret-id': grant('update'),
    'auth/approle/role/MyRole': grant('read'),
  })
  const calls = (name: string) => useOfRole(token, name)
  assert.deepEqual(await calls('MyRole'), [200, 200])
  assert.deepEqual(await calls('myrole'), [403, 403])
  assert.deepEqual(await calls('MYROLE'), [403, 403])
})

test('a rule for another spelling goes beyond one that matches both, as among names of one spelling', async () => {
  const token = await tokenWith({
    'auth/approle/role/*': grant('read'),
    'auth/approle/role/Broad/*': grant('update'),
    'auth/approle/role/+/role-id': DENIED,
  })
  await done(house.call('POST', 'auth/approle/role/broad', {}))
  const calls = (name: string) => useOfRole(token, name)
  assert.deepEqual(await calls('Broad'), [200, 200])
  assert.deepEqual(await calls('broad'), [403, 200])
  assert.deepEqual(await statuses(token, [['GET', 'auth/approle/role/BROAD/role-id']]), [403])
  const asked = { token, operation: 'update', path: 'auth/approle/role/Broad/secret-id' }
  assert.equal((await done(house.call('POST', 'sys/policies/explain', asked))).body.data?.allowed, true)
  const granted = async (path: string) =>
    (await house.call('POST', 'sys/capabilities', { token, paths: [path] })).body.data?.[path]
  assert.deepEqual(await granted('auth/approle/role/Broad/secret-id'), ['update'])
  const listing = await tokenWith({
    'auth/approle/role/+/secret-id': DENIED,
    'auth/approle/role/Broad/secret-id': grant('list'),
  })
  const lists = await statuses(listing, [
    ['LIST', 'auth/approle/role/Broad/secret-id'],
    ['LIST', 'auth/approle/role/Broad/secret-id/'],
    ['LIST', 'auth/approle/role/BROAD/secret-id'],
  ])
  assert.deepEqual(lists, [200, 200, 403])
})

test('what a rule asks for on the name as it is kept counts: parameters, wrapping, capability, page', async () => {
  await done(house.call('POST', 'auth/userpass/users/bob', { password: 'x' }))
  await done(house.call('POST', 'auth/approle/role/many', {}))
  for (let made = 0; made < 3; made++) await done(house.call('POST', 'auth/approle/role/many/secret-id', {}))
  const token = await tokenWith({
    'auth/*': EVERYTHING,
    'auth/userpass/users/bob': `${EVERYTHING} denied_parameters = { "token_policies" = [] }`,
    'auth/approle/role/many/secret-id': `${EVERYTHING} pagination_limit = 2`,
    'auth/approle/role/many': `${grant('read')} min_wrapping_ttl = "1s"`,
  })
  assert.deepEqual(
    await statuses(token, [
      ['POST', 'auth/userpass/users/BOB', { token_policies: ['x'] }],
      ['POST', 'auth/userpass/users/BOB', { token_ttl: 60 }],
      ['POST', 'auth/approle/role/MANY', {}],
      ['GET', 'auth/approle/role/MANY'],
      ['LIST', 'auth/approle/role/MANY/secret-id?limit=3'],
    ]),
    [403, 204, 403, 403, 403],
  )
})

test('every endpoint that knows a name by several spellings is judged by the one that is kept', async () => {
  const spelled = PLACED_ENDPOINTS.filter(({ endpoint }) => parsePattern(endpoint.path).some(isSpelled(endpoint)))
  assert.ok(spelled.length > 50, `${spelled.length}`)
  for (const { endpoint } of PLACED_ENDPOINTS) {
    for (const segment of parsePattern(endpoint.path)) {
      const field = segment.kind === 'literal' ? undefined : endpoint.fields[segment.name]
      const isToldOf = /\b(lower|any|the) case\b/.test(field?.description ?? '')
      assert.equal(isToldOf && field?.canonical === undefined, false, endpoint.id)
    }
  }
  for (const placed of spelled) {
    const { endpoint } = placed
    if (endpoint.capability === 'none') continue
    const [method, kept, other] = [WIRE_METHODS[endpoint.operation], pathOf(placed, true), pathOf(placed, false)]
    assert.notEqual(kept, other)
    const denied = await tokenWith({ '*': EVERYTHING, [kept]: DENIED })
    assert.deepEqual(await statuses(denied, [[method, other, {}]]), [403], `${endpoint.id}: ${other}`)
    const allowed = await tokenWith({ '*': EVERYTHING })
    assert.notDeepEqual(await statuses(allowed, [[method, other, {}]]), [403], `${endpoint.id}: ${other}`)
  }
})

const isSpelled =
  ({ fields }: Placed['endpoint']) =>
  (segment: Segment): boolean =>
    segment.kind !== 'literal' && fields[segment.name]?.canonical !== undefined

function pathOf({ mountPath, endpoint }: Placed, isKept: boolean): string {
  const segments = parsePattern(endpoint.path).map((segment) => {
    if (segment.kind === 'literal') return segment.text
    const { canonical } = endpoint.fields[segment.name] ?? {}
    return isKept && canonical !== undefined ? canonical('x-mIXED') : 'x-mIXED'
  })
  return mountPath + segments.join('/')
}

test('capabilities and explain say what is judged', async () => {
  const token = await tokenWith({
    'sys/capabilities-self': grant('update'),
    'sys/policies/explain-self': grant('update'),
    'auth/userpass/users/*': grant('read', 'update'),
    'auth/userpass/users/bob': grant('read', 'delete'),
    'auth/userpass/users/eve': DENIED,
  })
  const paths = ['auth/userpass/users/BOB', 'auth/userpass/users/Eve', 'auth/userpass/users/ANN']
  const { body } = await house.call('POST', 'sys/capabilities-self', { paths }, token)
  assert.deepEqual(
    paths.map((path) => body.data?.[path]),
    [['read'], ['deny'], ['read', 'update']],
  )
  const explain = async (path: string) => {
    const asked = { path, operation: 'update' }
    const { data } = (await done(house.call('POST', 'sys/policies/explain-self', asked, token))).body
    const rule = data?.rule as { readonly path: string } | null
    return [data?.allowed, data?.reason, rule?.path]
  }
  const [bob = '', eve = '', ann = ''] = paths
  assert.deepEqual(await explain(bob), [false, 'capability-missing', 'auth/userpass/users/bob'])
  assert.deepEqual(await explain(eve), [false, 'denied-by-rule', 'auth/userpass/users/eve'])
  assert.deepEqual(await explain(ann), [true, 'granted', 'auth/userpass/users/*'])
})

test('a quota counts every spelling of a name, however it was written itself', async () => {
  const quota = (name: string, path: string) =>
    done(house.call('POST', `sys/quotas/rate-limit/${name}`, { path, rate: 2, interval: 600 }))
  await quota('exact', 'auth/userpass/login/Carol')
  await quota('beginning', 'auth/userpass/users/SVC-*')
  await quota('within', 'auth/approle/role/Admin/sec*')
  const logins = ['carol', 'CAROL', 'Carol', 'dave'].map((name) => ['POST', `auth/userpass/login/${name}`, {}] as const)
  assert.deepEqual(await statuses('', logins), [400, 400, 429, 400])
  const users = ['svc-1', 'SVC-1', 'Svc-2', 'other'].map((name) => ['GET', `auth/userpass/users/${name}`] as const)
  assert.deepEqual(await statuses('root', users), [404, 404, 429, 404])
  const roles = ['Admin', 'Admin', 'Admin'].map((name) => ['LIST', `auth/approle/role/${name}/secret-id`] as const)
  assert.deepEqual((await statuses('root', roles)).at(-1), 429)
})

test('a quota of a role counts its logins, however it was written', async () => {
  await done(house.call('POST', 'auth/approle/role/counted', {}))
  await done(house.call('POST', 'auth/approle/role/counted/role-id', { role_id: 'counted' }))
  const quota = { path: 'auth/approle', role: 'Counted', rate: 1, interval: 600 }
  await done(house.call('POST', 'sys/quotas/rate-limit/role', quota))
  const login = ['POST', 'auth/approle/login', { role_id: 'counted', secret_id: 'x' }] as const
  assert.deepEqual(await statuses('', [login, login]), [400, 429])
})
