// A thing that goes by several spellings of one name: no policy and no quota is passed by with another of them.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import type { Field } from '../../src/api/fields.ts'
import { expandPattern, parsePattern, type Segment } from '../../src/api/pattern.ts'
import type { Store, Transaction } from '../../src/storage/contract.ts'
import { mountAll, PLACED_ENDPOINTS, type Placed, WIRE_METHODS } from '../fixtures/endpoint-table.ts'
import { type Called, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await mountAll(server.call)
})

async function done(called: Promise<Called>): Promise<Called> {
  const answer = await called
  assert.ok(answer.status < 300, JSON.stringify(answer))
  return answer
}

/** A token with these rules alone: by path, capabilities and what else the rule says. */
async function tokenWith(rules: Readonly<Record<string, string>>): Promise<string> {
  const text = Object.entries(rules).map(([path, rule]) => `path "${path}" { ${rule} }`)
  await done(server.call('POST', 'sys/policies/acl/tested', { policy: text.join('\n') }))
  const { body } = await done(
    server.call('POST', 'auth/token/create', { policies: ['tested'], no_default_policy: true }),
  )
  return String((body.auth as { readonly client_token: string }).client_token)
}

const grant = (...words: string[]) => `capabilities = ${JSON.stringify(words)}`
const EVERYTHING = grant('create', 'read', 'update', 'delete', 'list', 'sudo')
const DENIED = grant('deny')

async function statuses(token: string, calls: readonly (readonly [string, string, unknown?])[]): Promise<number[]> {
  const found: number[] = []
  for (const [method, path, body] of calls) found.push((await server.call(method, path, body, token)).status)
  return found
}

test('what is denied of an AppRole role is denied by every spelling of its name', async () => {
  await done(server.call('POST', 'auth/approle/role/admin', { token_policies: ['strong'] }))
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
  await done(server.call('POST', 'sys/policies/acl/admin1', { policy }))
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
  const { body } = await server.call('GET', 'sys/policies/acl/admin1')
  assert.deepEqual([body.data?.version, body.data?.policy], [1, policy])
  assert.deepEqual(await statuses(token, [['POST', 'sys/policies/acl/Admin2', { policy }]]), [200])
})

test('A4: a rule that names another spelling holds for the name as it is kept, and so for all', async () => {
  await done(server.call('POST', 'auth/approle/role/MyRole', {}))
  const token = await tokenWith({
    'auth/approle/role/MyRole/secret-id': grant('update'),
    'auth/approle/role/MyRole': grant('read'),
    'sys/policies/acl/Team-*': grant('update'),
    'sys/policies/acl/ team-ADMIN ': DENIED,
    'identity/entity/name/Ann Lee/*': grant('read'),
  })
  for (const name of ['MyRole', 'myrole', 'MYROLE']) assert.deepEqual(await useOfRole(token, name), [200, 200], name)
  assert.deepEqual(await useOfRole(token, 'myrole2'), [403, 403])
  const policy = 'path "a" { capabilities = ["read"] }'
  const write = async (name: string) =>
    (await server.call('POST', `sys/policies/acl/${name}`, { policy }, token)).status
  assert.deepEqual(
    [await write('team-a'), await write('TEAM-a'), await write('team-admin'), await write('%20team-Admin%20')],
    [204, 200, 403, 403],
  )
  const entity = async (path: string) =>
    (await server.call('GET', `identity/entity/name/${path}`, undefined, token)).status
  assert.deepEqual([await entity('ANN%20LEE/x'), await entity('ann%20lees/x')], [404, 403])
})

