import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import {
  type IdentityServer,
  keysOf,
  otherMount,
  startIdentityServer,
  viewOf,
  withLoginGroup,
} from '../../test/fixtures/identity-server.ts'
import { MixedClasses, oneClassEach } from '../../test/fixtures/one-class.ts'
import { type Namespace, ROOT } from '../api/namespace.ts'
import { ACTIVE_PRIMARY, type RoleState } from '../api/node-role.ts'
import { realWorld } from '../lib/world.ts'
import { systemScope } from '../storage/contract.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import type { View } from '../storage/sealed-storage.ts'
import { AliasSweep } from './alias-sweep.ts'
import { moveLoginGroups, putMembership } from './memberships.ts'

const SECONDARY: RoleState = {
  role: { ...ACTIVE_PRIMARY, performance: 'secondary' },
  primaryAddress: 'https://primary:8200',
}

/** Takes away what a primary takes away when it deletes the entity: it does not reach what is local here. */
async function deletedElsewhere(server: IdentityServer, id: string): Promise<void> {
  const { name } = await server.ask('GET', `identity/entity/id/${id}`)
  await viewOf(server).transaction(async (tx) => {
    tx.delete(`identity/entity/${id}`)
    tx.delete(`identity/entity-name/${String(name)}`)
  })
}

const classesSince = async (server: IdentityServer, index: number): Promise<string[]> =>
  (await server.store.changesSince(index, 100)).map(({ operations }) =>
    [...new Set(operations.map((one) => one.class))].join(),
  )

test('the store of the tests refuses a transaction that mixes classes', async () => {
  const world = realWorld()
  const store = oneClassEach(createMemoryStore({ random: world.random, clock: world.clock }))
  store.setLeafKey(Buffer.alloc(32, 1))
  const mixed = store.transaction(async (tx) => {
    tx.put(systemScope, 'root/sys/policy/a', Buffer.from('a'))
    tx.put(systemScope, 'root/sys/token/a', Buffer.from('a'))
  })
  await assert.rejects(
    mixed,
    new MixedClasses(
      'One transaction writes entries of several classes: root/sys/policy/a (replicated), root/sys/token/a (local)',
    ),
  )
  assert.equal(await store.lastIndex(), 0)
})

test('F8: a first login at a local mount writes the entity first, and what is local behind it', async () => {
  const server = await startIdentityServer()
  const mount = otherMount(server.mount, 'local_1', true)
  const before = await server.store.lastIndex()
  const id = await server.login('ann', { mount })
  assert.deepEqual(await classesSince(server, before), ['replicated', 'local'])
  const behind = await server.store.lastIndex()
  assert.equal(await server.login('ann', { mount }), id)
  assert.equal(await server.store.lastIndex(), behind)
  await server.login('ann', { mount, metadata: { a: 'b' } })
  assert.deepEqual(await classesSince(server, behind), ['local'])
})

test('F8: concurrent first logins at a local mount give one entity', async () => {
  const server = await startIdentityServer()
  const mount = otherMount(server.mount, 'local_1', true)
  const ids = await Promise.all(Array.from({ length: 20 }, () => server.login('ann', { mount })))
  assert.equal(new Set(ids).size, 1)
  assert.deepEqual((await server.ask('LIST', 'identity/entity/id')).keys, [ids[0]])
})

test('F8: the half that is asked of the primary may be done again and writes nothing then', async () => {
  const server = await startIdentityServer()
  const { identities } = server.node
  const login = { name: 'ann', metadata: { a: 'b' } }
  const ensured = await identities.ensureEntity(server.mount, login)
  const before = await server.store.lastIndex()
  assert.deepEqual(await identities.ensureEntity(server.mount, login), ensured)
  assert.equal(await server.login('ann', { metadata: { a: 'b' } }), ensured.entityId)
  assert.equal(await server.store.lastIndex(), before)
})

test('F8: groups that a login at a shared mount gives belong to the cluster', async () => {
  const server = await startIdentityServer()
  const { id: group } = await server.ask('POST', 'identity/group', { name: 'g', type: 'external', policies: ['p'] })
  const alias = { name: 'staff', mount_accessor: server.mount.accessor, canonical_id: group }
  await server.ask('POST', 'identity/group-alias', alias)
  const id = await server.login('ann')
  const before = await server.store.lastIndex()
  await server.login('ann', { groups: ['staff'] })
  assert.deepEqual(await classesSince(server, before), ['local'])
  assert.deepEqual(await server.policiesOf(id), ['p'])
})

