// Entities, aliases and groups as answers show them: for each a shape, and the function that fills it. Some empty lists
// are `null`, as other servers of this API send them and clients decode them.
import type { MountEntry } from '../api/mount.ts'
import { anything, flag, group, integer, listOf, mapOf, nullable, OTHERS, type Shapes, text } from '../api/shape.ts'
import type { Alias, Group } from './entries.ts'
import { childrenOf, membersOf, parentsOf } from './memberships.ts'
import type { From } from './records.ts'
import type { EntityFacts } from './subjects.ts'

/** Finds a mount by its accessor; undefined if it is gone. */
export type MountOf = (accessor: string) => MountEntry | undefined

const iso = (ms: number): string => new Date(ms).toISOString()

const TIMES: Shapes = {
  creation_time: text('RFC 3339'),
  last_update_time: text('RFC 3339'),
}
const METADATA = mapOf(text('Text'), 'Names and texts')
const MOUNT: Shapes = {
  mount_accessor: text('Of the login mount'),
  mount_path: text('Path of the login mount; empty: it is gone'),
  mount_type: text('Its login method; empty: it is gone'),
}

/** Shape of `aliasBody`. */
export const ALIAS_SHAPE: Shapes = {
  id: text('Id of the alias'),
  canonical_id: text('Id of its entity'),
  name: text('Name at the login mount'),
  ...MOUNT,
  metadata: nullable(METADATA),
  custom_metadata: METADATA,
  merged_from_canonical_ids: nullable(listOf(text('Id'), 'Entities that it belonged to before')),
  local: flag('Of a mount that stays out of replication'),
  namespace_id: text('root'),
  ...TIMES,
}

/** An alias of an entity. */
export function aliasBody(alias: Alias, mountOf: MountOf): Record<string, unknown> {
  return {
    id: alias.id,
    canonical_id: alias.entityId,
    name: alias.name,
    ...aliasMountBody(alias.mountAccessor, mountOf),
    metadata: alias.metadata,
    custom_metadata: alias.customMetadata,
    merged_from_canonical_ids: alias.mergedFrom.length === 0 ? null : alias.mergedFrom,
    local: alias.local,
    namespace_id: alias.namespace,
    creation_time: iso(alias.createdAtMs),
    last_update_time: iso(alias.updatedAtMs),
  }
}

/** The mount of an alias. Path and type are empty while the aliases of a removed mount are being removed. */
export function aliasMountBody(accessor: string, mountOf: MountOf): Record<string, unknown> {
  const mount = mountOf(accessor)
  return { mount_accessor: accessor, mount_path: mount?.path ?? '', mount_type: mount?.type ?? '' }
}

/** Shape of `entityBody`. */
export const ENTITY_SHAPE: Shapes = {
  id: text('Id of the entity'),
  name: text('Name'),
  aliases: listOf(group(ALIAS_SHAPE, 'Alias'), 'Its names at login mounts'),
  policies: listOf(text('Policy'), 'Given to it by name'),
  metadata: nullable(METADATA),
  disabled: flag('No access, with whatever token'),
  group_ids: listOf(text('Id'), 'All groups that it is in'),
  direct_group_ids: listOf(text('Id'), 'Those that it is in itself'),
  inherited_group_ids: listOf(text('Id'), 'Those that its groups are in'),
  merged_entity_ids: nullable(listOf(text('Id'), 'Entities that were merged into it')),
  mfa_secrets: group({ [OTHERS]: anything('None') }, 'Empty: not offered'),
  namespace_id: text('root'),
  ...TIMES,
}

const idsOf = (groups: readonly Group[]): string[] => groups.map(({ id }) => id).sort()

/** An entity with its aliases and groups. `policies` are its own, without those of its groups. */
export function entityBody(
  { entity, aliases, direct, inherited }: EntityFacts,
  mountOf: MountOf,
): Record<string, unknown> {
  return {
    id: entity.id,
    name: entity.name,
    aliases: aliases.map((alias) => aliasBody(alias, mountOf)),
    policies: entity.policies,
    metadata: entity.metadata,
    disabled: entity.disabled,
    group_ids: idsOf([...direct, ...inherited]),
    direct_group_ids: idsOf(direct),
    inherited_group_ids: idsOf(inherited),
    merged_entity_ids: entity.mergedIds.length === 0 ? null : entity.mergedIds,
    mfa_secrets: {},
    namespace_id: entity.namespace,
    creation_time: iso(entity.createdAtMs),
    last_update_time: iso(entity.updatedAtMs),
  }
}

/** Shape of `groupAliasBody`. */
export const GROUP_ALIAS: Shapes = {
  id: text('Id of the group alias'),
  canonical_id: text('Id of its group'),
  name: text('Name of the group at the login mount'),
  ...MOUNT,
  metadata: nullable(METADATA),
  merged_from_canonical_ids: nullable(listOf(text('Id'), 'None')),
  namespace_id: text('root'),
  ...TIMES,
}

/** The alias of a group; an empty object if it has none. */
export function groupAliasBody({ id, alias, namespace }: Group, mountOf: MountOf): Record<string, unknown> {
  if (alias === null) return {}
  return {
    id: alias.id,
    canonical_id: id,
    name: alias.name,
    ...aliasMountBody(alias.mountAccessor, mountOf),
    metadata: null,
    merged_from_canonical_ids: null,
    namespace_id: namespace,
    creation_time: iso(alias.createdAtMs),
    last_update_time: iso(alias.updatedAtMs),
  }
}

/** Shape of `groupBody`. */
export const GROUP_SHAPE: Shapes = {
  id: text('Id of the group'),
  name: text('Name'),
  type: text('internal: members are named here; external: logins say who is in it'),
  policies: listOf(text('Policy'), 'Given to its members'),
  metadata: nullable(METADATA),
  member_entity_ids: listOf(text('Id'), 'Entities that are in it themselves'),
  member_group_ids: listOf(text('Id'), 'Groups that are in it'),
  parent_group_ids: listOf(text('Id'), 'Groups that it is in'),
  alias: group({ [OTHERS]: anything('As identity/group-alias shows it') }, 'Empty: it has none'),
  modify_index: integer('Grows with each write'),
  namespace_id: text('root'),
  ...TIMES,
}

/** A group with its members, of which only those are shown that count now. */
export async function groupBody(from: From, found: Group, mountOf: MountOf): Promise<Record<string, unknown>> {
  return {
    id: found.id,
    name: found.name,
    type: found.type,
    policies: found.policies,
    metadata: found.metadata,
    member_entity_ids: await membersOf(from, found),
    member_group_ids: await childrenOf(from, found.id),
    parent_group_ids: await parentsOf(from, found.id),
    alias: groupAliasBody(found, mountOf),
    modify_index: found.version,
    namespace_id: found.namespace,
    creation_time: iso(found.createdAtMs),
    last_update_time: iso(found.updatedAtMs),
  }
}
