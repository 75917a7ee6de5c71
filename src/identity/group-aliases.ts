// The names by which login methods know external groups. Each function works inside a transaction of the caller.
import { fail } from '../api/errors.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { type AskedAlias, loginMount, requireMountIn } from './asked-alias.ts'
import type { Group, GroupAlias } from './entries.ts'
import { newStamp } from './memberships.ts'
import { checkAliasName, newId } from './names.ts'
import {
  type From,
  findGroup,
  findGroupOfAlias,
  findGroupOfAliasAt,
  type IdentityParts,
  putGroup,
  putGroupAlias,
  removeGroupAlias,
  requireSame,
} from './records.ts'

/** An external group with its alias. */
export type AliasedGroup = Group & { readonly alias: GroupAlias }

/** Members of a group alias that a write may give; an absent one stays as it was. */
export type GroupAliasChange = {
  readonly name?: string | undefined
  readonly mountAccessor?: string | undefined
  readonly groupId?: string | undefined
}

/** True for a group that has an alias. */
export const isAliased = (group: Group | undefined): group is AliasedGroup => (group?.alias ?? null) !== null

/** The group with this group alias, if any. */
export async function findAliased(from: From, aliasId: string): Promise<AliasedGroup | undefined> {
  const group = await findGroupOfAlias(from, aliasId)
  return isAliased(group) ? group : undefined
}

/** The same, if the namespace has it. */
export async function aliasedIn(from: From, namespaceId: string, aliasId: string): Promise<AliasedGroup | undefined> {
  const group = await findAliased(from, aliasId)
  return group?.namespace === namespaceId ? group : undefined
}

/**
 * Changes the group alias of the namespace with the id, else the one with the mount and the name; makes one if there is
 * neither. `makeGroup` returns a new external group and is called if none is named. `requireRight` gets the id of an
 * alias that was found by mount and name; it throws if the caller may not change that one. The caller sweeps the
 * memberships of the groups in `stale` after the commit.
 * @throws Refusal for unknown ids, for a mount or a group of another namespace, for a name that another group has at
 *   the mount, and for an internal group
 */
export async function writeGroupAlias(
  parts: IdentityParts,
  tx: ViewTransaction,
  asked: AskedAlias,
  change: GroupAliasChange,
  makeGroup: () => Promise<Group>,
  requireRight: (aliasId: string) => void = () => {},
): Promise<{ readonly group: AliasedGroup; readonly stale: readonly string[] }> {
  const { namespaceId, id } = asked
  const byId = id === undefined ? undefined : await aliasedIn(tx, namespaceId, id)
  if (id !== undefined && byId === undefined) throw fail('field_invalid', ['id', 'no group alias has this id'])
  const name = change.name ?? byId?.alias.name
  const accessor = change.mountAccessor ?? byId?.alias.mountAccessor
  if (name === undefined) throw fail('field_missing', ['name'])
  if (accessor === undefined) throw fail('field_missing', ['mount_accessor'])
  const mount = loginMount(parts, accessor, asked)
  requireMountIn(namespaceId, mount, byId?.alias.mountAccessor)
  const there = await findGroupOfAliasAt(tx, mount, parts.digest(checkAliasName('name', name)))
  if (byId !== undefined && there !== undefined && there.id !== byId.id)
    throw fail('field_invalid', ['name', `the group ${there.id} has this alias at this mount: delete that one first`])
  const old = byId ?? (isAliased(there) ? there : undefined)
  if (byId === undefined && old !== undefined) requireRight(old.alias.id)
  requireSame(namespaceId, old)
  const target = await targetOf(tx, change.groupId, old, makeGroup)
  requireSame(namespaceId, target)
  const nowMs = parts.world.clock.nowMs()
  const isSame = old?.id === target.id && old.alias.name === name && old.alias.mountAccessor === accessor
  const alias: GroupAlias = {
    id: old?.alias.id ?? newId(parts.world.random, namespaceId),
    mountAccessor: accessor,
    name,
    stamp: isSame ? old.alias.stamp : newStamp(parts.world.random),
    createdAtMs: old?.alias.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
  }
  if (old !== undefined && !isSame) takeAlias(parts, tx, old)
  const group = { ...target, alias, version: target.version + 1, updatedAtMs: nowMs }
  putGroup(tx, group)
  putGroupAlias(tx, group, alias, parts.digest(name))
  return { group, stale: old === undefined || isSame ? [] : [old.id] }
}

/** The group that shall have the alias. @throws Refusal if it cannot have it */
async function targetOf(
  tx: ViewTransaction,
  groupId: string | undefined,
  old: AliasedGroup | undefined,
  makeGroup: () => Promise<Group>,
): Promise<Group> {
  if (groupId === undefined) return old ?? makeGroup()
  const group = await findGroup(tx, groupId)
  if (group === undefined) throw fail('field_invalid', ['canonical_id', 'no group has this id'])
  if (group.type !== 'external')
    throw fail('field_invalid', ['canonical_id', 'the group is internal: only an external group has an alias'])
  if (group.alias !== null && group.alias.id !== old?.alias.id) {
    throw fail('field_invalid', [
      'canonical_id',
      `the group has the alias ${group.alias.id}: change or delete that one`,
    ])
  }
  return group
}

/** Takes the alias from a group. No membership of it counts after that; the caller sweeps them. */
export function takeAlias(parts: IdentityParts, tx: ViewTransaction, group: AliasedGroup): void {
  removeGroupAlias(tx, group, group.alias, parts.digest(group.alias.name))
  const nowMs = parts.world.clock.nowMs()
  putGroup(tx, { ...group, alias: null, version: group.version + 1, updatedAtMs: nowMs })
}
