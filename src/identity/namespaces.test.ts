import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { keysOf } from '../../test/fixtures/identity-server.ts'
import { PATHS, type Path, reachOf, withNamespaces } from '../../test/fixtures/namespaced-identities.ts'
import { fillPattern, parsePathPattern } from '../auth/policy-path.ts'
import { placeOfId } from './names.ts'

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

test('ids and made-up names end in the namespace, which reads show', async () => {
  const server = await withNamespaces()
  for (const path of PATHS) {
    const ending = path === '' ? '' : `\\.${server.idOf[path]}`
    for (const kind of ['entity', 'group'] as const) {
      const id = await server.make(path, kind)
      assert.match(id, new RegExp(`^${UUID}${ending}$`))
      const { name, namespace_id: shown } = await server.ask('GET', `identity/${kind}/id/${id}`, undefined, path)
      assert.match(String(name), new RegExp(`^${kind}_[0-9a-f]{8}${ending}$`))
      assert.equal(shown, server.idOf[path])
    }
    const alias = { name: 'ann', mount_accessor: server.mountIn[path].accessor }
    for (const kind of ['entity-alias', 'group-alias'] as const) {
      const made = await server.ask('POST', `identity/${kind}`, alias, path)
      for (const id of [made.id, made.canonical_id]) assert.match(String(id), new RegExp(`^${UUID}${ending}$`))
      const read = await server.ask('GET', `identity/${kind}/id/${made.id}`, undefined, path)
      assert.deepEqual([read.namespace_id, read.mount_path], [server.idOf[path], 'auth/up/'])
    }
  }
})

test('names are unique in a namespace alone, and lists have one namespace each', async () => {
  const server = await withNamespaces()
  for (const kind of ['entity', 'group'] as const) {
    const ids: Partial<Record<Path, string>> = {}
    for (const path of PATHS) {
      ids[path] = await server.make(path, kind, { name: 'Same' })
      // The same name in another case is the same thing.
      await server.ask('POST', `identity/${kind}/name/SAME`, { metadata: { at: path } }, path)
    }
    for (const path of PATHS) {
      const listed = await server.ask('LIST', `identity/${kind}/id`, undefined, path)
      assert.deepEqual(listed.keys, [ids[path]])
      assert.deepEqual(Object.keys(listed.key_info as object), [ids[path]])
      assert.deepEqual((await server.ask('LIST', `identity/${kind}/name`, undefined, path)).keys, ['Same'])
      const read = await server.ask('GET', `identity/${kind}/name/same`, undefined, path)
      assert.deepEqual([read.id, read.metadata], [ids[path], { at: path }])
      const found = await server.ask('POST', `identity/lookup/${kind}`, { name: 'same' }, path)
      assert.equal(found.id, ids[path])
    }
    await server.ask('DELETE', `identity/${kind}/name/same`, undefined, 'w1')
    assert.equal(await server.status('w1', 'GET', `identity/${kind}/name/same`), 404)
    for (const path of PATHS) if (path !== 'w1') await server.ask('GET', `identity/${kind}/name/same`, undefined, path)
  }
})

test('lists of one namespace come in pages', async () => {
  const server = await withNamespaces()
  for (const path of ['', 'w1'] as const) {
    for (let count = 0; count < 5; count++) {
      await server.make(path, 'entity')
      const alias = { name: `a${count}`, mount_accessor: server.mountIn[path].accessor }
      await server.ask('POST', 'identity/group-alias', alias, path)
    }
  }
  for (const path of ['', 'w1'] as const) {
    for (const list of ['entity/id', 'entity/name', 'group/id', 'group-alias/id']) {
      const all = (await server.ask('LIST', `identity/${list}`, undefined, path)).keys as string[]
      assert.equal(all.length, 5)
      assert.deepEqual(all, [...all].sort())
      const query = `limit=2&after=${all[1]}`
      assert.deepEqual((await server.ask('LIST', `identity/${list}?${query}`, undefined, path)).keys, all.slice(2, 4))
    }
  }
})

