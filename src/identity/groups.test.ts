import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type IdentityServer, startIdentityServer } from '../../test/fixtures/identity-server.ts'
import { ROOT } from '../api/namespace.ts'
import { MAX_NESTING } from './group-nesting.ts'

const make = async (server: IdentityServer, name: string, given: object = {}): Promise<string> =>
  String((await server.ask('POST', 'identity/group', { name, policies: [`of-${name}`], ...given })).id)

const refused = async (server: IdentityServer, path: string, body: object): Promise<string> => {
  const answer = await server.call('POST', path, body)
  assert.equal(answer.status, 400, JSON.stringify(answer.body))
  return (answer.body.errors as string[]).join()
}

test('policies of groups reach their members, directly and from above, and leave them again', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  await server.ask('POST', `identity/entity/id/${id}`, { policies: ['own'] })
  const team = await make(server, 'team', { member_entity_ids: [id] })
  const staff = await make(server, 'staff', { member_group_ids: [team] })
  const all = await make(server, 'all', { member_group_ids: [staff, team] })
  assert.deepEqual(await server.policiesOf(id), ['of-all', 'of-staff', 'of-team', 'own'])
  const entity = await server.ask('GET', `identity/entity/id/${id}`)
  assert.deepEqual([entity.direct_group_ids, entity.inherited_group_ids], [[team], [all, staff].sort()])
  assert.deepEqual(entity.group_ids, [all, staff, team].sort())
  await server.ask('POST', `identity/group/id/${staff}`, { policies: ['other', 'of-team'] })
  assert.deepEqual(await server.policiesOf(id), ['of-all', 'of-team', 'other', 'own'])
  await server.ask('POST', `identity/group/id/${all}`, { member_group_ids: [staff] })
  assert.deepEqual(await server.policiesOf(id), ['of-all', 'of-team', 'other', 'own'])
  await server.ask('DELETE', `identity/group/id/${staff}`)
  assert.deepEqual(await server.policiesOf(id), ['of-team', 'own'])
  assert.equal((await server.ask('GET', `identity/group/id/${all}`)).member_group_ids, null)
  assert.equal((await server.ask('GET', `identity/group/id/${team}`)).parent_group_ids, null)
  await server.ask('POST', 'identity/group/name/team', { member_entity_ids: [] })
  assert.deepEqual(await server.policiesOf(id), ['own'])
})

test('a group changes with each write, and when another one takes it in or lets it go', async () => {
  const server = await startIdentityServer()
  const inner = await make(server, 'inner')
  const index = async (id: string) => (await server.ask('GET', `identity/group/id/${id}`)).modify_index
  assert.equal(await index(inner), 1)
  const outer = await make(server, 'outer', { member_group_ids: [inner] })
  assert.deepEqual([await index(inner), await index(outer)], [2, 1])
  await server.ask('POST', `identity/group/id/${outer}`, { member_group_ids: [inner] })
  assert.deepEqual([await index(inner), await index(outer)], [2, 2])
  await server.ask('POST', `identity/group/id/${outer}`, { member_group_ids: [] })
  assert.deepEqual([await index(inner), await index(outer)], [3, 3])
  await server.ask('POST', `identity/group/id/${outer}`, { member_group_ids: [inner] })
  await server.ask('DELETE', `identity/group/id/${outer}`)
  assert.equal(await index(inner), 5)
})

test('a group without metadata and without groups around it has null for them, without entities a list', async () => {
  const server = await startIdentityServer()
  const id = await make(server, 'a')
  const shown = await server.ask('GET', `identity/group/id/${id}`)
  assert.deepEqual([shown.metadata, shown.member_group_ids, shown.parent_group_ids], [null, null, null])
  assert.deepEqual(shown.member_entity_ids, [])
  await server.ask('POST', `identity/group/id/${id}`, { metadata: { a: 'b' } })
  await server.ask('POST', `identity/group/id/${id}`, { metadata: {} })
  assert.deepEqual(await server.ask('POST', 'identity/lookup/group', { id }), {
    ...(await server.ask('GET', `identity/group/id/${id}`)),
    metadata: null,
  })
})

