// The stored keys of entities, aliases and groups, and the indexes that lead to them. Entries under identity/ are
// replicated. Aliases of local mounts, and the memberships that logins give, lie under local-identity/ in the same
// form. No transaction writes both (halves.ts). An alias whose entity is gone is none: a primary may have deleted it.
// Nor is a local one that is retired, by a change of the set whose half here may be missing or is still to come.
//
//   root/sys/identity/entity/ENTITY                      the entity
//   root/sys/identity/entity-name/NAME                   its id, by its name (names.ts)
//   root/sys/identity/alias/ENTITY/ALIAS                 an alias of it
//   root/sys/identity/alias-id/ALIAS                     the entity of an alias
//   root/sys/identity/alias-name/ACCESSOR/DIGEST         the alias, by mount and digest of its name
//   root/sys/identity/alias-retired/ENTITY/STAMP.ALIAS   empty: the local alias with this stamp is retired
//   root/sys/identity/group/GROUP                        the group, with its alias
//   root/sys/identity/group-name/NAME                    its id, by its name
//   root/sys/identity/group-alias/ALIAS                  the group of a group alias
//   root/sys/identity/group-alias-name/ACCESSOR/DIGEST   the same, by mount and digest of the alias's name
//
// memberships.ts has the rest.
import type { MountEntry } from '../api/mount.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE } from '../storage/contract.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import {
  ALIAS,
  type Alias,
  ENTITY,
  type Entity,
  encodeReference,
  GROUP,
  type Group,
  type GroupAlias,
  REFERENCE,
  type Reference,
} from './entries.ts'
import { isId, nameSegment } from './names.ts'

/** Folder of the view through which this room reads and writes. */
export const IDENTITY_FOLDER = `${ROOT_NAMESPACE}/sys/`
/** The folders of replicated and of local entries, in this order. */
export const FOLDERS = ['identity/', 'local-identity/'] as const
/** The folder of local entries. */
export const LOCAL_FOLDER = FOLDERS[1]
/** The folder for an entry; `local` is that of its mount. */
export const folderOf = (local: boolean): string => FOLDERS[local ? 1 : 0]

/** A reader: the view, or a transaction. */
export type From = Pick<View, 'get' | 'list'>

/** The parts that functions of this room work with; `IdentityStore` has one set for each thread. */
export type IdentityParts = {
  readonly view: View
  readonly world: World
  /** Returns a digest of a text, in characters that a stored key may have. */
  readonly digest: (text: string) => string
  readonly mountOf: (accessor: string) => MountEntry | undefined
}

/** An entity by its id; undefined also for a text that is no id. */
export async function findEntity(from: From, id: string): Promise<Entity | undefined> {
  const bytes = isId(id) ? await from.get(`identity/entity/${id}`) : undefined
  return bytes === undefined ? undefined : ENTITY.decode(bytes)
}

/** An entity by its name in any case of ASCII letters. */
export async function findEntityByName(from: From, name: string): Promise<Entity | undefined> {
  const reference = await findByName(from, 'entity-name', name)
  return reference === undefined ? undefined : findEntity(from, reference.id)
}

/** Stores an entity; its name is claimed apart (unique-names.ts). */
export function putEntity(tx: ViewTransaction, entity: Entity): void {
  tx.put(`identity/entity/${entity.id}`, ENTITY.encode(entity))
}

/** A group by its id; undefined also for a text that is no id. */
export async function findGroup(from: From, id: string): Promise<Group | undefined> {
  const bytes = isId(id) ? await from.get(`identity/group/${id}`) : undefined
  return bytes === undefined ? undefined : GROUP.decode(bytes)
}

/** A group by its name in any case of ASCII letters. */
export async function findGroupByName(from: From, name: string): Promise<Group | undefined> {
  const reference = await findByName(from, 'group-name', name)
  return reference === undefined ? undefined : findGroup(from, reference.id)
}

/** Stores a group; name, alias and members have entries of their own. */
export function putGroup(tx: ViewTransaction, group: Group): void {
  tx.put(`identity/group/${group.id}`, GROUP.encode(group))
}

type NameIndex = 'entity-name' | 'group-name'

async function findByName(from: From, index: NameIndex, name: string): Promise<Reference | undefined> {
  const segment = nameSegment(name)
  return segment === undefined ? undefined : referenceAt(from, `identity/${index}/${segment}`)
}

