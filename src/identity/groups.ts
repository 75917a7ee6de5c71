// Making, changing and removing groups, each inside a transaction of the caller.
import { fail } from '../api/errors.ts'
import { ROOT_NAMESPACE } from '../storage/contract.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import type { Group, GroupType } from './entries.ts'
import { refuseNesting } from './group-nesting.ts'
import {
  childrenOf,
  membersOf,
  parentsOf,
  putChild,
  putMembership,
  removeChild,
  removeMembership,
} from './memberships.ts'
import { checkName } from './names.ts'
import {
  findEntity,
  findGroup,
  findGroupByName,
  freeName,
  type IdentityParts,
  putGroup,
  removeGroupAlias,
} from './records.ts'
import { changeName, claimName, madeUpName } from './unique-names.ts'

/** What can be given; absent: as it was. */
export type GroupChange = {
  readonly name?: string | undefined
  readonly type?: GroupType | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Normalised, without root. */
  readonly policies?: readonly string[] | undefined
  readonly memberEntityIds?: readonly string[] | undefined
  readonly memberGroupIds?: readonly string[] | undefined
}

/** @throws Refusal where the name is taken, or a member cannot be one */
export async function createGroup(parts: IdentityParts, tx: ViewTransaction, change: GroupChange): Promise<Group> {
  const { random, clock } = parts.world
  const nowMs = clock.nowMs()
  const name = change.name ?? (await madeUpName(parts, 'group', (made) => findGroupByName(tx, made)))
  const group: Group = {
    format: 1,
    namespace: ROOT_NAMESPACE,
    id: random.uuid(),
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

/** @throws Refusal where the name is taken, the type is another, or a member cannot be one */
export async function changeGroup(
  { world }: IdentityParts,
  tx: ViewTransaction,
  group: Group,
  change: GroupChange,
): Promise<Group> {
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

async function setMembers(tx: ViewTransaction, group: Group, change: GroupChange): Promise<void> {
  const { memberEntityIds: entities, memberGroupIds: groups } = change
  // Clients send the empty lists of every group that they write.
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

async function setMemberEntities(tx: ViewTransaction, group: Group, wanted: ReadonlySet<string>): Promise<void> {
  const present = new Set(await membersOf(tx, group))
  for (const entityId of wanted) {
    if (present.has(entityId)) continue
    if ((await findEntity(tx, entityId)) === undefined)
      throw fail('field_invalid', ['member_entity_ids', 'no entity has one of the ids'])
    putMembership(tx, { entityId, groupId: group.id, stamp: '', local: false })
  }
  for (const entityId of present) {
    if (!wanted.has(entityId)) removeMembership(tx, { entityId, groupId: group.id, stamp: '', local: false })
  }
}

async function setMemberGroups(tx: ViewTransaction, group: Group, wanted: ReadonlySet<string>): Promise<void> {
  const present = new Set(await childrenOf(tx, group.id))
  for (const child of present) if (!wanted.has(child)) removeChild(tx, group.id, child)
  for (const child of wanted) {
    if (present.has(child)) continue
    if ((await findGroup(tx, child)) === undefined)
      throw fail('field_invalid', ['member_group_ids', 'no group has one of the ids'])
    await refuseNesting(tx, group.id, child)
    putChild(tx, group.id, child)
  }
}

/**
 * From here on nobody is in the group. The memberships of an external one, of which there may be very many, are left to
 * be swept.
 */
export async function deleteGroup(parts: IdentityParts, tx: ViewTransaction, group: Group): Promise<void> {
  if (group.type === 'internal') await setMemberEntities(tx, group, new Set())
  for (const child of await childrenOf(tx, group.id)) removeChild(tx, group.id, child)
  for (const parent of await parentsOf(tx, group.id)) removeChild(tx, parent, group.id)
  if (group.alias !== null) removeGroupAlias(tx, group.alias, parts.digest(group.alias.name))
  freeName(tx, 'group-name', group.name)
  tx.delete(`identity/group/${group.id}`)
}
