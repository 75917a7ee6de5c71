// Making, changing and removing the aliases of entities, each inside a transaction of the caller.
import { fail } from '../api/errors.ts'
import type { MountEntry } from '../api/mount.ts'
import { ROOT_NAMESPACE } from '../storage/contract.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import type { Alias } from './entries.ts'
import { setLoginGroups } from './memberships.ts'
import { checkAliasName } from './names.ts'
import { aliasesOf, findAlias, findAliasAt, findEntity, type IdentityParts, putAlias, removeAlias } from './records.ts'

type Texts = Readonly<Record<string, string>>

/** What can be given; absent: as it was. */
export type AliasChange = {
  readonly name?: string | undefined
  readonly mountAccessor?: string | undefined
  readonly entityId?: string | undefined
  readonly customMetadata?: Texts | undefined
}

export function newAlias(
  { world }: IdentityParts,
  mount: MountEntry,
  given: Pick<Alias, 'entityId' | 'name'> & Partial<Pick<Alias, 'metadata' | 'customMetadata'>>,
): Alias {
  const nowMs = world.clock.nowMs()
  return {
    format: 1,
    namespace: ROOT_NAMESPACE,
    id: world.random.uuid(),
    mountAccessor: mount.accessor,
    metadata: {},
    customMetadata: {},
    mergedFrom: [],
    local: mount.local,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...given,
  }
}

/** @throws Refusal naming the field, where no login mount has the accessor */
export function loginMount({ mountOf }: IdentityParts, field: string, accessor: string): MountEntry {
  const mount = mountOf(accessor)
  if (mount?.kind === 'auth') return mount
  throw fail('field_invalid', [field, 'no login mount has this accessor: sys/auth lists them'])
}

export const putAliasOf = ({ digest }: IdentityParts, tx: ViewTransaction, alias: Alias): void =>
  putAlias(tx, alias, digest(alias.name))

export const removeAliasOf = ({ digest }: IdentityParts, tx: ViewTransaction, alias: Alias): void =>
  removeAlias(tx, alias, digest(alias.name))

export function moveAlias(parts: IdentityParts, tx: ViewTransaction, old: Alias, alias: Alias): void {
  removeAliasOf(parts, tx, old)
  putAliasOf(parts, tx, { ...alias, updatedAtMs: parts.world.clock.nowMs() })
}

/** Whom the login method put into groups by this alias is not in them without it (threats I-04). */
export const dropLoginGroups = (tx: ViewTransaction, entityId: string, alias: Alias): Promise<void> =>
  setLoginGroups(tx, entityId, { accessor: alias.mountAccessor, local: alias.local }, new Map())

export async function deleteAlias(parts: IdentityParts, tx: ViewTransaction, alias: Alias): Promise<void> {
  removeAliasOf(parts, tx, alias)
  await dropLoginGroups(tx, alias.entityId, alias)
}

/**
 * Makes the alias or changes the one there is: that with the id, else that with the mount and the name. `makeEntity`
 * gives the id of a new entity, where none is named; `requireRight` judges what is found by the mount and the name.
 * @throws Refusal where ids are unknown, or the alias is another's
 */
export async function writeAlias(
  parts: IdentityParts,
  tx: ViewTransaction,
  id: string | undefined,
  change: AliasChange,
  makeEntity: () => Promise<string>,
  requireRight: (aliasId: string) => void = () => {},
): Promise<Alias> {
  const byId = id === undefined ? undefined : await findAlias(tx, id)
  if (id !== undefined && byId === undefined) throw fail('field_invalid', ['id', 'no alias has this id'])
  const name = change.name ?? byId?.name
  const accessor = change.mountAccessor ?? byId?.mountAccessor
  if (name === undefined) throw fail('field_missing', ['name'])
  if (accessor === undefined) throw fail('field_missing', ['mount_accessor'])
  const mount = loginMount(parts, 'mount_accessor', accessor)
  const there = await findAliasAt(tx, mount, parts.digest(checkAliasName('name', name)))
  if (byId !== undefined && there !== undefined && there.id !== byId.id) {
    throw fail('field_invalid', ['name', `the alias ${there.id} has it at this mount: delete that one first`])
  }
  if (byId === undefined && there !== undefined) requireRight(there.id)
  const old = byId ?? there
  const entityId = change.entityId ?? old?.entityId ?? (await makeEntity())
  if ((await findEntity(tx, entityId)) === undefined)
    throw fail('field_invalid', ['canonical_id', 'no entity has this id'])
  const customMetadata = change.customMetadata ?? old?.customMetadata ?? {}
  await requireOnlyOne(tx, entityId, mount, old)
  if (old === undefined) {
    const alias = newAlias(parts, mount, { entityId, name, customMetadata })
    putAliasOf(parts, tx, alias)
    return alias
  }
  const alias = { ...old, entityId, name, mountAccessor: mount.accessor, local: mount.local, customMetadata }
  if (old.entityId !== entityId || old.mountAccessor !== mount.accessor || old.name !== name)
    await dropLoginGroups(tx, old.entityId, old)
  moveAlias(parts, tx, old, alias)
  return alias
}

/** Two at one mount would leave open which of them a template means (threats A-04). */
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