async function referenceAt(from: From, path: string): Promise<Reference | undefined> {
  const bytes = await from.get(path)
  return bytes === undefined ? undefined : REFERENCE.decode(bytes)
}

/** All names as they were given, in the order of the index, which is that of the folded names. */
export async function listNames(from: From, index: NameIndex): Promise<string[]> {
  const names: string[] = []
  for (const segment of await from.list(`identity/${index}/`)) {
    const reference = await referenceAt(from, `identity/${index}/${segment}`)
    if (reference?.name !== undefined) names.push(reference.name)
  }
  return names
}

/** Claims a checked name; false if another thing has it. */
export async function takeName(
  tx: ViewTransaction,
  index: NameIndex,
  name: string,
  owner: { readonly id: string; readonly namespace: string },
): Promise<boolean> {
  const path = `identity/${index}/${nameSegment(name)}`
  const taken = await referenceAt(tx, path)
  if (taken !== undefined && taken.id !== owner.id) return false
  tx.put(path, encodeReference(owner.namespace, { id: owner.id, name }))
  return true
}

/** Removes a name from its index, so that another thing may have it. */
export function freeName(tx: ViewTransaction, index: NameIndex, name: string): void {
  tx.delete(`identity/${index}/${nameSegment(name)}`)
}

/**
 * Where it stands that a local alias is retired. The change of the set that ends the alias writes it, and it is needed
 * as long as the alias may still be stored here. The stamp tells the alias from the same one that has come back since.
 */
const retiredPath = ({ entityId, id, stamp = '' }: Alias): string => `identity/alias-retired/${entityId}/${stamp}.${id}`

/** Notes that a local alias is retired. From now on it is none. */
export const putRetired = (tx: ViewTransaction, alias: Alias): void => tx.put(retiredPath(alias), Buffer.alloc(0))

/** Forgets it, once the alias is stored here no more. */
export const removeRetired = (tx: ViewTransaction, alias: Alias): void => tx.delete(retiredPath(alias))

/** Whether an alias is a local one that is retired, though it is still stored. */
export const isRetired = async (from: From, alias: Alias): Promise<boolean> =>
  alias.local && (await from.get(retiredPath(alias))) !== undefined

/** The alias, unless it is retired. */
const unlessRetired = async (from: From, alias: Alias | undefined): Promise<Alias | undefined> =>
  alias === undefined || (await isRetired(from, alias)) ? undefined : alias

/** All aliases of an entity, replicated ones first. */
export async function aliasesOf(from: From, entityId: string): Promise<Alias[]> {
  const aliases: Alias[] = []
  for (const folder of FOLDERS) {
    for (const alias of await storedAliasesOf(from, entityId, folder))
      if (!(await isRetired(from, alias))) aliases.push(alias)
  }
  return aliases
}

/** What is stored in the folder as aliases of an entity: also what is retired, to remove it. */
export async function storedAliasesOf(
  from: From,
  entityId: string,
  folder: (typeof FOLDERS)[number],
): Promise<Alias[]> {
  const aliases: Alias[] = []
  for (const id of await from.list(`${folder}alias/${entityId}/`)) {
    const bytes = await from.get(`${folder}alias/${entityId}/${id}`)
    if (bytes !== undefined) aliases.push(ALIAS.decode(bytes))
  }
  return aliases
}

/** The alias, if its entity is there. */
async function withEntity(from: From, alias: Alias | undefined): Promise<Alias | undefined> {
  if (alias === undefined) return undefined
  return (await from.get(`identity/entity/${alias.entityId}`)) === undefined ? undefined : alias
}

/** An alias by its id; undefined also for a text that is no id. */
export const findAlias = async (from: From, id: string): Promise<Alias | undefined> =>
  withEntity(
    from,
    (await storedAlias(from, id, false)) ?? (await unlessRetired(from, await storedAlias(from, id, true))),
  )

/** What is stored as the alias with the id at shared or at local mounts: to remove it, even if it is none. */
export async function storedAlias(from: From, id: string, local: boolean): Promise<Alias | undefined> {
  const folder = folderOf(local)
  const owner = isId(id) ? await referenceAt(from, `${folder}alias-id/${id}`) : undefined
  const bytes = owner === undefined ? undefined : await from.get(`${folder}alias/${owner.id}/${id}`)
  return bytes === undefined ? undefined : ALIAS.decode(bytes)
}

