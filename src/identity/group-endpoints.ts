// identity/group.

import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { map, string, strings } from '../api/fields.ts'
import { orNotFound, pageOf } from '../api/named-things.ts'
import { type Answer, DONE } from '../api/request.ts'
import { text } from '../api/shape.ts'
import { keptPolicyName } from '../api/spelling.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { GROUP, groupBody } from './answers.ts'
import { byIdAndName, idField, nameField, namesIn } from './by-id-and-name.ts'
import type { Group, GroupType } from './entries.ts'
import { changeGroup, createGroup, deleteGroup, type GroupChange } from './groups.ts'
import type { IdentityStore } from './identity-store.ts'
import { LISTED_WITH_INFO, pageFields, withInfo } from './listing.ts'
import { membersOf, parentsOf } from './memberships.ts'
import { identityPolicies } from './policy-names.ts'
import { findGroup, findGroupByName } from './records.ts'

const changeFields = {
  type: string('internal: members are named here; external: logins say who is in it; cannot be changed', {
    oneOf: ['internal', 'external', ''],
    default: '',
  }),
  metadata: map('Names and texts; all of them are replaced'),
  policies: strings('Policies of the tokens of its members; all of them are replaced', { canonical: keptPolicyName }),
  member_entity_ids: strings('Entities in it; all of them are replaced'),
  member_group_ids: strings('Groups in it; all of them are replaced'),
}
const WRITTEN = { id: text('Id of the group'), name: text('Its name') }

type ChangeArgs = {
  readonly type: string
  readonly metadata: Readonly<Record<string, string>> | undefined
  readonly policies: readonly string[] | undefined
  readonly member_entity_ids: readonly string[] | undefined
  readonly member_group_ids: readonly string[] | undefined
}

const changeOf = (args: ChangeArgs, name?: string): GroupChange => ({
  name: name === '' ? undefined : name,
  type: args.type === '' ? undefined : (args.type as GroupType),
  metadata: args.metadata,
  policies: identityPolicies(args.policies),
  memberEntityIds: args.member_entity_ids,
  memberGroupIds: args.member_group_ids,
})

async function write(
  { parts }: IdentityStore,
  tx: ViewTransaction,
  there: Group | undefined,
  change: GroupChange,
): Promise<Answer> {
  const { id, name } =
    there === undefined ? await createGroup(parts, tx, change) : await changeGroup(parts, tx, there, change)
  return { data: { id, name } }
}

async function requireGroup(tx: ViewTransaction, id: string): Promise<Group> {
  const group = await findGroup(tx, id)
  if (group === undefined) throw fail('field_invalid', ['id', 'no group has this id'])
  return group
}

export async function groupAnswer({ view, parts }: IdentityStore, group: Group | undefined): Promise<Answer> {
  return { data: await groupBody(view, orNotFound(group), parts.mountOf) }
}

/** The first commit empties the group; the rest is tidying up. */
async function remove(
  store: IdentityStore,
  find: (tx: ViewTransaction) => Promise<Group | undefined>,
): Promise<Answer> {
  const removed = await store.transaction(async (tx) => {
    const group = await find(tx)
    if (group !== undefined) await deleteGroup(store.parts, tx, group)
    return group
  })
  if (removed !== undefined) await store.sweep(removed.id)
  return DONE
}

const make = endpoint({
  id: 'group-write',
  operation: 'update',
  path: 'group',
  capability: 'update',
  alsoNames: namesIn('group', 'update'),
  runsOn: 'writer',
  summary: 'Makes a group, or changes the one with the id or the name',
  fields: {
    id: string('Id of a group that is there', { default: '' }),
    name: string('Name; the default is one that is made up', { default: '' }),
    ...changeFields,
  },
  response: WRITTEN,
  handler: (store: IdentityStore, { id, name, ...args }) =>
    store.transaction(async (tx) => {
      if (id !== '') return write(store, tx, await requireGroup(tx, id), changeOf(args, name))
      const there = await findGroupByName(tx, name)
      return write(store, tx, there, changeOf(args, there === undefined ? name : undefined))
    }),
})

const listIds = endpoint({
  id: 'group-list-ids',
  operation: 'list',
  path: 'group/id',
  capability: 'list',
  runsOn: 'any-node',
  summary: 'Ids of the groups',
  fields: pageFields,
  response: LISTED_WITH_INFO,
  handler: async ({ view }: IdentityStore, args) => ({
    data: await withInfo(pageOf(await view.list('identity/group/'), args), async (id) => {
      const group = await findGroup(view, id)
      if (group === undefined) return undefined
      return {
        name: group.name,
        num_member_entities: (await membersOf(view, group)).length,
        num_parent_groups: (await parentsOf(view, id)).length,
      }
    }),
  }),
})

const writeId = endpoint({
  id: 'group-write-id',
  operation: 'update',
  path: 'group/id/:id',
  capability: 'update',
  alsoNames: namesIn('group', 'update').filter(({ field }) => field === 'name'),
  runsOn: 'writer',
  summary: 'Changes a group',
  fields: { ...idField('group'), name: string('New name', { default: '' }), ...changeFields },
  response: WRITTEN,
  handler: (store: IdentityStore, { id, name, ...args }) =>
    store.transaction(async (tx) => write(store, tx, await requireGroup(tx, id), changeOf(args, name))),
})

const { readId, deleteId, listByName, readName, deleteName } = byIdAndName<Group>({
  kind: 'group',
  summaries: { names: 'Names of the groups', removal: 'Removes a group' },
  response: GROUP,
  findById: findGroup,
  findByName: findGroupByName,
  answer: groupAnswer,
  remove,
})

const writeName = endpoint({
  id: 'group-write-name',
  operation: 'update',
  path: 'group/name/:name...',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Makes the group, or changes it',
  fields: { ...nameField('group'), ...changeFields },
  response: WRITTEN,
  handler: (store: IdentityStore, { name, ...args }) =>
    store.transaction(async (tx) => {
      const there = await findGroupByName(tx, name)
      return write(store, tx, there, changeOf(args, there === undefined ? name : undefined))
    }),
})

export const GROUP_ENDPOINTS: readonly Endpoint[] = [
  make,
  listIds,
  readId,
  writeId,
  deleteId,
  listByName,
  readName,
  writeName,
  deleteName,
]
