import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { otherMount, startIdentityHouse } from '../../test/fixtures/identity-house.ts'

test('a login makes its entity once, with a name of its own and the alias', async () => {
  const house = await startIdentityHouse()
  const id = await house.login('oid-1', { metadata: { tenant: 't' } })
  assert.equal(await house.login('oid-1', { metadata: { tenant: 't' } }), id)
  const entity = await house.ask('GET', `identity/entity/id/${id}`)
  assert.match(String(entity.name), /^entity_[0-9a-f]{8}$/)
  const [alias] = entity.aliases as Record<string, unknown>[]
  assert.deepEqual(
    [alias?.name, alias?.mount_accessor, alias?.mount_path, alias?.mount_type, alias?.canonical_id, alias?.metadata],
    ['oid-1', house.mount.accessor, 'auth/token/', 'token', id, { tenant: 't' }],
  )
})

test('concurrent first logins of one caller give one entity', async () => {
  const house = await startIdentityHouse()
  const ids = await Promise.all(Array.from({ length: 50 }, (_, i) => house.login(`caller-${i % 2}`)))
  assert.equal(new Set(ids).size, 2)
  assert.equal(((await house.ask('LIST', 'identity/entity/id')).keys as string[]).length, 2)
})

test('a login that changes nothing writes nothing', async () => {
  const house = await startIdentityHouse()
  await house.login('a', { metadata: { b: 'c' } })
  const before = await house.store.lastIndex()
  await house.login('a', { metadata: { b: 'c' } })
  assert.equal(await house.store.lastIndex(), before)
  await house.login('a', { metadata: { b: 'd' } })
  assert.equal(await house.store.lastIndex(), before + 1)
})

test('who is disabled has no capability, by token, by accessor and by explanation', async () => {
  const house = await startIdentityHouse()
  await house.ask('POST', 'sys/policies/acl/own', { policy: 'path "transit/keys/a" { capabilities = ["read"] }' })
  await house.ask('POST', 'sys/policies/acl/more', { policy: 'path "transit/keys/b" { capabilities = ["read"] }' })
  const id = await house.login('ann')
  const token = await house.tokenOf(id, ['default', 'own'])
  const { accessor } = await house.ask('POST', 'auth/token/lookup', { token })
  await house.ask('POST', `identity/entity/id/${id}`, { policies: ['more'] })
  const paths = ['transit/keys/a', 'transit/keys/b', 'auth/token/lookup-self']
  const granted = async () => {
    const [byToken, byAccessor] = [
      await house.call('POST', 'sys/capabilities', { paths, token }),
      await house.call('POST', 'sys/capabilities-accessor', { paths, accessor }),
    ]
    assert.deepEqual([byToken.status, byAccessor.status], [200, 200])
    const request = { token, path: paths[0], operation: 'read' }
    const explained = await house.call('POST', 'sys/policies/explain', request)
    const listed = paths.map((path) => byToken.body.data?.[path])
    assert.deepEqual(
      paths.map((path) => byAccessor.body.data?.[path]),
      listed,
    )
    return [...listed, explained.body.data?.allowed]
  }
  assert.deepEqual(await granted(), [['read'], ['read'], ['read'], true])
  await house.ask('POST', `identity/entity/id/${id}`, { disabled: true })
  assert.deepEqual(await granted(), [['deny'], ['deny'], ['deny'], false])
})

test('a disabled entity cannot log in, and its tokens have no access', async () => {
  const house = await startIdentityHouse()
  const id = await house.login('a')
  const token = await house.tokenOf(id)
  const status = async () => (await house.call('GET', 'auth/token/lookup-self', undefined, token)).status
  assert.equal(await status(), 200)
  await house.ask('POST', `identity/entity/id/${id}`, { disabled: true })
  assert.equal(await status(), 403)
  await assert.rejects(house.login('a'), { code: 'permission_denied' })
  await house.ask('POST', `identity/entity/id/${id}`, { disabled: false })
  assert.equal(await status(), 200)
})

test('tokens of a removed entity have no access; who logs in again is another entity', async () => {
  const house = await startIdentityHouse()
  const id = await house.login('a')
  const token = await house.tokenOf(id)
  await house.ask('DELETE', `identity/entity/id/${id}`)
  assert.equal((await house.call('GET', 'auth/token/lookup-self', undefined, token)).status, 403)
  assert.notEqual(await house.login('a'), id)
})

test('entity_id is in the look-up of its token', async () => {
  const house = await startIdentityHouse()
  const id = await house.login('a')
  const { body } = await house.call('GET', 'auth/token/lookup-self', undefined, await house.tokenOf(id))
  assert.equal(body.data?.entity_id, id)
})