test('an entity is unknown in every other namespace, whatever is asked', async () => {
  const server = await withNamespaces()
  for (const [own, other] of [
    ['w1', ''],
    ['', 'w1'],
    ['w1', 'w1/in'],
    ['w1/in', 'w1'],
    ['w2', 'w1'],
  ] as const) {
    const id = await server.make(own, 'entity', { metadata: { a: 'b' } })
    const mine = await server.make(other, 'entity')
    const asked = (method: string, endpoint: string, body?: object) =>
      server.status(other, method, `identity/${endpoint}`, body)
    assert.equal(await asked('GET', `entity/id/${id}`), 404)
    assert.equal(await asked('POST', `entity/id/${id}`, { disabled: true }), 400)
    assert.equal(await asked('POST', 'entity', { id, disabled: true }), 400)
    assert.equal(await asked('POST', 'lookup/entity', { id }), 204)
    assert.equal(await asked('DELETE', `entity/id/${id}`), 204)
    const merged = await server.make(own, 'entity')
    assert.equal(await asked('POST', 'entity/merge', { to_entity_id: mine, from_entity_ids: [merged] }), 400)
    assert.equal(await asked('POST', 'entity/merge', { to_entity_id: id, from_entity_ids: [mine] }), 400)
    const read = await server.ask('GET', `identity/entity/id/${id}`, undefined, own)
    assert.deepEqual([read.metadata, read.disabled], [{ a: 'b' }, false])
    await server.ask('GET', `identity/entity/id/${merged}`, undefined, own)
    await server.ask('GET', `identity/entity/id/${mine}`, undefined, other)
  }
})

test('I-06: a deletion of several ids takes those of its namespace alone', async () => {
  const server = await withNamespaces()
  const ids = Object.fromEntries(
    await Promise.all(PATHS.map(async (path) => [path, await server.make(path, 'entity')])),
  ) as Record<Path, string>
  await server.ask('POST', 'identity/entity/batch-delete', { entity_ids: Object.values(ids) }, 'w1')
  for (const path of PATHS)
    assert.equal(await server.status(path, 'GET', `identity/entity/id/${ids[path]}`), path === 'w1' ? 404 : 200, path)
  await server.ask('POST', 'identity/entity/batch-delete', { entity_ids: Object.values(ids) })
  for (const path of ['w1/in', 'w2'] as const)
    assert.equal(await server.status(path, 'GET', `identity/entity/id/${ids[path]}`), 200)
})

test('an id whose ending is cut off, exchanged or made up leads to nothing', async () => {
  const server = await withNamespaces()
  const id = await server.make('w1', 'entity')
  const [own] = id.split('.')
  const roots = await server.make('', 'entity')
  const wrong = [own, `${own}.${server.idOf.w2}`, `${own}.root`, `${id}.${server.idOf.w1}`, `${own}.`, `${own}./x`]
  for (const one of [...wrong, `${roots}.root`, `${roots}.${server.idOf.w1}`]) {
    for (const path of PATHS)
      assert.equal(await server.status(path, 'POST', 'identity/lookup/entity', { id: one }), 204, `${one} in ${path}`)
  }
})

test('a group of another namespace is refused by its id, and unknown by its name', async () => {
  const server = await withNamespaces()
  for (const [own, other] of [
    ['w1', ''],
    ['', 'w1'],
    ['w2', 'w1'],
  ] as const) {
    const id = await server.make(own, 'group', { name: `of-${own}` })
    const asked = async (method: string, endpoint: string, body?: object) => {
      const { status, body: answer } = await server.call(method, `identity/${endpoint}`, body, 'root', {
        namespace: other,
      })
      assert.deepEqual(
        [status, answer.errors],
        [403, ['request namespace is not the same as the group namespace']],
        `${method} ${endpoint}`,
      )
    }
    await asked('GET', `group/id/${id}`)
    await asked('POST', `group/id/${id}`, { policies: ['q'] })
    await asked('POST', 'group', { id, policies: ['q'] })
    await asked('POST', 'lookup/group', { id })
    await asked('DELETE', `group/id/${id}`)
    assert.equal(await server.status(other, 'GET', `identity/group/name/of-${own}`), 404)
    assert.deepEqual((await server.ask('GET', `identity/group/id/${id}`, undefined, own)).policies, [])
  }
})

