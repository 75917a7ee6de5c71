import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type IdentityHouse, startIdentityHouse } from '../../test/fixtures/identity-house.ts'
import { MAX_NESTING } from './group-nesting.ts'

const make = async (house: IdentityHouse, name: string, given: object = {}): Promise<string> =>
  String((await house.ask('POST', 'identity/group', { name, policies: [`of-${name}`], ...given })).id)

const refused = async (house: IdentityHouse, path: string, body: object): Promise<string> => {
  const answer = await house.call('POST', path, body)
  assert.equal(answer.status, 400, JSON.stringify(answer.body))
  return (answer.body.errors as string[]).join()
}

test('policies of groups reach their members, directly and from above, and leave them again', async () => {
  const house = await startIdentityHouse()
  const id = await house.login('a')
  await house.ask('POST', `identity/entity/id/${id}`, { policies: ['own'] })
  const team = await make(house, 'team', { member_entity_ids: [id] })
  const staff = await make(house, 'staff', { member_group_ids: [team] })
  const all = await make(house, 'all', { member_group_ids: [staff, team] })
  assert.deepEqual(await house.policiesOf(id), ['of-all', 'of-staff', 'of-team', 'own'])
  const entity = await house.ask('GET', `identity/entity/id/${id}`)
  assert.deepEqual([entity.direct_group_ids, entity.inherited_group_ids], [[team], [all, staff].sort()])
  assert.deepEqual(entity.group_ids, [all, staff, team].sort())
  await house.ask('POST', `identity/group/id/${staff}`, { policies: ['other', 'of-team'] })
  assert.deepEqual(await house.policiesOf(id), ['of-all', 'of-team', 'other', 'own'])
  await house.ask('POST', `identity/group/id/${all}`, { member_group_ids: [staff] })
  assert.deepEqual(await house.policiesOf(id), ['of-all', 'of-team', 'other', 'own'])
  await house.ask('DELETE', `identity/group/id/${staff}`)
  assert.deepEqual(await house.policiesOf(id), ['of-team', 'own'])
  assert.deepEqual((await house.ask('GET', `identity/group/id/${all}`)).member_group_ids, [])
  assert.deepEqual((await house.ask('GET', `identity/group/id/${team}`)).parent_group_ids, [])
  await house.ask('POST', 'identity/group/name/team', { member_entity_ids: [] })
  assert.deepEqual(await house.policiesOf(id), ['own'])
})

test('a group shows its members, parents and alias', async () => {
  const house = await startIdentityHouse()
  const id = await house.login('a')
  const team = await make(house, 'Team', { member_entity_ids: [id], metadata: { a: 'b' } })
  const staff = await make(house, 'staff', { member_group_ids: [team] })
  const shown = await house.ask('GET', 'identity/group/name/team')
  assert.deepEqual(
    [shown.id, shown.name, shown.type, shown.policies, shown.metadata, shown.alias],
    [team, 'Team', 'internal', ['of-team'], { a: 'b' }, {}],
  )
  assert.deepEqual([shown.member_entity_ids, shown.parent_group_ids], [[id], [staff]])
  assert.deepEqual(await house.ask('GET', `identity/group/id/${team}`), shown)
  assert.deepEqual(await house.ask('POST', 'identity/lookup/group', { name: 'TEAM' }), shown)
  const { keys, key_info: info } = await house.ask('LIST', 'identity/group/id')
  assert.deepEqual(keys, [team, staff].sort())
  assert.deepEqual((info as Record<string, unknown>)[team], {
    name: 'Team',
    num_member_entities: 1,
    num_parent_groups: 1,
  })
  assert.deepEqual((await house.ask('LIST', 'identity/group/name')).keys, ['Team', 'staff'])
  await house.ask('DELETE', `identity/entity/id/${id}`)
  assert.deepEqual((await house.ask('GET', `identity/group/id/${team}`)).member_entity_ids, [])
})

