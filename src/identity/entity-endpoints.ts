// identity/entity.

import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { bool, map, string, strings } from '../api/fields.ts'
import { orNotFound, pageOf } from '../api/named-things.ts'
import { type Answer, DONE } from '../api/request.ts'
import { listOf, text } from '../api/shape.ts'
import { keptPolicyName } from '../api/spelling.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { ENTITY, entityBody } from './answers.ts'
import { byIdAndName, idField, nameField, namesIn } from './by-id-and-name.ts'
import { changeEntity, createEntity, deleteEntity, type EntityChange, mergeEntities } from './entities.ts'
import type { Entity } from './entries.ts'
import type { IdentityStore } from './identity-store.ts'
import { LISTED_WITH_INFO, pageFields, withInfo } from './listing.ts'
import { identityPolicies } from './policy-names.ts'
import { aliasesOf, findEntity, findEntityByName } from './records.ts'
import { factsOf } from './subjects.ts'

const changeFields = {
  metadata: map('Names and texts; all of them are replaced'),
  policies: strings('Policies of its tokens, besides their own; all of them are replaced', {
    canonical: keptPolicyName,
  }),
  disabled: bool('No access, with whatever token'),
}

const MADE = {
  id: text('Id of the new entity'),
  name: text('Its name'),
  aliases: listOf(text('Id'), 'None yet'),
}

type ChangeArgs = {
  readonly metadata: Readonly<Record<string, string>> | undefined
  readonly policies: readonly string[] | undefined
  readonly disabled: boolean | undefined
}

const changeOf = (args: ChangeArgs, name?: string): EntityChange => ({
  name: name === '' ? undefined : name,
  metadata: args.metadata,
  policies: identityPolicies(args.policies),
  disabled: args.disabled,
})

/** 200 tells that it is new, 204 that it was there: clients that manage entities ask for the difference. */
async function write(
  { parts }: IdentityStore,
  tx: ViewTransaction,
  there: Entity | undefined,
  change: EntityChange,
): Promise<Answer> {
  if (there !== undefined) {
    await changeEntity(parts, tx, there, change)
    return DONE
  }
  const { id, name } = await createEntity(parts, tx, change)
  return { data: { id, name, aliases: [] } }
}

async function requireEntity(tx: ViewTransaction, id: string): Promise<Entity> {
  const entity = await findEntity(tx, id)
  if (entity === undefined) throw fail('field_invalid', ['id', 'no entity has this id'])
  return entity
}

export async function entityAnswer({ view, parts }: IdentityStore, entity: Entity | undefined): Promise<Answer> {
  return { data: entityBody(await factsOf(view, orNotFound(entity)), parts.mountOf) }
}

async function remove(
  store: IdentityStore,
  find: (tx: ViewTransaction) => Promise<Entity | undefined>,
): Promise<Answer> {
  await store.transaction(async (tx) => {
    const entity = await find(tx)
    if (entity !== undefined) await deleteEntity(store.parts, tx, entity)
  })
  return DONE
}

const make = endpoint({
  id: 'entity-write',
  operation: 'update',
  path: 'entity',
  capability: 'update',
  alsoNames: namesIn('entity', 'update'),
  runsOn: 'writer',
  summary: 'Makes an entity, or changes the one with the id or the name',
  fields: {
    id: string('Id of an entity that is there', { default: '' }),
    name: string('Name; the default is one that is made up', { default: '' }),
    ...changeFields,
  },
  response: MADE,
  mayBeEmpty: true,
  handler: (store: IdentityStore, { id, name, ...args }) =>
    store.transaction(async (tx) => {
      if (id !== '') return write(store, tx, await requireEntity(tx, id), changeOf(args, name))
      const there = await findEntityByName(tx, name)
      return write(store, tx, there, changeOf(args, there === undefined ? name : undefined))
    }),
})

const listIds = endpoint({
  id: 'entity-list-ids',
  operation: 'list',
  path: 'entity/id',
  capability: 'list',
  runsOn: 'any-node',
  summary: 'Ids of the entities',
  fields: pageFields,
  response: LISTED_WITH_INFO,
  handler: async ({ view, parts }: IdentityStore, args) => ({
    data: await withInfo(pageOf(await view.list('identity/entity/'), args), async (id) => {
      const entity = await findEntity(view, id)
      if (entity === undefined) return undefined
      const aliases = (await aliasesOf(view, id)).map((alias) => {
        const mount = parts.mountOf(alias.mountAccessor)
        return {
          id: alias.id,
          name: alias.name,
          mount_accessor: alias.mountAccessor,
          mount_path: mount?.path ?? '',
          mount_type: mount?.type ?? '',
        }
      })
      return { name: entity.name, aliases }
    }),
  }),
})

