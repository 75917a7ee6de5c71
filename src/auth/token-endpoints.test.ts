// Tokens through the whole pipeline, in one process, with a clock that moves.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await policy('maker', 'path "auth/token/*" { capabilities = ["create", "update", "read"] }')
  await policy('sudo', 'path "auth/token/*" { capabilities = ["create", "update", "read", "sudo"] }')
})

const policy = (name: string, text: string) => server.call('POST', `sys/policies/acl/${name}`, { policy: text })
const tokenOf = ({ body }: Called): string => String((body.auth as Record<string, unknown>).client_token)
const make = async (fields: object, token?: string): Promise<string> =>
  tokenOf(await server.call('POST', 'auth/token/create', fields, token))
const lookup = (token: string): Promise<Called> => server.call('GET', 'auth/token/lookup-self', undefined, token)

test('T-05: a child gets no policy that its parent lacks, and no default where the parent has none', async () => {
  const parent = await make({ policies: ['maker'], no_default_policy: true })
  assert.equal((await server.call('POST', 'auth/token/create', { policies: ['other'] }, parent)).status, 400)
  const child = await server.call('POST', 'auth/token/create', {}, parent)
  assert.deepEqual((child.body.auth as Record<string, unknown>).policies, ['maker'])
})

test('a parent with sudo and without default gives its child default only where policies are asked for', async () => {
  const parent = await make({ policies: ['sudo'], no_default_policy: true })
  const childOf = async (fields: object) =>
    ((await server.call('POST', 'auth/token/create', fields, parent)).body.auth as Record<string, unknown>).policies
  assert.deepEqual(await childOf({}), ['sudo'])
  assert.deepEqual(await childOf({ policies: ['sudo'] }), ['default', 'sudo'])
})

test('a token without sudo makes no orphan, no periodic token and no token of its own text', async () => {
  const parent = await make({ policies: ['maker'] })
  for (const fields of [{ no_parent: true }, { period: 60 }, { id: 'mine' }]) {
    assert.equal((await server.call('POST', 'auth/token/create', fields, parent)).status, 400, JSON.stringify(fields))
  }
})

test('C6: a root token that another one made is shown with its time of issue, and as not renewable', async () => {
  const token = await make({ policies: ['root'] }, 'root')
  const accessor = (await lookup(token)).body.data?.accessor
  for (const answer of [
    await lookup(token),
    await server.call('POST', 'auth/token/lookup', { token }),
    await server.call('POST', 'auth/token/lookup-accessor', { accessor }),
  ]) {
    const { issue_time, renewable, expire_time, ttl } = answer.body.data ?? {}
    assert.deepEqual([issue_time, renewable, expire_time, ttl], ['2026-01-01T00:00:00.000Z', false, null, 0])
  }
  const first = (await lookup('root')).body.data ?? {}
  assert.deepEqual(['issue_time' in first, 'renewable' in first], [false, false])
})

test('only a root token makes a root token, and I-01: no spelling of the name gets around it', async () => {
  const parent = await make({ policies: ['sudo'] })
  for (const name of ['root', ' root', 'ROOT', 'rOOt ', '\u00a0root', '\ufeffroot', 'roo\u212a']) {
    const { status } = await server.call('POST', 'auth/token/create', { policies: [name] }, parent)
    assert.equal(status, 400, JSON.stringify(name))
  }
})

test('the end of a parent is the end of its children at once, and of theirs', async () => {
  const parent = await make({ policies: ['maker'] })
  const child = await make({}, parent)
  const grandchild = await make({}, child)
  assert.equal((await lookup(grandchild)).status, 200)
  assert.equal((await server.call('POST', 'auth/token/revoke', { token: parent })).status, 204)
  for (const token of [parent, child, grandchild]) assert.equal((await lookup(token)).status, 403)
})

test('T-04: a child does not outlive a parent that expires', async () => {
  const parent = await make({ policies: ['maker'], ttl: '10s' })
  const child = await make({ ttl: '1h' }, parent)
  server.advance(9)
  assert.equal((await lookup(child)).status, 200)
  server.advance(2)
  assert.equal((await lookup(child)).status, 403)
})

test('T-02: an expired token is refused at its first use, without anything having run in between', async () => {
  const token = await make({ ttl: '60s' })
  server.advance(60)
  assert.equal((await lookup(token)).status, 403)
  assert.equal((await server.call('POST', 'auth/token/lookup', { token })).status, 403)
})

test('renewal reaches to the explicit maximum and no further', async () => {
  const token = await make({ ttl: '60s', explicit_max_ttl: '90s' })
  server.advance(50)
  const renewed = await server.call('POST', 'auth/token/renew-self', { increment: '1h' }, token)
  assert.equal((renewed.body.auth as Record<string, unknown>).lease_duration, 40)
  assert.match(JSON.stringify(renewed.body.warnings), /capped|exceed/)
  server.advance(41)
  assert.equal((await lookup(token)).status, 403)
})

test('a token that is not renewable is not renewed, and root is not', async () => {
  const token = await make({ ttl: '60s', renewable: false })
  assert.equal((await server.call('POST', 'auth/token/renew', { token })).status, 400)
  assert.equal((await server.call('POST', 'auth/token/renew-self', {})).status, 400)
})

