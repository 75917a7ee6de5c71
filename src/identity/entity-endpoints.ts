// identity/entity: by id and by name, and batch deletion and merging.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { bool, map, string, strings } from '../api/fields.ts'
import { orNotFound } from '../api/named-things.ts'
import { type Answer, DONE } from '../api/request.ts'
import { listOf, text } from '../api/shape.ts'
import { keptPolicyName } from '../api/spelling.ts'
import { aliasMountBody, ENTITY_SHAPE, entityBody } from './answers.ts'
import { byIdAndName } from './by-id-and-name.ts'
import { changeEntity, createEntity, deleteEntity, mergeEntities } from './entities.ts'
import type { Entity } from './entries.ts'
import type { IdentityStore } from './identity-store.ts'
import { identityPolicies } from './policy-names.ts'
import { aliasesOf, findEntity, findEntityByName } from './records.ts'
import { entityFacts } from './subjects.ts'

/** The answer to a read of an entity. @throws Refusal `not_found` for undefined */
export async function entityAnswer({ view, parts }: IdentityStore, entity: Entity | undefined): Promise<Answer> {
  return { data: entityBody(await entityFacts(view, orNotFound(entity)), parts.mountOf) }
}

const { make, others } = byIdAndName({
  kind: 'entity',
  oneOf: 'an entity',
  plural: 'entities',
  removal: 'Removes an entity with its aliases; its tokens have no access any more',
  fields: {
    metadata: map('Names and texts; all of them are replaced'),
    policies: strings('Policies of its tokens, besides their own; all of them are replaced', {
      canonical: keptPolicyName,
    }),
    disabled: bool('No access, with whatever token'),
  },
  response: ENTITY_SHAPE,
  written: {
    id: text('Id of the new entity'),
    name: text('Its name'),
    aliases: listOf(text('Id'), 'None yet'),
  },
  isSilent: true,
  findById: findEntity,
  findByName: findEntityByName,
  info: async ({ view, parts }, { id, name }: Entity) => {
    const aliases = (await aliasesOf(view, id)).map((alias) => ({
      id: alias.id,
      name: alias.name,
      ...aliasMountBody(alias.mountAccessor, parts.mountOf),
    }))
    return { name, aliases }
  },
  answer: entityAnswer,
  /** 200 says that the entity is new, 204 that it existed: clients that manage entities tell the two apart. */
  write: async ({ parts }, tx, there, name, { metadata, policies, disabled }) => {
    const change = { name, metadata, policies: identityPolicies(policies), disabled }
    if (there !== undefined) {
      await changeEntity(parts, tx, there, change)
      return DONE
    }
    const made = await createEntity(parts, tx, change)
    return { data: { id: made.id, name: made.name, aliases: [] } }
  },
  remove: async (store, find) => {
    await store.transaction(async (tx) => {
      const entity = await find(tx)
      if (entity !== undefined) await deleteEntity(store.parts, tx, entity)
    })
    return DONE
  },
})

// One transaction, so that a failure in the middle removes nothing.
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

// Differs: docs/differences.md#identity. It needs sudo, because it decides as whom others log in (threats I-02).
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

/** Paths by id and name, and two for several entities at once, whose ids are authorised one by one (threats I-06). */
export const ENTITY_ENDPOINTS: readonly Endpoint[] = [make, batchDelete, merge, ...others]
