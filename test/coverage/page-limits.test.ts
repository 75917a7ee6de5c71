// Every list comes in pages: whoever may see so many names at once sees no more, whatever the list.

import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { ROOT } from '../../src/api/namespace.ts'
import { mountAll, PLACED_ENDPOINTS } from '../fixtures/endpoint-table.ts'
import { type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'

const LISTS = PLACED_ENDPOINTS.filter(({ endpoint }) => endpoint.operation === 'list')
/** What a list of this server cannot have two names of. */
const SHORT = new Map([
  ['version-history', 'this program alone has opened the store'],
  ['managed-keys-list', 'there is no device'],
])
/** Where there is something to list, when it is not the path of the endpoint itself. */
const PATHS: Readonly<Record<string, string>> = {
  'leases-list': 'sys/leases/lookup/auth',
  'plugins-catalog-list': 'sys/plugins/catalog/auth',
  'raw-list': 'sys/raw',
  'cubbyhole-list': 'cubbyhole',
  'cubbyhole-list-folder': 'cubbyhole/folder',
  'approle-secret-id-list': 'auth/approle/role/a/secret-id',
}
const NAMES = ['a', 'b', 'c']

let server: MemoryServer
let token: string
before(async () => {
  server = await startMemoryServer({ facts: { rawStorage: true } })
  await mountAll(server.call)
  const all = 'capabilities = ["create", "read", "update", "delete", "list", "sudo"]'
  await post('sys/policies/acl/bounded', { policy: `path "*" { ${all} pagination_limit = 1 }` })
  token = await newToken()
  await newToken()
  for (const name of NAMES) await makeAll(name)
  // A lease, in a second folder of them.
  await server.call('POST', 'auth/userpass/login/a', { password: 'x' }, '')
})

async function post(path: string, body: object = {}, as = 'root') {
  const answer = await server.call('POST', path, body, as)
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer)}`)
  return answer.body
}

async function newToken(): Promise<string> {
  const { auth } = await post('auth/token/create', { policies: ['bounded'], no_default_policy: true })
  return String((auth as { readonly client_token: string }).client_token)
}

async function makeAll(name: string): Promise<void> {
  await post(`sys/namespaces/${name}`)
  await post(`sys/policies/password/${name}`, { policy: 'length = 20\nrule "charset" { charset = "abcdefghij" }' })
  await post(`sys/config/ui/headers/x-${name}`, { values: ['v'] })
  await post(`sys/quotas/rate-limit/${name}`, { path: `transit/${name}`, rate: 1_000 })
  await post(`auth/token/roles/${name}`)
  await post(`transit/keys/${name}`)
  await post(`cubbyhole/${name}`, { a: 'b' }, token)
  await post(`cubbyhole/folder/${name}`, { a: 'b' }, token)
  await post(`auth/userpass/users/${name}`, { password: 'x' })
  await post(`auth/approle/role/${name}`)
  await post('auth/approle/role/a/secret-id')
  await post(`auth/cloud/role/${name}`, { bound_group_ids: ['*'] })
  await post('identity/entity', { name })
  await post('identity/group', { name })
  await post('identity/group', { name: `outer-${name}`, type: 'external' })
  await makeAliases(name)
}

async function makeAliases(name: string): Promise<void> {
  const accessor = server.node.mounts.find(ROOT, 'auth/userpass/')?.accessor
  await post('identity/entity-alias', { name: `alias-${name}`, mount_accessor: accessor })
  const id = (await server.call('GET', `identity/group/name/outer-${name}`)).body.data?.id
  await post('identity/group-alias', { name, mount_accessor: accessor, canonical_id: id })
}

async function keysAt(path: string, query = ''): Promise<readonly string[]> {
  const { status, body } = await server.call('LIST', path + query, undefined, token)
  assert.ok(status === 200 || status === 404, `${path}${query}: ${JSON.stringify(body)}`)
  return (body.data?.keys ?? []) as readonly string[]
}

/** It is the token's own: nobody else lists it. */
const ofCubbyhole = (path: string): readonly string[] => (path === 'cubbyhole' ? [...NAMES, 'folder/'] : NAMES)

test('every list takes a limit, and the name that a page begins after', () => {
  for (const { endpoint } of LISTS) {
    assert.deepEqual([endpoint.fields.limit?.kind, endpoint.fields.limit?.default], ['int', 0], endpoint.id)
    assert.deepEqual([endpoint.fields.after?.kind, endpoint.fields.after?.default], ['string', ''], endpoint.id)
  }
})

for (const { mountPath, endpoint } of LISTS) {
  if (SHORT.has(endpoint.id)) continue
  test(`${endpoint.id}: a policy bounds it, and its pages have all names`, async () => {
    const path = PATHS[endpoint.id] ?? mountPath + endpoint.path
    const all = path.startsWith('cubbyhole') ? ofCubbyhole(path) : (await server.call('LIST', path)).body.data?.keys
    assert.ok(Array.isArray(all))
    assert.ok(all.length >= 2, `${path}: ${JSON.stringify(all)}`)
    const found: string[] = []
    for (let page = await keysAt(path); page.length > 0 && found.length <= all.length; ) {
      assert.equal(page.length, 1, path)
      found.push(...page)
      page = await keysAt(path, `?after=${encodeURIComponent(page[0] as string)}`)
    }
    assert.deepEqual(found, all)
    assert.equal((await server.call('LIST', `${path}?limit=2`, undefined, token)).status, 403)
  })
}

test('the history of versions is listed in pages too', async () => {
  const [version = '', ...more] = await keysAt('sys/version-history')
  assert.deepEqual([version === '', more], [false, []])
  assert.deepEqual(await keysAt('sys/version-history', `?after=${version}`), [])
})
