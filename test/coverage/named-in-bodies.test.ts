// Where a body names what a path could name, a rule about that path holds for the body too.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { parsePattern } from '../../src/api/pattern.ts'
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

async function tokenWith(rules: Readonly<Record<string, string>>): Promise<string> {
  const text = Object.entries(rules).map(([path, rule]) => `path "${path}" { ${rule} }`)
  await done(server.call('POST', 'sys/policies/acl/tested', { policy: text.join('\n') }))
  const made = await done(server.call('POST', 'auth/token/create', { policies: ['tested'], no_default_policy: true }))
  return String((made.body.auth as { readonly client_token: string }).client_token)
}

const grant = (...words: string[]) => `capabilities = ${JSON.stringify(words)}`
const EVERYTHING = grant('create', 'read', 'update', 'delete', 'list', 'sudo')
const DENIED = grant('deny')

test('A10: a key that must not be restored is not restored by its name in the body or the backup', async () => {
  await done(server.call('POST', 'transit/keys/kept', { exportable: true, allow_plaintext_backup: true }))
  const { backup } = (await done(server.call('GET', 'transit/backup/kept'))).body.data as { readonly backup: string }
  const token = await tokenWith({ 'transit/restore': grant('update'), 'transit/restore/kept': DENIED })
  const restore = async (body: object) =>
    (await server.call('POST', 'transit/restore', { backup, force: true, ...body }, token)).status
  assert.deepEqual([await restore({ name: 'kept' }), await restore({}), await restore({ name: null })], [403, 403, 403])
  assert.deepEqual([await restore({ name: 'other' }), await restore({ name: 'kept2' })], [204, 204])
  const all = await tokenWith({ 'transit/*': grant('update'), 'transit/restore/*': DENIED })
  const answer = await server.call('POST', 'transit/restore', { backup, name: 'new' }, all)
  assert.equal(answer.status, 403)
  assert.match(JSON.stringify(answer.body.errors), /transit\/restore\/new/)
  const { latest_version: latest } = (await server.call('GET', 'transit/keys/kept')).body.data as Record<
    string,
    unknown
  >
  assert.equal(latest, 1)
})

test('A10: entities and groups are judged by what the body names, whatever is done with them', async () => {
  const made = async (kind: string, name: string) =>
    String((await done(server.call('POST', `identity/${kind}`, { name }))).body.data?.id)
  const [boss, clerk, team] = [await made('entity', 'boss'), await made('entity', 'clerk'), await made('group', 'team')]
  const token = await tokenWith({
    'identity/*': EVERYTHING,
    [`identity/entity/id/${boss}`]: DENIED,
    'identity/entity/name/boss': DENIED,
    [`identity/group/id/${team}`]: grant('read'),
    'identity/group/name/Team': grant('read'),
  })
  const status = async (path: string, body: object) =>
    (await server.call('POST', `identity/${path}`, body, token)).status
  const accessor = ((await server.call('GET', 'sys/auth')).body.data as Record<string, { readonly accessor: string }>)[
    'userpass/'
  ]?.accessor
  for (const [path, body] of [
    ['entity', { id: boss, policies: ['x'] }],
    ['entity', { name: 'boss', policies: ['x'] }],
    ['entity', { name: 'BOSS', policies: ['x'] }],
    [`entity/id/${clerk}`, { name: 'Boss' }],
    ['entity/merge', { from_entity_ids: [boss], to_entity_id: clerk }],
    ['entity/merge', { from_entity_ids: clerk, to_entity_id: boss }],
    ['entity/batch-delete', { entity_ids: [clerk, boss] }],
    ['entity/batch-delete', { entity_ids: `${clerk},${boss}` }],
    ['entity-alias', { name: 'b', mount_accessor: accessor, canonical_id: boss }],
    ['entity-alias', { name: 'b', mount_accessor: accessor, entity_id: boss }],
    ['group', { id: team, policies: ['x'] }],
    ['group', { name: 'TEAM', policies: ['x'] }],
    ['lookup/entity', { id: boss }],
    ['lookup/entity', { name: 'Boss' }],
  ] as const)
    assert.equal(await status(path, body), 403, `${path} ${JSON.stringify(body)}`)
  for (const [path, body] of [
    ['entity', { name: 'clerk', policies: ['y'] }],
    ['lookup/entity', { id: clerk }],
    ['lookup/group', { name: 'team' }],
    ['lookup/group', { id: team }],
    ['entity-alias', { name: 'c', mount_accessor: accessor, canonical_id: clerk }],
    ['entity/batch-delete', { entity_ids: [clerk] }],
  ] as const)
    assert.ok((await status(path, body)) < 300, `${path} ${JSON.stringify(body)}`)
  assert.equal((await server.call('GET', `identity/entity/id/${boss}`)).status, 200)
})