/** An alias by its mount and the digest of its name. */
export const findAliasAt = async (
  from: From,
  mount: Pick<MountEntry, 'accessor' | 'local'>,
  digest: string,
): Promise<Alias | undefined> => withEntity(from, await boundAliasAt(from, mount, digest))

/** As `findAliasAt`, but also one whose entity is not here: it is gone, or on the way from the primary. */
export const boundAliasAt = async (
  from: From,
  mount: Pick<MountEntry, 'accessor' | 'local'>,
  digest: string,
): Promise<Alias | undefined> => unlessRetired(from, await storedAliasAt(from, mount, digest))

/** What is stored as the alias at the mount: to remove or replace it, even if it is none. */
export async function storedAliasAt(
  from: From,
  mount: Pick<MountEntry, 'accessor' | 'local'>,
  digest: string,
): Promise<Alias | undefined> {
  const folder = folderOf(mount.local)
  const found = await referenceAt(from, `${folder}alias-name/${mount.accessor}/${digest}`)
  const bytes = found === undefined ? undefined : await from.get(`${folder}alias/${found.entityId}/${found.id}`)
  return bytes === undefined ? undefined : ALIAS.decode(bytes)
}

/** Stores an alias with its two index entries; `digest` is that of its name. */
export function putAlias(tx: ViewTransaction, alias: Alias, digest: string): void {
  const folder = folderOf(alias.local)
  const { id, entityId, namespace } = alias
  tx.put(`${folder}alias/${entityId}/${id}`, ALIAS.encode(alias))
  tx.put(`${folder}alias-id/${id}`, encodeReference(namespace, { id: entityId }))
  tx.put(`${folder}alias-name/${alias.mountAccessor}/${digest}`, encodeReference(namespace, { id, entityId }))
}

/** Removes what `putAlias` wrote for the same alias and digest, if it is still there: it may have moved since. */
export async function removeAlias(tx: ViewTransaction, alias: Alias, digest: string): Promise<void> {
  const folder = folderOf(alias.local)
  const bytes = await tx.get(`${folder}alias/${alias.entityId}/${alias.id}`)
  if (bytes === undefined || ALIAS.decode(bytes).stamp !== alias.stamp) return
  tx.delete(`${folder}alias/${alias.entityId}/${alias.id}`)
  tx.delete(`${folder}alias-id/${alias.id}`)
  tx.delete(`${folder}alias-name/${alias.mountAccessor}/${digest}`)
}

/** Ids of all aliases, sorted, replicated and local ones together. */
export async function listAliasIds(from: From): Promise<string[]> {
  const ids = await from.list('identity/alias-id/')
  for (const id of await from.list(`${LOCAL_FOLDER}alias-id/`)) {
    const alias = await withEntity(from, await unlessRetired(from, await storedAlias(from, id, true)))
    if (alias !== undefined) ids.push(id)
  }
  return ids.sort()
}

/** The group that has this group alias. */
export async function findGroupOfAlias(from: From, aliasId: string): Promise<Group | undefined> {
  const owner = isId(aliasId) ? await referenceAt(from, `identity/group-alias/${aliasId}`) : undefined
  return owner === undefined ? undefined : findGroup(from, owner.id)
}

/** The group with an alias at this mount whose name has this digest. */
export async function findGroupOfAliasAt(from: From, accessor: string, digest: string): Promise<Group | undefined> {
  const owner = await referenceAt(from, `identity/group-alias-name/${accessor}/${digest}`)
  return owner === undefined ? undefined : findGroup(from, owner.id)
}

/** Stores the index entries of a group's alias; the alias itself is part of the group. */
export function putGroupAlias(tx: ViewTransaction, group: Group, alias: GroupAlias, digest: string): void {
  const owner = encodeReference(group.namespace, { id: group.id })
  tx.put(`identity/group-alias/${alias.id}`, owner)
  tx.put(`identity/group-alias-name/${alias.mountAccessor}/${digest}`, owner)
}

/** Removes what `putGroupAlias` wrote for the same alias and digest. */
export function removeGroupAlias(tx: ViewTransaction, alias: GroupAlias, digest: string): void {
  tx.delete(`identity/group-alias/${alias.id}`)
  tx.delete(`identity/group-alias-name/${alias.mountAccessor}/${digest}`)
}
