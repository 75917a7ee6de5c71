// Entities, aliases and groups as answers show them: for each a shape, and the function that fills it. Metadata without
// pairs are `null`, and so are some empty lists, as other servers of this API send them and clients decode them.
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
  creation_time: text('Time of creation, RFC 3339'),
  last_update_time: text('Time of the last update, RFC 3339'),
}
const METADATA = nullable(mapOf(text('Value'), 'Metadata, as key-value pairs; null if none'))
const MOUNT: Shapes = {
  mount_accessor: text('Accessor of the login mount'),
  mount_path: text('Path of the login mount; empty if it no longer exists'),
  mount_type: text('Type of the login mount; empty if it no longer exists'),
}

/** An alias, in answers of identity/entity-alias and within its entity. */
export const ALIAS_SHAPE: Shapes = {
  id: text('ID of the alias'),
  canonical_id: text('ID of its entity'),
  name: text('Name at the login mount'),
  ...MOUNT,
  metadata: METADATA,
  custom_metadata: nullable(
    mapOf(text('Value'), 'Metadata from operators, as key-value pairs; null if only logins have written the alias'),
  ),
  merged_from_canonical_ids: nullable(
    listOf(text('ID'), 'IDs of the entities that it belonged to before they were merged; null if none'),
  ),
  local: flag('The login mount is local: a secondary for performance does not get it'),
  namespace_id: text('ID of the namespace; root for the root namespace'),
  ...TIMES,
}

type Pairs = Readonly<Record<string, string>>
const pairsOrNull = (pairs: Pairs): Pairs | null => (Object.keys(pairs).length === 0 ? null : pairs)
const idsOrNull = (ids: readonly string[]): readonly string[] | null => (ids.length === 0 ? null : ids)

/** An alias of an entity. */
export function aliasBody(alias: Alias, mountOf: MountOf): Record<string, unknown> {
  return {
    id: alias.id,
    canonical_id: alias.entityId,
    name: alias.name,
    ...aliasMountBody(alias.mountAccessor, mountOf),
    metadata: pairsOrNull(alias.metadata),
    custom_metadata: alias.customMetadata,
    merged_from_canonical_ids: idsOrNull(alias.mergedFrom),
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

/** An entity with its aliases and groups, in answers of identity/entity. */
export const ENTITY_SHAPE: Shapes = {
  id: text('ID of the entity'),
  name: text('Name of the entity'),
  aliases: listOf(group(ALIAS_SHAPE, 'Alias'), 'Aliases of the entity, which are its names at login mounts'),
  policies: listOf(text('Policy'), 'Policies attached to the entity'),
  metadata: METADATA,
  disabled: flag('Disabled: all its tokens are refused'),
  group_ids: listOf(text('ID'), 'IDs of all groups that contain it, directly or through other groups'),
  direct_group_ids: listOf(text('ID'), 'IDs of the groups that contain it directly'),
  inherited_group_ids: listOf(text('ID'), 'IDs of the groups that contain it through other groups'),
  merged_entity_ids: nullable(listOf(text('ID'), 'IDs of the entities that were merged into it; null if none')),
  mfa_secrets: group({ [OTHERS]: anything('Never present') }, 'Always empty: MFA is not offered'),
  namespace_id: text('ID of the namespace; root for the root namespace'),
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
    metadata: pairsOrNull(entity.metadata),
    disabled: entity.disabled,
    group_ids: idsOf([...direct, ...inherited]),
    direct_group_ids: idsOf(direct),
    inherited_group_ids: idsOf(inherited),
    merged_entity_ids: idsOrNull(entity.mergedIds),
    mfa_secrets: {},
    namespace_id: entity.namespace,
    creation_time: iso(entity.createdAtMs),
    last_update_time: iso(entity.updatedAtMs),
  }
}

/** The alias of an external group, in answers of identity/group-alias. */
export const GROUP_ALIAS: Shapes = {
  id: text('ID of the group alias'),
  canonical_id: text('ID of its group'),
  name: text('Name of the group at the login mount'),
  ...MOUNT,
  metadata: METADATA,
  merged_from_canonical_ids: nullable(listOf(text('ID'), 'Always null: group aliases are not merged')),
  namespace_id: text('ID of the namespace; root for the root namespace'),
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

/** A group with its members, in answers of identity/group. */
export const GROUP_SHAPE: Shapes = {
  id: text('ID of the group'),
  name: text('Name of the group'),
  type: text('internal: members are set on the group; external: membership follows logins'),
  policies: listOf(text('Policy'), 'Policies granted to its members'),
  metadata: METADATA,
  member_entity_ids: listOf(text('ID'), 'IDs of the entities that are direct members'),
  member_group_ids: nullable(listOf(text('ID'), 'IDs of the groups that are members; null if none')),
  parent_group_ids: nullable(listOf(text('ID'), 'IDs of the groups that contain it; null if none')),
  alias: group({ [OTHERS]: anything('Same as in identity/group-alias') }, 'The group alias; empty if there is none'),
  modify_index: integer('Incremented with each write, also of another group that takes this one in or lets it go'),
  namespace_id: text('ID of the namespace; root for the root namespace'),
  ...TIMES,
}

/** A group with its members, of which only those are shown that count now. */
export async function groupBody(from: From, found: Group, mountOf: MountOf): Promise<Record<string, unknown>> {
  return {
    id: found.id,
    name: found.name,
    type: found.type,
    policies: found.policies,
    metadata: pairsOrNull(found.metadata),
    member_entity_ids: await membersOf(from, found),
    member_group_ids: idsOrNull(await childrenOf(from, found.id)),
    parent_group_ids: idsOrNull(await parentsOf(from, found.id)),
    alias: groupAliasBody(found, mountOf),
    modify_index: found.version,
    namespace_id: found.namespace,
    creation_time: iso(found.createdAtMs),
    last_update_time: iso(found.updatedAtMs),
  }
}