test('A10: what a path may leave out and the body says is judged as that path', async () => {
  await done(server.call('POST', 'transit/keys/rsa', { type: 'rsa-2048' }))
  await done(server.call('POST', 'transit/keys/out', { exportable: true }))
  const token = await tokenWith({
    'transit/*': grant('create', 'read', 'update'),
    'transit/sign/rsa/sha1': DENIED,
    'transit/hash/sha2-512': DENIED,
    'transit/random/seal': DENIED,
    'transit/random/64': DENIED,
    'transit/export/encryption-key/out/1': DENIED,
    'sys/raw': grant('list', 'sudo'),
    'sys/leases/revoke': grant('update'),
    'sys/leases/revoke/auth/*': DENIED,
  })
  const status = async (method: string, path: string, body?: object) =>
    (await server.call(method, path, body, token)).status
  const input = 'YQ=='
  for (const [path, body] of [
    ['transit/sign/rsa', { input, hash_algorithm: 'sha1' }],
    ['transit/sign/rsa', { input, hash_algorithm: '', algorithm: 'sha1' }],
    ['transit/hash', { input, algorithm: 'sha2-512' }],
    ['transit/random', { source: 'seal' }],
    ['transit/random', { bytes: 64 }],
    ['transit/random', { bytes: '0x40' }],
    ['transit/random', { source: '064' }],
    ['sys/leases/revoke', { lease_id: 'auth/approle/login/x' }],
  ] as const)
    assert.equal(await status('POST', path, body), 403, `${path} ${JSON.stringify(body)}`)
  assert.equal(await status('GET', 'transit/export/encryption-key/out?version=1'), 403)
  assert.equal(await status('GET', 'transit/export/encryption-key/out?version=v1'), 403)
  assert.equal(await status('POST', 'transit/sign/rsa', { input, hash_algorithm: 'sha2-256' }), 200)
  assert.equal(await status('POST', 'transit/hash', { input }), 200)
  assert.equal(await status('POST', 'transit/random', { bytes: 65 }), 200)
})

test('A10: a mount that a rule denies is not moved by remount, nor replaced', async () => {
  await done(server.call('POST', 'sys/mounts/fixed', { type: 'transit' }))
  const token = await tokenWith({
    'sys/remount': grant('update', 'sudo'),
    'sys/mounts/fixed': DENIED,
    'sys/mounts/*': grant('read'),
    'sys/auth/approle': DENIED,
  })
  const move = async (from: string, to: string) =>
    (await server.call('POST', 'sys/remount', { from, to }, token)).status
  assert.deepEqual(
    [
      await move('fixed', 'a'),
      await move('/fixed/', 'a'),
      await move('auth/approle', 'auth/b'),
      await move('c', 'fixed'),
    ],
    [403, 403, 403, 403],
  )
  await done(server.call('POST', 'sys/mounts/loose', { type: 'transit' }))
  assert.equal(await move('loose', 'looser'), 200)
})

test('A10: who is granted a path goes on so where no rule is about what the body names', async () => {
  const token = await tokenWith({ 'identity/entity': grant('update'), 'transit/hash': grant('update') })
  assert.equal((await server.call('POST', 'identity/entity', { name: 'free' }, token)).status, 200)
  const hashed = await server.call('POST', 'transit/hash', { input: 'YQ==', algorithm: 'sha2-512' }, token)
  assert.equal(hashed.status, 200)
})

