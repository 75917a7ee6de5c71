// identity/entity-alias and identity/group-alias: the names of entities and groups at login mounts. Both have the same
// endpoints, made by one function from what differs between them.
import { type AlsoNamed, type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { type Args, type Fields, map, string } from '../api/fields.ts'
import { orNotFound, pageOf } from '../api/named-things.ts'
import type { Namespace } from '../api/namespace.ts'
import type { DataOwner, Sight } from '../api/node-role.ts'
import { DONE, type RequestInfo } from '../api/request.ts'
import { type Shapes, text } from '../api/shape.ts'
import { own } from '../lib/own.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { deleteAliasById, writeAlias } from './aliases.ts'
import { ALIAS_SHAPE, aliasBody, GROUP_ALIAS, groupAliasBody, type MountOf } from './answers.ts'
import type { SoughtAlias } from './asked-alias.ts'
import type { Alias } from './entries.ts'
import { type AliasedGroup, aliasedIn, findAliased, takeAlias, writeGroupAlias } from './group-aliases.ts'
import { createGroup } from './groups.ts'
import type { IdentityStore } from './identity-store.ts'
import { LISTED_WITH_INFO, pageFields, withInfo } from './listing.ts'
import { aliasIn, type From, findAlias, type IdentityParts, idsIn, listAliasIds, sharedOnly } from './records.ts'

/** What differs between the two kinds. `T` is the thing that an alias is read as, `F` has the fields of a write. */
type Aliases<T, F extends Fields> = {
  readonly owner: 'entity' | 'group'
  /** Nouns for summaries. */
  readonly noun: string
  readonly oneOf: string
  readonly removal: string
  readonly fields: F
  readonly response: Shapes
  readonly ids: (view: View, namespaceId: string) => Promise<readonly string[]>
  readonly find: (from: From, namespaceId: string, id: string) => Promise<T | undefined>
  readonly body: (thing: T, mountOf: MountOf) => Readonly<Record<string, unknown>>
  /**
   * Makes or changes an alias. `requireRight` is called with the id of an alias that was found by mount and name.
   * @throws Refusal
   */
  readonly write: (
    store: IdentityStore,
    asked: SoughtAlias,
    args: Args<F>,
    requireRight: (aliasId: string) => void,
  ) => Promise<{ readonly id: string; readonly canonical_id: string }>
  /** Removes an alias; does nothing if the namespace has none with the id. */
  readonly remove: (store: IdentityStore, asked: SoughtAlias & { readonly id: string }) => Promise<void>
}

/** Members of `key_info` in a list; those that a kind does not have are left out. */
const LISTED_MEMBERS = ['name', 'canonical_id', 'mount_accessor', 'mount_path', 'mount_type', 'local']

/** Absent for an empty text: clients send all fields, empty if they mean no change. */
const given = (value: string): string | undefined => (value === '' ? undefined : value)

function aliasEndpoints<T, const F extends Fields>(aliases: Aliases<T, F>): readonly Endpoint[] {
  const [make, change] = writesOf(aliases)
  return [make, list(aliases), read(aliases), change, remove(aliases)]
}

/** An alias at a local mount belongs to its cluster; any other, and every alias of a group, to the set. */
const ownerOfAlias = async (
  { view, parts }: IdentityStore,
  args: object,
  _namespace: Namespace,
  sight: Sight,
): Promise<DataOwner> => {
  if (sight === 'shared') return 'set'
  const { id = '', mount_accessor: sent = '' } = args as AliasArgs
  const accessor = sent !== '' || id === '' ? sent : ((await findAlias(view, id))?.mountAccessor ?? '')
  return parts.mountOf(accessor)?.local === true ? 'cluster' : 'set'
}

/** The shared mounts that a change of an alias concerns: the one that is named, and the one where the alias is. */
const mountsOfAlias = async ({ view, parts }: IdentityStore, args: object) => {
  const { id = '', mount_accessor: sent = '' } = args as AliasArgs
  const alias = (await findAlias(view, id)) ?? (await findAliased(view, id))?.alias
  const { mountOf } = partsSeen(parts, 'shared')
  return [sent, alias?.mountAccessor ?? ''].map(mountOf)
}

/** The entity or the group that a change of an alias names. */
const ownersOfAlias = (kind: Aliases<never, Fields>['owner']) => (_store: IdentityStore, args: object) => {
  const { canonical_id: canonical = '', entity_id: entity = '' } = args as AliasArgs
  const id = canonical === '' ? entity : canonical
  return id === '' ? [] : [{ id, field: 'canonical_id', unknown: `no ${kind} has this id` }]
}

/** The parts, with the mounts that a request sees. */
const partsSeen = (parts: IdentityParts, sight: Sight): IdentityParts => {
  if (sight === 'all') return parts
  const mountOf = (accessor: string) => {
    const mount = parts.mountOf(accessor)
    return mount?.local === true ? undefined : mount
  }
  return { ...parts, mountOf }
}

/** The transaction, with the entries that a request sees. Its later halves see all: they tidy here as well. */
const txSeen = <T extends ViewTransaction>(tx: T, sight: Sight): T => (sight === 'all' ? tx : sharedOnly(tx))

/** What of the request decides about a write, besides its fields. */
type Asked = Pick<RequestInfo, 'namespace' | 'caller' | 'sight'>
type AliasArgs = {
  readonly id?: string
  readonly mount_accessor?: string
  readonly canonical_id?: string
  readonly entity_id?: string
}

const pathOf = (owner: string): string => `${owner}-alias/id/:id`
const idField = (noun: string) => ({ id: string(`ID of the ${noun}`, { required: true }) })

function writesOf<T, F extends Fields>(aliases: Aliases<T, F>): readonly [make: Endpoint, change: Endpoint] {
  const { owner, noun, oneOf } = aliases
  const fields: Fields = aliases.fields
  const path = `${owner}-alias`
  const at = (id: string): string => `${path}/id/${id}`
  const writing = {
    operation: 'update',
    capability: 'update',
    runsOn: 'writer',
    writes: aliases.owner === 'entity' ? ownerOfAlias : 'set',
    namedMounts: mountsOfAlias,
    namedIds: ownersOfAlias(owner),
    response: { id: text(`ID of the ${noun}`), canonical_id: text(`ID of its ${owner}`) },
  } as const
  // An alias decides who logs in as its owner, so a caller who is denied the owner is denied its aliases.
  const whose: AlsoNamed = {
    field: 'canonical_id',
    operation: 'update',
    at: (id) => `${owner}/id/${id}`,
    onlyDenials: true,
  }
  const write = async (
    store: IdentityStore,
    id: string | undefined,
    args: object,
    { namespace, caller, sight }: Asked,
  ) => {
    // An alias can be named by id, or by mount and name. The pipeline has judged the id; the other way is judged here.
    const requireRight = (aliasId: string): void => {
      if (caller?.isRefusedAt(at(aliasId)) === true) throw fail('permission_denied', [])
    }
    const asked = { namespaceId: namespace.id, id, sight }
    return { data: await aliases.write(store, asked, args as Args<F>, requireRight) }
  }
  const make = endpoint({
    ...writing,
    id: `${path}-write`,
    path,
    alsoNames: [{ field: 'id', operation: 'update', at }, whose],
    summary: `Creates ${oneOf}, or updates the one with the given id, or with the given mount_accessor and name`,
    fields: { id: string(`ID of an existing ${noun}`, { default: '' }), ...fields },
    handler: (store: IdentityStore, args, request) => write(store, given(args.id), args, request),
  })
  const change = endpoint({
    ...writing,
    id: `${path}-write-id`,
    path: pathOf(owner),
    alsoNames: [whose],
    summary: `Updates ${oneOf}; a new name, mount or ${owner} removes the group memberships granted by its logins`,
    fields: { ...idField(noun), ...fields },
    handler: (store: IdentityStore, args, request) => write(store, args.id, args, request),
  })
  return [make, change]
}

const list = <T, F extends Fields>({ owner, noun, ids, find, body }: Aliases<T, F>): Endpoint =>
  endpoint({
    id: `${owner}-alias-list`,
    operation: 'list',
    path: `${owner}-alias/id`,
    capability: 'list',
    runsOn: 'any-node',
    summary: `Lists the IDs of the ${noun}es`,
    fields: pageFields,
    response: LISTED_WITH_INFO,
    handler: async ({ view, parts }: IdentityStore, args, { namespace }) => ({
      data: await withInfo(pageOf(await ids(view, namespace.id), args), async (id) => {
        const found = await find(view, namespace.id, id)
        if (found === undefined) return undefined
        const all = body(found, parts.mountOf)
        const listed = LISTED_MEMBERS.filter((name) => Object.hasOwn(all, name))
        return Object.fromEntries(listed.map((name) => [name, own(all, name)]))
      }),
    }),
  })

const read = <T, F extends Fields>({ owner, noun, oneOf, response, find, body }: Aliases<T, F>): Endpoint =>
  endpoint({
    id: `${owner}-alias-read`,
    operation: 'read',
    path: pathOf(owner),
    capability: 'read',
    runsOn: 'any-node',
    summary: `Shows ${oneOf}`,
    fields: idField(noun),
    response,
    handler: async ({ view, parts }: IdentityStore, { id }, { namespace }) => ({
      data: body(orNotFound(await find(view, namespace.id, id)), parts.mountOf),
    }),
  })

const remove = <T, F extends Fields>(aliases: Aliases<T, F>): Endpoint =>
  endpoint({
    id: `${aliases.owner}-alias-delete`,
    operation: 'delete',
    path: pathOf(aliases.owner),
    capability: 'delete',
    runsOn: 'writer',
    writes: aliases.owner === 'entity' ? ownerOfAlias : 'set',
    namedMounts: mountsOfAlias,
    summary: aliases.removal,
    fields: idField(aliases.noun),
    handler: async (store: IdentityStore, { id }, { namespace, sight }) => {
      await aliases.remove(store, { namespaceId: namespace.id, id, sight })
      return DONE
    },
  })

/** Aliases of entities. A write that names no entity makes one, so that a login can be prepared in one call. */
export const ALIAS_ENDPOINTS: readonly Endpoint[] = aliasEndpoints({
  owner: 'entity',
  noun: 'alias',
  oneOf: 'an alias',
  removal: 'Deletes an alias; the entity stays',
  fields: {
    name: string('Name at the login mount, as its login method reports it', { default: '' }),
    mount_accessor: string('Accessor of the login mount', { default: '' }),
    canonical_id: string('ID of the entity; if unset for a new alias, a new entity is created', { default: '' }),
    entity_id: string('Deprecated: use canonical_id', { aliasOf: 'canonical_id', default: '' }),
    custom_metadata: map('Metadata as key-value pairs; replaces all existing pairs'),
  },
  response: ALIAS_SHAPE,
  ids: listAliasIds,
  find: aliasIn,
  body: (alias: Alias, mountOf) => aliasBody(alias, mountOf),
  write: async (store, asked, args, requireRight) => {
    const parts = partsSeen(store.parts, asked.sight)
    const change = {
      name: given(args.name),
      mountAccessor: given(args.mount_accessor),
      entityId: given(args.canonical_id) ?? given(args.entity_id),
      customMetadata: args.custom_metadata,
    }
    const alias = await store.oneByOne({ id: asked.id, accessor: change.mountAccessor, name: change.name }, () =>
      store.withNewEntity(asked.namespaceId, (tx, makeEntity) =>
        writeAlias(parts, txSeen(tx, asked.sight), asked, change, makeEntity, requireRight),
      ),
    )
    return { id: alias.id, canonical_id: alias.entityId }
  },
  remove: (store, { namespaceId, id, sight }) =>
    store.oneByOne({ id }, () =>
      store.transaction(namespaceId, (tx) => deleteAliasById(store.parts, txSeen(tx, sight), namespaceId, id)),
    ),
})

/**
 * Aliases of external groups. Memberships that came by an alias end with it, and stale ones are swept after the commit.
 * Differs: docs/differences.md#identity.
 */
export const GROUP_ALIAS_ENDPOINTS: readonly Endpoint[] = aliasEndpoints({
  owner: 'group',
  noun: 'group alias',
  oneOf: 'a group alias',
  removal: 'Deletes a group alias; the group stays, without members',
  fields: {
    name: string('Name of the group at the login mount, as its login method reports it', { default: '' }),
    mount_accessor: string('Accessor of the login mount', { default: '' }),
    canonical_id: string('ID of an external group; if unset for a new alias, a new group is created', { default: '' }),
  },
  response: GROUP_ALIAS,
  ids: (view, namespaceId) => idsIn(view, 'identity/group-alias/', namespaceId),
  find: aliasedIn,
  body: (group: AliasedGroup, mountOf) => groupAliasBody(group, mountOf),
  write: async (store, asked, args, requireRight) => {
    const parts = partsSeen(store.parts, asked.sight)
    const change = {
      name: given(args.name),
      mountAccessor: given(args.mount_accessor),
      groupId: given(args.canonical_id),
    }
    const { group, stale } = await store.transaction(asked.namespaceId, (tx) => {
      const makeGroup = () => createGroup(parts, tx, asked.namespaceId, { type: 'external' })
      return writeGroupAlias(parts, tx, asked, change, makeGroup, requireRight)
    })
    for (const groupId of stale) await store.sweep(groupId)
    return { id: group.alias.id, canonical_id: group.id }
  },
  remove: async (store, { namespaceId, id }) => {
    const group = await store.transaction(namespaceId, async (tx) => {
      const found = await aliasedIn(tx, namespaceId, id)
      if (found !== undefined) takeAlias(store.parts, tx, found)
      return found
    })
    if (group !== undefined) await store.sweep(group.id)
  },
})
