// The endpoints of roles (Interface 2.2).
import type { Endpoint } from '../../api/endpoint.ts'
import { duration, int, string, strings } from '../../api/fields.ts'
import { namedThings, pageOf } from '../../api/named-things.ts'
import { DecisionOutdated, DONE } from '../../api/request.ts'
import { integer, listOf, optional, text } from '../../api/shape.ts'
import { OLD_TOKEN_FIELDS, settingsBody, TOKEN_FIELDS, TOKEN_SETTINGS_SHAPE } from '../../api/token-settings.ts'
import { changedCloudRole, roleWarnings } from './role-values.ts'
import type { CloudRoles } from './roles.ts'
import { type CloudRole, keptCloudRoleName } from './roles.ts'

/** The part of the mount that these endpoints use. */
type CloudAuth = { readonly roles: CloudRoles; longestSeconds(): number }

const nameField = {
  name: string('Name of the role, case-insensitive', { required: true, canonical: keptCloudRoleName }),
}
const { policies, ttl, max_ttl } = OLD_TOKEN_FIELDS

const BOUND_FIELDS = {
  bound_service_principal_ids: strings('Object ids of the identities that may log in; * alone: any'),
  bound_group_ids: strings('Object ids of directory groups; the identity must be in one of them; * alone: any'),
  bound_subscription_ids: strings('Allowed subscriptions of the workload’s resource'),
  bound_resource_groups: strings('Allowed resource groups of the workload’s resource'),
  bound_locations: strings('Allowed regions of the workload’s resource'),
  bound_scale_sets: strings('Allowed scale sets of the workload’s virtual machine'),
}

const bound = (what: string) => listOf(text('Name or id'), what)

function roleBody({ bounds, settings, oldNames }: CloudRole): object {
  return {
    ...settingsBody(settings, oldNames),
    bound_service_principal_ids: bounds.principals,
    bound_group_ids: bounds.groups,
    bound_subscription_ids: bounds.subscriptions,
    bound_resource_groups: bounds.resourceGroups,
    bound_locations: bounds.locations,
    bound_scale_sets: bounds.scaleSets,
  }
}

/** List, read, write and delete of roles. */
export const CLOUD_ROLE_ENDPOINTS: readonly Endpoint<CloudAuth>[] = namedThings({
  id: 'cloud-role',
  path: 'role',
  name: nameField,
  summaries: {
    list: 'Lists the names of all roles',
    read: 'Returns the bounds and token settings of a role',
    write: 'Creates a role, or updates the given fields',
    delete: 'Deletes a role; issued tokens stay valid until they expire, but cannot be renewed',
  },
  response: {
    ...TOKEN_SETTINGS_SHAPE,
    period: optional(integer('token_period, if it was set by this old name')),
    num_uses: optional(integer('token_num_uses, if it was set by this old name')),
    bound_service_principal_ids: bound('Identities that may log in'),
    bound_group_ids: bound('Directory groups; the identity must be in one of them'),
    bound_subscription_ids: bound('Allowed subscriptions of the resource'),
    bound_resource_groups: bound('Allowed resource groups of the resource'),
    bound_locations: bound('Allowed regions of the resource'),
    bound_scale_sets: bound('Allowed scale sets of the virtual machine'),
  },
  fields: {
    ...BOUND_FIELDS,
    ...TOKEN_FIELDS,
    policies,
    ttl,
    max_ttl,
    period: duration('Deprecated: use token_period', { aliasOf: 'token_period' }),
    num_uses: int('Deprecated: use token_num_uses', { aliasOf: 'token_num_uses', min: 0 }),
  },
  tellsNew: true,
  names: async ({ roles }: CloudAuth, page) => pageOf(await roles.list(), page),
  find: ({ roles }: CloudAuth, name) => roles.find(name),
  body: roleBody,
  write: async (cloud: CloudAuth, name, args, { operation }) => {
    const most = cloud.longestSeconds()
    const role = await cloud.roles.change(name, (before) => {
      if ((operation === 'create') !== (before === undefined)) throw new DecisionOutdated()
      return changedCloudRole(args, before, most)
    })
    const warnings = roleWarnings(role, most)
    return warnings.length === 0 ? DONE : { warnings }
  },
  remove: ({ roles }: CloudAuth, name) => roles.delete(name),
})
