// Finds the entity of a caller that a login method has recognised. This runs at every login, so it writes nothing if
// nothing changed.
import { fail } from '../api/errors.ts'
import type { EnsuredEntity, LoginAlias } from '../api/login.ts'
import type { MountEntry } from '../api/mount.ts'
import type { BoundLogin } from '../auth/subject.ts'
import { own } from '../lib/own.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { newAlias, placeAlias } from './aliases.ts'
import { createEntity } from './entities.ts'
import type { Alias } from './entries.ts'
import { setLoginGroups, stampOf } from './memberships.ts'
import { checkAliasName } from './names.ts'
import { aliasesOf, boundAliasAt, findEntity, findGroupOfAliasAt, type IdentityParts } from './records.ts'

/**
 * The half of a login that the set shares: returns the entity, which is made at the first login in the namespace of the
 * mount, and stores the alias of a shared mount. Writes nothing for a caller who is known as he is. If the mount came
 * from another namespace, who is known by it stays an entity of that one.
 * @throws Refusal if the entity is disabled
 */
export async function ensureEntity(
  parts: IdentityParts,
  tx: ViewTransaction,
  mount: MountEntry,
  login: LoginAlias,
): Promise<EnsuredEntity> {
  const found = await findLogin(parts, tx, mount, login)
  const entityId = found?.entity.id ?? (await createEntity(parts, tx, mount.namespace, {})).id
  if (mount.local) return { entityId, aliasStamp: '' }
  const alias = await setAlias(parts, tx, mount, login, found ?? { entityId })
  return { entityId, aliasStamp: stampOf(alias) }
}

/**
 * Returns the entity with this ID, or a new one of the namespace if there is none, for a cluster that keeps the alias
 * itself.
 * @throws Refusal if the entity is disabled
 */
export async function ensureEntityOfCluster(
  parts: IdentityParts,
  tx: ViewTransaction,
  namespaceId: string,
  entityId: string,
): Promise<EnsuredEntity> {
  const found = await findEntity(tx, entityId)
  if (found?.disabled === true) throw fail('permission_denied', [])
  return { entityId: (found ?? (await createEntity(parts, tx, namespaceId, {}))).id, aliasStamp: '' }
}

/**
 * The half that belongs to this cluster: stores the alias of a local mount, and the groups that the login gave. Returns
 * the id of the entity: another login may have stored the alias first, with an entity of its own.
 */
export async function bindLogin(
  parts: IdentityParts,
  tx: ViewTransaction,
  mount: MountEntry,
  { entityId, aliasStamp, groups, ...login }: BoundLogin,
): Promise<string> {
  if (!mount.local) {
    await recogniseGroups(parts, tx, mount, { entityId, aliasStamp }, groups)
    return entityId
  }
  const found = await findLogin(parts, tx, mount, login)
  const id = found?.entity.id ?? entityId
  const alias = await setLocalAlias(parts, tx, mount, { ...login, entityId: id })
  await recogniseGroups(parts, tx, mount, { entityId: id, aliasStamp: stampOf(alias) }, groups)
  return id
}

/** Stores and returns the alias of a local mount. It stays the same while its entity is on the way from the primary. */
async function setLocalAlias(
  parts: IdentityParts,
  tx: ViewTransaction,
  mount: MountEntry,
  { entityId, ...login }: LoginAlias & Pick<EnsuredEntity, 'entityId'>,
): Promise<Alias> {
  const alias = await boundAliasAt(tx, mount, parts.digest(login.name))
  return setAlias(parts, tx, mount, login, alias?.entityId === entityId ? { alias } : { entityId })
}

/** Stores the alias of a login, unless it is stored as it is, and returns it. */
async function setAlias(
  parts: IdentityParts,
  tx: ViewTransaction,
  mount: MountEntry,
  { name, metadata }: LoginAlias,
  known: { readonly alias: Alias } | { readonly entityId: string },
): Promise<Alias> {
  if ('alias' in known && sameTexts(known.alias.metadata, metadata)) return known.alias
  const alias =
    'alias' in known
      ? { ...known.alias, metadata, updatedAtMs: parts.world.clock.nowMs() }
      : newAlias(parts, mount, { ...known, name, metadata })
  await placeAlias(parts, tx, alias)
  return alias
}

/**
 * Finds alias and entity of a login; undefined at the first, or if the entity is gone.
 * @throws Refusal for a disabled entity or a bad name
 */
export async function findLogin(
  parts: IdentityParts,
  tx: View | ViewTransaction,
  mount: MountEntry,
  { name }: LoginAlias,
) {
  const alias = await boundAliasAt(tx, mount, parts.digest(checkAliasName('alias name', name)))
  const entity = alias === undefined ? undefined : await findEntity(tx, alias.entityId)
  if (alias === undefined || entity === undefined) return undefined
  if (entity.disabled) throw fail('permission_denied', [])
  return { alias, entity }
}

/** Sets the groups of an entity by its alias at the mount; without one no login gives it any. */
export async function renewGroups(
  parts: IdentityParts,
  tx: ViewTransaction,
  mount: MountEntry,
  entityId: string,
  names: readonly string[],
): Promise<void> {
  const alias = (await aliasesOf(tx, entityId)).find(({ mountAccessor }) => mountAccessor === mount.accessor)
  const aliasStamp = alias === undefined ? '' : stampOf(alias)
  await recogniseGroups(parts, tx, mount, { entityId, aliasStamp }, alias === undefined ? [] : names)
}

/** Puts the entity into exactly those external groups whose alias at the mount has one of the names (threats I-04). */
async function recogniseGroups(
  parts: IdentityParts,
  tx: ViewTransaction,
  mount: MountEntry,
  { entityId, aliasStamp }: EnsuredEntity,
  names: readonly string[],
): Promise<void> {
  const wanted = new Map<string, { readonly stamp: string; readonly aliasStamp: string }>()
  for (const name of new Set(names)) {
    const group = await findGroupOfAliasAt(tx, mount, parts.digest(name))
    if (group?.alias?.mountAccessor === mount.accessor && group.alias.name === name) {
      wanted.set(group.id, { stamp: group.alias.stamp, aliasStamp })
    }
  }
  await setLoginGroups(tx, entityId, mount, wanted)
}

function sameTexts(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && own(one, name) === own(other, name))
  )
}