test('a group shows its members, parents and alias', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const team = await make(server, 'Team', { member_entity_ids: [id], metadata: { a: 'b' } })
  const staff = await make(server, 'staff', { member_group_ids: [team] })
  const shown = await server.ask('GET', 'identity/group/name/team')
  assert.deepEqual(
    [shown.id, shown.name, shown.type, shown.policies, shown.metadata, shown.alias],
    [team, 'Team', 'internal', ['of-team'], { a: 'b' }, {}],
  )
  assert.deepEqual([shown.member_entity_ids, shown.parent_group_ids], [[id], [staff]])
  assert.deepEqual(await server.ask('GET', `identity/group/id/${team}`), shown)
  assert.deepEqual(await server.ask('POST', 'identity/lookup/group', { name: 'TEAM' }), shown)
  const { keys, key_info: info } = await server.ask('LIST', 'identity/group/id')
  assert.deepEqual(keys, [team, staff].sort())
  assert.deepEqual((info as Record<string, unknown>)[team], {
    name: 'Team',
    num_member_entities: 1,
    num_parent_groups: 1,
  })
  assert.deepEqual((await server.ask('LIST', 'identity/group/name')).keys, ['Team', 'staff'])
  await server.ask('DELETE', `identity/entity/id/${id}`)
  assert.deepEqual((await server.ask('GET', `identity/group/id/${team}`)).member_entity_ids, [])
})

test('groups in a circle are refused, however long it is', async () => {
  const server = await startIdentityServer()
  const a = await make(server, 'a')
  const b = await make(server, 'b', { member_group_ids: [a] })
  const c = await make(server, 'c', { member_group_ids: [b] })
  for (const member of [a, b, c]) {
    assert.match(await refused(server, `identity/group/id/${a}`, { member_group_ids: [member] }), /circle/)
  }
})

test('of two writes that make a circle together, one is refused', async () => {
  const server = await startIdentityServer()
  for (let round = 0; round < 20; round++) {
    const [a, b] = [await make(server, `a${round}`), await make(server, `b${round}`)]
    const statuses = await Promise.all([
      server.call('POST', `identity/group/id/${a}`, { member_group_ids: [b] }),
      server.call('POST', `identity/group/id/${b}`, { member_group_ids: [a] }),
    ])
    assert.deepEqual(statuses.map(({ status }) => status).sort(), [200, 400])
  }
})

test(`groups are nested ${MAX_NESTING} levels deep and no deeper, from below and from above`, async () => {
  const server = await startIdentityServer()
  let top = await make(server, 'g1')
  const bottom = top
  for (let level = 2; level <= MAX_NESTING; level++) top = await make(server, `g${level}`, { member_group_ids: [top] })
  assert.match(await refused(server, 'identity/group', { member_group_ids: [top] }), /levels/)
  const below = await make(server, 'below')
  assert.match(await refused(server, `identity/group/id/${bottom}`, { member_group_ids: [below] }), /levels/)
  const id = await server.login('a')
  await server.ask('POST', `identity/group/id/${bottom}`, { member_entity_ids: [id] })
  assert.equal((await server.policiesOf(id))?.length, MAX_NESTING)
})

test('members of a group must exist, and those of an external one come from logins', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const unknown = '00000000-0000-4000-8000-000000000000'
  for (const member of [unknown, '', '../x']) {
    assert.match(await refused(server, 'identity/group', { member_entity_ids: [member] }), /"member_entity_ids"/)
    assert.match(await refused(server, 'identity/group', { member_group_ids: [member] }), /"member_group_ids"/)
  }
  const group = await make(server, 'g', { type: 'external', member_entity_ids: [], member_group_ids: [] })
  assert.match(await refused(server, `identity/group/id/${group}`, { member_entity_ids: [id] }), /"member_entity_ids"/)
  assert.match(await refused(server, `identity/group/id/${group}`, { type: 'internal' }), /"type"/)
  assert.match(await refused(server, 'identity/group', { type: 'other' }), /"type"/)
  const { accessor } = server.mount
  const internal = await make(server, 'i')
  const alias = { name: 'x', mount_accessor: accessor, canonical_id: internal }
  assert.match(await refused(server, 'identity/group-alias', alias), /"canonical_id"/)
})

