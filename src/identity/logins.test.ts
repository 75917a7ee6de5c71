import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { otherMount, startIdentityServer } from '../../test/fixtures/identity-server.ts'

test('a login makes its entity once, with a name of its own and the alias', async () => {
  const server = await startIdentityServer()
  const id = await server.login('oid-1', { metadata: { tenant: 't' } })
  assert.equal(await server.login('oid-1', { metadata: { tenant: 't' } }), id)
  const entity = await server.ask('GET', `identity/entity/id/${id}`)
  assert.match(String(entity.name), /^entity_[0-9a-f]{8}$/)
  const [alias] = entity.aliases as Record<string, unknown>[]
  assert.deepEqual(
    [alias?.name, alias?.mount_accessor, alias?.mount_path, alias?.mount_type, alias?.canonical_id, alias?.metadata],
    ['oid-1', server.mount.accessor, 'auth/token/', 'token', id, { tenant: 't' }],
  )
})

test('an alias that a login made has no metadata of operators, until one of them writes it', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const shown = async () => {
    const { metadata, aliases } = await server.ask('GET', `identity/entity/id/${id}`)
    const [alias] = aliases as Record<string, unknown>[]
    return { metadata, alias: String(alias?.id), of: [alias?.metadata, alias?.custom_metadata] }
  }
  const { metadata, alias, of } = await shown()
  assert.deepEqual([metadata, of], [null, [null, null]])
  await server.login('a', { metadata: { b: 'c' } })
  assert.deepEqual((await shown()).of, [{ b: 'c' }, null])
  await server.ask('POST', `identity/entity-alias/id/${alias}`, { name: 'a' })
  assert.deepEqual((await shown()).of, [{ b: 'c' }, {}])
  const body = { name: 'b', mount_accessor: server.mount.accessor }
  const { id: made } = await server.ask('POST', 'identity/entity-alias', body)
  const read = await server.ask('GET', `identity/entity-alias/id/${made}`)
  assert.deepEqual([read.metadata, read.custom_metadata], [null, {}])
  await server.login('b', { metadata: { b: 'c' } })
  assert.deepEqual((await server.ask('GET', `identity/entity-alias/id/${made}`)).custom_metadata, {})
})

test('concurrent first logins of one caller give one entity', async () => {
  const server = await startIdentityServer()
  const ids = await Promise.all(Array.from({ length: 50 }, (_, i) => server.login(`caller-${i % 2}`)))
  assert.equal(new Set(ids).size, 2)
  assert.equal(((await server.ask('LIST', 'identity/entity/id')).keys as string[]).length, 2)
})

test('a login that changes nothing writes nothing', async () => {
  const server = await startIdentityServer()
  await server.login('a', { metadata: { b: 'c' } })
  const before = await server.store.lastIndex()
  await server.login('a', { metadata: { b: 'c' } })
  assert.equal(await server.store.lastIndex(), before)
  await server.login('a', { metadata: { b: 'd' } })
  assert.equal(await server.store.lastIndex(), before + 1)
})

test('who is disabled has no capability, by token, by accessor and by explanation', async () => {
  const server = await startIdentityServer()
  await server.ask('POST', 'sys/policies/acl/own', { policy: 'path "transit/keys/a" { capabilities = ["read"] }' })
  await server.ask('POST', 'sys/policies/acl/more', { policy: 'path "transit/keys/b" { capabilities = ["read"] }' })
  const id = await server.login('ann')
  const token = await server.tokenOf(id, ['default', 'own'])
  const { accessor } = await server.ask('POST', 'auth/token/lookup', { token })
  await server.ask('POST', `identity/entity/id/${id}`, { policies: ['more'] })
  const paths = ['transit/keys/a', 'transit/keys/b', 'auth/token/lookup-self']
  const granted = async () => {
    const [byToken, byAccessor] = [
      await server.call('POST', 'sys/capabilities', { paths, token }),
      await server.call('POST', 'sys/capabilities-accessor', { paths, accessor }),
    ]
    assert.deepEqual([byToken.status, byAccessor.status], [200, 200])
    const request = { token, path: paths[0], operation: 'read' }
    const explained = await server.call('POST', 'sys/policies/explain', request)
    const listed = paths.map((path) => byToken.body.data?.[path])
    assert.deepEqual(
      paths.map((path) => byAccessor.body.data?.[path]),
      listed,
    )
    return [...listed, explained.body.data?.allowed]
  }
  assert.deepEqual(await granted(), [['read'], ['read'], ['read'], true])
  await server.ask('POST', `identity/entity/id/${id}`, { disabled: true })
  assert.deepEqual(await granted(), [['deny'], ['deny'], ['deny'], false])
})

test('a disabled entity cannot log in, and its tokens have no access', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const token = await server.tokenOf(id)
  const status = async () => (await server.call('GET', 'auth/token/lookup-self', undefined, token)).status
  assert.equal(await status(), 200)
  await server.ask('POST', `identity/entity/id/${id}`, { disabled: true })
  assert.equal(await status(), 403)
  await assert.rejects(server.login('a'), { code: 'permission_denied' })
  await server.ask('POST', `identity/entity/id/${id}`, { disabled: false })
  assert.equal(await status(), 200)
})

test('tokens of a removed entity have no access; who logs in again is another entity', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const token = await server.tokenOf(id)
  await server.ask('DELETE', `identity/entity/id/${id}`)
  assert.equal((await server.call('GET', 'auth/token/lookup-self', undefined, token)).status, 403)
  assert.notEqual(await server.login('a'), id)
})

