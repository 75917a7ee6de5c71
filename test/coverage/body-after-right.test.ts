// A body is parsed for those alone who may send one there: whoever may not is refused at the cost of a look-up.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { mountAll, PLACED_ENDPOINTS, pathsOf } from '../fixtures/endpoint-table.ts'
import { type MemoryServer, startMemoryServer, wireRequest } from '../fixtures/memory-server.ts'

let server: MemoryServer
let powerless: string
before(async () => {
  server = await startMemoryServer()
  await mountAll(server.call)
  powerless = await tokenWith('path "nowhere" { capabilities = ["deny"] }')
})

async function tokenWith(policy: string): Promise<string> {
  const name = `p${++policies}`
  assert.ok((await server.call('POST', `sys/policies/acl/${name}`, { policy })).status < 300)
  const made = await server.call('POST', 'auth/token/create', { policies: [name], no_default_policy: true })
  return String((made.body.auth as { readonly client_token: string }).client_token)
}
let policies = 0

/** Statuses of a body that is no JSON: 400 says that it was parsed. */
async function unparsable(path: string, token: string, headers: object = {}): Promise<number> {
  const request = wireRequest('POST', path, undefined, token)
  const body = Buffer.from('{"no": json')
  const { status } = await server.node.core.handle({ ...request, body, headers: { ...request.headers, ...headers } })
  return status
}

test('A6: at every endpoint a body is parsed for those alone who have the capability', async () => {
  const writes = PLACED_ENDPOINTS.filter(
    ({ endpoint }) => endpoint.operation === 'update' && endpoint.takesStream !== true && !endpoint.changesSeal,
  )
  assert.ok(writes.length > 100, `${writes.length}`)
  for (const placed of writes) {
    for (const path of pathsOf(placed, 'some-name')) {
      const isOpen = placed.endpoint.capability === 'none'
      assert.equal(await unparsable(path, powerless), isOpen ? 400 : 403, `${path}, without a right`)
      assert.equal(await unparsable(path, 'root'), 400, `${path}, with every right`)
    }
  }
  assert.equal(await unparsable('no/such/path', powerless), 403)
})

test('A6: create, update, sudo and wrapping are looked at before the body', async () => {
  assert.equal((await server.call('POST', 'transit/keys/there')).status, 200)
  const creator = await tokenWith('path "transit/encrypt/*" { capabilities = ["create"] }')
  assert.deepEqual(
    [await unparsable('transit/encrypt/there', creator), await unparsable('transit/encrypt/new', creator)],
    [403, 400],
  )
  const writer = await tokenWith('path "sys/audit/*" { capabilities = ["create", "update"] }')
  assert.equal(await unparsable('sys/audit/file', writer), 403)
  const wrapped = await tokenWith('path "transit/random" { capabilities = ["update"] min_wrapping_ttl = "5s" }')
  assert.equal(await unparsable('transit/random', wrapped), 403)
  assert.equal(await unparsable('transit/random', wrapped, { wrapTtl: '4' }), 403)
  assert.equal(await unparsable('transit/random', wrapped, { wrapTtl: '5' }), 400)
})

test('A6: parameters are judged after the capability, for whoever has it', async () => {
  const rule = 'capabilities = ["update"] denied_parameters = { "format" = ["hex"] } required_parameters = ["bytes"]'
  const token = await tokenWith(`path "transit/random" { ${rule} }`)
  assert.equal(await unparsable('transit/random', token), 400)
  const status = async (body: unknown) => (await server.call('POST', 'transit/random', body, token)).status
  assert.deepEqual(
    [await status({ bytes: 8 }), await status({ bytes: 8, format: 'hex' }), await status({}), await status(undefined)],
    [200, 403, 403, 403],
  )
})