test('A4: rules for several spellings of one name are joined: a denial among them wins', async () => {
  await done(server.call('POST', 'auth/approle/role/joined', {}))
  const token = await tokenWith({
    'auth/approle/role/Joined': grant('read'),
    'auth/approle/role/JOINED/*': grant('update'),
    'auth/approle/role/joined/secret-id': grant('list'),
    'auth/approle/role/jOined': grant('delete'),
  })
  const calls = (name: string) =>
    statuses(token, [
      ['GET', `auth/approle/role/${name}`],
      ['POST', `auth/approle/role/${name}/role-id`, { role_id: 'j' }],
      ['POST', `auth/approle/role/${name}/secret-id`, {}],
      ['LIST', `auth/approle/role/${name}/secret-id/`],
    ])
  for (const name of ['joined', 'Joined']) assert.deepEqual(await calls(name), [200, 204, 403, 404], name)
  const granted = async (path: string) =>
    (await done(server.call('POST', 'sys/capabilities', { token, paths: [path] }))).body.data?.[path]
  assert.deepEqual(await granted('auth/approle/role/JOINED'), ['delete', 'read'])
  const asked = { token, operation: 'delete', path: 'auth/approle/role/JOINED' }
  const { data } = (await done(server.call('POST', 'sys/policies/explain', asked))).body
  assert.equal(data?.allowed, true)
  const considered = (data?.considered ?? []) as readonly { readonly path: string }[]
  assert.deepEqual(considered.map(({ path }) => path).sort(), ['auth/approle/role/Joined', 'auth/approle/role/jOined'])
  const denied = await tokenWith({ 'auth/approle/role/joined': grant('read'), 'auth/approle/role/JOINED': DENIED })
  assert.deepEqual(await statuses(denied, [['GET', 'auth/approle/role/joined']]), [403])
})

test('A4: a rule folds only where the name in its place does', async () => {
  const token = await tokenWith({ 'auth/+/role/Admin': grant('read'), 'transit/keys/Key': grant('update') })
  await done(server.call('POST', 'auth/approle/role/admin', {}))
  assert.deepEqual(
    await statuses(token, [
      ['GET', 'auth/approle/role/ADMIN'],
      ['GET', 'auth/token/role/admin'],
      ['GET', 'auth/nowhere/role/admin'],
      ['POST', 'transit/keys/key', {}],
      ['POST', 'transit/keys/Key', {}],
    ]),
    [200, 403, 403, 403, 200],
  )
})

/** Of a secret id that is made for a role, and of the role that is read. */
const useOfRole = (token: string, name: string): Promise<number[]> =>
  statuses(token, [
    ['POST', `auth/approle/role/${name}/secret-id`, {}],
    ['GET', `auth/approle/role/${name}`],
  ])

test('what a rule asks for on the name as it is kept counts: parameters, wrapping, capability, page', async () => {
  await done(server.call('POST', 'auth/userpass/users/bob', { password: 'x' }))
  await done(server.call('POST', 'auth/approle/role/many', {}))
  for (let made = 0; made < 3; made++) await done(server.call('POST', 'auth/approle/role/many/secret-id', {}))
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
  for (const placed of spelled) {
    const { endpoint } = placed
    if (endpoint.capability === 'none') continue
    for (const [name, least] of [
      ['x-mIXED', 50],
      ['0012', 5],
    ] as const) {
      const [method, kept, other] = [WIRE_METHODS[endpoint.operation], pathOf(placed, name, true), pathOf(placed, name)]
      if (kept === other) continue
      told.set(name, (told.get(name) ?? -least) + 1)
      const denied = await tokenWith({ '*': EVERYTHING, [kept]: DENIED })
      assert.deepEqual(await statuses(denied, [[method, other, {}]]), [403], `${endpoint.id}: ${other}`)
      const deniedOther = await tokenWith({ '*': EVERYTHING, [other]: DENIED })
      assert.deepEqual(await statuses(deniedOther, [[method, kept, {}]]), [403], `${endpoint.id}: ${kept}`)
      const allowed = await tokenWith({ '*': EVERYTHING })
      assert.notDeepEqual(await statuses(allowed, [[method, other, {}]]), [403], `${endpoint.id}: ${other}`)
    }
  }
  for (const [name, above] of told) assert.ok(above >= 0, `${name}: ${above}`)
})
const told = new Map<string, number>()

const isSpelled =
  ({ fields }: Placed['endpoint']) =>
  (segment: Segment): boolean =>
    segment.kind !== 'literal' && fields[segment.name]?.canonical !== undefined

function pathOf({ mountPath, endpoint }: Placed, name: string, isKept = false): string {
  const segments = parsePattern(endpoint.path).map((segment) => {
    if (segment.kind === 'literal') return segment.text
    const { canonical } = endpoint.fields[segment.name] ?? {}
    return isKept && canonical !== undefined ? canonical(name) : name
  })
  return mountPath + segments.join('/')
}

/** Names nothing, and is unlike every other name: where it turns up, it was made of this. */
const PROBES = [' Fold-PROBE-7x ', 'Fold-PROBE-7x', '0077']

