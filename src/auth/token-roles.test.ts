// Token roles through the whole pipeline: what they allow, and what a caller cannot get past them.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer, wireRequest } from '../../test/fixtures/memory-server.ts'

let server: MemoryServer
let maker: string
before(async () => {
  server = await startMemoryServer()
  await policy('maker', 'path "auth/token/create/*" { capabilities = ["create", "update"] }')
  await policy('role-sudo', 'path "auth/token/create/*" { capabilities = ["create", "update", "sudo"] }')
  for (const name of ['app-one', 'app-two', 'ops'])
    await policy(name, `path "secret/${name}" { capabilities = ["read"] }`)
  maker = await make({ policies: ['maker'] })
})

type Auth = Readonly<Record<string, unknown>> & { readonly policies: readonly string[] }

const policy = (name: string, text: string) => server.call('POST', `sys/policies/acl/${name}`, { policy: text })
const authOf = ({ body }: Called): Auth => body.auth as Auth
const make = async (fields: object): Promise<string> =>
  String(authOf(await server.call('POST', 'auth/token/create', fields)).client_token)
const lookup = (token: unknown): Promise<Called> => server.call('POST', 'auth/token/lookup', { token })

async function role(fields: object): Promise<void> {
  await server.call('DELETE', 'auth/token/roles/r')
  const { status, body } = await server.call('POST', 'auth/token/roles/r', fields)
  assert.equal(status, 204, JSON.stringify(body))
}
const byRole = (fields: object = {}, token = maker) => server.call('POST', 'auth/token/create/r', fields, token)

test('a role is written, read, listed, changed in parts and deleted', async () => {
  await role({
    allowed_policies: 'ops, app-one',
    token_period: '1h',
    token_bound_cidrs: ['10.0.0.0/8', '127.0.0.1/32'],
  })
  const { body } = await server.call('GET', 'auth/token/roles/r')
  assert.deepEqual(body.data, {
    name: 'r',
    allowed_policies: ['app-one', 'ops'],
    disallowed_policies: [],
    allowed_policies_glob: [],
    disallowed_policies_glob: [],
    allowed_entity_aliases: [],
    orphan: false,
    renewable: true,
    path_suffix: '',
    token_period: 3600,
    token_explicit_max_ttl: 0,
    token_bound_cidrs: ['10.0.0.0/8', '127.0.0.1'],
    token_type: 'default-service',
    token_no_default_policy: false,
    token_num_uses: 0,
    period: 0,
    explicit_max_ttl: 0,
  })
  await server.call('POST', 'auth/token/roles/r', { orphan: true })
  const changed = await server.call('GET', 'auth/token/roles/r')
  assert.equal(changed.body.data?.orphan, true)
  assert.equal(changed.body.data?.token_period, 3600)
  assert.deepEqual((await server.call('LIST', 'auth/token/roles')).body.data?.keys, ['r'])
  assert.equal((await server.call('DELETE', 'auth/token/roles/r')).status, 204)
  assert.equal((await server.call('GET', 'auth/token/roles/r')).status, 404)
  assert.equal((await server.call('LIST', 'auth/token/roles')).status, 404)
  assert.equal((await byRole()).status, 400)
})

test('a token by a role that makes none that can be renewed cannot be, whatever its maker asks for', async () => {
  for (const renewable of [true, false]) {
    await role({ allowed_policies: 'ops', renewable })
    const auth = authOf(await byRole({ renewable: true }))
    assert.equal(auth.renewable, renewable)
    const renewed = await server.call('POST', 'auth/token/renew-self', {}, String(auth.client_token))
    assert.equal(renewed.status, renewable ? 200 : 400)
  }
})

test('old names are read back where they were used, and a new name wins over its old one', async () => {
  await role({ period: 60, explicit_max_ttl: 120, bound_cidrs: '127.0.0.1' })
  const { data } = (await server.call('GET', 'auth/token/roles/r')).body
  assert.deepEqual([data?.period, data?.token_period], [60, 60])
  assert.deepEqual([data?.explicit_max_ttl, data?.token_explicit_max_ttl], [120, 120])
  assert.deepEqual([data?.bound_cidrs, data?.token_bound_cidrs], [['127.0.0.1'], ['127.0.0.1']])
  await server.call('POST', 'auth/token/roles/r', { period: 60, token_period: 90 })
  const both = (await server.call('GET', 'auth/token/roles/r')).body.data
  assert.deepEqual([both?.period, both?.token_period], [0, 90])
})

const REFUSED_ROLES: readonly (readonly [string, object])[] = [
  ['an unknown type', { token_type: 'weird' }],
  ['a batch role whose tokens have a parent', { token_type: 'batch', renewable: false }],
  ['a batch role that renews', { token_type: 'batch', orphan: true }],
  ['a batch role with a period', { token_type: 'batch', orphan: true, renewable: false, token_period: 60 }],
  ['a batch role with a maximum', { token_type: 'batch', orphan: true, renewable: false, token_explicit_max_ttl: 60 }],
  ['a batch role with a number of uses', { token_type: 'batch', orphan: true, renewable: false, token_num_uses: 1 }],
  ['a suffix that is no name', { path_suffix: 'a/b' }],
  ['a block that is none', { token_bound_cidrs: '10.0.0.0/33' }],
  ['a policy that nobody can have', { allowed_policies: ['response-wrapping'] }],
  ['a negative number of uses', { token_num_uses: -1 }],
]
for (const [name, fields] of REFUSED_ROLES) {
  test(`${name} is refused`, async () => {
    assert.equal((await server.call('POST', 'auth/token/roles/refused', fields)).status, 400)
    assert.equal((await server.call('GET', 'auth/token/roles/refused')).status, 404)
  })
}

