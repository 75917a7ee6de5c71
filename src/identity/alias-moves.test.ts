import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { cutBetweenHalves, keysOf } from '../../test/fixtures/identity-server.ts'
import { aliasOfEntity } from '../../test/fixtures/login-groups.ts'
import { AGAIN, withMeanwhile, withTwoMounts } from '../../test/fixtures/two-login-mounts.ts'
import { ROOT_ID } from '../api/namespace.ts'
import { deleteAliasById, writeAlias } from './aliases.ts'
import type { Halves } from './halves.ts'
import { aliasesOf, putAlias, removeAlias } from './records.ts'

test('F8: an alias moves from a local mount to a shared one, and back, as often as one likes', async () => {
  const { server, id, alias, known, toHere, toShared, sweepTwice } = await withTwoMounts('here')
  const before = (await keysOf(server, '')).length
  for (let turn = 0; turn < 3; turn++) {
    assert.equal((await toShared()).status, 200)
    assert.deepEqual(await known(), [undefined, id])
    assert.deepEqual((await server.ask('LIST', 'identity/entity-alias/id')).keys, [alias])
    assert.equal((await toHere()).status, 200)
    assert.deepEqual(await known(), [id, undefined])
    assert.deepEqual((await server.ask('LIST', 'identity/entity-alias/id')).keys, [alias])
  }
  await sweepTwice()
  assert.deepEqual(await known(), [id, undefined])
  assert.equal((await keysOf(server, '')).length, before)
})

test('F8: a move from a local to a shared mount that was cut leaves one alias: that at the shared mount', async () => {
  const { server, here, id, alias, known, toShared, sweepTwice } = await withTwoMounts('here')
  await cutBetweenHalves(server, toShared)
  assert.equal((await keysOf(server, 'local-identity/')).length, 3, 'it was cut')
  assert.deepEqual(await known(), [undefined, id])
  const { aliases } = await server.ask('GET', `identity/entity/id/${id}`)
  assert.deepEqual(
    (aliases as { id: string; mount_path: string }[]).map((one) => [one.id, one.mount_path]),
    [[alias, 'auth/shared/']],
  )
  assert.deepEqual((await server.ask('LIST', 'identity/entity-alias/id')).keys, [alias])
  const lookup = { alias_name: 'ann', alias_mount_accessor: here.accessor }
  assert.equal((await server.call('POST', 'identity/lookup/entity', lookup)).status, 204)
  await sweepTwice()
  assert.deepEqual(await keysOf(server, 'local-identity/'), [])
  assert.deepEqual(await known(), [undefined, id])
})

test('F8: what was left at a local mount does not come back when the moved alias goes', async () => {
  const { server, alias, known, toShared, sweepTwice } = await withTwoMounts('here')
  await cutBetweenHalves(server, toShared)
  await server.ask('DELETE', `identity/entity-alias/id/${alias}`)
  assert.deepEqual(await known(), [undefined, undefined])
  assert.equal((await server.call('GET', `identity/entity-alias/id/${alias}`)).status, 404)
  await sweepTwice()
  assert.deepEqual(await keysOf(server, 'local-identity/'), [])
})

test('F8: a caller whose alias left the local mount gets an entity of his own there, and keeps it', async () => {
  const { server, here, id, known, toShared, sweepTwice } = await withTwoMounts('here')
  await cutBetweenHalves(server, toShared)
  const own = await server.login('ann', { mount: here })
  assert.notEqual(own, id)
  assert.deepEqual(await known(), [own, id])
  await sweepTwice()
  assert.deepEqual(await known(), [own, id])
  assert.equal((await keysOf(server, 'local-identity/')).length, 3)
})

test('F8: an alias that comes back to a local mount logs in by its new name alone', async () => {
  const { server, id, known, toHere, toShared, sweepTwice } = await withTwoMounts('here')
  const other = String((await server.ask('POST', 'identity/entity', { name: 'other' })).id)
  for (const [canonical_id, name] of [
    [id, 'new'],
    [other, 'newer'],
  ] as const) {
    await cutBetweenHalves(server, toShared)
    assert.equal((await toHere({ name, canonical_id })).status, 200)
    assert.deepEqual(await known('ann'), [undefined, undefined])
    assert.deepEqual(await known(name), [canonical_id, undefined])
  }
  assert.deepEqual(await known('new'), [undefined, undefined])
  await sweepTwice()
  assert.deepEqual(await known('newer'), [other, undefined])
  assert.equal((await keysOf(server, 'local-identity/')).length, 3)
})

