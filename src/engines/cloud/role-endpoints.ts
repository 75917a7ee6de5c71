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
  name: string('Name; upper case counts as lower case', { required: true, canonical: keptCloudRoleName }),
}
const { policies, ttl, max_ttl } = OLD_TOKEN_FIELDS

const BOUND_FIELDS = {
  bound_service_principal_ids: strings('Object ids of identities; * alone: any'),
  bound_group_ids: strings('Object ids of groups of the directory, of which the caller is in one; * alone: any'),
  bound_subscription_ids: strings('Subscriptions of the caller’s machine or other resource'),
  bound_resource_groups: strings('Resource groups of it'),
  bound_locations: strings('Regions of it'),
  bound_scale_sets: strings('Scale sets that the machine is in'),
}

const bound = (what: string) => listOf(text('Name'), what)

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
    list: 'Names of all roles',
    read: 'Whom a role admits, and what tokens it gives',
    write: 'Makes a role, or changes what is sent',
    delete: 'Removes a role; tokens that it gave live on until they end, and are not renewed',
  },
  response: {
    ...TOKEN_SETTINGS_SHAPE,
    period: optional(integer('Where the old name was used')),
    num_uses: optional(integer('Where the old name was used')),
    bound_service_principal_ids: bound('Identities'),
    bound_group_ids: bound('Groups of the directory'),
    bound_subscription_ids: bound('Subscriptions'),
    bound_resource_groups: bound('Resource groups'),
    bound_locations: bound('Regions'),
    bound_scale_sets: bound('Scale sets'),
  },
  fields: {
    ...BOUND_FIELDS,
    ...TOKEN_FIELDS,
    policies,
    ttl,
    max_ttl,
    period: duration('Old name of token_period', { aliasOf: 'token_period' }),
    num_uses: int('Old name of token_num_uses', { aliasOf: 'token_num_uses', min: 0 }),
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
