// Memberships of entities in groups, and of groups in groups. Each is a pair of small entries. So a login into a group
// of many thousands writes two of them, and two logins never conflict.
//
//   root/sys/identity/entity-group/ENTITY/GROUP                put there by an operator (internal groups)
//   root/sys/identity/group-entity/GROUP/ENTITY                the same, seen from the group
//   root/sys/local-identity/entity-group/ENTITY/STAMPS.GROUP   given by a login, see below
//   root/sys/local-identity/group-entity/GROUP/STAMPS.ENTITY   the same, seen from the group
//   root/sys/identity/group-parent/CHILD/PARENT                a group in a group
//   root/sys/identity/group-child/PARENT/CHILD                 the same, seen from above
//   root/sys/identity/login-groups-moved                       empty: no login's memberships are left below identity/
//
// The ids of other namespaces than the root end in that of their namespace, and where one is first in a folder, it is
// written `NS/UUID` (records.ts). Entities and groups may be members of groups of any namespace.
//
// STAMPS are the stamp of the group alias that the membership came by, and that of the alias which logged in:
// `12ab34cd.56ef7890`. The second is missing for an alias that was stored before aliases had stamps.
//
// What a login gave belongs to the cluster, as the tokens of the login do: it writes nothing that a set shares. Earlier
// releases stored it under identity/ for shared mounts; `moveLoginGroups` moves it, and there it does not count.
//
// A membership does not count if its group is gone or has another alias, or if the alias that logged in is gone, or
// has another entity, mount or name since: no login confirms it (threats I-04). The stamps say so. So what another
// cluster changed, what a long removal has not reached yet, and what a crash left between the halves of a change
// (halves.ts), gives no access.
import { ROOT_ID } from '../api/namespace.ts'
import type { Random } from '../lib/world.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import type { Alias, Group } from './entries.ts'
import { placeOfId } from './names.ts'
import { aliasesOf, FOLDERS, type From, findGroup, folderOf, idsIn, LOCAL_FOLDER } from './records.ts'

const NOTHING = Buffer.alloc(0)
/** Exists once `moveLoginGroups` has run to its end. */
const MOVED = 'identity/login-groups-moved'
/** Enough that a new stamp of one alias differs from its last ones; no secret depends on it. */
const STAMP_BYTES = 4
/** Memberships that one transaction of a sweep looks at. */
const SWEEP_PAGE = 500

/** An entity in a group. */
export type Membership = {
  readonly entityId: string
  readonly groupId: string
  /** Stamp of the group alias that it came by; empty if an operator made it. */
  readonly stamp: string
  /** Stamp of the alias that logged in; empty also if that one had none. */
  readonly aliasStamp: string
  /** True for one of this cluster alone, which came by a login. */
  readonly local: boolean
}

type Stamps = Pick<Membership, 'stamp' | 'aliasStamp'>

/** Returns a stamp for an alias, or for one of a group. */
export const newStamp = (random: Random): string => random.bytes(STAMP_BYTES).toString('hex')

/** The stamp of an alias as memberships bear it. */
export const stampOf = ({ stamp = '' }: Pick<Alias, 'stamp'>): string => stamp

/** A membership that an operator makes. */
export const madeByOperator = (entityId: string, groupId: string): Membership => ({
  entityId,
  groupId,
  stamp: '',
  aliasStamp: '',
  local: false,
})

const prefixOf = ({ stamp, aliasStamp }: Stamps): string =>
  [stamp, aliasStamp].map((one) => (one === '' ? '' : `${one}.`)).join('')

/** What the last segment of a membership's key says: its stamps, and the id of the other side. */
export function membershipIn(name: string): { readonly stamps: Stamps; readonly id: string } {
  const parts = name.split('.')
  // Only the id has dashes. Behind it may be that of its namespace.
  const at = parts.findIndex((part) => part.includes('-'))
  const [stamp = '', aliasStamp = ''] = parts.slice(0, at)
  return { stamps: { stamp, aliasStamp }, id: parts.slice(at).join('.') }
}

/** Whether both came by the same aliases, and not by those of before. */
export const haveSameStamps = (one: Stamps, other: Stamps | undefined): boolean =>
  one.stamp === other?.stamp && one.aliasStamp === other.aliasStamp

