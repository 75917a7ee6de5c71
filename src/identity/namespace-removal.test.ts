import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { keysOf } from '../../test/fixtures/identity-server.ts'
import { type NamespacedServer, PATHS, type Path, withNamespaces } from '../../test/fixtures/namespaced-identities.ts'
import type { DataOwner } from '../api/node-role.ts'
import { treeScopeOf } from '../storage/log/tree.ts'
import { createEntity } from './entities.ts'
import { removeNamespace } from './namespace-removal.ts'

const HALVES = ['set', 'cluster'] as const satisfies readonly DataOwner[]

/** All keys of identities, of what the set shares and of this cluster. */
const allKeys = async (server: NamespacedServer): Promise<string[]> => [
  ...(await keysOf(server, 'identity/')),
  ...(await keysOf(server, 'local-identity/')),
]

/** Fills the namespaces: in each there is one of everything, with memberships from each to each. */
async function withEverything(paths: readonly Path[] = PATHS) {
  const server = await withNamespaces()
  const entities: string[] = []
  const logins: string[] = []
  for (const path of paths) {
    await server.ask('POST', 'sys/auth/here', { type: 'userpass', local: true }, path)
    const namespace = server.node.namespaces.byId(server.idOf[path])
    const here = namespace && server.node.mounts.find(namespace, 'auth/here/')
    assert.ok(here !== undefined)
    entities.push(await server.make(path, 'entity', { name: 'e' }))
    for (const mount of [here, server.mountIn[path]]) {
      const group = await server.make(path, 'group', { type: 'external' })
      const alias = { name: 'staff', mount_accessor: mount.accessor, canonical_id: group }
      await server.ask('POST', 'identity/group-alias', alias, path)
      logins.push(await server.login('ann', { mount, groups: ['staff'] }))
    }
  }
  const inner: string[] = []
  for (const path of paths) {
    const members = { name: 'inner', member_entity_ids: [...entities, ...logins] }
    inner.push(await server.make(path, 'group', members))
  }
  for (const path of paths) await server.make(path, 'group', { name: 'outer', member_group_ids: inner })
  return server
}

test('the removal of a namespace takes all of it, and its members out of the groups of others', async () => {
  const server = await withEverything()
  const id = server.idOf.w1
  const before = await allKeys(server)
  assert.ok(before.some((key) => key.includes(id)))
  await server.node.identities.removeNamespace(id)
  const after = await allKeys(server)
  assert.deepEqual(
    after.filter((key) => key.includes(id)),
    [],
  )
  const mounts = await server.ask('GET', 'sys/auth', undefined, 'w1')
  const accessors = ['up/', 'here/'].map((path) => (mounts[path] as { accessor: string }).accessor)
  const ofMounts = before.filter((key) => accessors.some((one) => key.includes(one)))
  assert.equal(ofMounts.length, 4)
  for (const key of ofMounts) assert.ok(key.includes(`-name/${id}/`), key)
  assert.deepEqual(
    after,
    before.filter((key) => !key.includes(id)),
  )
  for (const path of ['', 'w1/in', 'w2'] as const) {
    const inner = await server.ask('GET', 'identity/group/name/inner', undefined, path)
    assert.equal((inner.member_entity_ids as string[]).length, 9)
    assert.equal((inner.parent_group_ids as string[]).length, 3)
    const outer = await server.ask('GET', 'identity/group/name/outer', undefined, path)
    assert.equal((outer.member_group_ids as string[]).length, 3)
  }
})

test('F11: all that a namespace has of identities stands in its scope of the tree, whatever kind it is', async () => {
  const server = await withEverything(['w1'])
  const kinds = new Set<string>()
  for (const key of await allKeys(server)) {
    if (key.endsWith('/login-groups-moved')) continue
    kinds.add(key.split('/')[3] ?? '')
    assert.equal(treeScopeOf(key), `${server.idOf.w1}/system`, key)
  }
  assert.ok(kinds.size >= 13, [...kinds].join())
})

