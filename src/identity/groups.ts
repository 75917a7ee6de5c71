// Makes, changes and removes groups. Each function works inside a transaction of the caller.
import type { NamedId } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import type { Group, GroupType } from './entries.ts'
import { refuseNesting } from './group-nesting.ts'
import {
  childrenOf,
  madeByOperator,
  membersOf,
  parentsOf,
  putChild,
  putMembership,
  removeChild,
  removeMembership,
} from './memberships.ts'
import { checkName, newId, placeOfId } from './names.ts'
import {
  type From,
  findEntity,
  findGroup,
  findGroupByName,
  freeName,
  type IdentityParts,
  putGroup,
  removeGroupAlias,
} from './records.ts'
import { changeName, claimName, madeUpName } from './unique-names.ts'

const UNKNOWN_ENTITY = 'no entity has one of the ids'
const UNKNOWN_GROUP = 'no group has one of the ids'

/** Members of a group that a write may give; an absent one stays as it was. */
export type GroupChange = {
  readonly name?: string | undefined
  readonly type?: GroupType | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Normalised and without `root`: the result of `identityPolicies`. */
  readonly policies?: readonly string[] | undefined
  readonly memberEntityIds?: readonly string[] | undefined
  readonly memberGroupIds?: readonly string[] | undefined
}

/**
 * Makes a group of the namespace; a name is made up if none is given. Its members may be of any namespace.
 * @throws Refusal if the name is taken there, or for an unfit member
 */
export async function createGroup(
  parts: IdentityParts,
  tx: ViewTransaction,
  namespaceId: string,
  change: GroupChange,
): Promise<Group> {
  const { random, clock } = parts.world
  const nowMs = clock.nowMs()
  const find = (made: string) => findGroupByName(tx, namespaceId, made)
  const name = change.name ?? (await madeUpName(parts, 'group', namespaceId, find))
  const group: Group = {
    format: 1,
    namespace: namespaceId,
    id: newId(random, namespaceId),
    name: checkName('name', name),
    type: change.type ?? 'internal',
    metadata: change.metadata ?? {},
    policies: change.policies ?? [],
    version: 1,
    alias: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
  await claimName(tx, 'group', group)
  putGroup(tx, group)
  await setMembers(tx, group, change)
  return group
}

/**
 * Stores a group with what was given; lists of members replace the old ones.
 * @throws Refusal if the name is taken, the type differs, or a member is unfit
 */
export async function changeGroup(
  { world }: IdentityParts,
  tx: ViewTransaction,
  group: Group,
  change: GroupChange,
): Promise<Group> {
  // Differs: docs/differences.md#identity. The members of one type mean nothing to the other.
  if (change.type !== undefined && change.type !== group.type)
    throw fail('field_invalid', ['type', `is ${group.type} and cannot be changed: make another group`])
  const changed: Group = {
    ...group,
    name: change.name === undefined ? group.name : checkName('name', change.name),
    metadata: change.metadata ?? group.metadata,
    policies: change.policies ?? group.policies,
    version: group.version + 1,
    updatedAtMs: world.clock.nowMs(),
  }
  await changeName(tx, 'group', group, changed)
  putGroup(tx, changed)
  await setMembers(tx, changed, change)
  return changed
}

/** Replaces the members that are given; an absent list stays. */
async function setMembers(tx: ViewTransaction, group: Group, change: GroupChange): Promise<void> {
  const { memberEntityIds: entities, memberGroupIds: groups } = change
  // Clients send empty lists with every write, for external groups too; only members in them are a mistake.
  if (group.type === 'external') {
    for (const [field, ids] of [['member_entity_ids', entities] as const, ['member_group_ids', groups] as const]) {
      if (ids !== undefined && ids.length > 0)
        throw fail('field_invalid', [field, 'an external group gets its members from logins: make an internal one'])
    }
    return
  }
  if (entities !== undefined) await setMemberEntities(tx, group, new Set(entities))
  if (groups !== undefined) await setMemberGroups(tx, group, new Set(groups))
}

/**
 * The ids that a change would make members of the group; undefined: of a new one. Those that are members already show
 * in it: a list that was read may be written back.
 */
export async function newMembers(
  from: From,
  group: Group | undefined,
  { memberEntityIds: entities = [], memberGroupIds: groups = [] }: GroupChange,
): Promise<NamedId[]> {
  const present = new Set(
    group === undefined ? [] : [...(await membersOf(from, group)), ...(await childrenOf(from, group.id))],
  )
  return [
    ...entities.map((id) => ({ id, field: 'member_entity_ids', unknown: UNKNOWN_ENTITY })),
    ...groups.map((id) => ({ id, field: 'member_group_ids', unknown: UNKNOWN_GROUP })),
  ].filter(({ id }) => !present.has(id))
}

async function setMemberEntities(tx: ViewTransaction, group: Group, wanted: ReadonlySet<string>): Promise<void> {
  const present = new Set(await membersOf(tx, group))
  for (const entityId of wanted) {
    if (present.has(entityId)) continue
    if ((await findEntity(tx, entityId)) === undefined)
      throw fail('field_invalid', ['member_entity_ids', UNKNOWN_ENTITY])
    putMembership(tx, madeByOperator(entityId, group.id))
  }
  for (const entityId of present) {
    if (!wanted.has(entityId)) removeMembership(tx, madeByOperator(entityId, group.id))
  }
}

async function setMemberGroups(tx: ViewTransaction, group: Group, wanted: ReadonlySet<string>): Promise<void> {
  const present = new Set(await childrenOf(tx, group.id))
  // Members go before others come: a group that leaves may have been what would close a circle.
  for (const child of present) {
    if (wanted.has(child)) continue
    removeChild(tx, group.id, child)
    const found = await findGroup(tx, child)
    if (found !== undefined) countChange(tx, found)
  }
  for (const child of wanted) {
    if (present.has(child)) continue
    const found = await findGroup(tx, child)
    if (found === undefined) throw fail('field_invalid', ['member_group_ids', UNKNOWN_GROUP])
    await refuseNesting(tx, group.id, child)
    putChild(tx, group.id, child)
    countChange(tx, found)
  }
}

/** Its parents are shown with a group, so that a new one, or one less, is a change of it too. */
const countChange = (tx: ViewTransaction, group: Group): void => putGroup(tx, { ...group, version: group.version + 1 })

/**
 * Removes a group. No membership of it counts after that. An external group may have very many, which would not fit one
 * transaction; the caller sweeps them afterwards.
 */
export async function deleteGroup(parts: IdentityParts, tx: ViewTransaction, group: Group): Promise<void> {
  if (group.type === 'internal') await setMemberEntities(tx, group, new Set())
  await setMemberGroups(tx, group, new Set())
  for (const parent of await parentsOf(tx, group.id)) removeChild(tx, parent, group.id)
  removeGroup(parts, tx, group)
}

/** Removes the entry of a group, its name and its alias; what else there is of it counts no more. */
export function removeGroup({ digest }: IdentityParts, tx: ViewTransaction, group: Group): void {
  if (group.alias !== null) removeGroupAlias(tx, group, group.alias, digest(group.alias.name))
  freeName(tx, 'group-name', group)
  tx.delete(`identity/group/${placeOfId(group.id)}`)
}