test('P-29: a limited token serves exactly so many requests, whatever comes at the same time', async () => {
  const token = await make({ num_uses: 10 })
  const answers = await Promise.all(Array.from({ length: 200 }, () => lookup(token)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 10)
  assert.equal(answers.filter(({ status }) => status === 403).length, 190)
})

test('a limited token pays for a refused request too, and cannot make children', async () => {
  const token = await make({ num_uses: 2, policies: ['maker'] })
  assert.equal((await server.call('POST', 'auth/token/create', {}, token)).status, 400)
  assert.equal((await server.call('GET', 'sys/mounts', undefined, token)).status, 403)
  assert.equal((await lookup(token)).status, 403)
})

test('a limited token is told why it makes no child, on its last use too', async () => {
  for (const num_uses of [1, 2]) {
    const { status, body } = await server.call('POST', 'auth/token/create', {}, await make({ num_uses }))
    assert.equal(status, 400)
    assert.match(JSON.stringify(body.errors), /restricted use token/)
  }
})

test('P-28: a token that is revoked while it makes a child is refused, or the child is dead', async () => {
  for (let round = 0; round < 50; round++) {
    const parent = await make({ policies: ['maker'] })
    const [made] = await Promise.all([
      server.call('POST', 'auth/token/create', {}, parent),
      server.call('POST', 'auth/token/revoke', { token: parent }),
    ])
    if (made.status === 200) assert.equal((await lookup(tokenOf(made))).status, 403)
    else assert.equal(made.status, 403, JSON.stringify(made.body))
  }
})

test('a token of the caller own text works, is taken once, and cannot look like a generated one', async () => {
  assert.equal(await make({ id: 'my-own-text' }), 'my-own-text')
  assert.equal((await server.call('POST', 'auth/token/create', { id: 'my-own-text' })).status, 400)
  for (const id of ['hvs.abc', 's.abc', 'a.b', 'with space', 'ü']) {
    assert.equal((await server.call('POST', 'auth/token/create', { id })).status, 400, id)
  }
})

test('a display name keeps letters, digits and dashes, and 256 characters', async () => {
  const shown = async (display_name: string) => (await lookup(await make({ display_name }))).body.data?.display_name
  assert.equal(await shown('azAZ09-'), 'token-azAZ09-')
  assert.equal(await shown('`{@[/:_. \nü'), `token-${'-'.repeat(11)}`)
  assert.equal(await shown(`${'a'.repeat(256)}b`), `token-${'a'.repeat(256)}`)
})

test('the type default is that of the role, or service', async () => {
  for (const type of ['', 'default', 'service']) {
    const { body } = await server.call('POST', 'auth/token/create', { type })
    assert.equal((body.auth as { readonly token_type?: string }).token_type, 'service', type)
  }
  assert.equal((await server.call('POST', 'auth/token/create', { type: 'other' })).status, 400)
})

test('an accessor finds and revokes the token, and never shows it', async () => {
  const made = await server.call('POST', 'auth/token/create', { policies: ['default'] })
  const { accessor, client_token: token } = made.body.auth as { accessor: string; client_token: string }
  const found = await server.call('POST', 'auth/token/lookup-accessor', { accessor })
  assert.equal(found.body.data?.id, '')
  assert.equal((await server.call('POST', 'auth/token/revoke-accessor', { accessor })).status, 204)
  assert.equal((await lookup(token)).status, 403)
  assert.equal((await server.call('POST', 'auth/token/lookup-accessor', { accessor })).status, 400)
})

test('P-26: storage holds no token and no accessor', async () => {
  const made = await server.call('POST', 'auth/token/create', { meta: { note: 'canary-in-meta' } })
  const { accessor, client_token: token } = made.body.auth as { accessor: string; client_token: string }
  for (const { key, value } of await server.store.scan('', '', 100_000)) {
    for (const secret of [token, accessor, 'canary-in-meta']) {
      assert.ok(!key.includes(secret) && !value.includes(secret), `found in ${key}`)
    }
  }
})

test('A-12: a policy that changes counts from the next request on', async () => {
  const token = await make({ policies: ['changing'], no_default_policy: true })
  assert.equal((await server.call('GET', 'sys/mounts', undefined, token)).status, 403)
  await policy('changing', 'path "sys/mounts" { capabilities = ["read"] }')
  assert.equal((await server.call('GET', 'sys/mounts', undefined, token)).status, 200)
  await server.call('DELETE', 'sys/policies/acl/changing')
  assert.equal((await server.call('GET', 'sys/mounts', undefined, token)).status, 403)
})

test('what a token carries is bounded: it is kept in memory', async () => {
  const rows: readonly [string, object][] = [
    ['meta', { meta: { note: 'x'.repeat(10_000) } }],
    ['meta', { meta: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`n${i}`, 'v'])) }],
    ['policies', { policies: Array.from({ length: 300 }, (_, i) => `p${i}`) }],
    ['policies', { policies: ['x'.repeat(200)] }],
  ]
  for (const [name, fields] of rows) {
    const { status, body } = await server.call('POST', 'auth/token/create', fields)
    assert.equal(status, 400, name)
    assert.match(JSON.stringify(body), new RegExp(name))
  }
})

test('policies are paged in the order in which they are listed, root last', async () => {
  await policy('zed', 'path "a" { capabilities = ["read"] }')
  const seen: string[] = []
  for (let after = ''; ; ) {
    const { status, body } = await server.call('GET', `sys/policies/acl?list=true&limit=1&after=${after}`)
    if (status === 404) break
    const [name = ''] = (body.data?.keys ?? []) as string[]
    seen.push(name)
    after = name
  }
  assert.deepEqual(seen, (await server.call('LIST', 'sys/policies/acl')).body.data?.keys)
})

test('T-01: a renewal in the last second before the hard end ends there, and none comes after', async () => {
  const token = await make({ ttl: '10s', explicit_max_ttl: '10s' })
  server.advance(9.5)
  assert.equal((await server.call('POST', 'auth/token/renew', { token })).status, 200)
  server.advance(0.4)
  assert.equal((await lookup(token)).status, 200)
  server.advance(0.1)
  assert.equal((await lookup(token)).status, 403)
})