test('F8: memberships that earlier releases stored as shared move when the server opens, and hold', async () => {
  const server = await startIdentityServer()
  const { id: group } = await server.ask('POST', 'identity/group', { name: 'g', type: 'external', policies: ['p'] })
  const alias = { name: 'staff', mount_accessor: server.mount.accessor, canonical_id: group }
  await server.ask('POST', 'identity/group-alias', alias)
  const id = await server.login('ann', { groups: ['staff'] })
  const local = await keysOf(server, 'local-identity/')
  assert.equal(local.length, 2)
  const paths = local.map((key) => key.slice('root/sys/local-identity/'.length))
  const view = viewOf(server)
  await view.transaction(async (tx) => {
    for (const path of paths) tx.put(`identity/${path}`, Buffer.alloc(0))
  })
  await view.transaction(async (tx) => {
    for (const path of paths) tx.delete(`local-identity/${path}`)
  })
  await view.transaction(async (tx) => tx.delete('identity/login-groups-moved'))
  const key = server.shares[0] as Buffer
  const again = await startIdentityServer({ store: server.store, key })
  assert.deepEqual(await keysOf(again, 'local-identity/'), local)
  assert.deepEqual(await keysOf(again, 'identity/entity-group/'), [])
  assert.deepEqual(await keysOf(again, 'identity/group-entity/'), [])
  assert.deepEqual(await again.policiesOf(id), ['p'])
  await again.login('ann')
  assert.deepEqual(await again.policiesOf(id), [])
})

test('F8: memberships of earlier releases are looked for once in the life of a store', async () => {
  const server = await startIdentityServer()
  const listed: string[] = []
  const view = viewOf(server)
  const noting: View = {
    ...view,
    list: (folder, options) => {
      listed.push(folder)
      return view.list(folder, options)
    },
  }
  await moveLoginGroups(noting)
  assert.deepEqual(listed, [])
  await view.transaction(async (tx) => tx.delete('identity/login-groups-moved'))
  await moveLoginGroups(noting)
  await moveLoginGroups(noting)
  assert.deepEqual(listed, ['identity/group/'])
})

test('F8: an alias whose entity is gone is no alias: a login makes a new one, and lists leave it out', async () => {
  const server = await startIdentityServer()
  const mount = otherMount(server.mount, 'local_1', true)
  const old = await server.login('ann', { mount })
  const bob = await server.login('bob', { mount })
  const ids = (await server.ask('LIST', 'identity/entity-alias/id')).keys as string[]
  const { aliases } = await server.ask('GET', `identity/entity/id/${old}`)
  const alias = String((aliases as { id: string }[])[0]?.id)
  await deletedElsewhere(server, old)
  assert.equal((await server.call('GET', `identity/entity-alias/id/${alias}`)).status, 404)
  assert.deepEqual(
    (await server.ask('LIST', 'identity/entity-alias/id')).keys,
    ids.filter((id) => id !== alias),
  )
  assert.equal(await server.node.identities.findEntityOfLogin(mount, { name: 'ann', metadata: {} }), undefined)
  const fresh = await server.login('ann', { mount })
  assert.ok(fresh !== old && fresh !== bob)
  assert.equal(await server.login('ann', { mount }), fresh)
  assert.deepEqual(await keysOf(server, `local-identity/alias/${old}/`), [])
})

test('F8: the sweep removes what an entity that is gone has left here, at its second look', async () => {
  const server = await startIdentityServer()
  const mount = otherMount(server.mount, 'local_1', true)
  const { id: group } = await server.ask('POST', 'identity/group', { name: 'g', type: 'external' })
  const alias = { name: 'staff', mount_accessor: server.mount.accessor, canonical_id: group }
  await server.ask('POST', 'identity/group-alias', alias)
  await server.login('bob', { mount })
  const kept = await keysOf(server, 'local-identity/')
  const [ann, eve] = [await server.login('ann', { mount }), await server.login('eve', { groups: ['staff'] })]
  const all = await keysOf(server, 'local-identity/')
  assert.equal(all.length, kept.length + 5)
  for (const id of [ann, eve]) await deletedElsewhere(server, id)
  await server.node.changeRole(SECONDARY)
  const { aliasSweep } = server.node
  await aliasSweep.runNow()
  assert.deepEqual(await keysOf(server, 'local-identity/'), all)
  await aliasSweep.runNow()
  assert.deepEqual(await keysOf(server, 'local-identity/'), kept)
})

test('F8: a merge takes over the aliases of local mounts, and refuses two at one mount before it writes', async () => {
  const server = await startIdentityServer()
  const mount = otherMount(server.mount, 'local_1', true)
  const into = await server.login('shared')
  const [one, two] = [await server.login('one', { mount }), await server.login('two', { mount })]
  const before = await server.store.lastIndex()
  const both = await server.call('POST', 'identity/entity/merge', { from_entity_ids: [one, two], to_entity_id: into })
  assert.equal(both.status, 400)
  assert.equal(await server.store.lastIndex(), before)
  await server.ask('POST', 'identity/entity/merge', { from_entity_ids: [one], to_entity_id: into })
  assert.deepEqual(await classesSince(server, before), ['replicated', 'local'])
  assert.equal(await server.login('one', { mount }), into)
  assert.deepEqual(await keysOf(server, `local-identity/alias/${one}/`), [])
  await server.ask('DELETE', `identity/entity/id/${into}`)
  assert.deepEqual(await keysOf(server, `local-identity/alias/${into}/`), [])
})

