import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import {
  cutBetweenHalves,
  type IdentityServer,
  keysOf,
  viewOf,
  withLoginGroup,
} from '../../test/fixtures/identity-server.ts'
import { aliasOfEntity, CHANGES_OF_ALIASES } from '../../test/fixtures/login-groups.ts'
import { ALIAS } from './entries.ts'

for (const { name, change, isDone } of CHANGES_OF_ALIASES) {
  test(`F8: an alias that was ${name} gives no groups of before, if the second half is missing`, async () => {
    const { server, id } = await withLoginGroup()
    const other = await server.login('bob')
    await cutBetweenHalves(server, () => change(server, id, other))
    assert.ok(await isDone(server, id))
    assert.equal((await keysOf(server, 'local-identity/')).length, 2, 'it was cut')
    assert.deepEqual(await server.policiesOf(id), [])
    await server.node.aliasSweep.runNow()
    assert.deepEqual(await keysOf(server, 'local-identity/'), [])
  })

  test(`F8: an alias that was ${name} gives groups again by its next login`, async () => {
    const { server, id } = await withLoginGroup()
    const other = await server.login('bob')
    await change(server, id, other)
    assert.deepEqual(await keysOf(server, 'local-identity/'), [])
    const alias = await aliasOfEntity(server, id)
    assert.equal(await server.login(String(alias?.name), { groups: ['staff'] }), id)
    assert.deepEqual(await server.policiesOf(id), ['p'])
  })
}

test('F8: an alias that gets other metadata keeps the groups that its login gave', async () => {
  const { server, id, alias } = await withLoginGroup()
  await server.ask('POST', `identity/entity-alias/id/${alias}`, { custom_metadata: { a: 'b' } })
  assert.deepEqual(await server.policiesOf(id), ['p'])
})

test('F8: a login that was renamed between its halves gives no groups', async () => {
  const { server, id, alias } = await withLoginGroup()
  const { identities } = server.node
  const login = { name: 'ann', metadata: {} }
  const known = await identities.ensureEntity(server.mount, login)
  await server.ask('POST', `identity/entity-alias/id/${alias}`, { name: 'new' })
  await identities.bindLogin(server.mount, { ...login, ...known, groups: ['staff'] })
  assert.deepEqual(await server.policiesOf(id), [])
})

/** Stores alias and membership as releases did whose aliases had no stamp. */
async function asBeforeStamps(server: IdentityServer, id: string): Promise<void> {
  const entries = await keysOf(server, 'identity/alias/')
  const memberships = await keysOf(server, 'local-identity/')
  const path = (key: string): string => key.slice('root/sys/'.length)
  const view = viewOf(server)
  await view.transaction(async (tx) => {
    for (const key of entries) {
      const { stamp, ...alias } = ALIAS.decode((await tx.get(path(key))) as Buffer)
      assert.match(String(stamp), /^[0-9a-f]{8}$/)
      tx.put(path(key), ALIAS.encode(alias))
    }
  })
  await view.transaction(async (tx) => {
    for (const key of memberships) {
      tx.delete(path(key))
      tx.put(path(key).replace(/\.[0-9a-f]{8}\./, '.'), Buffer.alloc(0))
    }
  })
  const left = await keysOf(server, 'local-identity/')
  assert.match(String(left[0]), new RegExp(`/entity-group/${id}/[0-9a-f]{8}\\.[0-9a-f-]{36}$`))
  assert.equal(left.length, memberships.length)
}

test('F8: what was stored before aliases had stamps goes on to count, and logins confirm it', async () => {
  const { server, id } = await withLoginGroup()
  await asBeforeStamps(server, id)
  assert.deepEqual(await server.policiesOf(id), ['p'])
  await server.node.aliasSweep.runNow()
  const before = await server.store.lastIndex()
  await server.login('ann', { groups: ['staff'] })
  assert.equal(await server.store.lastIndex(), before)
  await server.login('ann')
  assert.deepEqual(await server.policiesOf(id), [])
})

for (const { name, change } of CHANGES_OF_ALIASES) {
  test(`F8: an alias without a stamp that was ${name} gives no groups of before either`, async () => {
    const { server, id } = await withLoginGroup()
    const other = await server.login('bob')
    await asBeforeStamps(server, id)
    await cutBetweenHalves(server, () => change(server, id, other))
    assert.deepEqual(await server.policiesOf(id), [])
  })
}
