import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { keysOf } from '../../test/fixtures/identity-server.ts'
import { aliasOfEntity } from '../../test/fixtures/login-groups.ts'
import { AGAIN, withMeanwhile, withTwoMounts } from '../../test/fixtures/two-login-mounts.ts'
import { ROOT, ROOT_ID } from '../api/namespace.ts'
import { deleteAliasById, writeAlias } from './aliases.ts'
import { createEntityOfAlias, mergeEntities } from './entities.ts'
import type { Halves } from './halves.ts'
import { findEntity } from './records.ts'

const known = () => assert.fail('the entity is known')

/** As `withTwoMounts`, with an entity to merge into and the changes as their halves. */
async function withChanges(from: 'here' | 'shared') {
  const mounts = await withTwoMounts(from)
  const { server, here, alias } = mounts
  const { parts, view } = server.node.identities
  const into = String((await server.ask('POST', 'identity/entity', { name: 'into' })).id)
  return {
    ...mounts,
    view,
    into,
    move: (tx: Halves) =>
      writeAlias(parts, tx, { namespaceId: ROOT_ID, id: alias }, { mountAccessor: here.accessor }, known),
    rename: (tx: Halves) => writeAlias(parts, tx, { namespaceId: ROOT_ID, id: alias }, { name: 'late' }, known),
    remove: (tx: Halves) => deleteAliasById(parts, tx, ROOT_ID, alias),
    merge: (...ids: string[]) => {
      return async (tx: Halves) => {
        const entity = await findEntity(tx, into)
        assert.ok(entity !== undefined)
        await mergeEntities(parts, tx, entity, ids, new Set())
      }
    },
  }
}

test('F8: a move to a local mount that is refused leaves the alias at the shared one, and nothing else', async () => {
  const { server, here, shared, id, alias, view, move, known } = await withChanges('shared')
  const other = () => server.login('ann', { mount: here })
  await assert.rejects(withMeanwhile(view, move, other), AGAIN)
  assert.equal((await known())[1], id)
  assert.equal((await server.call('GET', `identity/entity-alias/id/${alias}`)).status, 200)
  assert.equal(await server.login('ann', { mount: shared }), id)
  assert.deepEqual(await keysOf(server, 'identity/alias-retired/'), [])
})

test('F8: a move to a local mount where the entity got another alias leaves the one that was to move', async () => {
  const { server, here, id, alias, view, move, known } = await withChanges('shared')
  const other = { name: 'other', mount_accessor: here.accessor, canonical_id: id }
  await assert.rejects(
    withMeanwhile(view, move, () => server.ask('POST', 'identity/entity-alias', other)),
    { name: 'Refusal', status: 400 },
  )
  assert.deepEqual(await known(), [undefined, id])
  assert.equal((await server.call('GET', `identity/entity-alias/id/${alias}`)).status, 200)
})

test('F8: a move to a local mount is refused if the alias is renamed or removed before it takes effect', async () => {
  const { server, id, alias, view, move, change, known } = await withChanges('shared')
  const renamed = () => change({ name: 'new' })
  await assert.rejects(withMeanwhile(view, move, renamed, 3), AGAIN)
  assert.deepEqual([...(await known('ann')), ...(await known('new'))], [undefined, undefined, undefined, id])
  const removed = () => server.ask('DELETE', `identity/entity-alias/id/${alias}`)
  await assert.rejects(withMeanwhile(view, move, removed, 3), AGAIN)
  assert.deepEqual([...(await known('ann')), ...(await known('new'))], Array(4).fill(undefined))
})

test('F8: a sweep that takes an alias on its way to a local mount leaves the shared one', async () => {
  const { id, view, move, known, sweepTwice } = await withChanges('shared')
  await assert.rejects(withMeanwhile(view, move, sweepTwice, 3), AGAIN)
  assert.deepEqual(await known(), [undefined, id])
})

test('F8: an alias on its way to a local mount logs in at one of both', async () => {
  const { id, view, move, known } = await withChanges('shared')
  const looks: unknown[] = []
  await withMeanwhile(view, move, async () => looks.push(await known()), 3)
  looks.push(await known())
  assert.deepEqual(looks, [
    [undefined, id],
    [id, undefined],
  ])
})

