// What the pipeline does for every endpoint alike.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { type MemoryServer, startMemoryServer, wireRequest } from '../../test/fixtures/memory-server.ts'
import { bodyText } from './exchange.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k')
})

async function raw(change: Partial<ReturnType<typeof wireRequest>>, headers: object = {}) {
  const request = wireRequest('POST', 'transit/encrypt/k', { plaintext: 'YQ==' }, 'root')
  const response = await server.node.core.handle({
    ...request,
    ...change,
    headers: { ...request.headers, ...headers },
  })
  return { status: response.status, body: response.body === undefined ? {} : JSON.parse(bodyText(response)) }
}

test('PUT is POST, GET with list is LIST', async () => {
  assert.equal((await raw({ method: 'PUT' })).status, 200)
  const answers = await Promise.all([
    server.call('LIST', 'transit/keys'),
    server.call('GET', 'transit/keys?list=true'),
    server.call('GET', 'transit/keys/?list=1'),
  ])
  for (const { body } of answers) assert.deepEqual(body.data, { keys: ['k'] })
  assert.equal((await server.call('GET', 'transit/keys?list=maybe')).status, 400)
  assert.equal((await server.call('GET', 'transit/keys?list=false')).status, 405)
})

const BODIES: readonly { name: string; body: string; type?: string; status: number }[] = [
  { name: 'JSON whatever the type says', body: '{"plaintext":"YQ=="}', type: 'text/plain;charset=UTF-8', status: 200 },
  {
    name: 'JSON under a form type, as curl sends it',
    body: ' {"plaintext":"YQ=="}',
    type: 'application/x-www-form-urlencoded',
    status: 200,
  },
  { name: 'a form', body: 'plaintext=YQ%3D%3D', type: 'application/x-www-form-urlencoded', status: 200 },
  { name: 'null is no data', body: 'null', status: 400 },
  { name: 'an array', body: '[]', status: 400 },
  { name: 'a number', body: '1', status: 400 },
  { name: 'cut off', body: '{"plaintext":"YQ==', status: 400 },
  { name: 'something behind it', body: '{"plaintext":"YQ=="} x', status: 400 },
  { name: 'not UTF-8', body: '{"plaintext":"\u00ff"}', status: 400 },
  { name: 'nested too deep', body: `{"plaintext":"YQ==","x":${'['.repeat(70)}${']'.repeat(70)}}`, status: 400 },
  { name: 'the last of two equal keys counts', body: '{"plaintext":"!","plaintext":"YQ=="}', status: 200 },
  {
    name: 'names of JavaScript are names',
    body: '{"plaintext":"YQ==","__proto__":{"x":1},"constructor":1}',
    status: 200,
  },
]
for (const { name, body, type = 'application/json', status } of BODIES) {
  test(`body: ${name}`, async () => {
    const answer = await raw({ body: Buffer.from(body, 'latin1') }, { contentType: type })
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    assert.equal(({} as Record<string, unknown>).x, undefined)
  })
}

test('an error message never repeats what was sent (N-08, U-05)', async () => {
  const secret = 'canary-secret'
  for (const body of [
    `{"plaintext": ${secret}}`,
    `{"plaintext":"${secret}!"}`,
    `"${secret}"`,
    `{"key_version":"${secret}","plaintext":"YQ=="}`,
  ]) {
    const { status, body: answer } = await raw({ body: Buffer.from(body) })
    assert.equal(status, 400, body)
    assert.ok(!JSON.stringify(answer).includes(secret), JSON.stringify(answer))
  }
})

test('the namespace of a request is the root one or none', async () => {
  for (const namespace of ['', '/', 'root', 'root/', '/root/'])
    assert.equal((await raw({}, { namespace })).status, 200, namespace)
  for (const namespace of ['team', 'rootx', 'root/x', '..'])
    assert.equal((await raw({}, { namespace })).status, 404, namespace)
})

test('unknown fields, and those that the path decides, are warned of', async () => {
  const { body } = await server.call('POST', 'transit/encrypt/k', {
    plaintext: 'YQ==',
    zeta: 1,
    alpha: 2,
    name: 'other',
  })
  assert.match(JSON.stringify(body.warnings), /\[alpha zeta\].*\[name\]/)
  assert.equal((await server.call('POST', 'transit/encrypt/k', { plaintext: 'YQ==' })).body.warnings, null)
})

test('P-24: without access, what is there and what is not looks the same', async () => {
  const made = await server.call('POST', 'auth/token/create', { policies: ['nothing'], no_default_policy: true })
  const token = String((made.body.auth as Record<string, unknown>).client_token)
  const answers = await Promise.all(
    ['transit/keys/k', 'transit/keys/none', 'transit/nothing/at/all', 'nowhere/x', 'sys/nothing'].map(async (path) => {
      const answer = await server.call('GET', path, undefined, token)
      // The hint repeats the path that was asked for.
      return JSON.parse(JSON.stringify(answer).replace(path, 'PATH'))
    }),
  )
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal(answers[0]?.status, 403)
})

