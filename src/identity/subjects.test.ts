import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { otherMount, startIdentityServer } from '../../test/fixtures/identity-server.ts'
import { buildAcl } from '../auth/acl.ts'
import { BUILTIN_POLICIES } from '../auth/builtin-policies.ts'
import { parsePolicy } from '../auth/policy.ts'
import { fillPattern, parsePathPattern } from '../auth/policy-path.ts'
import type { Subject } from '../auth/subject.ts'
import { Invalidation } from '../storage/invalidation.ts'
import type { View } from '../storage/sealed-storage.ts'
import { Subjects } from './subjects.ts'

function filled(subject: Subject, template: string): string | undefined {
  const path = fillPattern(parsePathPattern(`{{${template}}}`), subject.resolve, 'root')
  return 'text' in path ? path.text : undefined
}

test('a subject that is kept is given without waiting, the same until something changes', async () => {
  const server = await startIdentityServer()
  const { identities } = server.node
  const [id, other] = [await server.login('a'), await server.login('b')]
  const first = await identities.subject(id)
  const otherFirst = await identities.subject(other)
  assert(first !== undefined && !(identities.subject(id) instanceof Promise))
  assert.equal(identities.subject(id), first)
  await server.ask('POST', `identity/entity/id/${id}`, { policies: ['p'] })
  assert(identities.subject(id) instanceof Promise)
  assert.deepEqual((await identities.subject(id))?.policies, [{ namespaceId: 'root', names: ['p'] }])
  assert.equal(identities.subject(other), otherFirst)
  server.node.gate.close()
  await assert.rejects(async () => identities.subject(other), { name: 'Sealed' })
})

test('a look-up of a token shows the policies of its entity, whether the subject is kept or not', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  await server.ask('POST', `identity/entity/id/${id}`, { policies: ['p'] })
  const token = await server.tokenOf(id)
  await server.ask('POST', `identity/entity/id/${id}`, { policies: ['p', 'q'] })
  assert(server.node.identities.subject(id) instanceof Promise)
  for (let time = 0; time < 2; time++) {
    const { identity_policies: shown } = await server.ask('POST', 'auth/token/lookup', { token })
    assert.deepEqual(shown, ['p', 'q'])
    assert(!(server.node.identities.subject(id) instanceof Promise))
  }
})

test('templates get the values of the entity, its aliases by mount, and groups that it is in', async () => {
  const server = await startIdentityServer()
  const other = otherMount(server.mount, 'other_00000001')
  const id = await server.login('a', { metadata: { 'with.point': 'v', tenant: 't' } })
  const known = { alias_name: 'a', alias_mount_accessor: server.mount.accessor }
  const { aliases } = await server.ask('POST', 'identity/lookup/entity', known)
  const alias = (aliases as { id: string }[])[0]?.id
  await server.ask('POST', `identity/entity-alias/id/${alias}`, { custom_metadata: { team: 'x' } })
  await server.ask('POST', `identity/entity/id/${id}`, { name: 'Ann', metadata: { city: 'Bern' } })
  const inside = await server.ask('POST', 'identity/group', {
    name: 'inside',
    metadata: { floor: '1' },
    member_entity_ids: [id],
  })
  const above = await server.ask('POST', 'identity/group', { name: 'above', member_group_ids: [inside.id] })
  const outside = await server.ask('POST', 'identity/group', { name: 'outside', metadata: { floor: '2' } })
  const subject = await server.node.identities.subject(id)
  assert(subject !== undefined)
  const at = `identity.entity.aliases.${server.mount.accessor}`
  const rows: readonly (readonly [string, unknown])[] = [
    ['identity.entity.id', id],
    ['identity.entity.name', 'Ann'],
    ['identity.entity.metadata.city', 'Bern'],
    ['identity.entity.metadata.none', undefined],
    ['identity.entity.metadata.constructor', undefined],
    ['identity.entity.metadata.__proto__', undefined],
    [`${at}.id`, alias],
    [`${at}.name`, 'a'],
    [`${at}.metadata.tenant`, 't'],
    [`${at}.metadata.with.point`, 'v'],
    [`${at}.custom_metadata.team`, 'x'],
    [`${at}.custom_metadata.tenant`, undefined],
    [`${at}.metadata.team`, undefined],
    [`identity.entity.aliases.${other.accessor}.name`, undefined],
    [`identity.groups.ids.${inside.id}.name`, 'inside'],
    [`identity.groups.ids.${inside.id}.metadata.floor`, '1'],
    ['identity.groups.names.inside.id', inside.id],
    ['identity.groups.names.above.id', above.id],
    ['identity.groups.names.outside.id', undefined],
    [`identity.groups.ids.${outside.id}.metadata.floor`, undefined],
  ]
  for (const [template, value] of rows) assert.equal(filled(subject, template), value, template)
})

test('A-03: a value that would widen a path stands in none', async () => {
  const server = await startIdentityServer()
  for (const value of ['*', 'a/b', '+', '', 'a\u0000b']) {
    const id = await server.login(`caller of ${JSON.stringify(value)}`, { metadata: { m: value } })
    const subject = await server.node.identities.subject(id)
    assert(subject !== undefined)
    assert.equal(filled(subject, `identity.entity.aliases.${server.mount.accessor}.metadata.m`), undefined)
  }
})