test('a group alias is made, read, moved and removed, and its members go with it', async () => {
  const server = await startIdentityServer()
  const { accessor } = server.mount
  const [one, two] = [await make(server, 'one', { type: 'external' }), await make(server, 'two', { type: 'external' })]
  const alias = await server.ask('POST', 'identity/group-alias', {
    name: 'g',
    mount_accessor: accessor,
    canonical_id: one,
  })
  assert.equal(alias.canonical_id, one)
  const read = await server.ask('GET', `identity/group-alias/id/${alias.id}`)
  assert.deepEqual([read.name, read.mount_accessor, read.canonical_id], ['g', accessor, one])
  assert.deepEqual((await server.ask('GET', `identity/group/id/${one}`)).alias, read)
  const known = { alias_name: 'g', alias_mount_accessor: accessor }
  assert.equal((await server.ask('POST', 'identity/lookup/group', known)).id, one)
  const id = await server.login('a', { groups: ['g'] })
  assert.deepEqual(await server.policiesOf(id), ['of-one'])
  const second = { name: 'h', mount_accessor: accessor, canonical_id: one }
  assert.match(await refused(server, 'identity/group-alias', second), /"canonical_id"/)
  await server.ask('POST', `identity/group-alias/id/${alias.id}`, { canonical_id: two })
  assert.deepEqual(await server.policiesOf(id), [])
  assert.deepEqual((await server.ask('GET', `identity/group/id/${one}`)).member_entity_ids, [])
  await server.login('a', { groups: ['g'] })
  assert.deepEqual(await server.policiesOf(id), ['of-two'])
  await server.ask('POST', `identity/group-alias/id/${alias.id}`, { name: 'renamed' })
  assert.deepEqual(await server.policiesOf(id), [])
  await server.login('a', { groups: ['g', 'renamed'] })
  assert.deepEqual(await server.policiesOf(id), ['of-two'])
  assert.deepEqual((await server.ask('LIST', 'identity/group-alias/id')).keys, [alias.id])
  await server.ask('DELETE', `identity/group-alias/id/${alias.id}`)
  assert.deepEqual(await server.policiesOf(id), [])
  assert.equal((await server.call('GET', `identity/group-alias/id/${alias.id}`)).status, 404)
  const fresh = await server.ask('POST', 'identity/group-alias', { name: 'fresh', mount_accessor: accessor })
  assert.equal((await server.ask('GET', `identity/group/id/${fresh.canonical_id}`)).type, 'external')
})

test('a login at one mount of an entity keeps the groups that a login at its other mount gave', async () => {
  const server = await startIdentityServer()
  await server.ask('POST', 'sys/auth/second', { type: 'userpass' })
  const second = server.node.mounts.find(ROOT, 'auth/second/')
  assert.ok(second !== undefined)
  const id = await server.login('a')
  await server.ask('POST', 'identity/entity-alias', { name: 'a', mount_accessor: second.accessor, canonical_id: id })
  for (const { accessor } of [server.mount, second])
    for (const name of ['g', 'h'])
      await server.ask('POST', 'identity/group-alias', {
        name,
        mount_accessor: accessor,
        canonical_id: await make(server, `${name}-${accessor}`, { type: 'external' }),
      })
  const [mine, other] = [server.mount.accessor, second.accessor]
  const logIn = async (mount: typeof second, groups: readonly string[]) => {
    assert.equal(await server.login('a', { mount, groups }), id)
    return server.policiesOf(id)
  }
  const sorted = (...names: readonly string[]) => names.map((name) => `of-${name}`).sort()
  assert.deepEqual(await logIn(server.mount, ['g']), sorted(`g-${mine}`))
  assert.deepEqual(await logIn(second, ['g', 'h']), sorted(`g-${mine}`, `g-${other}`, `h-${other}`))
  // Each mount ends only the memberships that its own logins gave.
  assert.deepEqual(await logIn(server.mount, ['h']), sorted(`h-${mine}`, `g-${other}`, `h-${other}`))
  assert.deepEqual(await logIn(server.mount, []), sorted(`g-${other}`, `h-${other}`))
  assert.deepEqual(await logIn(second, ['h']), sorted(`h-${other}`))
})

test('an external group that is removed leaves nothing of its members behind', async () => {
  const server = await startIdentityServer()
  const group = await make(server, 'g', { type: 'external' })
  const alias = { name: 'g', mount_accessor: server.mount.accessor, canonical_id: group }
  await server.ask('POST', 'identity/group-alias', alias)
  const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => server.login(`caller-${i}`, { groups: ['g'] })))
  await server.ask('DELETE', `identity/group/id/${group}`)
  for (const id of ids) assert.deepEqual(await server.policiesOf(id), [])
  assert.deepEqual(await server.store.list('root/sys/identity/group-entity/'), [])
  assert.deepEqual(await server.store.list('root/sys/identity/entity-group/'), [])
  assert.deepEqual(await server.store.list('root/sys/identity/group-alias/'), [])
  assert.equal((await server.call('LIST', 'identity/group/name')).status, 404)
})
