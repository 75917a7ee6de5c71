import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type IdentityServer, otherMount, startIdentityServer } from '../../test/fixtures/identity-server.ts'
import { ROOT } from '../api/namespace.ts'

const errorsOf = async (server: IdentityServer, method: string, path: string, body?: unknown): Promise<string> => {
  const answer = await server.call(method, path, body)
  assert.equal(answer.status, 400, JSON.stringify(answer.body))
  return (answer.body.errors as string[]).join()
}

const UNKNOWN = '00000000-0000-4000-8000-000000000000'

test('an entity is made with 200, changed with 204, and read by id and by name', async () => {
  const server = await startIdentityServer()
  const made = await server.call('POST', 'identity/entity', { name: 'Bob', policies: 'b, A', metadata: { a: 'b' } })
  assert.equal(made.status, 200)
  const id = made.body.data?.id
  assert.deepEqual(made.body.data, { id, name: 'Bob', aliases: null })
  assert.equal((await server.call('POST', 'identity/entity', { name: 'bob', metadata: { c: 'd' } })).status, 204)
  const read = await server.ask('GET', `identity/entity/id/${id}`)
  assert.deepEqual([read.name, read.policies, read.metadata, read.disabled], ['Bob', ['a', 'b'], { c: 'd' }, false])
  assert.deepEqual(await server.ask('GET', 'identity/entity/name/Bob'), read)
  assert.deepEqual(await server.ask('GET', 'identity/entity/name/bOB'), read)
  assert.deepEqual(await server.ask('LIST', 'identity/entity/name'), { keys: ['Bob'] })
  assert.equal((await server.call('DELETE', 'identity/entity/name/bob')).status, 204)
  for (const path of [`identity/entity/id/${id}`, 'identity/entity/name/Bob']) {
    assert.equal((await server.call('GET', path)).status, 404)
  }
  assert.equal((await server.call('LIST', 'identity/entity/name')).status, 404)
  assert.equal((await server.call('DELETE', `identity/entity/id/${id}`)).status, 204)
})

test('an entity that is renamed gives its old name free, and cannot take that of another', async () => {
  const server = await startIdentityServer()
  const { id } = await server.ask('POST', 'identity/entity', { name: 'a' })
  await server.ask('POST', 'identity/entity', { name: 'b' })
  await server.ask('POST', `identity/entity/id/${id}`, { name: 'A' })
  assert.equal((await server.ask('GET', 'identity/entity/name/a')).name, 'A')
  assert.match(
    await errorsOf(server, 'POST', `identity/entity/id/${id}`, { name: 'B' }),
    /"name": another entity has it/,
  )
  await server.ask('POST', `identity/entity/id/${id}`, { name: 'c' })
  assert.notEqual((await server.ask('POST', 'identity/entity', { name: 'a' })).id, id)
})

test('names of any form are kept apart and found again', async () => {
  const server = await startIdentityServer()
  const names = ['a/b', 'a%2Fb', '.', '..', 'a b', '*', '+', '{{identity.entity.id}}', 'é', '#', 'x'.repeat(256)]
  for (const name of names) {
    const { id } = await server.ask('POST', 'identity/entity', { name })
    assert.equal((await server.ask('POST', 'identity/lookup/entity', { name })).id, id)
  }
  assert.deepEqual((await server.ask('LIST', 'identity/entity/name')).keys, [...names].sort())
  for (const name of ['a\nb', 'a\u0000', '\u0085', 'x'.repeat(257)]) {
    assert.match(await errorsOf(server, 'POST', 'identity/entity', { name }), /"name"/)
  }
})

test('I-01: no spelling of root is a policy of an entity or a group, on any route', async () => {
  const server = await startIdentityServer()
  const { id } = await server.ask('POST', 'identity/entity', { name: 'e' })
  const { id: group } = await server.ask('POST', 'identity/group', { name: 'g' })
  const paths = ['entity', `entity/id/${id}`, 'entity/name/n', 'group', `group/id/${group}`, 'group/name/n']
  for (const path of paths) {
    for (const name of [
      'root',
      'ROOT',
      'rOOt ',
      ' Root',
      '\troot',
      '\u00a0root',
      '\ufeffroot',
      'r\u212aoot',
      'ro\u043et',
    ]) {
      for (const policies of [[name], ['a', name]]) {
        assert.match(await errorsOf(server, 'POST', `identity/${path}`, { policies }), /polic/)
      }
    }
  }
})