test('an alias is of the namespace of its mount and of its entity or group', async () => {
  const server = await withNamespaces()
  for (const [own, other] of [
    ['w1', ''],
    ['', 'w1'],
    ['w2', 'w1'],
  ] as const) {
    for (const owner of ['entity', 'group'] as const) {
      const external = owner === 'group' ? { type: 'external' } : {}
      const [mine, theirs] = [await server.make(own, owner, external), await server.make(other, owner, external)]
      const accessor = server.mountIn[own].accessor
      const make = (namespace: Path, canonical_id: string, mount_accessor: string) =>
        server.call('POST', `identity/${owner}-alias`, { name: 'z', canonical_id, mount_accessor }, 'root', {
          namespace,
        })
      const foreign = await make(own, mine, server.mountIn[other].accessor)
      assert.deepEqual(
        [foreign.status, foreign.body.errors],
        [403, ['matching mount is in a different namespace than request']],
      )
      assert.equal((await make(other, mine, accessor)).status, 403)
      assert.equal((await make(own, theirs, accessor)).status, 403)
      const { body } = await make(own, mine, accessor)
      const path = `identity/${owner}-alias/id/${body.data?.id}`
      assert.equal(await server.status(other, 'GET', path), 404)
      assert.equal(await server.status(other, 'POST', path, { name: 'y' }), 400)
      assert.equal(await server.status(own, 'POST', path, { mount_accessor: server.mountIn[other].accessor }), 403)
      assert.equal(await server.status(own, 'POST', path, { canonical_id: theirs }), 403)
      assert.equal(await server.status(other, 'DELETE', path), 204)
      assert.equal(await server.status(other, 'LIST', `identity/${owner}-alias/id`), 404)
      assert.equal((await server.ask('GET', path, undefined, own)).name, 'z')
      for (const way of [{ alias_id: body.data?.id }, { alias_name: 'z', alias_mount_accessor: accessor }]) {
        assert.equal((await server.ask('POST', `identity/lookup/${owner}`, way, own)).id, mine)
        assert.equal(await server.status(other, 'POST', `identity/lookup/${owner}`, way), 204)
      }
      await server.ask('DELETE', path, undefined, own)
    }
  }
})

test('a login makes an entity of the namespace of its mount, one in each', async () => {
  const server = await withNamespaces()
  const ids = new Set<string>()
  for (const path of PATHS) {
    const id = await server.login('ann', { mount: server.mountIn[path] })
    assert.equal(await server.login('ann', { mount: server.mountIn[path] }), id)
    ids.add(id)
    const read = await server.ask('GET', `identity/entity/id/${id}`, undefined, path)
    const [alias] = read.aliases as Record<string, unknown>[]
    assert.deepEqual([read.namespace_id, alias?.namespace_id], [server.idOf[path], server.idOf[path]])
    assert.deepEqual([alias?.name, alias?.canonical_id], ['ann', id])
  }
  assert.equal(ids.size, PATHS.length)
})