test('F8: a move to another entity that was cut takes groups and templates from the first at once', async () => {
  const { server, here, id, toShared } = await withTwoMounts('here')
  const { id: group } = await server.ask('POST', 'identity/group', { type: 'external', policies: ['p'] })
  const groupAlias = { name: 'staff', mount_accessor: here.accessor, canonical_id: group }
  await server.ask('POST', 'identity/group-alias', groupAlias)
  await server.login('ann', { mount: here, groups: ['staff'] })
  assert.deepEqual(await server.policiesOf(id), ['p'])
  const other = String((await server.ask('POST', 'identity/entity', { name: 'other' })).id)
  await cutBetweenHalves(server, () => toShared({ canonical_id: other }))
  assert.deepEqual(await server.policiesOf(id), [])
  assert.deepEqual(await server.policiesOf(other), [])
  const subject = await server.node.identities.subject(id)
  const reference = { subject: 'alias', selector: here.accessor, field: 'name', key: '' } as const
  assert.equal(subject?.resolve(reference, ROOT_ID), undefined)
})

test('F8: the removal of a local mount leaves the alias that has left it', async () => {
  const { server, here, id, known, toShared } = await withTwoMounts('here')
  await cutBetweenHalves(server, toShared)
  await server.node.identities.removeMount(here)
  assert.deepEqual(await known(), [undefined, id])
})

test('F8: a move from a shared to a local mount that was cut leaves the alias where it was', async () => {
  const { server, here, id, alias, known, toHere, sweepTwice } = await withTwoMounts('shared')
  await cutBetweenHalves(server, toHere)
  assert.deepEqual(await known(), [undefined, id])
  assert.equal((await server.call('GET', `identity/entity-alias/id/${alias}`)).status, 200)
  assert.deepEqual(await keysOf(server, 'local-identity/'), [])
  const { parts, view } = server.node.identities
  const move = (tx: Halves) =>
    writeAlias(parts, tx, { namespaceId: ROOT_ID, id: alias }, { mountAccessor: here.accessor }, () =>
      assert.fail('the entity is known'),
    )
  await assert.rejects(withMeanwhile(view, move, async () => assert.fail('the server stops'), 3))
  assert.equal((await keysOf(server, 'local-identity/')).length, 3, 'it was cut behind the second half')
  assert.deepEqual(await known(), [undefined, id])
  await sweepTwice()
  assert.deepEqual(await keysOf(server, 'local-identity/'), [])
  assert.deepEqual(await known(), [undefined, id])
  assert.equal((await toHere()).status, 200)
  assert.deepEqual(await known(), [id, undefined])
})

test('F8: an alias at a local mount that a merge replaces logs in no more, if the second half is missing', async () => {
  const { server, here, id, alias, known, sweepTwice } = await withTwoMounts('here')
  const from = await server.login('bob', { mount: here })
  const kept = String((await aliasOfEntity(server, from))?.id)
  const merge = { to_entity_id: id, from_entity_ids: [from], conflicting_alias_ids_to_keep: [kept] }
  await cutBetweenHalves(server, () => server.call('POST', 'identity/entity/merge', merge))
  assert.equal((await keysOf(server, 'local-identity/')).length, 6, 'it was cut')
  assert.deepEqual([...(await known('ann')), ...(await known('bob'))], [undefined, undefined, undefined, undefined])
  assert.equal((await server.call('GET', `identity/entity-alias/id/${alias}`)).status, 404)
  await sweepTwice()
  assert.deepEqual(await keysOf(server, 'local-identity/'), [])
})

test('F8: a second half that comes late takes nothing from an alias that has moved since', async () => {
  const { server, id, known, toHere, toShared } = await withTwoMounts('here')
  const { parts, view } = server.node.identities
  const [old] = await aliasesOf(view, id)
  assert.ok(old !== undefined)
  await cutBetweenHalves(server, toShared)
  assert.equal((await toHere({ name: 'new' })).status, 200)
  await view.transaction((tx) => removeAlias(tx, old, parts.digest(old.name)))
  assert.deepEqual(await known('new'), [id, undefined])
})