/** All memberships of an entity, also those that do not count. */
export async function membershipsOf(from: From, entityId: string): Promise<Membership[]> {
  const found: Membership[] = []
  for (const folder of FOLDERS) {
    for (const name of await from.list(`${folder}entity-group/${placeOfId(entityId)}/`)) {
      const { id: groupId, stamps } = membershipIn(name)
      found.push({ entityId, groupId, ...stamps, local: folder === LOCAL_FOLDER })
    }
  }
  return found
}

/** Stores a membership as seen from the entity and from the group. */
export function putMembership(tx: ViewTransaction, membership: Membership): void {
  for (const path of pathsOf(membership)) tx.put(path, NOTHING)
}

/** Removes both entries of a membership. */
export function removeMembership(tx: ViewTransaction, membership: Membership): void {
  for (const path of pathsOf(membership)) tx.delete(path)
}

function pathsOf({ entityId, groupId, local, ...stamps }: Membership): readonly string[] {
  const [folder, prefix] = [folderOf(local), prefixOf(stamps)]
  return [
    `${folder}entity-group/${placeOfId(entityId)}/${prefix}${groupId}`,
    `${folder}group-entity/${placeOfId(groupId)}/${prefix}${entityId}`,
  ]
}

/** Whether a membership belongs to the group as it is: its stamp must be that of the group's present alias. */
function isOfGroup({ stamp, local }: Pick<Membership, 'stamp' | 'local'>, group: Group): boolean {
  return group.type === 'internal' ? stamp === '' && !local : local && stamp !== '' && group.alias?.stamp === stamp
}

/** Whether a membership gives access to an entity with these aliases. */
function counts(
  membership: Omit<Membership, 'entityId' | 'groupId'>,
  group: Group,
  aliases: readonly Pick<Alias, 'mountAccessor' | 'stamp'>[],
): boolean {
  if (!isOfGroup(membership, group)) return false
  if (group.type === 'internal') return true
  const accessor = group.alias?.mountAccessor
  return aliases.some((alias) => alias.mountAccessor === accessor && stampOf(alias) === membership.aliasStamp)
}

/**
 * Ids of the entities in the group itself, sorted, without those of groups in it. To be shown: it does not ask for the
 * alias of each, so it may name one without access for as long as the sweep has not come (alias-sweep.ts).
 */
export async function membersOf(from: From, group: Group): Promise<string[]> {
  const members: string[] = []
  for (const folder of FOLDERS) {
    for (const name of await from.list(`${folder}group-entity/${placeOfId(group.id)}/`)) {
      const { id, stamps } = membershipIn(name)
      if (isOfGroup({ ...stamps, local: folder === LOCAL_FOLDER }, group)) members.push(id)
    }
  }
  return members.sort()
}

/** The groups that an entity is in itself, and the names of those memberships that logins gave. */
export type DirectGroups = { readonly groups: readonly Group[]; readonly logins: readonly GivenMembership[] }
/** `STAMPS.GROUP`, as the cluster of the login tells it to another one. */
export type GivenMembership = string

/**
 * The groups that the entity with these aliases is in itself, by memberships that count. `elsewhere` are those that
 * logins on another cluster gave.
 */
export async function directGroups(
  from: From,
  entityId: string,
  aliases: readonly Alias[],
  elsewhere: readonly GivenMembership[],
): Promise<DirectGroups> {
  const groups = new Map<string, Group>()
  const logins: string[] = []
  const own = await membershipsOf(from, entityId)
  for (const membership of [...own, ...elsewhere.map((name) => givenElsewhere(entityId, name))]) {
    const group = await findGroup(from, membership.groupId)
    if (group === undefined || !counts(membership, group, aliases)) continue
    groups.set(group.id, group)
    if (group.type === 'external') logins.push(`${prefixOf(membership)}${group.id}`)
  }
  return { groups: [...groups.values()], logins }
}

/** Who is in an internal group is shared by the set: a login gives none. */
function givenElsewhere(entityId: string, name: GivenMembership): Membership {
  const { stamps, id: groupId } = membershipIn(name)
  return { entityId, groupId, ...stamps, local: true }
}

/** What logins gave the entity and does not count. */
export async function idleMemberships(from: From, entityId: string): Promise<Membership[]> {
  const given = (await membershipsOf(from, entityId)).filter(({ local }) => local)
  if (given.length === 0) return given
  const aliases = await aliasesOf(from, entityId)
  const idle: Membership[] = []
  for (const membership of given) {
    const group = await findGroup(from, membership.groupId)
    if (group === undefined || !counts(membership, group, aliases)) idle.push(membership)
  }
  return idle
}

