// identity/group: by id and by name.
import type { Endpoint, NamedId } from '../api/endpoint.ts'
import { map, string, strings } from '../api/fields.ts'
import { orNotFound } from '../api/named-things.ts'
import type { Namespace } from '../api/namespace.ts'
import { type Answer, DONE } from '../api/request.ts'
import { text } from '../api/shape.ts'
import { keptPolicyName } from '../api/spelling.ts'
import { GROUP_SHAPE, groupBody } from './answers.ts'
import { byIdAndName } from './by-id-and-name.ts'
import type { Group, GroupType } from './entries.ts'
import { changeGroup, createGroup, deleteGroup, newMembers } from './groups.ts'
import type { IdentityStore } from './identity-store.ts'
import { membersOf, parentsOf } from './memberships.ts'
import { identityPolicies } from './policy-names.ts'
import { findGroup, findGroupByName, groupIn } from './records.ts'

/** The answer to a read of a group. @throws Refusal `not_found` for undefined */
export async function groupAnswer({ view, parts }: IdentityStore, group: Group | undefined): Promise<Answer> {
  return { data: await groupBody(view, orNotFound(group), parts.mountOf) }
}

type Naming = {
  readonly id?: string
  readonly name?: string
  readonly member_entity_ids?: readonly string[]
  readonly member_group_ids?: readonly string[]
}

/** The group that a write names by its id, and those that it would make members. */
async function namedIds({ view }: IdentityStore, args: object, { id: namespaceId }: Namespace): Promise<NamedId[]> {
  const { id = '', name = '', member_entity_ids: memberEntityIds, member_group_ids: memberGroupIds } = args as Naming
  const group = await (id === '' ? findGroupByName(view, namespaceId, name) : findGroup(view, id))
  const members = await newMembers(view, group, { memberEntityIds, memberGroupIds })
  return id === '' ? members : [{ id, field: 'id', unknown: 'no group has this id' }, ...members]
}

const { make, others } = byIdAndName({
  kind: 'group',
  oneOf: 'a group',
  plural: 'groups',
  removal: 'Deletes a group',
  fields: {
    type: string(
      'internal: members are set on the group; external: membership follows logins. Cannot be changed later',
      {
        oneOf: ['internal', 'external', ''],
        default: '',
      },
    ),
    metadata: map('Metadata as key-value pairs; replaces all existing pairs'),
    policies: strings('Policies granted to the tokens of its members; replaces the whole list', {
      canonical: keptPolicyName,
    }),
    member_entity_ids: strings('IDs of the entities that are members; replaces the whole list'),
    member_group_ids: strings('IDs of the groups that are members; replaces the whole list'),
  },
  response: GROUP_SHAPE,
  written: { id: text('ID of the group'), name: text('Name of the group') },
  namedIds,
  findById: groupIn,
  findByName: findGroupByName,
  info: async ({ view }, group: Group) => ({
    name: group.name,
    num_member_entities: (await membersOf(view, group)).length,
    num_parent_groups: (await parentsOf(view, group.id)).length,
  }),
  answer: groupAnswer,
  write: async ({ parts }, tx, namespaceId, there, name, args) => {
    const change = {
      name,
      type: args.type === '' ? undefined : (args.type as GroupType),
      metadata: args.metadata,
      policies: identityPolicies(args.policies),
      memberEntityIds: args.member_entity_ids,
      memberGroupIds: args.member_group_ids,
    }
    const group =
      there === undefined
        ? await createGroup(parts, tx, namespaceId, change)
        : await changeGroup(parts, tx, there, change)
    return { data: { id: group.id, name: group.name } }
  },
  /** The first commit ends all memberships; the sweep only tidies up, so a crash in between gives no one access. */
  remove: async (store, namespaceId, find) => {
    const removed = await store.transaction(namespaceId, async (tx) => {
      const group = await find(tx)
      if (group !== undefined) await deleteGroup(store.parts, tx, group)
      return group
    })
    if (removed !== undefined) await store.sweep(removed.id)
    return DONE
  },
})

/** All paths of groups; their aliases have endpoints of their own. */
export const GROUP_ENDPOINTS: readonly Endpoint[] = [make, ...others]