test('F8: a merge passes over an alias whose name a login took meanwhile, and over no other', async () => {
  const { server, here, id, into, view, merge, known } = await withChanges('here')
  await server.ask('POST', 'sys/auth/there', { type: 'userpass', local: true })
  const there = server.node.mounts.find(ROOT, 'auth/there/')
  assert.ok(there !== undefined)
  const bob = await server.login('bob', { mount: there })
  let own: string | undefined
  await withMeanwhile(view, merge(id, bob), async () => {
    own = await server.login('ann', { mount: here })
  })
  assert.ok(own !== undefined && own !== id && own !== into)
  assert.deepEqual(await known(), [own, undefined])
  assert.equal(await server.login('bob', { mount: there }), into)
  assert.equal((await server.call('GET', `identity/entity/id/${id}`)).status, 404)
})

/** Has a change at a local mount committed its second half between the halves of a merge that began behind it. */
async function overtakenByMerge(changes: Awaited<ReturnType<typeof withChanges>>, change: 'rename' | 'remove') {
  const { id, view, merge } = changes
  const merging = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  let merged: Promise<void> | undefined
  const result = await withMeanwhile<unknown>(view, changes[change], () => {
    merged = withMeanwhile(view, merge(id), () => {
      first.resolve()
      return merging.promise
    })
    return first.promise
  }).then(
    () => 'done',
    (refusal: { code: string }) => refusal.code,
  )
  merging.resolve()
  await merged
  return result
}

test('F8: a rename at a local mount is refused once a merge has taken the entity', async () => {
  const changes = await withChanges('here')
  assert.equal(await overtakenByMerge(changes, 'rename'), AGAIN.code)
  const { into, known } = changes
  assert.deepEqual([...(await known('ann')), ...(await known('late'))], [into, undefined, undefined, undefined])
})

test('F8: an alias at a local mount that is removed while a merge takes its entity stays removed', async () => {
  const changes = await withChanges('here')
  assert.equal(await overtakenByMerge(changes, 'remove'), 'done')
  const { server, alias, known } = changes
  assert.deepEqual(await known(), [undefined, undefined])
  assert.equal((await server.call('GET', `identity/entity-alias/id/${alias}`)).status, 404)
})

test('F8: the removal of an alias between the halves of a merge stays', async () => {
  const { server, id, alias, view, merge, known } = await withChanges('here')
  await withMeanwhile(view, merge(id), () => server.ask('DELETE', `identity/entity-alias/id/${alias}`))
  assert.deepEqual(await known(), [undefined, undefined])
})

test('F8: the removal of a local alias that another removal has overtaken is done', async () => {
  const { server, alias, view, remove, known } = await withChanges('here')
  await withMeanwhile(view, remove, () => server.ask('DELETE', `identity/entity-alias/id/${alias}`))
  assert.deepEqual(await known(), [undefined, undefined])
})

for (const at of ['here', 'shared'] as const) {
  test(`F8: equal requests at once are all answered with success, at a mount that is ${at}`, async () => {
    const { server, id, change, alias, [at]: mount } = await withTwoMounts(at)
    const twice = async (ask: () => ReturnType<typeof change>) =>
      (await Promise.all([ask(), ask()])).map(({ status }) => status)
    assert.deepEqual(await twice(() => change({ name: 'new' })), [200, 200])
    assert.equal((await aliasOfEntity(server, id))?.name, 'new')
    assert.deepEqual(await twice(() => server.call('DELETE', `identity/entity-alias/id/${alias}`)), [204, 204])
    const made = { name: 'zed', mount_accessor: mount.accessor }
    assert.deepEqual(await twice(() => server.call('POST', 'identity/entity-alias', made)), [200, 200])
    assert.equal((await keysOf(server, 'identity/entity/')).length, 2, 'that of ann and that of zed')
  })
}

test('F8: a refused alias at a local mount leaves no entity that was made for it', async () => {
  const { server, here } = await withTwoMounts('here')
  const { parts, view } = server.node.identities
  const given = { name: 'zed', mountAccessor: here.accessor }
  const make = (tx: Halves) =>
    writeAlias(parts, tx, { namespaceId: ROOT_ID, id: undefined }, given, () => createEntityOfAlias(parts, tx, ROOT_ID))
  let own: string | undefined
  const login = async () => {
    own = await server.login('zed', { mount: here })
  }
  await assert.rejects(withMeanwhile(view, make, login), AGAIN)
  const ids = (await keysOf(server, 'identity/entity/')).map((key) => key.split('/').at(-1))
  assert.equal(ids.length, 2, 'that of ann and that of zed')
  assert.ok(ids.includes(own))
  assert.equal((await keysOf(server, 'identity/entity-name/')).length, 2)
})