type PolicyRow = {
  readonly name: string
  readonly role: object
  readonly request: object
  /** Absent: refused. */
  readonly policies?: readonly string[]
}
const POLICY_ROWS: readonly PolicyRow[] = [
  { name: 'allowed, none asked for', role: { allowed_policies: 'ops' }, request: {}, policies: ['default', 'ops'] },
  {
    name: 'allowed, one of two asked for',
    role: { allowed_policies: 'ops,app-one' },
    request: { policies: ['ops'] },
    policies: ['default', 'ops'],
  },
  { name: 'not allowed', role: { allowed_policies: 'ops' }, request: { policies: ['app-one'] } },
  { name: 'what the caller has, not allowed', role: { allowed_policies: 'ops' }, request: { policies: ['maker'] } },
  {
    name: 'allowed by glob',
    role: { allowed_policies_glob: 'app-*' },
    request: { policies: ['app-two'] },
    policies: ['app-two', 'default'],
  },
  { name: 'not in the glob', role: { allowed_policies_glob: 'app-*' }, request: { policies: ['ops'] } },
  { name: 'disallowed', role: { disallowed_policies: 'ops' }, request: { policies: ['ops'] } },
  { name: 'disallowed by glob', role: { disallowed_policies_glob: 'app-*' }, request: { policies: ['app-one'] } },
  { name: 'disallowed, though the caller has it', role: { disallowed_policies: 'maker' }, request: {} },
  { name: 'disallowed by glob, though the caller has it', role: { disallowed_policies_glob: 'mak*' }, request: {} },
  {
    name: 'not disallowed, though the caller lacks it',
    role: { disallowed_policies: 'ops' },
    request: { policies: ['app-one'] },
    policies: ['app-one', 'default'],
  },
  {
    name: 'not in the glob of those disallowed, though the caller lacks it',
    role: { disallowed_policies_glob: 'app-*' },
    request: { policies: ['ops'] },
    policies: ['default', 'ops'],
  },
  {
    name: 'disallowed beats allowed',
    role: { allowed_policies: 'ops,app-one', disallowed_policies: 'ops' },
    request: {},
  },
  {
    name: 'default disallowed',
    role: { allowed_policies: 'ops', disallowed_policies: 'default' },
    request: {},
    policies: ['ops'],
  },
  {
    name: 'without default by the role',
    role: { allowed_policies: 'ops', token_no_default_policy: true },
    request: {},
    policies: ['ops'],
  },
  {
    name: 'without default by the request',
    role: { allowed_policies: 'ops' },
    request: { no_default_policy: true },
    policies: ['ops'],
  },
  { name: 'root from a parent that is none', role: { allowed_policies: 'root' }, request: {} },
  { name: 'a role without lists: the parent', role: {}, request: {}, policies: ['default', 'maker'] },
  { name: 'a role without lists: beyond the parent', role: {}, request: { policies: ['ops'] } },
]
for (const row of POLICY_ROWS) {
  test(`policies by role: ${row.name}`, async () => {
    await role(row.role)
    const answer = await byRole(row.request)
    assert.equal(answer.status, row.policies === undefined ? 400 : 200, JSON.stringify(answer.body))
    if (row.policies !== undefined) assert.deepEqual(authOf(answer).policies, row.policies)
  })
}

test('what role and request both say is the lesser of the two, with a warning', async () => {
  await role({ allowed_policies: 'ops', token_period: 100, token_explicit_max_ttl: 1000, token_num_uses: 5 })
  const sudo = await make({ policies: ['role-sudo'] })
  const made = await byRole({ period: 200, explicit_max_ttl: 500, num_uses: 9 }, sudo)
  const { data } = (await lookup(authOf(made).client_token)).body
  assert.deepEqual([data?.period, data?.explicit_max_ttl, data?.num_uses, data?.ttl], [100, 500, 5, 100])
  assert.match(JSON.stringify(made.body.warnings), /lesser value of 100 seconds.*lesser value of 500 seconds/)
  assert.equal((await byRole({ period: 50 })).status, 400, 'a period asked for needs sudo')
  assert.equal((await byRole({})).status, 200, 'a period of the role does not')
})

test('the path of a token by role holds its role and suffix, and the prefix revokes just these', async () => {
  await role({ allowed_policies: 'ops', path_suffix: 'batch-7', orphan: true })
  const token = authOf(await byRole()).client_token
  const { data } = (await lookup(token)).body
  assert.deepEqual([data?.path, data?.orphan, data?.role], ['auth/token/create/r/batch-7', true, 'r'])
  const other = await make({ policies: ['default'] })
  assert.equal((await server.call('POST', 'sys/leases/revoke-prefix/auth/token/create/r/batch-7')).status, 204)
  assert.equal((await lookup(token)).status, 403)
  assert.equal((await lookup(other)).status, 200)
})