test('A4: what is stored under a name is reached by its declared spelling alone, at every endpoint', async () => {
  const touched: string[] = []
  const watched = await startMemoryServer()
  watch(watched.store, touched)
  await mountAll(watched.call)
  let reached = 0
  for (const { mountPath, endpoint } of PLACED_ENDPOINTS) {
    if (endpoint.changesSeal === true || endpoint.takesStream === true) continue
    for (const segments of expandPattern(endpoint.path)) {
      for (const asked of segments.filter(({ kind }) => kind !== 'literal')) {
        if (asked.kind === 'literal') continue
        for (const probe of PROBES) {
          const shown = (segment: Segment): string =>
            segment.kind === 'literal' ? segment.text : segment === asked ? probe : 'other'
          const path = mountPath + segments.map(shown).join('/')
          touched.length = 0
          await watched.call(WIRE_METHODS[endpoint.operation], encodeURI(path), {})
          const { canonical }: Pick<Field, 'canonical'> = endpoint.fields[asked.name] as Field
          const kept: string = canonical?.(probe) ?? probe
          const alike = touched.flatMap((key) => spellingsIn(key, probe))
          reached += alike.length
          for (const found of alike)
            assert.equal(found, kept, `${endpoint.id}: ${asked.name} "${probe}" is kept as "${found}", undeclared`)
        }
      }
    }
  }
  assert.ok(reached > 100, `${reached}`)
})

test('A4: what was written under one spelling is read under another only where that is declared', async () => {
  const bodies: Readonly<Record<string, object>> = {
    'policies-write': { policy: 'path "a" { capabilities = ["read"] }' },
    'userpass-users-write': { password: 'x' },
    'ui-headers-write': { values: ['x'] },
  }
  let readBack = 0
  for (const { mountPath, endpoint } of PLACED_ENDPOINTS) {
    if (endpoint.operation !== 'update' || endpoint.changesSeal === true || endpoint.takesStream === true) continue
    const field = parsePattern(endpoint.path).find(({ kind }) => kind !== 'literal')
    if (field === undefined || field.kind === 'literal') continue
    const canonical = endpoint.fields[field.name]?.canonical ?? ((name: string): string => name)
    const at = (name: string) =>
      mountPath +
      parsePattern(endpoint.path)
        .map((segment) => (segment.kind === 'literal' ? segment.text : segment.name === field.name ? name : 'other'))
        .join('/')
    const name = `x-probe-${endpoint.id}`
    const written = await server.call('POST', at(name), bodies[endpoint.id] ?? {})
    const isThere = async (spelled: string) => (await server.call('GET', encodeURI(at(spelled)))).status < 300
    if (written.status >= 300 || !(await isThere(name)) || (await isThere(`${name}-other`))) continue
    readBack++
    for (const other of [name.toUpperCase(), ` ${name} `])
      assert.equal(await isThere(other), canonical(other) === canonical(name), `${endpoint.id}: "${other}"`)
  }
  assert.ok(readBack >= 9, `${readBack}`)
})

/** Notes every key and folder that is asked for, in and out of transactions. */
function watch(store: Store, touched: string[]): void {
  const noting = <T extends object>(of: T): T =>
    new Proxy(of, {
      get: (target, name) => {
        const member = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...given: unknown[]) => {
          touched.push(...given.filter((one) => typeof one === 'string'))
          return member.apply(target, given)
        }
      },
    })
  const { transaction } = store
  const reading = noting<Store>(store)
  Object.assign(store, {
    get: reading.get,
    list: reading.list,
    scan: reading.scan,
    transaction: <T>(work: (tx: Transaction) => Promise<T>) => transaction.call(store, (tx) => work(noting(tx))),
  })
}

/** What of a stored key is the probe in any spelling. */
function spellingsIn(key: string, probe: string): string[] {
  const [bare, plain] = [probe.trim(), decodeURIComponent(key)]
  if (bare.startsWith('0')) return plain.split('/').filter((part) => part !== '' && Number(part) === Number(bare))
  const at = plain.toLowerCase().indexOf(bare.toLowerCase())
  if (at === -1) return []
  const [from, to] = [plain[at - 1] === ' ' ? at - 1 : at, at + bare.length + (plain[at + bare.length] === ' ' ? 1 : 0)]
  return [plain.slice(from, to)]
}