test('groups in a circle are refused, however long it is', async () => {
  const house = await startIdentityHouse()
  const a = await make(house, 'a')
  const b = await make(house, 'b', { member_group_ids: [a] })
  const c = await make(house, 'c', { member_group_ids: [b] })
  for (const member of [a, b, c]) {
    assert.match(await refused(house, `identity/group/id/${a}`, { member_group_ids: [member] }), /circle/)
  }
})

test('of two writes that make a circle together, one is refused', async () => {
  const house = await startIdentityHouse()
  for (let round = 0; round < 20; round++) {
    const [a, b] = [await make(house, `a${round}`), await make(house, `b${round}`)]
    const statuses = await Promise.all([
      house.call('POST', `identity/group/id/${a}`, { member_group_ids: [b] }),
      house.call('POST', `identity/group/id/${b}`, { member_group_ids: [a] }),
    ])
    assert.deepEqual(statuses.map(({ status }) => status).sort(), [200, 400])
  }
})

test(`groups are nested ${MAX_NESTING} levels deep and no deeper, from below and from above`, async () => {
  const house = await startIdentityHouse()
  let top = await make(house, 'g1')
  const bottom = top
  for (let level = 2; level <= MAX_NESTING; level++) top = await make(house, `g${level}`, { member_group_ids: [top] })
  assert.match(await refused(house, 'identity/group', { member_group_ids: [top] }), /levels/)
  const below = await make(house, 'below')
  assert.match(await refused(house, `identity/group/id/${bottom}`, { member_group_ids: [below] }), /levels/)
  const id = await house.login('a')
  await house.ask('POST', `identity/group/id/${bottom}`, { member_entity_ids: [id] })
  assert.equal((await house.policiesOf(id))?.length, MAX_NESTING)
})

test('members of a group must exist, and those of an external one come from logins', async () => {
  const house = await startIdentityHouse()
  const id = await house.login('a')
  const unknown = '00000000-0000-4000-8000-000000000000'
  for (const member of [unknown, '', '../x']) {
    assert.match(await refused(house, 'identity/group', { member_entity_ids: [member] }), /"member_entity_ids"/)
    assert.match(await refused(house, 'identity/group', { member_group_ids: [member] }), /"member_group_ids"/)
  }
  const group = await make(house, 'g', { type: 'external', member_entity_ids: [], member_group_ids: [] })
  assert.match(await refused(house, `identity/group/id/${group}`, { member_entity_ids: [id] }), /"member_entity_ids"/)
  assert.match(await refused(house, `identity/group/id/${group}`, { type: 'internal' }), /"type"/)
  assert.match(await refused(house, 'identity/group', { type: 'other' }), /"type"/)
  const { accessor } = house.mount
  const internal = await make(house, 'i')
  const alias = { name: 'x', mount_accessor: accessor, canonical_id: internal }
  assert.match(await refused(house, 'identity/group-alias', alias), /"canonical_id"/)
})

