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
// That is how it is in the root namespace. Ids of any other end in its id, UUID.NS, and what is first in a folder lies
// one folder deeper: `entity/NS/UUID`, `entity-name/NS/NAME`, `alias/NS/UUID/UUID.NS`, `alias-name/NS/ACCESSOR/DIGEST`.
// So what is of one namespace can be listed without all others, and a filter of replication keeps all of it from a
// secondary (storage/classes.ts). An alias is of the namespace of its entity, and a group alias of that of its group,
// also when the mount has moved to another one.
//
// memberships.ts has the rest.
import { fail } from '../api/errors.ts'
import type { MountEntry } from '../api/mount.ts'
import { idEnding, ROOT_ID } from '../api/namespace.ts'
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
import { homeOf, isId, isUuid, nameSegment, placeOfId } from './names.ts'

/** Folder of the view through which this room reads and writes. */
export const IDENTITY_FOLDER = `${ROOT_NAMESPACE}/sys/`
/** The folders of replicated and of local entries, in this order. */
export const FOLDERS = ['identity/', 'local-identity/'] as const
/** The folder of local entries. */
export const LOCAL_FOLDER = FOLDERS[1]
/** The folder for an entry; `local` is that of its mount. */
export const folderOf = (local: boolean): string => FOLDERS[local ? 1 : 0]

/** Names that one step of a walk through a folder asks for. */
const ID_PAGE = 500

/** A login mount as aliases know it. They may be of each namespace that it was ever mounted in. */
export type AliasMount = Pick<MountEntry, 'accessor' | 'local' | 'namespace' | 'formerNamespaces'>

/** Where a mount's part of an index by mount and digest may lie, the namespace first that it is in now. */
export const indexesOf = (
  folder: string,
  { accessor, namespace, formerNamespaces = [] }: Omit<AliasMount, 'local'>,
): readonly string[] => [namespace, ...formerNamespaces].map((id) => `${folder}${homeOf(id)}${accessor}/`)

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

/** The same reader or transaction without what is local to this cluster. */
export const sharedOnly = <T extends From>(from: T): T => ({
  ...from,
  get: async (path: string) => (path.startsWith(LOCAL_FOLDER) ? undefined : from.get(path)),
  list: async (folder: string, page?: Parameters<From['list']>[1]) =>
    folder.startsWith(LOCAL_FOLDER) ? [] : from.list(folder, page),
})

/** An entity by its id; undefined also for a text that is no id. */
export async function findEntity(from: From, id: string): Promise<Entity | undefined> {
  const bytes = isId(id) ? await from.get(`identity/entity/${placeOfId(id)}`) : undefined
  return bytes === undefined ? undefined : ENTITY.decode(bytes)
}

/** The entity with the id, if it is of the namespace. */
export async function entityIn(from: From, namespaceId: string, id: string): Promise<Entity | undefined> {
  const entity = await findEntity(from, id)
  return entity?.namespace === namespaceId ? entity : undefined
}

/** An entity of the namespace by its name in any case of ASCII letters. */
export async function findEntityByName(from: From, namespaceId: string, name: string): Promise<Entity | undefined> {
  const reference = await findByName(from, 'entity-name', namespaceId, name)
  return reference === undefined ? undefined : findEntity(from, reference.id)
}

/** Stores an entity; its name is claimed apart (unique-names.ts). */
export function putEntity(tx: ViewTransaction, entity: Entity): void {
  tx.put(`identity/entity/${placeOfId(entity.id)}`, ENTITY.encode(entity))
}

/** A group by its id; undefined also for a text that is no id. */
export async function findGroup(from: From, id: string): Promise<Group | undefined> {
  const bytes = isId(id) ? await from.get(`identity/group/${placeOfId(id)}`) : undefined
  return bytes === undefined ? undefined : GROUP.decode(bytes)
}

/** The group with the id. @throws Refusal if it is of another namespace */
export async function groupIn(from: From, namespaceId: string, id: string): Promise<Group | undefined> {
  const group = await findGroup(from, id)
  requireSame(namespaceId, group)
  return group
}

