// What ends tokens of namespaces, and which entities they have.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import {
  type Asked,
  madeToken,
  type NamespacedServer,
  startNamespacedServer,
} from '../../test/fixtures/namespaced-server.ts'

const isAlive = async (server: NamespacedServer, as: string): Promise<boolean> =>
  (await server.status('GET', 'auth/token/lookup-self', undefined, { as })) === 200

const keysOf = async ({ store }: NamespacedServer): Promise<string[]> =>
  (await store.scan('root/sys/', '', 100_000)).map(({ key }) => key)

/** A login method at auth/up/ with the user u, and its token. */
async function loggedIn(server: NamespacedServer, asked: Asked, policies = 'default'): Promise<string> {
  await server.ask('POST', 'sys/auth/up', { type: 'userpass' }, asked)
  await server.ask('POST', 'auth/up/users/u', { password: 'pw', token_policies: policies }, asked)
  return madeToken(await server.ask('POST', 'auth/up/login/u', { password: 'pw' }, { ...asked, as: '' })).text
}

async function entityOf(server: NamespacedServer, token: string): Promise<string> {
  const { body } = await server.ask('POST', 'auth/token/lookup', { token })
  return String(body.data?.entity_id)
}

test('tokens of all namespaces end with their time, with everything that was stored of them', async () => {
  const server = await startNamespacedServer(['w1', 'w1/in'])
  const before = await keysOf(server)
  const short = { ttl: '10s', policies: ['root-of-nothing'] }
  const made = [await server.token({ in: 'w1' }, short), await server.token({ in: 'w1/in' }, short)]
  await server.ask('POST', 'sys/wrapping/wrap', { a: 1 }, { in: 'w1', wrap: '10s' })
  const kept = await server.token({ in: 'w1' }, { ttl: '1h' })
  server.advance(11)
  for (const { text } of made) assert.equal(await isAlive(server, text), false)
  await server.node.expiry.runNow()
  assert.equal(await isAlive(server, kept.text), true)
  await server.node.tokens.revoke(server.node.tokens.idOf(kept.text))
  assert.deepEqual(await keysOf(server), before)
})

test('what an interruption left of the tokens of a namespace is removed by the next call', async () => {
  const server = await startNamespacedServer(['w1', 'w2'])
  const { leases, tokens } = server.node
  const others = [await server.token({ in: 'w2' }), await server.token({}, { policies: ['default'] })]
  const before = await keysOf(server)
  const made = []
  for (let i = 0; i < 70; i++) made.push(await server.token({ in: 'w1' }))
  const [{ text: stubborn } = { text: '' }] = made.slice(40)
  let fails = true
  tokens.addBelongings(async (_tx, id) => {
    if (fails && id === tokens.idOf(stubborn)) throw new Error('not now')
    return true
  })
  await assert.rejects(leases.revokeAll(server.idOf('w1')), { message: 'not now' })
  fails = false
  // An accessor and a lease that an older fault left without a token.
  const stray = tokens.idOf('stray')
  await tokens.view.transaction(async (tx) => {
    tx.put(`token/accessor/${server.idOf('w1')}/${stray}`, Buffer.from(stray))
    tx.put(`lease-of/${server.idOf('w1')}/a/b/h${stray}`, Buffer.alloc(0))
  })
  await leases.revokeAll(server.idOf('w1'))
  assert.deepEqual(await keysOf(server), before)
  for (const { text } of others) assert.equal(await isAlive(server, text), true)
  await leases.revokeAll(server.idOf('w1'))
  assert.deepEqual(await keysOf(server), before)
})