test('who logs in at a mount that moved to another namespace is still the entity of the old one', async () => {
  const server = await withNamespaces()
  const id = await server.login('ann', { mount: server.mountIn.w1 })
  const moved = { ...server.mountIn.w1, namespace: server.idOf.w2, formerNamespaces: [server.idOf.w1] }
  assert.equal(await server.login('ann', { mount: moved, metadata: { a: 'b' } }), id)
  const [alias] = (await server.ask('GET', `identity/entity/id/${id}`, undefined, 'w1')).aliases as { id: string }[]
  const bob = await server.login('bob', { mount: moved })
  assert.match(bob, new RegExp(`\\.${server.idOf.w2}$`))
  assert.equal(await server.status('w1', 'GET', `identity/entity/id/${bob}`), 404)
  await server.node.identities.removeNamespace(server.idOf.w1)
  const again = await server.login('ann', { mount: moved })
  assert.match(again, new RegExp(`\\.${server.idOf.w2}$`))
  assert.notEqual(again, id)
  assert.equal(await server.status('w1', 'GET', `identity/entity-alias/id/${alias?.id}`), 404)
})

test('who logs in at a mount is the same wherever it has moved, and one name has one entity at it', async () => {
  const server = await withNamespaces()
  const { namespaces, mounts } = server.node
  const { accessor } = server.mountIn.w1
  const [ids, groups] = [new Map<string, string>(), new Map<string, string>()]
  const places: readonly (readonly [Path, string])[] = [
    ['w1', 'auth/up'],
    ['w2', 'auth/there'],
    ['w1/in', 'auth/inner'],
    ['', 'auth/top'],
    ['w2', 'auth/there'],
    ['w1', 'auth/up'],
  ]
  let from = 'w1/auth/up'
  for (const [at, [path, name]] of places.entries()) {
    const to = path === '' ? name : `${path}/${name}`
    if (at > 0) await server.ask('POST', 'sys/remount', { from, to })
    from = to
    const namespace = namespaces.byId(server.idOf[path]) ?? assert.fail(path)
    for (let turn = 0; turn < 100 && mounts.find(namespace, `${name}/`) === undefined; turn++)
      await new Promise(setImmediate)
    const mount = mounts.find(namespace, `${name}/`) ?? assert.fail(to)
    for (const [who, id] of ids) assert.equal(await server.login(who, { mount, metadata: { to } }), id, `${who} ${to}`)
    ids.set(`who ${at}`, await server.login(`who ${at}`, { mount }))
    const group = await server.make(path, 'group', { type: 'external' })
    const given = { name: `staff ${at}`, mount_accessor: accessor, canonical_id: group }
    await server.ask('POST', 'identity/group-alias', given, path)
    groups.set(given.name, group)
    await server.login('who 0', { mount, groups: [...groups.keys()] })
    const inGroups = await keysOf(server, `local-identity/entity-group/${placeOfId(ids.get('who 0') ?? '')}/`)
    for (const id of groups.values())
      assert.ok(
        inGroups.some((key) => key.endsWith(id)),
        `${id} ${to}`,
      )
  }
  assert.equal(new Set(ids.values()).size, places.length)
  await server.node.identities.removeMount(mounts.withAccessor(accessor) ?? assert.fail('it is there'))
  for (const folder of ['alias-name', 'group-alias-name', 'alias-id', 'group-alias'])
    assert.deepEqual(await keysOf(server, `identity/${folder}/`), [], folder)
})

test('an alias stays changeable where it is after its mount has moved away', async () => {
  const server = await withNamespaces()
  const id = await server.login('ann', { mount: server.mountIn.w1 })
  const [alias] = (await server.ask('GET', `identity/entity/id/${id}`, undefined, 'w1')).aliases as { id: string }[]
  await server.ask('POST', 'sys/remount', { from: 'w1/auth/up', to: 'w2/auth/moved' })
  for (let turn = 0; turn < 100 && (await server.status('w2', 'GET', 'sys/auth/moved')) !== 200; turn++)
    await new Promise(setImmediate)
  const path = `identity/entity-alias/id/${alias?.id}`
  await server.ask('POST', path, { custom_metadata: { a: 'b' } }, 'w1')
  const { accessor } = server.mountIn.w1
  await server.ask('POST', path, { name: 'anna', mount_accessor: accessor }, 'w1')
  const named = { name: 'anna', mount_accessor: accessor }
  assert.equal(await server.status('w2', 'POST', 'identity/entity-alias', named), 403)
  const read = await server.ask('GET', path, undefined, 'w1')
  assert.deepEqual([read.name, read.custom_metadata, read.mount_path], ['anna', { a: 'b' }, 'auth/moved/'])
})

