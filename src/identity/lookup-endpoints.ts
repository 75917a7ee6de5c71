// identity/lookup: finds an entity or a group by its id or name, or by an alias.

import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { string } from '../api/fields.ts'
import { type Caller, DONE, type RequestInfo } from '../api/request.ts'
import { ENTITY_SHAPE, GROUP_SHAPE } from './answers.ts'
import { namesIn } from './by-id-and-name.ts'
import { entityAnswer } from './entity-endpoints.ts'
import type { Entity, Group } from './entries.ts'
import { aliasedIn, isAliased } from './group-aliases.ts'
import { groupAnswer } from './group-endpoints.ts'
import type { IdentityStore } from './identity-store.ts'
import { checkAliasName } from './names.ts'
import {
  entityIn,
  findAlias,
  findAliasAt,
  findEntityByName,
  findGroupByName,
  findGroupOfAliasAt,
  groupIn,
} from './records.ts'

const fields = {
  id: string('ID of the entity or group', { default: '' }),
  name: string('Name of the entity or group', { default: '' }),
  alias_id: string('ID of an alias', { default: '' }),
  alias_name: string('Name of an alias; requires alias_mount_accessor', { default: '' }),
  alias_mount_accessor: string('Accessor of the login mount of the alias; requires alias_name', { default: '' }),
}

type Known = { readonly [K in keyof typeof fields]: string }

/** Checks that exactly one way to the thing is given. @throws Refusal */
function check(known: Known): void {
  const byAlias = known.alias_name !== '' || known.alias_mount_accessor !== ''
  const ways = [known.id !== '', known.name !== '', known.alias_id !== '', byAlias].filter(Boolean).length
  if (ways !== 1)
    throw fail('fields_conflict', ['Give one of id, name, alias_id, or alias_name with alias_mount_accessor'])
  if (!byAlias) return
  if (known.alias_mount_accessor === '') throw fail('field_missing', ['alias_mount_accessor'])
  checkAliasName('alias_name', known.alias_name)
}

/**
 * Ids and names in the body are judged by the pipeline (`alsoNames`). An alias that was named by mount and name is
 * judged here, once its id is known. @throws Refusal
 */
function requireRight(caller: Caller | undefined, path: string): void {
  if (caller?.isRefusedAt(path, 'read') === true) throw fail('permission_denied', [])
}

type Asked = { readonly known: Known } & Pick<RequestInfo, 'namespace' | 'caller'>

async function lookUpEntity({ view, parts }: IdentityStore, asked: Asked): Promise<Entity | undefined> {
  const { known, namespace, caller } = asked
  if (known.id !== '') return entityIn(view, namespace.id, known.id)
  if (known.name !== '') return findEntityByName(view, namespace.id, known.name)
  if (known.alias_id !== '') {
    const alias = await findAlias(view, known.alias_id)
    return alias === undefined ? undefined : entityIn(view, namespace.id, alias.entityId)
  }
  const mount = parts.mountOf(known.alias_mount_accessor)
  const alias = mount === undefined ? undefined : await findAliasAt(view, mount, parts.digest(known.alias_name))
  if (alias?.namespace !== namespace.id) return undefined
  requireRight(caller, `entity-alias/id/${alias.id}`)
  return entityIn(view, namespace.id, alias.entityId)
}

async function lookUpGroup({ view, parts }: IdentityStore, asked: Asked): Promise<Group | undefined> {
  const { known, namespace, caller } = asked
  if (known.id !== '') return groupIn(view, namespace.id, known.id)
  if (known.name !== '') return findGroupByName(view, namespace.id, known.name)
  if (known.alias_id !== '') return aliasedIn(view, namespace.id, known.alias_id)
  const mount = parts.mountOf(known.alias_mount_accessor)
  if (mount === undefined) return undefined
  const found = await findGroupOfAliasAt(view, mount, parts.digest(known.alias_name))
  if (found?.namespace !== namespace.id) return undefined
  if (isAliased(found)) requireRight(caller, `group-alias/id/${found.alias.id}`)
  return found
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
  summary: 'Looks up an entity by its ID, its name or one of its aliases; 204 without a body if there is none',
  fields,
  response: ENTITY_SHAPE,
  mayBeEmpty: true,
  handler: async (store: IdentityStore, known, { namespace, caller }) => {
    check(known)
    const found = await lookUpEntity(store, { known, namespace, caller })
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
  summary: 'Looks up a group by its ID, its name or its alias; 204 without a body if there is none',
  fields,
  response: GROUP_SHAPE,
  mayBeEmpty: true,
  handler: async (store: IdentityStore, known, { namespace, caller }) => {
    check(known)
    const found = await lookUpGroup(store, { known, namespace, caller })
    return found === undefined ? DONE : groupAnswer(store, found)
  },
})

/** One for entities and one for groups. Nothing found is 204, not 404: clients tell it from a wrong path. */
export const LOOKUP_ENDPOINTS: readonly Endpoint[] = [entity, group]
