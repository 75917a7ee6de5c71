// Makes, changes and removes aliases of entities. Each function works inside a transaction of the caller, and leaves
// what belongs to this cluster to the second half (halves.ts).
import { fail } from '../api/errors.ts'
import type { MountEntry } from '../api/mount.ts'
import { splitId } from '../api/namespace.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { type AskedAlias, loginMount, NO_ALIAS, requireMountIn } from './asked-alias.ts'
import type { Alias } from './entries.ts'
import type { Halves } from './halves.ts'
import { newStamp, setLoginGroups } from './memberships.ts'
import { checkAliasName, newId } from './names.ts'
import {
  type AliasMount,
  aliasesOf,
  aliasIn,
  findAlias,
  findAliasAt,
  findEntity,
  type IdentityParts,
  putAlias,
  putRetired,
  removeAlias,
  removeRetired,
  storedAlias,
  storedAliasesAt,
} from './records.ts'

type Texts = Readonly<Record<string, string>>

/** Members of an alias that a write may give; an absent one stays as it was. */
export type AliasChange = {
  readonly name?: string | undefined
  readonly mountAccessor?: string | undefined
  readonly entityId?: string | undefined
  readonly customMetadata?: Texts | undefined
}

/** A new alias at a mount, not stored yet. It is local if its mount is, and of the namespace of its entity. */
export function newAlias(
  { world }: IdentityParts,
  mount: MountEntry,
  given: Pick<Alias, 'entityId' | 'name'> & Partial<Pick<Alias, 'metadata' | 'customMetadata'>>,
): Alias {
  const nowMs = world.clock.nowMs()
  const { namespaceId } = splitId(given.entityId)
  return {
    format: 1,
    namespace: namespaceId,
    id: newId(world.random, namespaceId),
    mountAccessor: mount.accessor,
    metadata: {},
    customMetadata: null,
    mergedFrom: [],
    local: mount.local,
    stamp: newStamp(world.random),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...given,
  }
}

/**
 * Stores an alias with its index entries, in the place of what counts for nothing: one at the same mount and name whose
 * entity is gone, and what was left of this alias when it moved away (records.ts).
 * @throws Refusal if another alias has taken the name since the caller looked
 */
export async function placeAlias(parts: IdentityParts, tx: ViewTransaction, alias: Alias): Promise<void> {
  const { digest } = parts
  const [mount, at] = [mountOfAlias(parts, alias), digest(alias.name)]
  const taken = await findAliasAt(tx, mount, at)
  if (taken !== undefined && taken.id !== alias.id)
    throw fail('changed_meanwhile', [`The alias ${taken.id} has taken the name: send the request again`])
  const former = await storedAlias(tx, alias.id, alias.local)
  if (former !== undefined) await removeAlias(tx, former, digest(former.name))
  for await (const other of storedAliasesAt(tx, mount, at)) await removeAlias(tx, other, at)
  putAlias(tx, alias, at)
}

/** The mount of an alias, with the namespaces in which others at that mount may be. */
function mountOfAlias({ mountOf }: IdentityParts, { mountAccessor, namespace, local }: Alias): AliasMount {
  const { namespace: present = namespace, formerNamespaces = [] } = mountOf(mountAccessor) ?? {}
  const others = [present, ...formerNamespaces].filter((id) => id !== namespace)
  return { accessor: mountAccessor, local, namespace, formerNamespaces: others }
}

/** Has an alias stored in the half that it belongs to. */
async function putAliasOf(parts: IdentityParts, tx: Halves, alias: Alias): Promise<void> {
  if (alias.local) tx.later((half) => placeAlias(parts, half, alias))
  else await placeAlias(parts, tx, alias)
}

/** Has an alias removed in its half; `alias` must be as it is stored, for its name leads to one of the entries. */
export async function removeAliasOf({ digest }: IdentityParts, tx: Halves, alias: Alias): Promise<void> {
  const at = digest(alias.name)
  if (alias.local) tx.later((half) => removeAlias(half, alias, at))
  else await removeAlias(tx, alias, at)
}

/**
 * Ends a local alias in the first half already, for a change that the set shares. The caller has it removed in the
 * second one. If that is missing, what the first half wrote stays and takes a few bytes.
 */
