// Who is in which group. Each membership is a pair of entries of its own, so that a login into a group of many
// thousands writes two small entries and meets no other login.
//
//   root/sys/identity/entity-group/ENTITY/GROUP          put there by an operator (internal groups)
//   root/sys/identity/entity-group/ENTITY/STAMP.GROUP    given by a login, through the group alias with this stamp
//   root/sys/identity/group-entity/GROUP/[STAMP.]ENTITY  the same, seen from the group
//   root/sys/identity/group-parent/CHILD/PARENT          a group in a group
//   root/sys/identity/group-child/PARENT/CHILD           the same, seen from above
//
// A membership whose group is gone, or got another alias, does not count: what a long removal has not reached yet is
// rubbish and no access.
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import type { Group } from './entries.ts'
import { FOLDERS, type From, findGroup, folderOf } from './records.ts'

const NOTHING = Buffer.alloc(0)
const ID_CHARACTERS = 36
const SWEEP_PAGE = 500

export type Membership = {
  readonly entityId: string
  readonly groupId: string
  /** Of the group alias that it came by; empty: an operator put it there. */
  readonly stamp: string
  readonly local: boolean
}

const prefixOf = (stamp: string): string => (stamp === '' ? '' : `${stamp}.`)
const stampIn = (name: string): string => name.slice(0, Math.max(0, name.length - ID_CHARACTERS - 1))

export async function membershipsOf(from: From, entityId: string): Promise<Membership[]> {
  const found: Membership[] = []
  for (const folder of FOLDERS) {
    for (const name of await from.list(`${folder}entity-group/${entityId}/`)) {
      const groupId = name.slice(-ID_CHARACTERS)
      found.push({ entityId, groupId, stamp: stampIn(name), local: folder === FOLDERS[1] })
    }
  }
  return found
}

export function putMembership(tx: ViewTransaction, membership: Membership): void {
  for (const path of pathsOf(membership)) tx.put(path, NOTHING)
}

export function removeMembership(tx: ViewTransaction, membership: Membership): void {
  for (const path of pathsOf(membership)) tx.delete(path)
}

function pathsOf({ entityId, groupId, stamp, local }: Membership): readonly string[] {
  const folder = folderOf(local)
  return [
    `${folder}entity-group/${entityId}/${prefixOf(stamp)}${groupId}`,
    `${folder}group-entity/${groupId}/${prefixOf(stamp)}${entityId}`,
  ]
}

export function counts({ stamp }: Pick<Membership, 'stamp'>, group: Group): boolean {
  return group.type === 'internal' ? stamp === '' : stamp !== '' && group.alias?.stamp === stamp
}

/** Ids of the entities that are in the group itself, sorted. */
export async function membersOf(from: From, group: Group): Promise<string[]> {
  const members: string[] = []
  for (const folder of FOLDERS) {
    for (const name of await from.list(`${folder}group-entity/${group.id}/`)) {
      if (counts({ stamp: stampIn(name) }, group)) members.push(name.slice(-ID_CHARACTERS))
    }
  }
  return members.sort()
}

/** The groups that the entity itself is in. */
export async function directGroups(from: From, entityId: string): Promise<Group[]> {
  const groups: Group[] = []
  for (const membership of await membershipsOf(from, entityId)) {
    const group = await findGroup(from, membership.groupId)
    if (group !== undefined && counts(membership, group)) groups.push(group)
  }
  return groups
}

export const parentsOf = (from: From, groupId: string): Promise<string[]> =>
  from.list(`identity/group-parent/${groupId}/`)

export const childrenOf = (from: From, groupId: string): Promise<string[]> =>
  from.list(`identity/group-child/${groupId}/`)

/** The groups that the given ones are in, by however many steps, without the given ones. */
export async function inheritedGroups(from: From, direct: readonly Group[]): Promise<Group[]> {
  const seen = new Set(direct.map(({ id }) => id))
  const inherited: Group[] = []
  const pending = [...seen]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    for (const parent of await parentsOf(from, id)) {
      if (seen.has(parent)) continue
      seen.add(parent)
      const group = await findGroup(from, parent)
      if (group === undefined) continue
      inherited.push(group)
      pending.push(parent)
    }
  }
  return inherited
}

export function putChild(tx: ViewTransaction, parent: string, child: string): void {
  tx.put(`identity/group-parent/${child}/${parent}`, NOTHING)
  tx.put(`identity/group-child/${parent}/${child}`, NOTHING)
}

export function removeChild(tx: ViewTransaction, parent: string, child: string): void {
  tx.delete(`identity/group-parent/${child}/${parent}`)
  tx.delete(`identity/group-child/${parent}/${child}`)
}

/**
 * Removes stale memberships from one page of the group's. Gives the name to go on after, undefined at the end. `after`
 * begins as ''.
 */
export async function sweepMembers(
  tx: ViewTransaction,
  groupId: string,
  folder: (typeof FOLDERS)[number],
  after: string,
): Promise<string | undefined> {
  const group = await findGroup(tx, groupId)
  const names = await tx.list(`${folder}group-entity/${groupId}/`, { after, limit: SWEEP_PAGE })
  for (const name of names) {
    const stamp = stampIn(name)
    if (group !== undefined && counts({ stamp }, group)) continue
    removeMembership(tx, { entityId: name.slice(-ID_CHARACTERS), groupId, stamp, local: folder === FOLDERS[1] })
  }
  return names.length < SWEEP_PAGE ? undefined : names.at(-1)
}

/**
 * The entity's memberships that a login at this mount gave it become `wanted` (stamps by id of the group). Stale
 * ones go as well. Writes nothing where nothing changes.
 */
export async function setLoginGroups(
  tx: ViewTransaction,
  entityId: string,
  mount: { readonly accessor: string; readonly local: boolean },
  wanted: ReadonlyMap<string, string>,
): Promise<void> {
  const missing = new Map(wanted)
  for (const membership of await membershipsOf(tx, entityId)) {
    const { groupId, stamp } = membership
    if (stamp === '') continue
    if (missing.get(groupId) === stamp) {
      missing.delete(groupId)
      continue
    }
    const group = await findGroup(tx, groupId)
    const ofOtherMount =
      group !== undefined && counts(membership, group) && group.alias?.mountAccessor !== mount.accessor
    if (!ofOtherMount) removeMembership(tx, membership)
  }
  for (const [groupId, stamp] of missing) putMembership(tx, { entityId, groupId, stamp, local: mount.local })
}