/** @throws Refusal if the group is of another namespace */
export function requireSame(namespaceId: string, group: Group | undefined): void {
  // Wire text.
  if (group !== undefined && group.namespace !== namespaceId)
    throw fail('other_namespace', ['request namespace is not the same as the group namespace'])
}

/** A group of the namespace by its name in any case of ASCII letters. */
export async function findGroupByName(from: From, namespaceId: string, name: string): Promise<Group | undefined> {
  const reference = await findByName(from, 'group-name', namespaceId, name)
  return reference === undefined ? undefined : findGroup(from, reference.id)
}

/** Stores a group; name, alias and members have entries of their own. */
export function putGroup(tx: ViewTransaction, group: Group): void {
  tx.put(`identity/group/${placeOfId(group.id)}`, GROUP.encode(group))
}

type NameIndex = 'entity-name' | 'group-name'

/** Whose a name is. */
type Owner = { readonly id: string; readonly namespace: string }

async function findByName(
  from: From,
  index: NameIndex,
  namespaceId: string,
  name: string,
): Promise<Reference | undefined> {
  const segment = nameSegment(name)
  return segment === undefined ? undefined : referenceAt(from, `identity/${index}/${homeOf(namespaceId)}${segment}`)
}

async function referenceAt(from: From, path: string): Promise<Reference | undefined> {
  const bytes = await from.get(path)
  return bytes === undefined ? undefined : REFERENCE.decode(bytes)
}

/** All names of the namespace as they were given, in the order of the index, which is that of the folded names. */
export async function listNames(from: From, index: NameIndex, namespaceId: string): Promise<string[]> {
  const names: string[] = []
  const folder = `identity/${index}/${homeOf(namespaceId)}`
  for (const segment of await from.list(folder)) {
    // The root's names lie beside the folders of other namespaces.
    const reference = segment.endsWith('/') ? undefined : await referenceAt(from, folder + segment)
    if (reference?.name !== undefined) names.push(reference.name)
  }
  return names
}

const namePath = (index: NameIndex, namespaceId: string, name: string): string =>
  `identity/${index}/${homeOf(namespaceId)}${nameSegment(name)}`

/** Claims a checked name in the namespace of its owner; false if another thing has it there. */
export async function takeName(tx: ViewTransaction, index: NameIndex, name: string, owner: Owner): Promise<boolean> {
  const path = namePath(index, owner.namespace, name)
  const taken = await referenceAt(tx, path)
  if (taken !== undefined && taken.id !== owner.id) return false
  tx.put(path, encodeReference(owner.namespace, { id: owner.id, name }))
  return true
}

/** Removes the name of a thing from its index, so that another one may have it. */
export function freeName(tx: ViewTransaction, index: NameIndex, of: Pick<Entity | Group, 'namespace' | 'name'>): void {
  tx.delete(namePath(index, of.namespace, of.name))
}

/** All ids of a namespace in the folder, which ends in '/': sorted, and without those of other namespaces. */
export async function idsIn(from: From, folder: string, namespaceId: string): Promise<string[]> {
  return idsAmong(await from.list(folder + homeOf(namespaceId)), namespaceId)
}

/** The same in pages, which may be empty. */
export async function* idPages(from: From, folder: string, namespaceId: string): AsyncGenerator<readonly string[]> {
  for await (const names of namePages(from, folder + homeOf(namespaceId))) yield idsAmong(names, namespaceId)
}

/** The ids of all namespaces in the folder, in pages that may be empty. */
export async function* idPagesOfAll(from: From, folder: string): AsyncGenerator<readonly string[]> {
  for await (const names of namePages(from, folder)) {
    yield idsAmong(names, ROOT_ID)
    for (const name of names.map(withoutSlash)) if (!isUuid(name)) yield* idPages(from, folder, name)
  }
}

async function* namePages(from: From, folder: string): AsyncGenerator<readonly string[]> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const names: string[] = await from.list(folder, { after, limit: ID_PAGE })
    yield names
    after = names.length === ID_PAGE ? names.at(-1) : undefined
  }
}

