// Makes, changes, removes and merges entities. Each function works inside a transaction of the caller.
import { fail } from '../api/errors.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { deleteAlias, moveAlias, removeAliasOf, retire } from './aliases.ts'
import type { Alias, Entity } from './entries.ts'
import type { Halves } from './halves.ts'
import { membershipsOf, removeMembership } from './memberships.ts'
import { checkName, newId, placeOfId } from './names.ts'
import {
  aliasesOf,
  entityIn,
  findEntity,
  findEntityByName,
  freeName,
  type IdentityParts,
  putEntity,
} from './records.ts'
import { changeName, claimName, madeUpName } from './unique-names.ts'

/** Members of an entity that a write may give; an absent one stays as it was. */
export type EntityChange = {
  readonly name?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Normalised and without `root`: the result of `identityPolicies`. */
  readonly policies?: readonly string[] | undefined
  readonly disabled?: boolean | undefined
}

/** Makes an entity of the namespace; a name is made up if none is given. @throws Refusal if the name is taken there */
export async function createEntity(
  parts: IdentityParts,
  tx: ViewTransaction,
  namespaceId: string,
  change: EntityChange,
): Promise<Entity> {
  const { random, clock } = parts.world
  const nowMs = clock.nowMs()
  const find = (made: string) => findEntityByName(tx, namespaceId, made)
  const name = change.name ?? (await madeUpName(parts, 'entity', namespaceId, find))
  const entity: Entity = {
    format: 1,
    namespace: namespaceId,
    id: newId(random, namespaceId),
    name: checkName('name', name),
    metadata: change.metadata ?? {},
    policies: change.policies ?? [],
    disabled: change.disabled ?? false,
    mergedIds: [],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
  await claimName(tx, 'entity', entity)
  putEntity(tx, entity)
  return entity
}

/** Makes the entity of a new alias; it goes again if the alias is refused. Returns its id. */
export async function createEntityOfAlias(parts: IdentityParts, tx: Halves, namespaceId: string): Promise<string> {
  const { id } = await createEntity(parts, tx, namespaceId, {})
  tx.ifRefused(async (back) => {
    const made = await findEntity(back, id)
    if (made !== undefined && (await aliasesOf(back, id)).length === 0) removeEntity(back, made)
  })
  return id
}

/** Stores an entity with what was given. @throws Refusal if the new name is taken */
export async function changeEntity(
  { world }: IdentityParts,
  tx: ViewTransaction,
  entity: Entity,
  change: EntityChange,
): Promise<void> {
  const changed: Entity = {
    ...entity,
    name: change.name === undefined ? entity.name : checkName('name', change.name),
    metadata: change.metadata ?? entity.metadata,
    policies: change.policies ?? entity.policies,
    disabled: change.disabled ?? entity.disabled,
    updatedAtMs: world.clock.nowMs(),
  }
  await changeName(tx, 'entity', entity, changed)
  putEntity(tx, changed)
}

/**
 * Removes an entity with its aliases and memberships. A later login by one of the aliases makes a new entity, so a
 * removed entity's rights never come back.
 */
export async function deleteEntity(parts: IdentityParts, tx: Halves, entity: Entity): Promise<void> {
  for (const alias of await aliasesOf(tx, entity.id)) await removeAliasOf(parts, tx, alias)
  for (const membership of await membershipsOf(tx, entity.id)) {
    if (!membership.local) removeMembership(tx, membership)
  }
  tx.later(async (half) => {
    for (const membership of await membershipsOf(half, entity.id)) {
      if (membership.local) removeMembership(half, membership)
    }
  })
  removeEntity(tx, entity)
}

/** Removes the entry of an entity and its name; what else there is of it counts no more. */
export function removeEntity(tx: ViewTransaction, entity: Entity): void {
  freeName(tx, 'entity-name', entity)
  tx.delete(`identity/entity/${placeOfId(entity.id)}`)
}

/**
 * Moves the aliases of other entities to `into` and removes those entities. Their policies, metadata and groups are not
 * taken over: a merge must give no one new rights (threats I-02). If two have an alias at the same mount, `keep` has
 * the id of the one that stays.
 * @throws Refusal for unknown or disabled entities, and if `keep` does not decide
 */
export async function mergeEntities(
  parts: IdentityParts,
  tx: Halves,
  into: Entity,
  fromIds: readonly string[],
  keep: ReadonlySet<string>,
): Promise<void> {
  const merged = [...into.mergedIds]
  // Aliases of this cluster are moved later, so what the entity will have is kept here.
  const own = new Map((await aliasesOf(tx, into.id)).map((alias) => [alias.mountAccessor, alias]))
  for (const id of new Set(fromIds)) {
    if (id === into.id) throw fail('field_invalid', ['from_entity_ids', 'must not hold to_entity_id'])
    const from = await entityIn(tx, into.namespace, id)
    if (from === undefined) throw fail('field_invalid', ['from_entity_ids', 'no entity has one of the ids'])
    if (from.disabled) {
      // Its aliases would have access again by the merge.
      throw fail('field_invalid', ['from_entity_ids', `${id} is disabled: enable or delete it first`])
    }
    for (const alias of await aliasesOf(tx, id)) await takeOver(parts, tx, { into, own, keep }, alias)
    await deleteEntity(parts, tx, from)
    merged.push(id, ...from.mergedIds)
  }
  putEntity(tx, { ...into, mergedIds: merged, updatedAtMs: parts.world.clock.nowMs() })
}

/** Moves one alias to `into`, or drops it if `into` keeps its own at the mount. */
async function takeOver(
  parts: IdentityParts,
  tx: Halves,
  { into, own, keep }: { into: Entity; own: Map<string, Alias>; keep: ReadonlySet<string> },
  alias: Alias,
): Promise<void> {
  const present = own.get(alias.mountAccessor)
  if (present !== undefined) {
    if (keep.has(present.id) === keep.has(alias.id)) {
      throw fail('field_invalid', [
        'conflicting_alias_ids_to_keep',
        `must hold one of ${present.id} and ${alias.id}, which are aliases at the same mount`,
      ])
    }
    if (keep.has(present.id)) return
    retire(tx, present)
    await deleteAlias(parts, tx, present)
  }
  const moved = { ...alias, entityId: into.id, mergedFrom: [...alias.mergedFrom, alias.entityId] }
  own.set(alias.mountAccessor, await moveAlias(parts, tx, alias, moved))
}