const TYPE_ROWS: readonly { readonly role: string; readonly request: string; readonly type: string }[] = [
  { role: 'service', request: 'batch', type: 'service' },
  { role: 'default-service', request: '', type: 'service' },
  { role: 'default-service', request: 'batch', type: 'batch' },
  { role: 'default-batch', request: '', type: 'batch' },
  { role: 'default-batch', request: 'service', type: 'service' },
  { role: 'batch', request: 'service', type: 'batch' },
]
for (const { role: ofRole, request, type } of TYPE_ROWS) {
  test(`a role of type ${ofRole}, asked for "${request}", gives a ${type} token`, async () => {
    await role({ allowed_policies: 'ops', token_type: ofRole, orphan: true, renewable: false })
    assert.equal(authOf(await byRole({ type: request })).token_type, type)
  })
}

test('T-04: tokens are bound to the addresses of the role, else of the parent, unless they have none', async () => {
  await role({ allowed_policies: 'maker', token_bound_cidrs: '127.0.0.0/8' })
  const bound = String(authOf(await byRole()).client_token)
  assert.deepEqual((await lookup(bound)).body.data?.bound_cidrs, ['127.0.0.0/8'])
  await role({ allowed_policies: 'ops' })
  assert.deepEqual((await lookup(authOf(await byRole({}, bound)).client_token)).body.data?.bound_cidrs, ['127.0.0.0/8'])
  await role({ allowed_policies: 'ops', token_bound_cidrs: '10.0.0.0/8' })
  const elsewhere = String(authOf(await byRole()).client_token)
  // The token lives, and may look itself up: it is the address alone that refuses it.
  assert.equal((await lookup(elsewhere)).status, 200)
  const from = async (remoteAddress: string) => {
    const request = { ...wireRequest('GET', 'auth/token/lookup-self', undefined, elsewhere), remoteAddress }
    return (await server.node.core.handle(request)).status
  }
  assert.deepEqual([await from('127.0.0.1'), await from('10.1.2.3')], [403, 200])
})

test('A11: no token, an orphan either, can be used from where its maker could not be', async () => {
  await policy('all-makers', 'path "auth/token/*" { capabilities = ["create", "update", "sudo"] }')
  const boundTo = async (blocks: string, policies = 'all-makers') => {
    await role({ token_bound_cidrs: blocks, orphan: true })
    return String(authOf(await byRole({ policies: [policies], ttl: 600 }, 'root')).client_token)
  }
  const parent = await boundTo('127.0.0.0/24,fd00::/64')
  const cidrsOf = async (answer: Called) => {
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return (await lookup(authOf(answer).client_token)).body.data?.bound_cidrs
  }
  const create = (path: string, fields: object = {}) => server.call('POST', `auth/token/${path}`, fields, parent)
  const ofParent = ['127.0.0.0/24', 'fd00::/64']
  for (const type of ['service', 'batch']) {
    assert.deepEqual(await cidrsOf(await create('create', { type })), ofParent)
    assert.deepEqual(await cidrsOf(await create('create-orphan', { type })), ofParent)
    assert.deepEqual(await cidrsOf(await create('create', { type, no_parent: true })), ofParent)
  }
  for (const orphan of [true, false])
    for (const [blocks, both] of [
      ['', ofParent],
      ['127.0.0.0/8,::/0', ofParent],
      ['127.0.0.1,10.0.0.0/8', ['127.0.0.1']],
      ['fd00::1,127.0.0.128/25', ['fd00::1', '127.0.0.128/25']],
    ] as const) {
      await role({ token_bound_cidrs: blocks, orphan })
      assert.deepEqual(await cidrsOf(await create('create/r')), both, blocks)
      assert.deepEqual(await cidrsOf(await create('create/r', { no_parent: true })), both, blocks)
    }
  await role({ token_bound_cidrs: '10.0.0.0/8', orphan: true })
  const refused = await create('create/r')
  assert.equal(refused.status, 400)
  assert.match(String(refused.body.errors), /token_bound_cidrs of the role/)
  // A root token that ends is bound like any other.
  const root = await server.call('POST', 'auth/token/create-orphan', { ttl: 60 }, await boundTo('127.0.0.1', 'root'))
  assert.deepEqual(await cidrsOf(root), ['127.0.0.1'])
})

test('an entity alias needs a role that allows it', async () => {
  await role({ allowed_policies: 'ops', allowed_entity_aliases: ['web-*', 'Job'] })
  assert.equal((await server.call('POST', 'auth/token/create', { entity_alias: 'job' })).status, 400)
  assert.equal((await byRole({ entity_alias: 'other' })).status, 400)
  assert.equal((await byRole({ entity_alias: 'WEB-1' })).status, 200)
  assert.equal((await byRole({ entity_alias: 'job' })).status, 200)
})