test('a group has members of any namespace, and none that are unknown', async () => {
  const server = await withNamespaces()
  const entities: string[] = []
  const groups: string[] = []
  for (const path of PATHS) {
    entities.push(await server.make(path, 'entity'))
    groups.push(await server.make(path, 'group', { name: 'inner' }))
  }
  for (const path of PATHS) {
    const all = { member_entity_ids: entities, member_group_ids: groups }
    const id = await server.make(path, 'group', all)
    const read = await server.ask('GET', `identity/group/id/${id}`, undefined, path)
    assert.deepEqual(read.member_entity_ids, [...entities].sort())
    assert.deepEqual((read.member_group_ids as string[]).sort(), [...groups].sort())
    const inner = await server.ask('GET', 'identity/group/name/inner', undefined, path)
    assert.ok((inner.parent_group_ids as string[]).includes(id))
    for (const wrong of [`${entities[1]?.split('.')[0]}.${server.idOf.w2}`, 'x', `${entities[0]}.`]) {
      assert.equal(await server.status(path, 'POST', `identity/group/id/${id}`, { member_entity_ids: [wrong] }), 400)
      assert.equal(await server.status(path, 'POST', `identity/group/id/${id}`, { member_group_ids: [wrong] }), 400)
    }
    // Groups must not form a circle, whatever namespaces it goes through.
    for (const [at, other] of PATHS.entries()) {
      const circle = { member_group_ids: [id] }
      assert.equal(await server.status(other, 'POST', `identity/group/id/${groups[at]}`, circle), 400)
    }
  }
})

test('who is deleted leaves the groups of all namespaces', async () => {
  const server = await withNamespaces()
  const entity = await server.make('w1', 'entity')
  const inner = await server.make('w1', 'group')
  const given = { name: 'g', member_entity_ids: [entity], member_group_ids: [inner] }
  for (const path of PATHS) await server.make(path, 'group', given)
  await server.ask('DELETE', `identity/entity/id/${entity}`, undefined, 'w1')
  await server.ask('DELETE', `identity/group/id/${inner}`, undefined, 'w1')
  for (const path of PATHS) {
    const read = await server.ask('GET', 'identity/group/name/g', undefined, path)
    assert.deepEqual([read.member_entity_ids, read.member_group_ids], [[], null])
  }
  assert.deepEqual(await keysOf(server, 'identity/group-entity/'), [])
  assert.deepEqual(await keysOf(server, 'identity/group-child/'), [])
  assert.deepEqual(await keysOf(server, 'identity/group-parent/'), [])
})

/** The namespaces at or below one. */
const WITHIN: Readonly<Record<Path, readonly Path[]>> = {
  '': PATHS,
  w1: ['w1', 'w1/in'],
  'w1/in': ['w1/in'],
  w2: ['w2'],
}