/** A name may be that of an entry, or of a folder with what belongs to the thing. */
const withoutSlash = (name: string): string => (name.endsWith('/') ? name.slice(0, -1) : name)

const idsAmong = (names: readonly string[], namespaceId: string): string[] =>
  names
    .map(withoutSlash)
    .filter(isUuid)
    .map((own) => own + idEnding(namespaceId))

/**
 * Where it stands that a local alias is retired. The change of the set that ends the alias writes it, and it is needed
 * as long as the alias may still be stored here. The stamp tells the alias from the same one that has come back since.
 */
const retiredPath = ({ entityId, id, stamp = '' }: Alias): string =>
  `identity/alias-retired/${placeOfId(entityId)}/${stamp}.${id}`

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

const aliasPath = (folder: string, { entityId, id }: Pick<Alias, 'entityId' | 'id'>): string =>
  `${folder}alias/${placeOfId(entityId)}/${id}`

/** What is stored in the folder as aliases of an entity: also what is retired, to remove it. */
export async function storedAliasesOf(
  from: From,
  entityId: string,
  folder: (typeof FOLDERS)[number],
): Promise<Alias[]> {
  const aliases: Alias[] = []
  for (const id of await from.list(`${folder}alias/${placeOfId(entityId)}/`)) {
    const bytes = await from.get(aliasPath(folder, { entityId, id }))
    if (bytes !== undefined) aliases.push(ALIAS.decode(bytes))
  }
  return aliases
}

/** The alias, if its entity is there. */
async function withEntity(from: From, alias: Alias | undefined): Promise<Alias | undefined> {
  if (alias === undefined) return undefined
  return (await from.get(`identity/entity/${placeOfId(alias.entityId)}`)) === undefined ? undefined : alias
}

/** An alias by its id; undefined also for a text that is no id. */
export const findAlias = async (from: From, id: string): Promise<Alias | undefined> =>
  withEntity(
    from,
    (await storedAlias(from, id, false)) ?? (await unlessRetired(from, await storedAlias(from, id, true))),
  )

/** The alias with the id, if it is of the namespace. */
export async function aliasIn(from: From, namespaceId: string, id: string): Promise<Alias | undefined> {
  const alias = await findAlias(from, id)
  return alias?.namespace === namespaceId ? alias : undefined
}

/** What is stored as the alias with the id at shared or at local mounts: to remove it, even if it is none. */
export async function storedAlias(from: From, id: string, local: boolean): Promise<Alias | undefined> {
  const folder = folderOf(local)
  const owner = isId(id) ? await referenceAt(from, `${folder}alias-id/${placeOfId(id)}`) : undefined
  const bytes = owner === undefined ? undefined : await from.get(aliasPath(folder, { entityId: owner.id, id }))
  return bytes === undefined ? undefined : ALIAS.decode(bytes)
}

/** An alias by its mount and the digest of its name. */
export async function findAliasAt(from: From, mount: AliasMount, digest: string): Promise<Alias | undefined> {
  for await (const stored of storedAliasesAt(from, mount, digest)) {
    const alias = await withEntity(from, await unlessRetired(from, stored))
    if (alias !== undefined) return alias
  }
  return undefined
}

/** As `findAliasAt`, but also one whose entity is not here: it is gone, or on the way from the primary. */
export async function boundAliasAt(from: From, mount: AliasMount, digest: string): Promise<Alias | undefined> {
  let bound: Alias | undefined
  for await (const stored of storedAliasesAt(from, mount, digest)) {
    const alias = await unlessRetired(from, stored)
    if ((await withEntity(from, alias)) !== undefined) return alias
    bound ??= alias
  }
  return bound
}