export function retire(tx: Halves, alias: Alias): void {
  if (!alias.local) return
  putRetired(tx, alias)
  tx.atLast(async (last) => removeRetired(last, alias))
}

/** Whether the alias is still stored as it was found; it may be retired, or its entity gone. */
const isStillStored = async (from: ViewTransaction, { id, entityId, stamp, local }: Alias): Promise<boolean> => {
  const there = await storedAlias(from, id, local)
  return there !== undefined && there.entityId === entityId && there.stamp === stamp
}

/**
 * Replaces an alias. The old entries go first: entity, mount and name are part of their keys. If one of these changes,
 * so does the stamp, and what logins gave by the alias ends. Returns the alias as it is stored then.
 */
export async function moveAlias(parts: IdentityParts, tx: Halves, old: Alias, changed: Alias): Promise<Alias> {
  const { clock, random } = parts.world
  const isMoved =
    old.entityId !== changed.entityId || old.mountAccessor !== changed.mountAccessor || old.name !== changed.name
  if (isMoved) dropLoginGroups(tx, old)
  const alias = { ...changed, ...(isMoved ? { stamp: newStamp(random) } : {}), updatedAtMs: clock.nowMs() }
  if (old.local && alias.local) replaceLocal(parts, tx, old, alias)
  else if (alias.local) leaveShared(parts, tx, old, alias)
  else {
    // One that leaves a local mount is retired there: without the second half it would log in at both.
    retire(tx, old)
    await removeAliasOf(parts, tx, old)
    await placeAlias(parts, tx, alias)
  }
  return alias
}

/**
 * Replaces a local alias, unless it has gone since the first half found it: a login may have taken its name after a
 * merge removed its entity. The merge is done then, so that alias is passed over and nothing is refused.
 */
function replaceLocal(parts: IdentityParts, tx: Halves, old: Alias, alias: Alias): void {
  tx.later(async (half) => {
    if (!(await isStillStored(half, old))) return
    await removeAlias(half, old, parts.digest(old.name))
    await placeAlias(parts, half, alias)
  })
}

/**
 * Moves an alias from a shared mount to a local one. It is stored there as a retired one, and takes effect with the
 * commit that removes the shared one. So a refusal or a crash on the way leaves the alias where it was.
 */
function leaveShared(parts: IdentityParts, tx: Halves, old: Alias, alias: Alias): void {
  putRetired(tx, alias)
  tx.ifRefused(async (back) => removeRetired(back, alias))
  tx.later((half) => placeAlias(parts, half, alias))
  tx.atLast(async (last) => {
    // The sweep takes what is retired, and another change may have taken the shared one.
    for (const one of [old, alias]) if (!(await isStillStored(last, one))) throw hasChanged(alias.id)
    await removeAlias(last, old, parts.digest(old.name))
    removeRetired(last, alias)
  })
}

/**
 * Removes the memberships that logins by this alias gave its entity. They count no more once the alias has another
 * stamp or is gone, which other clusters learn, so that this half may be missing (threats I-04).
 */
const dropLoginGroups = (tx: Halves, { entityId, mountAccessor }: Alias): void =>
  tx.later((half) => setLoginGroups(half, entityId, { accessor: mountAccessor }, new Map()))

/** Removes an alias and the memberships that came by it. The entity stays. */
export async function deleteAlias(parts: IdentityParts, tx: Halves, alias: Alias): Promise<void> {
  await removeAliasOf(parts, tx, alias)
  dropLoginGroups(tx, alias)
}

const hasChanged = (id: string) => fail('changed_meanwhile', [`The alias ${id} has changed: send the request again`])

/**
 * Refuses a change of local aliases alone, which is all in the second half, if the alias is not as the first half found
 * it: else one of two callers would be told that it is done, and the other one would undo it. An alias whose entity has
 * gone since is none, or a merge is about to move it.
 */
function requireUnchanged(tx: Halves, { id, stamp }: Alias): void {
  tx.later(async (half) => {
    const there = await findAlias(half, id)
    if (there === undefined || !there.local || there.stamp !== stamp) throw hasChanged(id)
  })
}