for (const how of ['itself', 'through a group of the root', 'through a group of a sibling'] as const) {
  test(`T14: a group grants in the namespace of a token and below, to a member ${how}`, async () => {
    const server = await withNamespaces()
    const between: Path = how === 'through a group of the root' ? '' : 'w2'
    for (const [at, ofEntity] of PATHS.entries()) {
      const entity = await server.make(ofEntity, 'entity')
      const token = await server.tokenOf(entity, ['default'], server.idOf[ofEntity])
      assert.deepEqual(await reachOf(server, token), [])
      for (const ofGroup of PATHS) {
        const name = `g${at}`
        const group = await server.make(ofGroup, 'group', { name, policies: ['p'] })
        const inner = how === 'itself' ? group : await server.make(between, 'group', { name: `inner-${at}` })
        if (inner !== group)
          await server.ask('POST', `identity/group/id/${group}`, { member_group_ids: [inner] }, ofGroup)
        const member = { member_entity_ids: [entity] }
        await server.ask('POST', `identity/group/id/${inner}`, member, inner === group ? ofGroup : between)
        const expected = WITHIN[ofEntity].includes(ofGroup) ? [ofGroup] : []
        assert.deepEqual(await reachOf(server, token), expected, `entity of ${ofEntity}, group of ${ofGroup}`)
        await server.ask(
          'POST',
          `identity/group/id/${inner}`,
          { member_entity_ids: [] },
          inner === group ? ofGroup : between,
        )
        assert.deepEqual(await reachOf(server, token), [])
        await server.ask('DELETE', `identity/group/id/${group}`, undefined, ofGroup)
      }
    }
  })
}

test('an entity that is disabled or deleted has access in no namespace', async () => {
  const server = await withNamespaces()
  for (const end of ['disabled', 'deleted'] as const) {
    const entity = await server.make('', 'entity')
    const token = await server.tokenOf(entity)
    for (const path of PATHS)
      await server.make(path, 'group', { name: end, policies: ['p'], member_entity_ids: [entity] })
    assert.deepEqual(await reachOf(server, token), PATHS)
    if (end === 'deleted') await server.ask('DELETE', `identity/entity/id/${entity}`)
    else await server.ask('POST', `identity/entity/id/${entity}`, { disabled: true })
    assert.deepEqual(await reachOf(server, token), [])
  }
})

test('a login puts its entity into groups of the namespace of the mount', async () => {
  const server = await withNamespaces()
  const mount = server.mountIn.w1
  const group = await server.make('w1', 'group', { name: 'staff', type: 'external', policies: ['p'] })
  const alias = { name: 'staff', mount_accessor: mount.accessor, canonical_id: group }
  await server.ask('POST', 'identity/group-alias', alias, 'w1')
  const id = await server.login('ann', { mount, groups: ['staff'] })
  const read = await server.ask('GET', `identity/group/id/${group}`, undefined, 'w1')
  assert.deepEqual(read.member_entity_ids, [id])
  const token = await server.tokenOf(id, ['default'], server.idOf.w1)
  assert.deepEqual(await reachOf(server, token), ['w1'])
  await server.login('ann', { mount, groups: [] })
  assert.deepEqual(await reachOf(server, token), [])
})

test('the policies of a subject are named with the namespace of entity or group', async () => {
  const server = await withNamespaces()
  const id = await server.make('w1', 'entity', { policies: ['own', 'same'] })
  const member = { member_entity_ids: [id] }
  await server.make('w1', 'group', { policies: ['same', 'a'], ...member })
  const inner = await server.make('w2', 'group', member)
  await server.make('', 'group', { policies: ['same'], member_group_ids: [inner] })
  const expected = [
    { namespaceId: server.idOf.w1, names: ['a', 'own', 'same'] },
    { namespaceId: 'root', names: ['same'] },
  ].sort((one, other) => (one.namespaceId < other.namespaceId ? -1 : 1))
  assert.deepEqual((await server.node.identities.subject(id))?.policies, expected)
  // What is kept in memory of an entity of a namespace goes with its change.
  await server.ask('POST', `identity/entity/id/${id}`, { policies: [] }, 'w1')
  const own = (await server.node.identities.subject(id))?.policies.find(({ namespaceId }) => namespaceId !== 'root')
  assert.deepEqual(own?.names, ['a', 'same'])
})