/** Ids of the groups that this group is in itself. */
export const parentsOf = (from: From, groupId: string): Promise<string[]> =>
  from.list(`identity/group-parent/${placeOfId(groupId)}/`)

/** Ids of the groups in this group itself. */
export const childrenOf = (from: From, groupId: string): Promise<string[]> =>
  from.list(`identity/group-child/${placeOfId(groupId)}/`)

/** All groups above the given ones, by any number of steps, without the given ones. Each is read once. */
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

/** Puts a group into a group. The caller has checked the nesting (group-nesting.ts). */
export function putChild(tx: ViewTransaction, parent: string, child: string): void {
  for (const path of nestingPaths(parent, child)) tx.put(path, NOTHING)
}

/** Takes a group out of a group. */
export function removeChild(tx: ViewTransaction, parent: string, child: string): void {
  for (const path of nestingPaths(parent, child)) tx.delete(path)
}

const nestingPaths = (parent: string, child: string): readonly string[] => [
  `identity/group-parent/${placeOfId(child)}/${parent}`,
  `identity/group-child/${placeOfId(parent)}/${child}`,
]

/**
 * Removes the stale memberships of one page. Returns the name to continue after, undefined at the end; the first page
 * has `after` ''.
 */
export async function sweepMembers(
  tx: ViewTransaction,
  groupId: string,
  folder: (typeof FOLDERS)[number],
  after: string,
): Promise<string | undefined> {
  const group = await findGroup(tx, groupId)
  const names = await tx.list(`${folder}group-entity/${placeOfId(groupId)}/`, { after, limit: SWEEP_PAGE })
  for (const name of names) {
    const { id: entityId, stamps } = membershipIn(name)
    const membership = { entityId, groupId, ...stamps, local: folder === LOCAL_FOLDER }
    if (group === undefined || !isOfGroup(membership, group)) removeMembership(tx, membership)
  }
  return names.length < SWEEP_PAGE ? undefined : names.at(-1)
}

/**
 * Makes `wanted` (by group id) the memberships that logins at this mount give the entity. Stale ones of any
 * mount are removed too; those of operators and of other mounts stay. Writes nothing if nothing changes.
 */
export async function setLoginGroups(
  tx: ViewTransaction,
  entityId: string,
  mount: { readonly accessor: string },
  wanted: ReadonlyMap<string, Stamps>,
): Promise<void> {
  const missing = new Map(wanted)
  for (const membership of await membershipsOf(tx, entityId)) {
    const { groupId, stamp, local } = membership
    if (stamp === '' || !local) continue
    if (haveSameStamps(membership, missing.get(groupId))) {
      missing.delete(groupId)
      continue
    }
    const group = await findGroup(tx, groupId)
    const ofOtherMount =
      group !== undefined && isOfGroup(membership, group) && group.alias?.mountAccessor !== mount.accessor
    if (!ofOtherMount) removeMembership(tx, membership)
  }
  for (const [groupId, stamps] of missing) putMembership(tx, { entityId, groupId, ...stamps, local: true })
}

/**
 * Moves what logins gave from where earlier releases stored it, page by page: first it is put, then removed. A store in
 * which it was done has a mark, which the set shares as it shares what was moved.
 */
export async function moveLoginGroups(view: View): Promise<void> {
  if ((await view.get(MOVED)) !== undefined) return
  // Those releases had the root namespace alone.
  for (const groupId of await idsIn(view, 'identity/group/', ROOT_ID)) {
    const folder = `identity/group-entity/${groupId}/`
    for (let after: string | undefined = ''; after !== undefined; ) {
      const names: string[] = await view.list(folder, { after, limit: SWEEP_PAGE })
      const all = names.map(membershipIn).map(({ id, stamps }) => ({ entityId: id, groupId, ...stamps }))
      const moved = all.filter(({ stamp }) => stamp !== '')
      await inEach(view, moved, (tx, one) => putMembership(tx, { ...one, local: true }))
      await inEach(view, moved, (tx, one) => removeMembership(tx, { ...one, local: false }))
      after = names.length === SWEEP_PAGE ? names.at(-1) : undefined
    }
  }
  await view.transaction(async (tx) => tx.put(MOVED, NOTHING))
}

async function inEach<T>(view: View, all: readonly T[], work: (tx: ViewTransaction, one: T) => void): Promise<void> {
  if (all.length === 0) return
  await view.transaction(async (tx) => {
    for (const one of all) work(tx, one)
  })
}