test('an alias is made for an entity or with a new one, and one mount gives an entity one', async () => {
  const server = await startIdentityServer()
  const { accessor } = server.mount
  const { id } = await server.ask('POST', 'identity/entity', { name: 'e' })
  const given = { name: 'a', mount_accessor: accessor, canonical_id: id, custom_metadata: { k: 'v' } }
  const alias = await server.ask('POST', 'identity/entity-alias', given)
  assert.equal(alias.canonical_id, id)
  assert.deepEqual(await server.ask('POST', 'identity/entity-alias', given), alias)
  assert.equal(await server.login('a', { metadata: { from: 'login' } }), id)
  const read = await server.ask('GET', `identity/entity-alias/id/${alias.id}`)
  assert.deepEqual([read.custom_metadata, read.metadata], [{ k: 'v' }, { from: 'login' }])
  const fresh = await server.ask('POST', 'identity/entity-alias', { name: 'b', mount_accessor: accessor })
  assert.notEqual(fresh.canonical_id, id)
  assert.match(await errorsOf(server, 'POST', 'identity/entity-alias', { ...given, name: 'c' }), /"canonical_id"/)
  assert.match(await errorsOf(server, 'POST', `identity/entity-alias/id/${fresh.id}`, { name: 'a' }), /"name"/)
  assert.match(
    await errorsOf(server, 'POST', 'identity/entity-alias', { ...given, mount_accessor: 'no_such' }),
    /"mount_accessor"/,
  )
  const identity = server.node.mounts.find(ROOT, 'identity/')?.accessor
  assert.match(
    await errorsOf(server, 'POST', 'identity/entity-alias', { ...given, mount_accessor: identity }),
    /"mount_accessor"/,
  )
  assert.match(
    await errorsOf(server, 'POST', 'identity/entity-alias', {
      name: 'd',
      mount_accessor: accessor,
      canonical_id: UNKNOWN,
    }),
    /"canonical_id"/,
  )
  assert.match(await errorsOf(server, 'POST', 'identity/entity-alias', { name: 'd' }), /"mount_accessor"/)
  assert.match(await errorsOf(server, 'POST', 'identity/entity-alias', { mount_accessor: accessor }), /"name"/)
  const listed = await server.ask('LIST', 'identity/entity-alias/id')
  assert.deepEqual(new Set(listed.keys as string[]), new Set([alias.id, fresh.id]))
  await server.ask('DELETE', `identity/entity-alias/id/${alias.id}`)
  assert.equal((await server.call('GET', `identity/entity-alias/id/${alias.id}`)).status, 404)
  assert.notEqual(await server.login('a'), id)
})

test('I-04: an alias that is moved or renamed loses the groups that logins by it gave', async () => {
  const server = await startIdentityServer()
  const { id: group } = await server.ask('POST', 'identity/group', { type: 'external', policies: ['p'] })
  const { accessor } = server.mount
  await server.ask('POST', 'identity/group-alias', { name: 'g', mount_accessor: accessor, canonical_id: group })
  const id = await server.login('a', { groups: ['g'] })
  const known = { alias_name: 'a', alias_mount_accessor: accessor }
  const { aliases } = await server.ask('POST', 'identity/lookup/entity', known)
  const alias = (aliases as { id: string }[])[0]?.id
  await server.ask('POST', `identity/entity-alias/id/${alias}`, { custom_metadata: { a: 'b' } })
  assert.deepEqual(await server.policiesOf(id), ['p'])
  await server.ask('POST', `identity/entity-alias/id/${alias}`, { name: 'b' })
  assert.deepEqual(await server.policiesOf(id), [])
  await server.login('b', { groups: ['g'] })
  const { id: other } = await server.ask('POST', 'identity/entity', { name: 'other' })
  await server.ask('POST', `identity/entity-alias/id/${alias}`, { canonical_id: other })
  assert.deepEqual([await server.policiesOf(id), await server.policiesOf(other as string)], [[], []])
  assert.equal(await server.login('b', { groups: ['g'] }), other)
  assert.deepEqual(await server.policiesOf(other as string), ['p'])
})

test('I-02: a merge moves aliases and no rights, and the merged tokens have no access', async () => {
  const server = await startIdentityServer()
  const other = otherMount(server.mount, 'other_00000001')
  const [into, from] = [await server.login('a'), await server.login('b', { mount: other })]
  await server.ask('POST', `identity/entity/id/${from}`, { policies: ['strong'], metadata: { a: 'b' } })
  await server.ask('POST', 'identity/group', { policies: ['of-group'], member_entity_ids: [from] })
  const token = await server.tokenOf(from)
  await server.ask('POST', 'identity/entity/merge', { to_entity_id: into, from_entity_ids: [from] })
  const merged = await server.ask('GET', `identity/entity/id/${into}`)
  assert.deepEqual([merged.policies, merged.metadata, merged.group_ids], [[], null, []])
  assert.deepEqual(merged.merged_entity_ids, [from])
  assert.equal((merged.aliases as unknown[]).length, 2)
  assert.equal((await server.call('GET', 'auth/token/lookup-self', undefined, token)).status, 403)
  assert.equal(await server.login('b', { mount: other }), into)
})