test('I-03: the same name at another mount is another entity', async () => {
  const house = await startIdentityHouse()
  const other = otherMount(house.mount, 'other_00000001')
  const [one, two] = [await house.login('a'), await house.login('a', { mount: other, metadata: { from: 'other' } })]
  assert.notEqual(one, two)
  const { aliases } = await house.ask('GET', `identity/entity/id/${one}`)
  assert.deepEqual((aliases as Record<string, unknown>[])[0]?.metadata, {})
})

test('I-05: names that differ in case, blanks or form are different callers', async () => {
  const house = await startIdentityHouse()
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
  const ids = await Promise.all(names.map((name) => house.login(name)))
  assert.equal(new Set(ids).size, names.length)
  for (const [at, name] of names.entries()) {
    const known = { alias_name: name, alias_mount_accessor: house.mount.accessor }
    assert.equal((await house.ask('POST', 'identity/lookup/entity', known)).id, ids[at], name)
  }
  await assert.rejects(house.login(''), { code: 'field_invalid' })
  await assert.rejects(house.login('b'.repeat(1025)), { code: 'field_invalid' })
  await assert.rejects(house.login('\ud800'), { code: 'field_invalid' })
})

test('I-04: a login sets the external groups of its mount, and no others', async () => {
  const house = await startIdentityHouse()
  const other = otherMount(house.mount, 'other_00000001')
  const group = async (name: string) => {
    const { id } = await house.ask('POST', 'identity/group', { name, type: 'external', policies: [`of-${name}`] })
    await house.ask('POST', 'identity/group-alias', {
      name: `${name}-at-mount`,
      mount_accessor: house.mount.accessor,
      canonical_id: id,
    })
  }
  await group('red')
  await group('blue')
  const { id: staff } = await house.ask('POST', 'identity/group', { name: 'staff', policies: ['of-staff'] })
  const id = await house.login('a', { groups: ['red-at-mount', 'unknown', 'Blue-At-Mount', 'red-at-mount'] })
  await house.ask('POST', `identity/group/id/${staff}`, { member_entity_ids: [id] })
  assert.deepEqual(await house.policiesOf(id), ['of-red', 'of-staff'])
  await house.login('a', { groups: ['blue-at-mount'] })
  assert.deepEqual(await house.policiesOf(id), ['of-blue', 'of-staff'])
  // A name at one mount says nothing about the group of the same name at another.
  assert.deepEqual(await house.policiesOf(await house.login('b', { mount: other, groups: ['red-at-mount'] })), [])
  const before = await house.store.lastIndex()
  await house.login('a', { groups: ['blue-at-mount'] })
  assert.equal(await house.store.lastIndex(), before)
  await house.house.identities.groupsOfLogin(house.mount, id, [])
  assert.deepEqual(await house.policiesOf(id), ['of-staff'])
})

test('aliases and memberships of a local mount are stored in the local class', async () => {
  const house = await startIdentityHouse()
  const classes = new Set<string>()
  house.store.onCommit(({ operations }) => {
    for (const { key, class: storageClass } of operations) {
      if (key.includes('/alias')) classes.add(storageClass)
    }
  })
  const local = otherMount(house.mount, 'local_00000001', true)
  const id = await house.login('a', { mount: local })
  assert.deepEqual([...classes], ['local'])
  assert.equal(await house.login('a', { mount: local }), id)
  const { aliases } = await house.ask('GET', `identity/entity/id/${id}`)
  assert.equal((aliases as Record<string, unknown>[])[0]?.local, true)
  await house.house.identities.removeMount(local)
  assert.deepEqual((await house.ask('GET', `identity/entity/id/${id}`)).aliases, [])
})

test('a mount that is removed takes its aliases and its memberships along, and nobody else', async () => {
  const house = await startIdentityHouse()
  const other = otherMount(house.mount, 'other_00000001')
  const { id: group } = await house.ask('POST', 'identity/group', { type: 'external', policies: ['p'] })
  const alias = { name: 'g', mount_accessor: house.mount.accessor, canonical_id: group }
  await house.ask('POST', 'identity/group-alias', alias)
  const ids = await Promise.all(Array.from({ length: 450 }, (_, i) => house.login(`caller-${i}`, { groups: ['g'] })))
  const stays = await house.login('caller-0', { mount: other })
  assert.equal(((await house.ask('GET', `identity/group/id/${group}`)).member_entity_ids as string[]).length, 450)
  await house.house.identities.removeMount(house.mount)
  assert.deepEqual(await house.policiesOf(ids[7] as string), [])
  const { keys } = await house.ask('LIST', 'identity/entity-alias/id')
  assert.equal((keys as string[]).length, 1)
  assert.equal(((await house.ask('GET', `identity/entity/id/${stays}`)).aliases as unknown[]).length, 1)
  const shown = await house.ask('GET', `identity/group/id/${group}`)
  assert.deepEqual([shown.member_entity_ids, shown.alias], [[], {}])
  assert.notEqual(await house.login('caller-3'), ids[3])
})