/** What is stored as aliases at the mount, at most one a namespace: to remove or replace it, even if it is none. */
export async function* storedAliasesAt(from: From, mount: AliasMount, digest: string): AsyncGenerator<Alias> {
  const folder = folderOf(mount.local)
  for (const index of indexesOf(`${folder}alias-name/`, mount)) {
    const found = await referenceAt(from, index + digest)
    if (found?.entityId === undefined) continue
    const bytes = await from.get(aliasPath(folder, { entityId: found.entityId, id: found.id }))
    if (bytes !== undefined) yield ALIAS.decode(bytes)
  }
}

const aliasNamePath = (folder: string, { namespace, mountAccessor }: Alias, digest: string): string =>
  `${folder}alias-name/${homeOf(namespace)}${mountAccessor}/${digest}`

/** Stores an alias with its two index entries; `digest` is that of its name. */
export function putAlias(tx: ViewTransaction, alias: Alias, digest: string): void {
  const folder = folderOf(alias.local)
  const { id, entityId, namespace } = alias
  tx.put(aliasPath(folder, alias), ALIAS.encode(alias))
  tx.put(`${folder}alias-id/${placeOfId(id)}`, encodeReference(namespace, { id: entityId }))
  tx.put(aliasNamePath(folder, alias, digest), encodeReference(namespace, { id, entityId }))
}

/** Removes what `putAlias` wrote for the same alias and digest, if it is still there: it may have moved since. */
export async function removeAlias(tx: ViewTransaction, alias: Alias, digest: string): Promise<void> {
  const folder = folderOf(alias.local)
  const bytes = await tx.get(aliasPath(folder, alias))
  if (bytes === undefined || ALIAS.decode(bytes).stamp !== alias.stamp) return
  tx.delete(aliasPath(folder, alias))
  tx.delete(`${folder}alias-id/${placeOfId(alias.id)}`)
  tx.delete(aliasNamePath(folder, alias, digest))
}

/** Ids of all aliases of a namespace, sorted, replicated and local ones together. */
export async function listAliasIds(from: From, namespaceId: string): Promise<string[]> {
  const ids = await idsIn(from, 'identity/alias-id/', namespaceId)
  for (const id of await idsIn(from, `${LOCAL_FOLDER}alias-id/`, namespaceId)) {
    const alias = await withEntity(from, await unlessRetired(from, await storedAlias(from, id, true)))
    if (alias !== undefined) ids.push(id)
  }
  return ids.sort()
}

/** The group that has this group alias. */
export async function findGroupOfAlias(from: From, aliasId: string): Promise<Group | undefined> {
  const owner = isId(aliasId) ? await referenceAt(from, `identity/group-alias/${placeOfId(aliasId)}`) : undefined
  return owner === undefined ? undefined : findGroup(from, owner.id)
}

/** The group with an alias at this mount whose name has this digest. */
export async function findGroupOfAliasAt(
  from: From,
  mount: Omit<AliasMount, 'local'>,
  digest: string,
): Promise<Group | undefined> {
  for (const index of indexesOf('identity/group-alias-name/', mount)) {
    const owner = await referenceAt(from, index + digest)
    const group = owner === undefined ? undefined : await findGroup(from, owner.id)
    if (group !== undefined) return group
  }
  return undefined
}

const groupAliasNamePath = ({ namespace }: Pick<Group, 'namespace'>, { mountAccessor }: GroupAlias, digest: string) =>
  `identity/group-alias-name/${homeOf(namespace)}${mountAccessor}/${digest}`

/** Stores the index entries of a group's alias; the alias itself is part of the group. */
export function putGroupAlias(tx: ViewTransaction, group: Group, alias: GroupAlias, digest: string): void {
  const owner = encodeReference(group.namespace, { id: group.id })
  tx.put(`identity/group-alias/${placeOfId(alias.id)}`, owner)
  tx.put(groupAliasNamePath(group, alias, digest), owner)
}

/** Removes what `putGroupAlias` wrote for the same alias and digest. */
export function removeGroupAlias(tx: ViewTransaction, group: Group, alias: GroupAlias, digest: string): void {
  tx.delete(`identity/group-alias/${placeOfId(alias.id)}`)
  tx.delete(groupAliasNamePath(group, alias, digest))
}