test('help needs a token, no capability, and comes from the endpoint table', async () => {
  const { status, body } = await server.call('GET', 'transit/encrypt/k?help=1')
  assert.equal(status, 200)
  assert.match(String(body.help), /plaintext/)
  assert.equal((await server.call('GET', 'transit/encrypt/k?help=1', undefined, 'none')).status, 403)
  assert.equal((await server.call('GET', 'transit/no/such?help=1')).status, 404)
})

test('the answer of a write that says nothing has no body', async () => {
  const response = await server.node.core.handle(
    wireRequest('POST', 'sys/policies/acl/p', { policy: 'path "a" { capabilities = ["read"] }' }, 'root'),
  )
  assert.deepEqual(response, { status: 204, body: undefined })
})

test('A-08: a policy that bounds lists bounds every way to ask', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await server.call('POST', `transit/keys/${name}`)
  const policy = 'path "transit/keys" { capabilities = ["list"] pagination_limit = 2 }'
  await server.call('POST', 'sys/policies/acl/paged', { policy })
  const made = await server.call('POST', 'auth/token/create', { policies: ['paged'] })
  const token = String((made.body.auth as Record<string, unknown>).client_token)
  const list = (query: string) => server.call('GET', `transit/keys?list=true${query}`, undefined, token)
  assert.deepEqual((await list('')).body.data, { keys: ['a', 'b'] })
  assert.deepEqual((await list('&limit=1')).body.data, { keys: ['a'] })
  assert.deepEqual((await list('&after=b&limit=2')).body.data, { keys: ['c', 'd'] })
  for (const limit of ['3', '0', '-1', '', 'x', '1e9']) {
    const { status } = await list(`&limit=${limit}`)
    assert.ok(status === 403 || status === 400, `limit=${limit}: ${status}`)
  }
})

test('a body for which nobody has shown a token is bounded', async () => {
  const key = 'a'.repeat(300_000)
  assert.equal((await server.call('PUT', 'sys/unseal', { key }, 'no-token')).status, 413)
})

test('help tells who has a token that there is nothing, and who has none nothing', async () => {
  assert.equal((await server.call('GET', 'nowhere/x?help=1')).status, 404)
  assert.equal((await server.call('GET', 'nowhere/x?help=1', undefined, 'none')).status, 403)
})

test('who may only create does not use a key that another request made at the same time', async () => {
  await server.call('POST', 'sys/policies/acl/creator', {
    policy: 'path "transit/encrypt/*" { capabilities = ["create"] }',
  })
  const made = await server.call('POST', 'auth/token/create', { policies: ['creator'] })
  const token = String((made.body.auth as Record<string, unknown>).client_token)
  for (let round = 0; round < 20; round++) {
    const calls = Array.from({ length: 8 }, () =>
      server.call('POST', `transit/encrypt/new${round}`, { plaintext: 'YQ==' }, token),
    )
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [200, 403, 403, 403, 403, 403, 403, 403], `round ${round}`)
  }
})

test('who may create and update gets an answer, whoever was faster', async () => {
  const calls = Array.from({ length: 20 }, () => server.call('POST', 'transit/encrypt/raced', { plaintext: 'YQ==' }))
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
})

test('T-05: a request that is judged anew, because another was faster, costs a limited token one use', async () => {
  await server.call('POST', 'sys/auth/approle', { type: 'approle' })
  await server.call('PUT', 'sys/policies/acl/roles', {
    policy: 'path "auth/approle/role/*" { capabilities = ["create", "update"] }',
  })
  const limited = async (num_uses: number) => {
    const { body } = await server.call('POST', 'auth/token/create', { policies: ['roles'], num_uses })
    return String((body.auth as { readonly client_token: string }).client_token)
  }
  const kept = async () => (await server.store.scan('root/sys/token/id/', '', 100)).length
  const before = await kept()
  for (const uses of [1, 2]) {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => limited(uses)))
    const answers = await Promise.all(
      tokens.map((token, i) => server.call('POST', `auth/approle/role/r${uses}`, { token_ttl: 60 + i }, token)),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204]))
    for (const token of tokens) {
      const { status, body } = await server.call('POST', 'auth/token/lookup', { token })
      assert.deepEqual([status, body.data?.num_uses], uses === 1 ? [403, undefined] : [200, 1])
    }
  }
  assert.equal((await kept()) - before, 8, 'those with a use left')
})