test('a namespace that is deleted takes its identities with it, and one of its name has none', async () => {
  const server = await withEverything(['', 'w1', 'w2'])
  const id = server.idOf.w2
  await server.ask('DELETE', 'sys/namespaces/w2')
  assert.equal(await server.status('', 'GET', 'sys/namespaces/w2'), 404)
  assert.deepEqual(
    (await allKeys(server)).filter((key) => key.includes(id)),
    [],
  )
  for (const path of ['', 'w1'] as const) {
    const inner = await server.ask('GET', 'identity/group/name/inner', undefined, path)
    assert.equal((inner.member_entity_ids as string[]).length, 6)
  }
  await server.ask('POST', 'sys/namespaces/w2')
  for (const list of ['entity/id', 'entity/name', 'entity-alias/id', 'group/id', 'group/name', 'group-alias/id'])
    assert.equal(await server.status('w2', 'LIST', `identity/${list}`), 404, list)
})

test('T12: what was begun before the deletion of its namespace writes nothing behind it', async () => {
  const server = await withNamespaces()
  const { identities } = server.node
  const id = server.idOf.w2
  const [begun, deleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const make = identities.transaction(id, async (tx) => {
    await createEntity(identities.parts, tx, id, { name: 'late' })
    begun.resolve()
    await deleted.promise
  })
  const refused = assert.rejects(make, { status: 404 })
  await begun.promise
  await server.ask('DELETE', 'sys/namespaces/w2')
  deleted.resolve()
  await refused
  await assert.rejects(server.login('late', { mount: server.mountIn.w2 }), { status: 404 })
  assert.deepEqual(
    (await allKeys(server)).filter((key) => key.includes(id)),
    [],
  )
})

test('the halves of a removal are apart: each takes what it may write, in any order', async () => {
  for (const order of [HALVES, [...HALVES].reverse()]) {
    const server = await withEverything(['', 'w1'])
    const id = server.idOf.w1
    const before = await allKeys(server)
    for (const [at, owner] of order.entries()) {
      const mine = `root/sys/${owner === 'set' ? '' : 'local-'}identity/`
      const since = await server.store.lastIndex()
      await server.store.setWritable((storageClass) => storageClass === (owner === 'set' ? 'replicated' : 'local'))
      await server.node.identities.removeNamespace(id, [owner])
      await server.store.setWritable(() => true)
      assert.ok((await server.store.lastIndex()) > since)
      const left = (await allKeys(server)).filter((key) => key.includes(id))
      assert.deepEqual(
        left.filter((key) => key.startsWith(mine)),
        [],
      )
      if (at === 0)
        assert.deepEqual(
          left,
          before.filter((key) => key.includes(id) && !key.startsWith(mine)),
        )
    }
    assert.deepEqual(
      (await allKeys(server)).filter((key) => key.includes(id)),
      [],
    )
  }
})

test('a removal that is cut off behind any of its transactions goes on when it is called again', async () => {
  const server = await withEverything(['', 'w1'])
  const { identities } = server.node
  const kept = (await allKeys(server)).filter((key) => !key.includes(server.idOf.w1))
  for (let last = 1, isCut = true; isCut; last++) {
    let left = last
    const transaction: typeof identities.view.transaction = (work) =>
      left-- > 0 ? identities.view.transaction(work) : Promise.reject(new Error('the server stops'))
    const cut = { ...identities.parts, view: { ...identities.view, transaction } }
    isCut = false
    for (const owner of HALVES)
      await removeNamespace(cut, server.idOf.w1, owner).catch(() => {
        isCut = true
      })
  }
  const after = await allKeys(server)
  assert.deepEqual(
    after.filter((key) => key.includes(server.idOf.w1)),
    [],
  )
  assert.deepEqual(after, kept)
  const before = await server.store.lastIndex()
  await identities.removeNamespace(server.idOf.w1)
  assert.equal(await server.store.lastIndex(), before, 'a removal that is done writes nothing')
})

test('a removal takes more than fits one transaction, each of which is small', async () => {
  const server = await withNamespaces()
  const many: string[] = []
  for (let count = 0; count < 450; count++) many.push(await server.make('w1', 'entity'))
  await server.make('', 'group', { name: 'outside', member_entity_ids: many })
  await server.make('w1', 'group', { name: 'inside', member_entity_ids: many })
  const before = await server.store.lastIndex()
  await server.node.identities.removeNamespace(server.idOf.w1)
  const changes = await server.store.changesSince(before, 1_000)
  assert.ok(changes.length >= 3 + 5)
  for (const { operations } of changes) assert.ok(operations.length <= 3 * 200, String(operations.length))
  assert.deepEqual(
    (await allKeys(server)).filter((key) => key.includes(server.idOf.w1)),
    [],
  )
  const outside = await server.ask('GET', 'identity/group/name/outside')
  assert.deepEqual(outside.member_entity_ids, [])
})