test('a policy that names a group means one of its own namespace, and an id or an accessor any', async () => {
  const server = await withNamespaces()
  const id = await server.login('ann', { mount: server.mountIn.w1, metadata: { team: 't' } })
  const groups: Partial<Record<Path, string>> = {}
  for (const path of ['', 'w1', 'w2'] as const) {
    const given = { name: 'ops', metadata: { of: `in-${path}` }, member_entity_ids: [id] }
    groups[path] = await server.make(path, 'group', given)
  }
  const subject = await server.node.identities.subject(id)
  const filled = (template: string, path: Path) => {
    const found = fillPattern(parsePathPattern(`{{${template}}}`), subject?.resolve, server.idOf[path])
    return 'text' in found ? found.text : undefined
  }
  for (const path of ['', 'w1', 'w2'] as const) {
    assert.equal(filled('identity.groups.names.ops.id', path), groups[path])
    assert.equal(filled('identity.groups.names.ops.metadata.of', path), `in-${path}`)
    assert.equal(filled(`identity.groups.ids.${groups.w1}.metadata.of`, path), 'in-w1')
    assert.equal(filled(`identity.entity.aliases.${server.mountIn.w1.accessor}.metadata.team`, path), 't')
    assert.equal(filled('identity.entity.id', path), id)
  }
  assert.equal(filled('identity.groups.names.ops.id', 'w1/in'), undefined)
})

test('T14: a group of a namespace below fills no template of a policy above', async () => {
  const server = await withNamespaces()
  await server.ask('POST', 'sys/policies/acl/t', {
    policy: 'path "sys/policies/acl/{{identity.groups.names.ops.metadata.may}}" { capabilities = ["read"] }',
  })
  const entity = await server.make('', 'entity', { policies: ['t'] })
  const token = await server.tokenOf(entity)
  const read = async () => (await server.call('GET', 'sys/policies/acl/p', undefined, token)).status
  const given = { name: 'ops', metadata: { may: 'p' }, member_entity_ids: [entity] }
  await server.make('w1', 'group', given)
  assert.equal(await read(), 403)
  await server.make('', 'group', given)
  assert.equal(await read(), 200)
})

test('the count of entities is that of the namespace', async () => {
  const server = await withNamespaces()
  for (const [at, path] of PATHS.entries()) for (let count = 0; count <= at; count++) await server.make(path, 'entity')
  for (const [at, path] of PATHS.entries()) {
    const { counters } = await server.ask('GET', 'sys/internal/counters/entities', undefined, path)
    assert.deepEqual(counters, { entities: { total: at + 1 } })
  }
})

test('at a local mount of a namespace aliases lie apart, and one without its entity is swept', async () => {
  const server = await withNamespaces()
  await server.ask('POST', 'sys/auth/here', { type: 'userpass', local: true }, 'w1')
  const namespace = server.node.namespaces.byId(server.idOf.w1)
  const mount = namespace && server.node.mounts.find(namespace, 'auth/here/')
  assert.ok(mount !== undefined)
  const [ann, bob] = [await server.login('ann', { mount }), await server.login('bob', { mount })]
  const kept = await keysOf(server, 'local-identity/alias/')
  for (const id of [ann, bob])
    assert.equal(kept.filter((key) => key.startsWith(`root/sys/local-identity/alias/${placeOfId(id)}/`)).length, 1)
  assert.deepEqual(await keysOf(server, 'identity/alias/'), [])
  assert.equal(((await server.ask('LIST', 'identity/entity-alias/id', undefined, 'w1')).keys as string[]).length, 2)
  assert.equal(await server.status('', 'LIST', 'identity/entity-alias/id'), 404)
  // As another cluster deletes it: what is local here stays.
  await server.node.identities.view.transaction(async (tx) => tx.delete(`identity/entity/${placeOfId(ann)}`))
  assert.equal((await keysOf(server, 'local-identity/')).length, 6)
  await server.node.aliasSweep.runNow()
  const left = await keysOf(server, 'local-identity/')
  assert.equal(left.length, 3)
  assert.ok(left.some((key) => key.startsWith(`root/sys/local-identity/alias/${placeOfId(bob)}/`)))
  assert.equal(await server.login('bob', { mount }), bob)
})