/** Removes the alias with the id; does nothing if the namespace has none. */
export async function deleteAliasById(
  parts: IdentityParts,
  tx: Halves,
  namespaceId: string,
  id: string,
): Promise<void> {
  // One without an entity is removed as well: a merge whose second half is still to come would move it.
  const alias = (await findAlias(tx, id)) ?? (await storedAlias(tx, id, true))
  if (alias?.namespace !== namespaceId) return
  if (alias.local) {
    // Another alias with the id is another change's. If there is none, the removal is done.
    tx.later(async (half) => {
      const there = (await storedAlias(half, id, false)) ?? (await storedAlias(half, id, true))
      if (there !== undefined && there.stamp !== alias.stamp) throw hasChanged(id)
    })
  }
  await deleteAlias(parts, tx, alias)
}

/**
 * Changes the alias of the namespace with the id, else the one with the mount and the name; makes one if there is
 * neither. `makeEntity` returns the id of a new entity and is called if none is named. `requireRight` gets the id of an
 * alias that was found by mount and name; it throws if the caller may not change that one.
 * @throws Refusal for unknown ids, for a mount or an entity of another namespace, and for a name that another alias has
 *   at the mount (threats I-03)
 */
export async function writeAlias(
  parts: IdentityParts,
  tx: Halves,
  asked: AskedAlias,
  change: AliasChange,
  makeEntity: () => Promise<string>,
  requireRight: (aliasId: string) => void = () => {},
): Promise<Alias> {
  const { namespaceId, id, sight = 'all' } = asked
  const byId = id === undefined ? undefined : await aliasIn(tx, namespaceId, id)
  if (id !== undefined && byId === undefined) throw fail('field_invalid', ['id', NO_ALIAS[sight]])
  const name = change.name ?? byId?.name
  const accessor = change.mountAccessor ?? byId?.mountAccessor
  if (name === undefined) throw fail('field_missing', ['name'])
  if (accessor === undefined) throw fail('field_missing', ['mount_accessor'])
  const mount = loginMount(parts, accessor, asked)
  requireMountIn(namespaceId, mount, byId?.mountAccessor)
  const there = await findAliasAt(tx, mount, parts.digest(checkAliasName('name', name)))
  if (byId !== undefined && there !== undefined && there.id !== byId.id) {
    throw fail('field_invalid', ['name', `the alias ${there.id} has it at this mount: delete that one first`])
  }
  if (byId === undefined && there !== undefined) requireRight(there.id)
  const old = byId ?? there
  if (old !== undefined && old.namespace !== namespaceId)
    throw fail('other_namespace', ['alias is in a different namespace than request'])
  const named = change.entityId ?? old?.entityId
  if (named !== undefined) await requireEntityIn(tx, namespaceId, named)
  // One that the primary has just made may come later than its alias.
  const entityId = named ?? (await makeEntity())
  const customMetadata = change.customMetadata ?? old?.customMetadata ?? {}
  await requireOnlyOne(tx, entityId, mount, old)
  if (mount.local) tx.later((half) => requireOnlyOne(half, entityId, mount, old))
  if (mount.local && old?.local === true) requireUnchanged(tx, old)
  if (old === undefined) {
    const alias = newAlias(parts, mount, { entityId, name, customMetadata })
    await putAliasOf(parts, tx, alias)
    return alias
  }
  const alias = { ...old, entityId, name, mountAccessor: mount.accessor, local: mount.local, customMetadata }
  return moveAlias(parts, tx, old, alias)
}

/** @throws Refusal if no entity has the id, or one of another namespace */
async function requireEntityIn(tx: ViewTransaction, namespaceId: string, id: string): Promise<void> {
  const entity = await findEntity(tx, id)
  if (entity === undefined) throw fail('field_invalid', ['canonical_id', 'no entity has this id'])
  if (entity.namespace !== namespaceId)
    throw fail('other_namespace', ['entity is in a different namespace than request'])
}

/**
 * Refuses a second alias at a mount: a template would not say which of them it means (threats A-04). Differs:
 * docs/differences.md#identity.
 */
async function requireOnlyOne(
  tx: ViewTransaction,
  entityId: string,
  mount: MountEntry,
  own: Alias | undefined,
): Promise<void> {
  const other = (await aliasesOf(tx, entityId)).find(
    ({ id, mountAccessor }) => mountAccessor === mount.accessor && id !== own?.id,
  )
  if (other !== undefined) {
    throw fail('field_invalid', ['canonical_id', `the entity has the alias ${other.id} at this mount already`])
  }
}
