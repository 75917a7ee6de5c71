// Finds the entity of a caller that a login method has recognised. This runs at every login, so it writes nothing if
// nothing changed.
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

/** Returns the id of the entity, which is made at the first login. @throws Refusal if the entity is disabled */
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

/** Finds alias and entity of a login; undefined at the first. @throws Refusal for a disabled entity or a bad name */
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

/** Puts the entity into exactly those external groups whose alias at the mount has one of the names (threats I-04). */
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