/** Fields that bear the name of a place in a path and name something else, or nothing that a rule can be about. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'mounts-mount type': 'a kind of engine; mounting one is no use of its catalogue entry',
  'auth-mount type': 'the same',
  'audit-enable type': 'a kind of device',
  'leases-count type': 'a kind of lease',
  'leases-read type': 'a kind of lease',
  'transit-key-create type': 'a type of key, in datakey what to show',
  'transit-encrypt type': 'the same',
  'transit-key-import type': 'the same',
  'policies-explain-self path': 'asked about, and not used',
  'policies-explain path': 'asked about, and not used',
  'capabilities path': 'asked about, and not used',
  'capabilities-accessor path': 'asked about, and not used',
  'capabilities-self path': 'asked about, and not used',
  'leases-lookup lease_id': 'no path looks up one lease',
  'locked-users-read mount_accessor': 'narrows what is listed; no path lists one mount',
  'rate-limit-quota-write path': 'a text that is kept and compared',
  'replication-dr-primary-secondary-token id': 'no path has secondaries by name',
  'replication-dr-primary-revoke-secondary id': 'the same',
  'replication-performance-primary-secondary-token id': 'the same',
  'replication-performance-primary-revoke-secondary id': 'the same',
  'replication-former-primary-secondary-token id': 'the same',
  'replication-former-primary-revoke-secondary id': 'the same',
  'replication-dr-secondary-undone-show id': 'the path that has it is served where this one is refused',
  'replication-dr-secondary-undone-delete id': 'the same',
  'token-lookup token': 'a rule has no text of a token in its path',
  'token-renew token': 'the same',
  'token-revoke token': 'the same',
  'token-revoke-orphan token': 'the same',
  'entity-alias-write name': 'no path has aliases by name',
  'entity-alias-write-id name': 'the same',
  'group-alias-write name': 'the same',
  'group-alias-write-id name': 'the same',
  'transit-verify mac_length': 'a length; verify has no path with one',
  'transit-key-csr version': 'a version of the key that the path names; csr has no path with one',
  'transit-key-set-certificate version': 'the same',
  'transit-key-import-version version': 'the same',
}

test('A10: every field that could name what a path names says so, or why not', () => {
  const found = new Set<string>()
  let declared = 0
  for (const { mountPath, endpoint } of PLACED_ENDPOINTS) {
    const own = namesOf(endpoint.path)
    const inPaths = new Set(
      PLACED_ENDPOINTS.filter((other) => other.mountPath === mountPath).flatMap(({ endpoint: other }) => [
        ...namesOf(other.path),
      ]),
    )
    const said = new Set(endpoint.alsoNames?.map(({ field }) => field))
    for (const field of [...said]) for (const other of endpoint.otherNames?.get(field) ?? []) said.add(other)
    for (const name of Object.keys(endpoint.fields)) {
      const isOptional = endpoint.path.includes(`(/:${name}`)
      assert.ok(!isOptional || said.has(name), `${endpoint.id}: ${name} may stand in the path`)
      if (said.has(name)) declared++
      else if (!own.has(name) && inPaths.has(name)) found.add(`${endpoint.id} ${name}`)
    }
  }
  assert.deepEqual([...found].sort(), Object.keys(OTHERWISE).sort())
  assert.ok(declared > 40, `${declared}`)
})

const namesOf = (path: string): ReadonlySet<string> =>
  new Set(parsePattern(path).flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name])))

test('A10: at every endpoint that says so the path that the body names is judged', async () => {
  let judged = 0
  for (const placed of PLACED_ENDPOINTS) {
    const { endpoint, mountPath } = placed
    if (endpoint.capability === 'none') continue
    for (const { field, at } of endpoint.alsoNames ?? []) {
      const name = valueFor(placed, field)
      const names = Object.fromEntries([...namesOf(shortest(endpoint.path))].map((one) => [one, 'some']))
      const named = at(name, names, () => undefined)
      if (named === undefined) continue
      judged++
      const path = mountPath + shortest(endpoint.path).replace(/:[a-z_]+(\.\.\.)?/g, 'some')
      const token = await tokenWith({ '*': EVERYTHING, [mountPath + named]: DENIED })
      const status = async (value: string) => {
        const isQuery = endpoint.operation !== 'update'
        const asked = isQuery ? `${path}?${field}=${value}` : path
        return (
          await server.call(WIRE_METHODS[endpoint.operation], asked, isQuery ? undefined : { [field]: value }, token)
        ).status
      }
      assert.equal(await status(name), 403, `${endpoint.id}: ${field} names ${named}`)
      assert.notEqual(await status(`${name}1`), 403, `${endpoint.id}: ${field}`)
    }
  }
  assert.ok(judged > 30, `${judged}`)
})

const shortest = (path: string): string => path.split('(')[0] as string

const valueFor = ({ endpoint }: Placed, field: string): string =>
  endpoint.fields[field]?.kind === 'int' ? '20' : 'named'

test('A10: an alias that is named by its mount and name is judged as by its id', async () => {
  const auth = (await done(server.call('GET', 'sys/auth'))).body.data as Record<string, { readonly accessor: string }>
  const at = { mount_accessor: String(auth['userpass/']?.accessor) }
  const made = async (path: string, body: object) =>
    String((await done(server.call('POST', `identity/${path}`, body))).body.data?.id)
  const owners = { entity: await made('entity', { name: 'owner' }), group: await made('group', { type: 'external' }) }
  const others = { entity: await made('entity', { name: 'other' }), group: await made('group', { type: 'external' }) }
  for (const kind of ['entity', 'group'] as const) {
    const named = { name: `kept ${kind}`, ...at }
    const id = await made(`${kind}-alias`, { ...named, canonical_id: owners[kind] })
    const token = await tokenWith({ 'identity/*': EVERYTHING, [`identity/${kind}-alias/id/${id}`]: DENIED })
    const moved = await server.call('POST', `identity/${kind}-alias`, { ...named, canonical_id: others[kind] }, token)
    assert.equal(moved.status, 403, kind)
    const asked = { alias_name: named.name, alias_mount_accessor: at.mount_accessor }
    assert.equal((await server.call('POST', `identity/lookup/${kind}`, asked, token)).status, 403, kind)
    const { body } = await done(server.call('GET', `identity/${kind}-alias/id/${id}`))
    assert.equal(body.data?.canonical_id, owners[kind])
    const free = { ...named, name: `free ${kind}`, canonical_id: others[kind] }
    await done(server.call('POST', `identity/${kind}-alias`, free, token))
    await done(server.call('POST', `identity/${kind}-alias`, free, token))
    const found = await done(server.call('POST', `identity/lookup/${kind}`, { ...asked, alias_name: free.name }, token))
    assert.equal(found.body.data?.id, others[kind])
  }
})

test('A10: explain judges what the parameters name as requests do', async () => {
  await done(server.call('POST', 'transit/keys/explained', { type: 'ecdsa-p256' }))
  const token = await tokenWith({
    'sys/policies/explain-self': grant('update'),
    'transit/sign/*': grant('update'),
    'transit/sign/explained/sha1': DENIED,
  })
  const path = 'transit/sign/explained'
  for (const hash of ['sha1', 'sha2-256', undefined]) {
    const parameters = { input: 'YWJj', ...(hash === undefined ? {} : { hash_algorithm: hash }) }
    const { status } = await server.call('POST', path, parameters, token)
    const asked = { path, operation: 'update', parameters }
    const { data = {} } = (await done(server.call('POST', 'sys/policies/explain-self', asked, token))).body
    assert.equal(data.allowed, status === 200, String(hash))
    assert.equal(status, hash === 'sha1' ? 403 : 200)
    if (hash !== 'sha1') continue
    assert.equal(data.reason, 'denied-by-rule')
    assert.equal((data.rule as { readonly path: string }).path, 'transit/sign/explained/sha1')
    assert.match(String(data.explanation), /^The parameters name transit\/sign\/explained\/sha1, too\. /)
  }
})

test('T-09: what is denied by one path of a thing is not to be had by its other path', async () => {
  await done(server.call('POST', 'sys/policies/acl/guarded', { policy: 'path "x" { capabilities = ["read"] }' }))
  const statuses = async (denied: string, rows: readonly (readonly [string, string, object?])[]) => {
    const token = await tokenWith({ 'sys/*': EVERYTHING, [denied]: DENIED })
    const found: number[] = []
    for (const [method, path, body] of rows) found.push((await server.call(method, path, body, token)).status)
    return found
  }
  const policy = { policy: 'path "y" { capabilities = ["read"] }' }
  const all = (path: string, other: string) =>
    [
      ['GET', `sys/${path}/guarded`],
      ['POST', `sys/${path}/guarded`, policy],
      ['DELETE', `sys/${path}/Guarded`],
      ['GET', `sys/${path}/${other}`],
    ] as const
  for (const [path, twin] of [
    ['policy', 'policies/acl'],
    ['policies/acl', 'policy'],
  ] as const) {
    assert.deepEqual(await statuses(`sys/${twin}/guarded`, all(path, 'default')), [403, 403, 403, 200], path)
    assert.deepEqual(await statuses(`sys/${twin}/*`, [['LIST', `sys/${path}`]]), [403], path)
  }
  const lease = { lease_id: 'auth/token/create/h1' }
  for (const act of ['renew', 'revoke', 'revoke-prefix', 'revoke-force'])
    for (const [path, twin] of [
      [act, `leases/${act}`],
      [`leases/${act}`, act],
    ] as const) {
      const below = ['POST', `sys/${path}/auth/token/create/h1`, {}] as const
      const other = ['POST', `sys/${path}/auth/other/h1`, {}] as const
      const wanted = act.includes('-') ? [403, 204] : [403, act === 'renew' ? 400 : 204]
      assert.deepEqual(await statuses(`sys/${twin}/auth/token/*`, [below, other]), wanted, path)
      if (!act.includes('-'))
        assert.deepEqual(await statuses(`sys/${twin}/auth/token/*`, [['POST', `sys/${path}`, lease]]), [403], path)
    }
  const tune = { description: 'changed' }
  for (const [path, twin] of [
    ['mounts/auth/approle', 'auth/approle'],
    ['auth/approle', 'mounts/auth/approle'],
  ] as const) {
    const rows = [
      ['GET', `sys/${path}`],
      ['POST', `sys/${path}/tune`, tune],
      ['GET', `sys/${path}/tune`],
    ] as const
    assert.deepEqual(await statuses(`sys/${twin}*`, rows), [403, 403, 403], path)
    assert.deepEqual(await statuses(`sys/${twin}/tune`, rows), [200, 403, 403], path)
  }
  // A rule about both has had its say, and so has one that grants less without denying.
  const token = await tokenWith({ 'sys/pol*': DENIED, 'sys/policy/guarded': EVERYTHING })
  assert.equal((await server.call('GET', 'sys/policy/guarded', undefined, token)).status, 200)
  const lesser = await tokenWith({ 'sys/policies/acl/guarded': grant('list'), 'sys/policy/guarded': grant('read') })
  assert.equal((await server.call('GET', 'sys/policy/guarded', undefined, lesser)).status, 200)
  const explain = { path: 'sys/policy/guarded', operation: 'read', policies: ['tested'] }
  await tokenWith({ 'sys/*': EVERYTHING, 'sys/policies/acl/guarded': DENIED })
  const { data } = await done(server.call('POST', 'sys/policies/explain', explain)).then(({ body }) => body)
  assert.equal(data?.allowed, false)
  assert.match(String(data?.explanation), /sys\/policies\/acl\/guarded/)
})
