// identity/entity: by id and by name, and batch deletion and merging.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { bool, map, string, strings } from '../api/fields.ts'
import { orNotFound } from '../api/named-things.ts'
import { type Answer, DONE } from '../api/request.ts'
import { listOf, nullable, text } from '../api/shape.ts'
import { keptPolicyName } from '../api/spelling.ts'
import { aliasMountBody, ENTITY_SHAPE, entityBody } from './answers.ts'
import { byIdAndName } from './by-id-and-name.ts'
import { changeEntity, createEntity, deleteEntity, mergeEntities } from './entities.ts'
import type { Entity } from './entries.ts'
import type { IdentityStore } from './identity-store.ts'
import { identityPolicies } from './policy-names.ts'
import { aliasesOf, entityIn, findEntityByName } from './records.ts'
import { entityFacts } from './subjects.ts'

/** The answer to a read of an entity. @throws Refusal `not_found` for undefined */
export async function entityAnswer({ view, parts }: IdentityStore, entity: Entity | undefined): Promise<Answer> {
  return { data: entityBody(await entityFacts(view, orNotFound(entity)), parts.mountOf) }
}

const { make, others } = byIdAndName({
  kind: 'entity',
  oneOf: 'an entity',
  plural: 'entities',
  removal: 'Deletes an entity and its aliases; its tokens lose all access',
  fields: {
    metadata: map('Metadata as key-value pairs; replaces all existing pairs'),
    policies: strings('Policies that its tokens get in addition to their own; replaces the whole list', {
      canonical: keptPolicyName,
    }),
    disabled: bool('Disable the entity: all its tokens are refused'),
  },
  response: ENTITY_SHAPE,
  written: {
    id: text('ID of the new entity'),
    name: text('Name of the new entity'),
    aliases: nullable(listOf(text('ID'), 'Always null: a new entity has no aliases')),
  },
  isSilent: true,
  findById: entityIn,
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
  write: async ({ parts }, tx, namespaceId, there, name, { metadata, policies, disabled }) => {
    const change = { name, metadata, policies: identityPolicies(policies), disabled }
    if (there !== undefined) {
      await changeEntity(parts, tx, there, change)
      return DONE
    }
    const made = await createEntity(parts, tx, namespaceId, change)
    return { data: { id: made.id, name: made.name, aliases: null } }
  },
  remove: async (store, namespaceId, find) => {
    await store.transaction(namespaceId, async (tx) => {
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
  writes: 'set',
  summary: 'Deletes entities by their IDs, all or none; an unknown ID is not an error',
  fields: { entity_ids: strings('IDs of the entities', { required: true }) },
  handler: (store: IdentityStore, { entity_ids: ids }, { namespace }) =>
    store.transaction(namespace.id, async (tx) => {
      for (const id of new Set(ids)) {
        // Paths of ids are judged in the namespace of the request, so what is of another one is unknown here.
        const entity = await entityIn(tx, namespace.id, id)
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
  writes: 'set',
  summary: 'Merges entities into another one, which takes over their aliases, and deletes them',
  describe:
    'Policies, metadata and groups of the deleted entities are not taken over, and their tokens lose all ' +
    'access. Later logins by the moved aliases belong to the remaining entity. An alias that a performance secondary ' +
    'has at a local mount of its own is not moved: who logs in by it next gets an entity of his own.',
  fields: {
    from_entity_ids: strings('IDs of the entities to merge and delete', { required: true }),
    to_entity_id: string('ID of the entity to merge into', { required: true }),
    conflicting_alias_ids_to_keep: strings(
      'IDs of the aliases to keep where two of the entities have an alias at the same mount',
      {
        default: [],
      },
    ),
    force: bool('Accepted from clients that send it, but has no effect', { default: false }),
  },
  handler: (store: IdentityStore, args, { namespace }) =>
    store.transaction(namespace.id, async (tx) => {
      const into = await entityIn(tx, namespace.id, args.to_entity_id)
      if (into === undefined) throw fail('field_invalid', ['to_entity_id', 'no entity has this id'])
      const keep = new Set(args.conflicting_alias_ids_to_keep)
      await mergeEntities(store.parts, tx, into, args.from_entity_ids, keep)
      return DONE
    }),
})

/** Paths by id and name, and two for several entities at once, whose ids are authorised one by one (threats I-06). */
export const ENTITY_ENDPOINTS: readonly Endpoint[] = [make, batchDelete, merge, ...others]
