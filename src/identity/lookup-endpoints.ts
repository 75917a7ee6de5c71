// identity/lookup: things by whatever is known of them.

import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { string } from '../api/fields.ts'
import { DONE } from '../api/request.ts'
import { ENTITY, GROUP } from './answers.ts'
import { namesIn } from './by-id-and-name.ts'
import { entityAnswer } from './entity-endpoints.ts'
import type { Entity, Group } from './entries.ts'
import { groupAnswer } from './group-endpoints.ts'
import type { IdentityStore } from './identity-store.ts'
import { checkAliasName } from './names.ts'
import {
  findAlias,
  findAliasAt,
  findEntity,
  findEntityByName,
  findGroup,
  findGroupByName,
  findGroupOfAlias,
  findGroupOfAliasAt,
} from './records.ts'

const fields = {
  id: string('Id', { default: '' }),
  name: string('Name', { default: '' }),
  alias_id: string('Id of an alias', { default: '' }),
  alias_name: string('Name of an alias, together with alias_mount_accessor', { default: '' }),
  alias_mount_accessor: string('Accessor of the login mount of the alias', { default: '' }),
}

type Known = { readonly [K in keyof typeof fields]: string }

/** @throws Refusal where nothing is given, or more than one thing */
function check(known: Known): void {
  const byAlias = known.alias_name !== '' || known.alias_mount_accessor !== ''
  const ways = [known.id !== '', known.name !== '', known.alias_id !== '', byAlias].filter(Boolean).length
  if (ways !== 1) throw fail('bad_request', ['Give one of id, name, alias_id, or alias_name with alias_mount_accessor'])
  if (!byAlias) return
  if (known.alias_mount_accessor === '') throw fail('field_missing', ['alias_mount_accessor'])
  checkAliasName('alias_name', known.alias_name)
}

async function lookUpEntity({ view, parts }: IdentityStore, known: Known): Promise<Entity | undefined> {
  if (known.id !== '') return findEntity(view, known.id)
  if (known.name !== '') return findEntityByName(view, known.name)
  if (known.alias_id !== '') {
    const alias = await findAlias(view, known.alias_id)
    return alias === undefined ? undefined : findEntity(view, alias.entityId)
  }
  const mount = parts.mountOf(known.alias_mount_accessor)
  const alias = mount === undefined ? undefined : await findAliasAt(view, mount, parts.digest(known.alias_name))
  return alias === undefined ? undefined : findEntity(view, alias.entityId)
}

async function lookUpGroup({ view, parts }: IdentityStore, known: Known): Promise<Group | undefined> {
  if (known.id !== '') return findGroup(view, known.id)
  if (known.name !== '') return findGroupByName(view, known.name)
  if (known.alias_id !== '') return findGroupOfAlias(view, known.alias_id)
  const mount = parts.mountOf(known.alias_mount_accessor)
  return mount === undefined ? undefined : findGroupOfAliasAt(view, mount.accessor, parts.digest(known.alias_name))
}

const entity = endpoint({
  id: 'lookup-entity',
  operation: 'update',
  path: 'lookup/entity',
  capability: 'update',
  alsoNames: [
    ...namesIn('entity', 'read'),
    { field: 'alias_id', operation: 'read', at: (id) => `entity-alias/id/${id}` },
  ],
  runsOn: 'any-node',
  summary: 'The entity that something is known of; 204 without a body where there is none',
  fields,
  response: ENTITY,
  mayBeEmpty: true,
  handler: async (store: IdentityStore, known) => {
    check(known)
    const found = await lookUpEntity(store, known)
    return found === undefined ? DONE : entityAnswer(store, found)
  },
})

const group = endpoint({
  id: 'lookup-group',
  operation: 'update',
  path: 'lookup/group',
  capability: 'update',
  alsoNames: [
    ...namesIn('group', 'read'),
    { field: 'alias_id', operation: 'read', at: (id) => `group-alias/id/${id}` },
  ],
  runsOn: 'any-node',
  summary: 'The group that something is known of; 204 without a body where there is none',
  fields,
  response: GROUP,
  mayBeEmpty: true,
  handler: async (store: IdentityStore, known) => {
    check(known)
    const found = await lookUpGroup(store, known)
    return found === undefined ? DONE : groupAnswer(store, found)
  },
})

export const LOOKUP_ENDPOINTS: readonly Endpoint[] = [entity, group]