for (const at of ['here', 'shared'] as const) {
  test(`F8: a merge of several entities keeps the alias that it names, at a mount that is ${at}`, async () => {
    const { server, known, [at]: mount } = await withTwoMounts(at)
    const into = String((await server.ask('POST', 'identity/entity', { name: 'into' })).id)
    const from = [await server.login('bob', { mount }), await server.login('cem', { mount })]
    const kept = (await aliasOfEntity(server, String(from[1])))?.id
    const merge = { to_entity_id: into, from_entity_ids: from, conflicting_alias_ids_to_keep: [kept] }
    await server.ask('POST', 'identity/entity/merge', merge)
    const { aliases } = await server.ask('GET', `identity/entity/id/${into}`)
    assert.deepEqual(
      (aliases as { id: string }[]).map(({ id }) => id),
      [kept],
    )
    const at0 = at === 'here' ? 0 : 1
    assert.deepEqual([(await known('bob'))[at0], (await known('cem'))[at0]], [undefined, into])
    assert.deepEqual(await keysOf(server, 'identity/alias-retired/'), [])
  })
}

test('F8: what is changed between the halves of a change at a local mount refuses it', async () => {
  const { server, here, alias, known, toHere } = await withTwoMounts('here')
  const { parts, view } = server.node.identities
  const rename = (name: string) => (tx: Halves) =>
    writeAlias(parts, tx, { namespaceId: ROOT_ID, id: alias }, { name }, () => assert.fail('the entity is known'))
  await assert.rejects(
    withMeanwhile(view, rename('late'), () => toHere({ name: 'new' })),
    AGAIN,
  )
  const [id] = await known('new')
  assert.ok(id !== undefined)
  assert.deepEqual(await known('late'), [undefined, undefined])
  const remove = (tx: Halves) => deleteAliasById(parts, tx, ROOT_ID, alias)
  await assert.rejects(
    withMeanwhile(view, remove, () => toHere({ name: 'newer' })),
    AGAIN,
  )
  assert.deepEqual(await known('newer'), [id, undefined])
  const gone = () => server.ask('DELETE', `identity/entity-alias/id/${alias}`)
  await assert.rejects(withMeanwhile(view, rename('late'), gone), AGAIN)
  assert.deepEqual(await known('late'), [undefined, undefined])
  const make = (name: string) => ({ name, mountAccessor: here.accessor, entityId: id })
  const first = (tx: Halves) =>
    writeAlias(parts, tx, { namespaceId: ROOT_ID, id: undefined }, make('one'), () =>
      assert.fail('the entity is known'),
    )
  const second = { name: 'two', mount_accessor: here.accessor, canonical_id: id }
  await assert.rejects(
    withMeanwhile(view, first, () => server.ask('POST', 'identity/entity-alias', second)),
    { name: 'Refusal', status: 400 },
  )
  assert.deepEqual([...(await known('one')), ...(await known('two'))], [undefined, undefined, id, undefined])
})

test('F8: an alias that leaves its local mount while it is renamed there logs in at the shared one alone', async () => {
  const { server, alias, id, known, toShared } = await withTwoMounts('here')
  const { parts, view } = server.node.identities
  const rename = (tx: Halves) =>
    writeAlias(parts, tx, { namespaceId: ROOT_ID, id: alias }, { name: 'late' }, () => assert.fail('it has an entity'))
  const meanwhile = () => cutBetweenHalves(server, toShared)
  await assert.rejects(withMeanwhile(view, rename, meanwhile), AGAIN)
  assert.deepEqual([...(await known('ann')), ...(await known('late'))], [undefined, id, undefined, undefined])
})

test('F8: an alias without a stamp is retired too', async () => {
  const { server, id, known, toShared } = await withTwoMounts('here')
  const { parts, view } = server.node.identities
  const [old] = await aliasesOf(view, id)
  assert.ok(old !== undefined)
  const { stamp: _stamp, ...first } = old
  await view.transaction(async (tx) => putAlias(tx, first, parts.digest(old.name)))
  assert.deepEqual(await known(), [id, undefined])
  await cutBetweenHalves(server, toShared)
  assert.deepEqual(await known(), [undefined, id])
})