const writeId = endpoint({
  id: 'entity-write-id',
  operation: 'update',
  path: 'entity/id/:id',
  capability: 'update',
  alsoNames: namesIn('entity', 'update').filter(({ field }) => field === 'name'),
  runsOn: 'writer',
  summary: 'Changes an entity',
  fields: { ...idField('entity'), name: string('New name', { default: '' }), ...changeFields },
  handler: (store: IdentityStore, { id, name, ...args }) =>
    store.transaction(async (tx) => write(store, tx, await requireEntity(tx, id), changeOf(args, name))),
})

const { readId, deleteId, listByName, readName, deleteName } = byIdAndName<Entity>({
  kind: 'entity',
  summaries: {
    names: 'Names of the entities',
    removal: 'Removes an entity with its aliases; its tokens have no access any more',
  },
  response: ENTITY,
  findById: findEntity,
  findByName: findEntityByName,
  answer: entityAnswer,
  remove,
})

const writeName = endpoint({
  id: 'entity-write-name',
  operation: 'update',
  path: 'entity/name/:name...',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Makes the entity, or changes it',
  fields: { ...nameField('entity'), ...changeFields },
  response: MADE,
  mayBeEmpty: true,
  handler: (store: IdentityStore, { name, ...args }) =>
    store.transaction(async (tx) => {
      const there = await findEntityByName(tx, name)
      return write(store, tx, there, changeOf(args, there === undefined ? name : undefined))
    }),
})

const batchDelete = endpoint({
  id: 'entity-batch-delete',
  operation: 'update',
  path: 'entity/batch-delete',
  capability: 'update',
  alsoNames: [{ field: 'entity_ids', operation: 'delete', at: (id) => `entity/id/${id}` }],
  runsOn: 'writer',
  summary: 'Removes entities by their ids, all or none; one that is not there is no error',
  fields: { entity_ids: strings('Ids of the entities', { required: true }) },
  handler: (store: IdentityStore, { entity_ids: ids }) =>
    store.transaction(async (tx) => {
      for (const id of new Set(ids)) {
        const entity = await findEntity(tx, id)
        if (entity !== undefined) await deleteEntity(store.parts, tx, entity)
      }
      return DONE
    }),
})

const merge = endpoint({
  id: 'entity-merge',
  operation: 'update',
  path: 'entity/merge',
  capability: 'update',
  alsoNames: [
    { field: 'from_entity_ids', operation: 'delete', at: (id) => `entity/id/${id}` },
    { field: 'to_entity_id', operation: 'update', at: (id) => `entity/id/${id}` },
  ],
  sudo: true,
  runsOn: 'writer',
  summary: 'Gives the aliases of entities to another one and removes them',
  describe:
    'Policies, metadata and groups of the removed entities are not taken over, and their tokens have no access any ' +
    'more: who logs in again becomes the remaining entity.',
  fields: {
    from_entity_ids: strings('Ids of the entities to be removed', { required: true }),
    to_entity_id: string('Id of the one that remains', { required: true }),
    conflicting_alias_ids_to_keep: strings('Where two have an alias at the same mount: the one that stays', {
      default: [],
    }),
    force: bool('Taken from clients that send it; nothing depends on it', { default: false }),
  },
  handler: (store: IdentityStore, args) =>
    store.transaction(async (tx) => {
      const into = await findEntity(tx, args.to_entity_id)
      if (into === undefined) throw fail('field_invalid', ['to_entity_id', 'no entity has this id'])
      const keep = new Set(args.conflicting_alias_ids_to_keep)
      await mergeEntities(store.parts, tx, into, args.from_entity_ids, keep)
      return DONE
    }),
})

export const ENTITY_ENDPOINTS: readonly Endpoint[] = [
  make,
  batchDelete,
  merge,
  listIds,
  readId,
  writeId,
  deleteId,
  listByName,
  readName,
  writeName,
  deleteName,
]