test('A4: locked-users folds a name as the login method does, for rules and for quotas', async () => {
  await done(server.call('POST', 'auth/userpass/users/carl', { password: 'right' }))
  const mounts = (await server.call('GET', 'sys/auth')).body.data as Record<string, { readonly accessor: string }>
  const [userpass, approle] = [mounts['userpass/']?.accessor, mounts['approle/']?.accessor]
  const unlock = (accessor: string | undefined, name: string) => `sys/locked-users/${accessor}/unlock/${name}`
  const token = await tokenWith({
    'sys/locked-users/*': grant('update'),
    [unlock(userpass, 'carl')]: DENIED,
    [unlock(approle, 'carl')]: DENIED,
    [unlock(userpass, 'Dora')]: DENIED,
  })
  const judged = (accessor: string | undefined) =>
    statuses(
      token,
      ['carl', 'CARL', 'dora', 'DORA', 'eve'].map((name) => ['POST', unlock(accessor, name)] as const),
    )
  assert.deepEqual(await judged(userpass), [403, 403, 403, 403, 204])
  // A role id is what it is: another spelling is another one.
  assert.deepEqual(await judged(approle), [403, 204, 204, 204, 204])
  const quota = { path: unlock(userpass, 'Frank'), rate: 1, interval: 600 }
  await done(server.call('POST', 'sys/quotas/rate-limit/unlock', quota))
  const calls = ['frank', 'FRANK'].map((name) => ['POST', unlock(userpass, name)] as const)
  assert.deepEqual(await statuses('root', calls), [204, 429])
})

test('A4: paths that no quota counts are read in every spelling', async () => {
  const before = (await server.call('GET', 'sys/quotas/config')).body.data?.rate_limit_exempt_paths
  const exempt = ['auth/userpass/login/Grace', 'auth/approle/role/Ops*', 'auth/approle/role/Deep/sec*']
  await done(server.call('POST', 'sys/quotas/config', { rate_limit_exempt_paths: exempt }))
  for (const path of ['auth/userpass', 'auth/approle'])
    await done(server.call('POST', `sys/quotas/rate-limit/of-${path.slice(5)}`, { path, rate: 1, interval: 600 }))
  const login = (name: string) => ['POST', `auth/userpass/login/${name}`, { password: 'x' }] as const
  assert.deepEqual(
    await statuses('', ['grace', 'GRACE', 'Grace', 'henry', 'henry'].map(login)),
    [400, 400, 400, 400, 429],
  )
  const role = (name: string) => ['GET', `auth/approle/role/${name}`] as const
  assert.deepEqual(await statuses('root', ['ops-1', 'OPS-2', 'Ops-3', 'x', 'x'].map(role)), [404, 404, 404, 404, 429])
  const inner = ['deep', 'DEEP', 'Deep'].map((name) => ['LIST', `auth/approle/role/${name}/secret-id`] as const)
  assert.deepEqual(await statuses('root', inner), [404, 404, 404])
  await done(server.call('POST', 'sys/quotas/config', { rate_limit_exempt_paths: before }))
  for (const name of ['of-userpass', 'of-approle']) await done(server.call('DELETE', `sys/quotas/rate-limit/${name}`))
})

test('capabilities and explain say what is judged', async () => {
  const token = await tokenWith({
    'sys/capabilities-self': grant('update'),
    'sys/policies/explain-self': grant('update'),
    'auth/userpass/users/*': grant('read', 'update'),
    'auth/userpass/users/bob': grant('read', 'delete'),
    'auth/userpass/users/eve': DENIED,
  })
  const paths = ['auth/userpass/users/BOB', 'auth/userpass/users/Eve', 'auth/userpass/users/ANN']
  const { body } = await server.call('POST', 'sys/capabilities-self', { paths }, token)
  assert.deepEqual(
    paths.map((path) => body.data?.[path]),
    [['delete', 'read'], ['deny'], ['read', 'update']],
  )
  const explain = async (path: string) => {
    const asked = { path, operation: 'update' }
    const { data } = (await done(server.call('POST', 'sys/policies/explain-self', asked, token))).body
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
    done(server.call('POST', `sys/quotas/rate-limit/${name}`, { path, rate: 2, interval: 600 }))
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
  await done(server.call('POST', 'auth/approle/role/counted', {}))
  await done(server.call('POST', 'auth/approle/role/counted/role-id', { role_id: 'counted' }))
  const quota = { path: 'auth/approle', role: 'Counted', rate: 1, interval: 600 }
  await done(server.call('POST', 'sys/quotas/rate-limit/role', quota))
  const login = ['POST', 'auth/approle/login', { role_id: 'counted', secret_id: 'x' }] as const
  assert.deepEqual(await statuses('', [login, login]), [400, 429])
})
