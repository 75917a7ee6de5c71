// From a caller that a login method recognised to its entity. Runs at every login, so where nothing changed it writes
// nothing.
import { fail } from '../api/errors.ts'
import type { LoginAlias } from '../api/login.ts'
import type { MountEntry } from '../api/mount.ts'
import { own } from '../lib/own.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { newAlias, putAliasOf } from './aliases.ts'
import { createEntity } from './entities.ts'
import { setLoginGroups } from './memberships.ts'
import { checkAliasName } from './names.ts'
import { findAliasAt, findEntity, findGroupOfAliasAt, type IdentityParts } from './records.ts'

/** @throws Refusal where the entity is disabled */
export async function recogniseLogin(
  parts: IdentityParts,
  tx: ViewTransaction,
  mount: MountEntry,
  login: LoginAlias,
  groups: readonly string[],
): Promise<string> {
  const found = await findLogin(parts, tx, mount, login)
  const entity = found?.entity ?? (await createEntity(parts, tx, {}))
  if (found === undefined) {
    putAliasOf(parts, tx, newAlias(parts, mount, { entityId: entity.id, name: login.name, metadata: login.metadata }))
  } else if (!sameTexts(found.alias.metadata, login.metadata)) {
    putAliasOf(parts, tx, { ...found.alias, metadata: login.metadata, updatedAtMs: parts.world.clock.nowMs() })
  }
  await recogniseGroups(parts, tx, mount, entity.id, groups)
  return entity.id
}

/** Undefined at the first login of somebody. @throws Refusal where the entity is disabled, or none can have the name */
export async function findLogin(
  parts: IdentityParts,
  tx: View | ViewTransaction,
  mount: MountEntry,
  { name }: LoginAlias,
) {
  const alias = await findAliasAt(tx, mount, parts.digest(checkAliasName('alias name', name)))
  if (alias === undefined) return undefined
  const entity = await findEntity(tx, alias.entityId)
  if (entity === undefined) throw new Error('An alias is left without its entity')
  if (entity.disabled) throw fail('permission_denied', [])
  return { alias, entity }
}

/** The entity is then in exactly those external groups that have one of these names as alias at the mount. */
export async function recogniseGroups(
  parts: IdentityParts,
  tx: ViewTransaction,
  mount: MountEntry,
  entityId: string,
  names: readonly string[],
): Promise<void> {
  const wanted = new Map<string, string>()
  for (const name of new Set(names)) {
    const group = await findGroupOfAliasAt(tx, mount.accessor, parts.digest(name))
    if (group?.alias?.mountAccessor === mount.accessor && group.alias.name === name) {
      wanted.set(group.id, group.alias.stamp)
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