test('A-04: the alias of a template is that of the mount it names, whichever was first', async () => {
  const server = await startIdentityServer()
  const other = otherMount(server.mount, 'other_00000001')
  const [into, from] = [await server.login('first'), await server.login('second', { mount: other })]
  await server.ask('POST', 'identity/entity/merge', { to_entity_id: into, from_entity_ids: [from] })
  const subject = await server.node.identities.subject(into)
  assert(subject !== undefined)
  assert.equal(filled(subject, `identity.entity.aliases.${server.mount.accessor}.name`), 'first')
  assert.equal(filled(subject, `identity.entity.aliases.${other.accessor}.name`), 'second')
})

test('the key changes with every value that a template can have, and with nothing else', async () => {
  const server = await startIdentityServer()
  const { accessor } = server.mount
  const id = await server.login('a')
  const key = async (): Promise<string> => (await server.node.identities.subject(id))?.key ?? ''
  const { aliases } = await server.ask('GET', `identity/entity/id/${id}`)
  const alias = (aliases as { id: string }[])[0]?.id
  const { id: group } = await server.ask('POST', 'identity/group', { name: 'g' })
  const { id: outer } = await server.ask('POST', 'identity/group', { name: 'o', member_group_ids: [group] })
  const seen = new Set([await key()])
  const changes: readonly (() => Promise<unknown>)[] = [
    () => server.ask('POST', `identity/entity/id/${id}`, { name: 'n' }),
    () => server.ask('POST', `identity/entity/id/${id}`, { metadata: { a: 'b' } }),
    () => server.login('a', { metadata: { a: 'b' } }),
    () => server.ask('POST', `identity/entity-alias/id/${alias}`, { custom_metadata: { a: 'b' } }),
    () => server.ask('POST', `identity/entity-alias/id/${alias}`, { name: 'b' }),
    () => server.ask('POST', `identity/group/id/${group}`, { member_entity_ids: [id] }),
    () => server.ask('POST', `identity/group/id/${group}`, { name: 'h' }),
    () => server.ask('POST', `identity/group/id/${outer}`, { metadata: { a: 'b' } }),
    () => server.ask('POST', `identity/group/id/${outer}`, { member_group_ids: [] }),
    () => server.ask('DELETE', `identity/entity-alias/id/${alias}`),
    () => server.ask('POST', 'identity/entity-alias', { name: 'b', mount_accessor: accessor, canonical_id: id }),
  ]
  for (const change of changes) {
    await change()
    seen.add(await key())
  }
  assert.equal(seen.size, changes.length + 1)
  const last = await key()
  await server.ask('POST', `identity/entity/id/${id}`, { policies: ['p'], disabled: true })
  await server.ask('POST', `identity/group/id/${group}`, { policies: ['p'] })
  assert.equal(await key(), last)
  assert.notEqual((await server.node.identities.subject(await server.login('z')))?.key, last)
})

test('with the default policy a token may read its own entity and no other', async () => {
  const server = await startIdentityServer()
  const [id, other] = [await server.login('a'), await server.login('b')]
  const subject = await server.node.identities.subject(id)
  const policy = { name: 'default', rules: parsePolicy(BUILTIN_POLICIES.get('default') ?? '').rules }
  const acl = buildAcl([policy], subject?.resolve)
  const mayRead = (path: string): boolean =>
    acl.check({ operation: 'read', path, parameters: undefined, sudoRequired: false }).allowed
  const { name } = await server.ask('GET', `identity/entity/id/${id}`)
  const { name: otherName } = await server.ask('GET', `identity/entity/id/${other}`)
  assert.deepEqual(
    [`id/${id}`, `name/${name}`, `id/${other}`, `name/${otherName}`].map((rest) => mayRead(`identity/entity/${rest}`)),
    [true, true, false, false],
  )
})

test('a policy that a group gets after a member left does not reach them, even in the middle of a load', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const { id: group } = await server.ask('POST', 'identity/group', { name: 'g', member_entity_ids: [id] })
  const { view, digest } = server.node.identities.parts
  let isChanged = false
  const between: View = {
    ...view,
    get: async (path) => {
      if (path.includes('/group/') && !isChanged) {
        isChanged = true
        await server.ask('POST', `identity/group/id/${group}`, { member_entity_ids: [] })
        await server.ask('POST', `identity/group/id/${group}`, { policies: ['strong'] })
      }
      return view.get(path)
    },
  }
  const subject = await new Subjects({ view: between, digest }, new Invalidation()).get(id)
  assert.equal(isChanged, true)
  assert.deepEqual(subject?.policies, [])
})

test('policies of the entity and its groups count at the next request of a token', async () => {
  const server = await startIdentityServer()
  const id = await server.login('a')
  const token = await server.tokenOf(id)
  const status = async (): Promise<number> => (await server.call('GET', 'sys/mounts', undefined, token)).status
  await server.ask('POST', 'sys/policies/acl/mounts', { policy: 'path "sys/mounts" { capabilities = ["read"] }' })
  assert.equal(await status(), 403)
  await server.ask('POST', `identity/entity/id/${id}`, { policies: ['mounts'] })
  assert.equal(await status(), 200)
  await server.ask('POST', `identity/entity/id/${id}`, { policies: [] })
  assert.equal(await status(), 403)
  const { id: group } = await server.ask('POST', 'identity/group', { policies: ['mounts'], member_entity_ids: [id] })
  assert.equal(await status(), 200)
  await server.ask('POST', `identity/group/id/${group}`, { member_entity_ids: [] })
  assert.equal(await status(), 403)
})