test('F8: the policies of a login go with its alias if the second half fails; the sweep does the rest', async () => {
  const { server, group, id, alias } = await withLoginGroup()
  await server.store.setWritable((storageClass) => storageClass !== 'local')
  assert.notEqual((await server.call('DELETE', `identity/entity-alias/id/${alias}`)).status, 204)
  await server.store.setWritable(() => true)
  const left = await keysOf(server, 'local-identity/')
  assert.equal(left.length, 2)
  assert.deepEqual(await server.policiesOf(id), [])
  assert.deepEqual((await server.ask('GET', `identity/entity/id/${id}`)).group_ids, [])
  await server.node.aliasSweep.runNow()
  assert.deepEqual((await server.ask('GET', `identity/group/id/${group}`)).member_entity_ids, [])
  assert.deepEqual(await keysOf(server, 'local-identity/'), [])
})

test('what a login gave stays while the namespace of the entity or of the group is not here', async () => {
  const { server, id, group } = await withLoginGroup()
  const { parts, view } = server.node.identities
  const [ofOther, kept] = ['.a1B2c3', await keysOf(server, 'local-identity/')]
  const given = { stamp: '12ab34cd', aliasStamp: '56ef7890', local: true }
  await view.transaction(async (tx) => {
    putMembership(tx, { ...given, entityId: id, groupId: group + ofOther })
    putMembership(tx, { ...given, entityId: id + ofOther, groupId: group })
  })
  const all = await keysOf(server, 'local-identity/')
  assert.equal(all.length, kept.length + 4)
  const swept = async (known: Namespace | undefined): Promise<void> => {
    const needs = { follows: () => false, namespaces: { refresh: async () => {}, byId: () => known } }
    const sweep = new AliasSweep(parts, needs, () => {})
    sweep.start()
    await sweep.runNow()
    sweep.stop()
  }
  await swept(undefined)
  assert.deepEqual(await keysOf(server, 'local-identity/'), all)
  await swept(ROOT)
  assert.deepEqual(await keysOf(server, 'local-identity/'), kept)
})

test('F8: a server that follows no other looks for leftovers once, a secondary each time', async () => {
  const { server, id } = await withLoginGroup()
  const { world, ...rest } = server.node.identities.parts
  let looks = 0
  const view: View = {
    ...rest.view,
    list: (folder, options) => {
      if (folder === 'local-identity/entity-group/') looks++
      return rest.view.list(folder, options)
    },
  }
  let follows = false
  const sweep = new AliasSweep(
    { ...rest, world, view },
    { follows: () => follows, namespaces: server.node.namespaces },
    () => {},
  )
  sweep.start()
  const looksOf = async (): Promise<number> => {
    const before = looks
    await sweep.runNow()
    return looks - before
  }
  assert.deepEqual([await looksOf(), await looksOf()], [1, 0])
  follows = true
  assert.deepEqual([await looksOf(), await looksOf()], [1, 1])
  follows = false
  assert.deepEqual([await looksOf(), await looksOf()], [1, 0])
  sweep.start()
  assert.deepEqual([await looksOf(), await looksOf()], [1, 0])
  sweep.stop()
  assert.deepEqual(await server.policiesOf(id), ['p'])
})

test('F8: a membership whose alias comes between two looks of the sweep stays, and counts', async () => {
  const { server, id, alias } = await withLoginGroup()
  const given = await keysOf(server, 'local-identity/')
  const keys = (await keysOf(server, 'identity/')).map((key) => key.slice('root/sys/'.length))
  const paths = keys.filter((key) => key.startsWith('identity/alias'))
  assert.deepEqual([paths.length, paths.filter((path) => path.includes(alias)).length], [3, 2])
  const view = viewOf(server)
  const values = new Map<string, Buffer>()
  await view.transaction(async (tx) => {
    for (const path of paths) {
      values.set(path, (await tx.get(path)) ?? Buffer.alloc(0))
      tx.delete(path)
    }
  })
  assert.deepEqual(await server.policiesOf(id), [])
  await server.node.changeRole(SECONDARY)
  await server.store.setWritable(() => true)
  await server.node.aliasSweep.runNow()
  await view.transaction(async (tx) => {
    for (const [path, value] of values) tx.put(path, value)
  })
  await server.node.aliasSweep.runNow()
  assert.deepEqual(await keysOf(server, 'local-identity/'), given)
  assert.deepEqual(await server.policiesOf(id), ['p'])
})