test('a login method that moves to another namespace leaves its tokens, and gives others there', async () => {
  const server = await startNamespacedServer(['w1', 'w2'])
  const old = await loggedIn(server, { in: 'w1' })
  const child = await server.token({ in: 'w1' })
  const { status } = await server.ask('POST', 'sys/remount', { from: 'w1/auth/up', to: 'w2/auth/there' })
  assert.equal(status, 200)
  assert.deepEqual([await isAlive(server, old), await isAlive(server, child.text)], [false, true])
  assert.deepEqual(
    (await keysOf(server)).filter((key) => key.includes(server.node.tokens.idOf(old))),
    [],
  )
  assert.equal(await server.status('POST', 'auth/up/login/u', { password: 'pw' }, { in: 'w1' }), 404)
  const moved = madeToken(await server.ask('POST', 'auth/there/login/u', { password: 'pw' }, { in: 'w2', as: '' }))
  assert.ok(moved.text.endsWith(`.${server.idOf('w2')}`))
  const { data } = (await server.ask('POST', 'auth/token/lookup', { token: moved.text })).body
  assert.deepEqual([data?.display_name, data?.namespace_path], ['w2-auth-there-u', 'w2/'])
})

test('a token that is made from above has no entity, one that is made inside has that of its maker', async () => {
  const server = await startNamespacedServer(['w1'])
  const rule = { capabilities: ['create', 'update', 'sudo'] }
  const policy = { policy: JSON.stringify({ path: { 'auth/token/create*': rule, 'w1/auth/token/create*': rule } }) }
  for (const where of ['', 'w1']) await server.ask('POST', 'sys/policies/acl/maker', policy, { in: where })
  const above = await loggedIn(server, {}, 'maker')
  const inside = await loggedIn(server, { in: 'w1' }, 'maker')
  const ending = `.${server.idOf('w1')}`
  assert.ok(!(await entityOf(server, above)).includes('.'))
  assert.ok((await entityOf(server, inside)).endsWith(ending))
  for (const type of ['service', 'batch']) {
    const fromAbove = await server.token({ in: 'w1', as: above }, { type })
    const fromInside = await server.token({ in: 'w1', as: inside }, { type })
    const inRoot = await server.token({ as: above }, { type })
    assert.equal(await entityOf(server, fromAbove.text), '')
    assert.equal(await entityOf(server, fromInside.text), await entityOf(server, inside))
    assert.equal(await entityOf(server, inRoot.text), await entityOf(server, above))
  }
  await server.ask('POST', 'auth/token/roles/r', { allowed_entity_aliases: 'name' }, { in: 'w1' })
  const named = { entity_alias: 'name' }
  const byAlias = madeToken(await server.ask('POST', 'auth/token/create/r', named, { in: 'w1', as: above }))
  assert.ok((await entityOf(server, byAlias.text)).endsWith(ending), 'an alias is one of the namespace')
})

test('a token of a disabled entity is none in any namespace', async () => {
  const server = await startNamespacedServer(['w1', 'w1/in'])
  const token = await loggedIn(server, { in: 'w1' })
  const id = await entityOf(server, token)
  assert.equal(await server.status('POST', `identity/entity/id/${id}`, { disabled: true }, { in: 'w1' }), 204)
  for (const where of ['', 'w1', 'w1/in'])
    assert.equal(await server.status('GET', 'auth/token/lookup-self', undefined, { in: where, as: token }), 403)
  assert.equal(await server.status('POST', `identity/entity/id/${id}`, { disabled: false }, { in: 'w1' }), 204)
  assert.equal(await isAlive(server, token), true)
})

test('a token asks about itself from outside while its namespace is locked, and lives on behind the lock', async () => {
  const server = await startNamespacedServer(['w1', 'w2'])
  const { text: as } = await server.token({ in: 'w1' }, { ttl: '1h' })
  const { body } = await server.ask('POST', 'sys/namespaces/api-lock/lock/w1', {})
  for (const where of ['', 'w2']) {
    assert.equal(await server.status('GET', 'auth/token/lookup-self', undefined, { in: where, as }), 200)
    assert.equal(await server.status('POST', 'auth/token/renew-self', {}, { in: where, as }), 200)
  }
  assert.equal(await server.status('GET', 'auth/token/lookup-self', undefined, { in: 'w1', as }), 503)
  server.advance(3_601)
  await server.node.expiry.runNow()
  const key = { unlock_key: body.data?.unlock_key }
  assert.equal(await server.status('POST', 'sys/namespaces/api-lock/unlock/w1', key), 204)
  assert.equal(await server.node.tokens.entryOf(server.node.tokens.idOf(as)), undefined)
})