test('a group alias is made, read, moved and removed, and its members go with it', async () => {
  const house = await startIdentityHouse()
  const { accessor } = house.mount
  const [one, two] = [await make(house, 'one', { type: 'external' }), await make(house, 'two', { type: 'external' })]
  const alias = await house.ask('POST', 'identity/group-alias', {
    name: 'g',
    mount_accessor: accessor,
    canonical_id: one,
  })
  assert.equal(alias.canonical_id, one)
  const read = await house.ask('GET', `identity/group-alias/id/${alias.id}`)
  assert.deepEqual([read.name, read.mount_accessor, read.canonical_id], ['g', accessor, one])
  assert.deepEqual((await house.ask('GET', `identity/group/id/${one}`)).alias, read)
  const known = { alias_name: 'g', alias_mount_accessor: accessor }
  assert.equal((await house.ask('POST', 'identity/lookup/group', known)).id, one)
  const id = await house.login('a', { groups: ['g'] })
  assert.deepEqual(await house.policiesOf(id), ['of-one'])
  const second = { name: 'h', mount_accessor: accessor, canonical_id: one }
  assert.match(await refused(house, 'identity/group-alias', second), /"canonical_id"/)
  await house.ask('POST', `identity/group-alias/id/${alias.id}`, { canonical_id: two })
  assert.deepEqual(await house.policiesOf(id), [])
  assert.deepEqual((await house.ask('GET', `identity/group/id/${one}`)).member_entity_ids, [])
  await house.login('a', { groups: ['g'] })
  assert.deepEqual(await house.policiesOf(id), ['of-two'])
  await house.ask('POST', `identity/group-alias/id/${alias.id}`, { name: 'renamed' })
  assert.deepEqual(await house.policiesOf(id), [])
  await house.login('a', { groups: ['g', 'renamed'] })
  assert.deepEqual(await house.policiesOf(id), ['of-two'])
  assert.deepEqual((await house.ask('LIST', 'identity/group-alias/id')).keys, [alias.id])
  await house.ask('DELETE', `identity/group-alias/id/${alias.id}`)
  assert.deepEqual(await house.policiesOf(id), [])
  assert.equal((await house.call('GET', `identity/group-alias/id/${alias.id}`)).status, 404)
  const fresh = await house.ask('POST', 'identity/group-alias', { name: 'fresh', mount_accessor: accessor })
  assert.equal((await house.ask('GET', `identity/group/id/${fresh.canonical_id}`)).type, 'external')
})

test('a login at one mount of an entity keeps the groups that a login at its other mount gave', async () => {
  const house = await startIdentityHouse()
  await house.ask('POST', 'sys/auth/second', { type: 'userpass' })
  const second = house.house.mounts.find('auth/second/')
  assert.ok(second !== undefined)
  const id = await house.login('a')
  await house.ask('POST', 'identity/entity-alias', { name: 'a', mount_accessor: second.accessor, canonical_id: id })
  for (const { accessor } of [house.mount, second])
    for (const name of ['g', 'h'])
      await house.ask('POST', 'identity/group-alias', {
        name,
        mount_accessor: accessor,
        canonical_id: await make(house, `${name}-${accessor}`, { type: 'external' }),
      })
  const [mine, other] = [house.mount.accessor, second.accessor]
  const logIn = async (mount: typeof second, groups: readonly string[]) => {
    assert.equal(await house.login('a', { mount, groups }), id)
    return house.policiesOf(id)
  }
  const sorted = (...names: readonly string[]) => names.map((name) => `of-${name}`).sort()
  assert.deepEqual(await logIn(house.mount, ['g']), sorted(`g-${mine}`))
  assert.deepEqual(await logIn(second, ['g', 'h']), sorted(`g-${mine}`, `g-${other}`, `h-${other}`))
  // Each takes away its own alone.
  assert.deepEqual(await logIn(house.mount, ['h']), sorted(`h-${mine}`, `g-${other}`, `h-${other}`))
  assert.deepEqual(await logIn(house.mount, []), sorted(`g-${other}`, `h-${other}`))
  assert.deepEqual(await logIn(second, ['h']), sorted(`h-${other}`))
})

test('an external group that is removed leaves nothing of its members behind', async () => {
  const house = await startIdentityHouse()
  const group = await make(house, 'g', { type: 'external' })
  const alias = { name: 'g', mount_accessor: house.mount.accessor, canonical_id: group }
  await house.ask('POST', 'identity/group-alias', alias)
  const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => house.login(`caller-${i}`, { groups: ['g'] })))
  await house.ask('DELETE', `identity/group/id/${group}`)
  for (const id of ids) assert.deepEqual(await house.policiesOf(id), [])
  assert.deepEqual(await house.store.list('root/sys/identity/group-entity/'), [])
  assert.deepEqual(await house.store.list('root/sys/identity/entity-group/'), [])
  assert.deepEqual(await house.store.list('root/sys/identity/group-alias/'), [])
  assert.equal((await house.call('LIST', 'identity/group/name')).status, 404)
})