test('I-02: aliases at the same mount are merged only where one is named, disabled entities not at all', async () => {
  const server = await startIdentityServer()
  const [into, from] = [await server.login('a'), await server.login('b')]
  const merge = { to_entity_id: into, from_entity_ids: [from] }
  assert.match(await errorsOf(server, 'POST', 'identity/entity/merge', merge), /"conflicting_alias_ids_to_keep"/)
  const { aliases } = await server.ask('GET', `identity/entity/id/${from}`)
  const keep = { conflicting_alias_ids_to_keep: [(aliases as { id: string }[])[0]?.id] }
  await server.ask('POST', `identity/entity/id/${from}`, { disabled: true })
  assert.match(await errorsOf(server, 'POST', 'identity/entity/merge', { ...merge, ...keep }), /"from_entity_ids"/)
  await server.ask('POST', `identity/entity/id/${from}`, { disabled: false })
  assert.match(
    await errorsOf(server, 'POST', 'identity/entity/merge', { to_entity_id: into, from_entity_ids: [into] }),
    /"from_entity_ids"/,
  )
  assert.match(
    await errorsOf(server, 'POST', 'identity/entity/merge', { to_entity_id: into, from_entity_ids: [UNKNOWN] }),
    /"from_entity_ids"/,
  )
  await server.ask('POST', 'identity/entity/merge', { ...merge, ...keep })
  assert.equal(await server.login('b'), into)
  assert.notEqual(await server.login('a'), into)
})

test('I-02: merging needs sudo', async () => {
  const server = await startIdentityServer()
  await server.ask('POST', 'sys/policies/acl/identity', {
    policy: 'path "identity/*" { capabilities = ["create", "read", "update", "delete", "list"] }',
  })
  const [into, from] = [await server.login('a'), await server.login('b')]
  const token = await server.tokenOf(into, ['identity'])
  assert.equal((await server.call('GET', `identity/entity/id/${from}`, undefined, token)).status, 200)
  const merge = { to_entity_id: into, from_entity_ids: [from] }
  assert.equal((await server.call('POST', 'identity/entity/merge', merge, token)).status, 403)
})

test('many entities are removed at once', async () => {
  const server = await startIdentityServer()
  const ids = await Promise.all(['a', 'b', 'c'].map((name) => server.login(name)))
  await server.ask('POST', 'identity/entity/batch-delete', { entity_ids: [ids[0], ids[1], UNKNOWN, 'none'] })
  assert.deepEqual((await server.ask('LIST', 'identity/entity/id')).keys, [ids[2]])
})

test('look-ups find an entity by whatever is known, and answer 204 where there is none', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const entity = await server.ask('GET', `identity/entity/id/${id}`)
  const alias = (entity.aliases as { id: string }[])[0]?.id
  const known = { alias_name: 'a', alias_mount_accessor: server.mount.accessor }
  for (const way of [{ id }, { name: entity.name }, { alias_id: alias }, known]) {
    assert.deepEqual(await server.ask('POST', 'identity/lookup/entity', way), entity)
  }
  const nothing = [
    { id: UNKNOWN },
    { id: '../../x' },
    { name: 'none' },
    { alias_id: UNKNOWN },
    { ...known, alias_name: 'none' },
    { ...known, alias_mount_accessor: 'none' },
    { ...known, alias_mount_accessor: '../..' },
  ]
  for (const way of nothing) {
    for (const thing of ['entity', 'group']) {
      assert.equal((await server.call('POST', `identity/lookup/${thing}`, way)).status, 204, JSON.stringify(way))
    }
  }
  for (const way of [{}, { id, name: 'a' }, { alias_name: 'a' }, { alias_mount_accessor: 'a' }]) {
    await errorsOf(server, 'POST', 'identity/lookup/entity', way)
  }
})

test('what is not offered is like any other unknown path', async () => {
  const server = await startIdentityServer()
  for (const path of ['identity/oidc/key/a', 'identity/mfa/method/totp', 'identity/persona']) {
    assert.equal((await server.call('GET', path)).status, 404, path)
  }
})

test('I-08: everything is there after a restart', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const { id: group } = await server.ask('POST', 'identity/group', { policies: ['p'], member_entity_ids: [id] })
  const paths = [`identity/entity/id/${id}`, `identity/group/id/${group}`]
  const before = await Promise.all(paths.map((path) => server.ask('GET', path)))
  const again = await startIdentityServer({ store: server.store, key: server.shares[0] as Buffer })
  assert.deepEqual(await Promise.all(paths.map((path) => again.ask('GET', path))), before)
  assert.deepEqual(await again.policiesOf(id), ['p'])
  assert.equal(await again.login('a'), id)
})