test('entity_id is in the look-up of its token', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const { body } = await server.call('GET', 'auth/token/lookup-self', undefined, await server.tokenOf(id))
  assert.equal(body.data?.entity_id, id)
})

test('I-03: the same name at another mount is another entity', async () => {
  const server = await startIdentityServer()
  const other = otherMount(server.mount, 'other_00000001')
  const [one, two] = [await server.login('a'), await server.login('a', { mount: other, metadata: { from: 'other' } })]
  assert.notEqual(one, two)
  const { aliases } = await server.ask('GET', `identity/entity/id/${one}`)
  assert.equal((aliases as Record<string, unknown>[])[0]?.metadata, null)
})

test('I-05: names that differ in case, blanks or form are different callers', async () => {
  const server = await startIdentityServer()
  const names = [
    'bob',
    'Bob',
    'BOB',
    ' bob',
    'bob ',
    'bo\u0300b',
    'b\u00f2b',
    'bob/',
    'bob%2f',
    '..',
    '.',
    'a/b',
    'b'.repeat(1024),
  ]
  const ids = await Promise.all(names.map((name) => server.login(name)))
  assert.equal(new Set(ids).size, names.length)
  for (const [at, name] of names.entries()) {
    const known = { alias_name: name, alias_mount_accessor: server.mount.accessor }
    assert.equal((await server.ask('POST', 'identity/lookup/entity', known)).id, ids[at], name)
  }
  await assert.rejects(server.login(''), { code: 'field_invalid' })
  await assert.rejects(server.login('b'.repeat(1025)), { code: 'field_invalid' })
  await assert.rejects(server.login('\ud800'), { code: 'field_invalid' })
})

test('I-04: a login sets the external groups of its mount, and no others', async () => {
  const server = await startIdentityServer()
  const other = otherMount(server.mount, 'other_00000001')
  const group = async (name: string) => {
    const { id } = await server.ask('POST', 'identity/group', { name, type: 'external', policies: [`of-${name}`] })
    await server.ask('POST', 'identity/group-alias', {
      name: `${name}-at-mount`,
      mount_accessor: server.mount.accessor,
      canonical_id: id,
    })
  }
  await group('red')
  await group('blue')
  const { id: staff } = await server.ask('POST', 'identity/group', { name: 'staff', policies: ['of-staff'] })
  const id = await server.login('a', { groups: ['red-at-mount', 'unknown', 'Blue-At-Mount', 'red-at-mount'] })
  await server.ask('POST', `identity/group/id/${staff}`, { member_entity_ids: [id] })
  assert.deepEqual(await server.policiesOf(id), ['of-red', 'of-staff'])
  await server.login('a', { groups: ['blue-at-mount'] })
  assert.deepEqual(await server.policiesOf(id), ['of-blue', 'of-staff'])
  // A name at one mount says nothing about the group of the same name at another.
  assert.deepEqual(await server.policiesOf(await server.login('b', { mount: other, groups: ['red-at-mount'] })), [])
  const before = await server.store.lastIndex()
  await server.login('a', { groups: ['blue-at-mount'] })
  assert.equal(await server.store.lastIndex(), before)
  await server.node.identities.groupsOfLogin(server.mount, id, [])
  assert.deepEqual(await server.policiesOf(id), ['of-staff'])
})

test('aliases and memberships of a local mount are stored in the local class', async () => {
  const server = await startIdentityServer()
  const classes = new Set<string>()
  server.store.onCommit(({ operations }) => {
    for (const { key, class: storageClass } of operations) {
      if (key.includes('/alias')) classes.add(storageClass)
    }
  })
  const local = otherMount(server.mount, 'local_00000001', true)
  const id = await server.login('a', { mount: local })
  assert.deepEqual([...classes], ['local'])
  assert.equal(await server.login('a', { mount: local }), id)
  const { aliases } = await server.ask('GET', `identity/entity/id/${id}`)
  assert.equal((aliases as Record<string, unknown>[])[0]?.local, true)
  await server.node.identities.removeMount(local)
  assert.deepEqual((await server.ask('GET', `identity/entity/id/${id}`)).aliases, [])
})

test('a mount that is removed takes its aliases and its memberships along, and nobody else', async () => {
  const server = await startIdentityServer()
  const other = otherMount(server.mount, 'other_00000001')
  const { id: group } = await server.ask('POST', 'identity/group', { type: 'external', policies: ['p'] })
  const alias = { name: 'g', mount_accessor: server.mount.accessor, canonical_id: group }
  await server.ask('POST', 'identity/group-alias', alias)
  const ids = await Promise.all(Array.from({ length: 450 }, (_, i) => server.login(`caller-${i}`, { groups: ['g'] })))
  const stays = await server.login('caller-0', { mount: other })
  assert.equal(((await server.ask('GET', `identity/group/id/${group}`)).member_entity_ids as string[]).length, 450)
  await server.node.identities.removeMount(server.mount)
  assert.deepEqual(await server.policiesOf(ids[7] as string), [])
  const { keys } = await server.ask('LIST', 'identity/entity-alias/id')
  assert.equal((keys as string[]).length, 1)
  assert.equal(((await server.ask('GET', `identity/entity/id/${stays}`)).aliases as unknown[]).length, 1)
  const shown = await server.ask('GET', `identity/group/id/${group}`)
  assert.deepEqual([shown.member_entity_ids, shown.alias], [[], {}])
  assert.notEqual(await server.login('caller-3'), ids[3])
})
