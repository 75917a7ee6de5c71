// identity/group-alias.
import { type AlsoNamed, type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { string } from '../api/fields.ts'
import { orNotFound, pageOf } from '../api/named-things.ts'
import { type Answer, type Caller, DONE } from '../api/request.ts'
import { text } from '../api/shape.ts'
import { GROUP_ALIAS, groupAliasBody } from './answers.ts'
import { findAliased, type GroupAliasChange, takeAlias, writeGroupAlias } from './group-aliases.ts'
import { createGroup } from './groups.ts'
import type { IdentityStore } from './identity-store.ts'
import { LISTED_WITH_INFO, pageFields, withInfo } from './listing.ts'

const idField = { id: string('Id of the group alias', { required: true }) }
const changeFields = {
  name: string('Name of the group at the login mount, as its method gives it', { default: '' }),
  mount_accessor: string('Accessor of the login mount', { default: '' }),
  canonical_id: string('Id of an external group; the default for a new alias is a new group', { default: '' }),
}
const WRITTEN = { id: text('Id of the group alias'), canonical_id: text('Id of its group') }

const given = (value: string): string | undefined => (value === '' ? undefined : value)

const changeOf = (args: { readonly [K in keyof typeof changeFields]: string }): GroupAliasChange => ({
  name: given(args.name),
  mountAccessor: given(args.mount_accessor),
  groupId: given(args.canonical_id),
})

/** What the mount and the name name is judged as what an id names. */
const rightTo =
  (caller: Caller | undefined) =>
  (aliasId: string): void => {
    if (caller?.isRefusedAt(`group-alias/id/${aliasId}`) === true) throw fail('permission_denied', [])
  }

async function write(
  store: IdentityStore,
  id: string | undefined,
  change: GroupAliasChange,
  caller: Caller | undefined,
): Promise<Answer> {
  const { parts } = store
  const { group, stale } = await store.transaction((tx) =>
    writeGroupAlias(parts, tx, id, change, () => createGroup(parts, tx, { type: 'external' }), rightTo(caller)),
  )
  for (const groupId of stale) await store.sweep(groupId)
  return { data: { id: group.alias.id, canonical_id: group.id } }
}

/** Whose alias it is to be. */
const OWNER: AlsoNamed = { field: 'canonical_id', operation: 'update', at: (id) => `group/id/${id}`, onlyDenials: true }

const make = endpoint({
  id: 'group-alias-write',
  operation: 'update',
  path: 'group-alias',
  capability: 'update',
  alsoNames: [{ field: 'id', operation: 'update', at: (id) => `group-alias/id/${id}` }, OWNER],
  runsOn: 'writer',
  summary: 'Makes a group alias, or changes the one with the id or with the mount and the name',
  fields: { id: string('Id of a group alias that is there', { default: '' }), ...changeFields },
  response: WRITTEN,
  handler: (store: IdentityStore, { id, ...args }, { caller }) => write(store, given(id), changeOf(args), caller),
})

const list = endpoint({
  id: 'group-alias-list',
  operation: 'list',
  path: 'group-alias/id',
  capability: 'list',
  runsOn: 'any-node',
  summary: 'Ids of the group aliases',
  fields: pageFields,
  response: LISTED_WITH_INFO,
  handler: async ({ view, parts }: IdentityStore, args) => ({
    data: await withInfo(pageOf(await view.list('identity/group-alias/'), args), async (id) => {
      const group = await findAliased(view, id)
      if (group === undefined) return undefined
      const { name, canonical_id, mount_accessor, mount_path, mount_type } = groupAliasBody(group, parts.mountOf)
      return { name, canonical_id, mount_accessor, mount_path, mount_type }
    }),
  }),
})

const read = endpoint({
  id: 'group-alias-read',
  operation: 'read',
  path: 'group-alias/id/:id',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'One group alias',
  fields: idField,
  response: GROUP_ALIAS,
  handler: async ({ view, parts }: IdentityStore, { id }) => {
    const group = orNotFound(await findAliased(view, id))
    return { data: groupAliasBody(group, parts.mountOf) }
  },
})

const writeId = endpoint({
  id: 'group-alias-write-id',
  operation: 'update',
  path: 'group-alias/id/:id',
  capability: 'update',
  alsoNames: [OWNER],
  runsOn: 'writer',
  summary: 'Changes a group alias; another name, mount or group ends the memberships that logins by it gave',
  fields: { ...idField, ...changeFields },
  response: WRITTEN,
  handler: (store: IdentityStore, { id, ...args }, { caller }) => write(store, id, changeOf(args), caller),
})

const remove = endpoint({
  id: 'group-alias-delete',
  operation: 'delete',
  path: 'group-alias/id/:id',
  capability: 'delete',
  runsOn: 'writer',
  summary: 'Removes a group alias; the group stays, without members',
  fields: idField,
  handler: async (store: IdentityStore, { id }) => {
    const group = await store.transaction(async (tx) => {
      const found = await findAliased(tx, id)
      if (found !== undefined) takeAlias(store.parts, tx, found)
      return found
    })
    if (group !== undefined) await store.sweep(group.id)
    return DONE
  },
})

export const GROUP_ALIAS_ENDPOINTS: readonly Endpoint[] = [make, list, read, writeId, remove]
