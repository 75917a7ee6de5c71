// The endpoints of whole roles, and the fields that role-field-endpoints.ts shares with them.

import type { Endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, duration, int, string, strings } from '../../api/fields.ts'
import { namedThings, pageOf } from '../../api/named-things.ts'
import { DecisionOutdated, DONE } from '../../api/request.ts'
import { flag, integer, listOf, nullable, optional, text } from '../../api/shape.ts'
import { keptCidr } from '../../api/spelling.ts'
import {
  blocks,
  changedSettings,
  OLD_TOKEN_FIELDS,
  oldNamesUsed,
  settingsBody,
  TOKEN_FIELDS,
  TOKEN_SETTINGS_SHAPE,
} from '../../api/token-settings.ts'
import type { World } from '../../lib/world.ts'
import type { AppRoles } from './roles.ts'
import { type AppRole, keptAppRoleName, SECRET_ID_MIN_CHARACTERS } from './roles.ts'

/** The part of the mount that these endpoints use. */
type Approle = {
  readonly roles: Pick<AppRoles, 'list' | 'find' | 'change' | 'delete'>
  readonly world: Pick<World, 'random'>
}

/**
 * The field of the role's name in paths. Its canonical form is that of keptAppRoleName, so policies see one spelling.
 */
export const roleField = {
  role_name: string('Name of the role, case-insensitive', { required: true, canonical: keptAppRoleName }),
}

/** Characters of a role id that an operator chose. */
const MAX_ROLE_ID_CHARACTERS = 512
/** Characters of a secret id that an operator chose, and the largest minimum that a role can ask for. */
export const MAX_SECRET_CHARACTERS = 4_096

/** The settings of a role beside those of its tokens, under their wire names. */
export const ROLE_FIELDS = {
  bind_secret_id: bool('Requires a secret id at login; true if never set'),
  secret_id_bound_cidrs: strings('IP addresses or CIDR blocks that logins may come from; empty: any', {
    canonical: keptCidr,
  }),
  bound_cidr_list: strings('Deprecated: use secret_id_bound_cidrs', {
    aliasOf: 'secret_id_bound_cidrs',
    canonical: keptCidr,
  }),
  secret_id_num_uses: int('Number of logins that a new secret id allows; 0: unlimited', { min: 0 }),
  secret_id_ttl: duration('Lifetime of a new secret id; 0: it never expires'),
  custom_secret_id_min_length: int('Minimum length of custom secret ids, in characters; 8 if never set', {
    min: 1,
    max: MAX_SECRET_CHARACTERS,
  }),
  local_secret_ids: bool('Must be false: local secret ids are not supported'),
  period: duration('Deprecated: use token_period', { aliasOf: 'token_period' }),
}

/** A write to a role as it was decoded; what was not sent is undefined. */
type GivenRole = {
  readonly role_id?: string | undefined
  readonly bind_secret_id?: boolean | undefined
  readonly secret_id_bound_cidrs?: readonly string[] | undefined
  readonly bound_cidr_list?: readonly string[] | undefined
  readonly secret_id_num_uses?: number | undefined
  readonly secret_id_ttl?: number | undefined
  readonly custom_secret_id_min_length?: number | undefined
  readonly local_secret_ids?: boolean | undefined
  readonly period?: number | undefined
  readonly token_period?: number | undefined
} & Parameters<typeof changedSettings>[0]

/**
 * Merges a write into the role. A role must bind a secret id or addresses, or the role id alone would let anyone in.
 * @throws Refusal naming the field.
 */
export function changedAppRole(given: GivenRole, before: AppRole | undefined, newRoleId: () => string): AppRole {
  if (given.local_secret_ids === true)
    throw fail('field_not_applicable', ['local_secret_ids', 'is not offered yet: leave it out'])
  const period = given.token_period ?? given.period
  const withPeriod = period === undefined ? given : { ...given, token_period: period }
  const cidrs = given.secret_id_bound_cidrs ?? given.bound_cidr_list
  const minCharacters = given.custom_secret_id_min_length ?? before?.customSecretIdMinCharacters
  const role: AppRole = {
    roleId: roleIdOf(given.role_id) ?? before?.roleId ?? newRoleId(),
    bindSecretId: given.bind_secret_id ?? before?.bindSecretId ?? true,
    secretIdBoundCidrs:
      cidrs === undefined ? (before?.secretIdBoundCidrs ?? []) : blocks(cidrs, 'secret_id_bound_cidrs'),
    secretIdNumUses: given.secret_id_num_uses ?? before?.secretIdNumUses ?? 0,
    secretIdTtlSeconds: given.secret_id_ttl ?? before?.secretIdTtlSeconds ?? 0,
    ...(minCharacters === undefined ? {} : { customSecretIdMinCharacters: minCharacters }),
    settings: changedSettings(withPeriod, before?.settings),
    oldNames: oldNamesUsed(given, before?.oldNames),
  }
  if (!role.bindSecretId && role.secretIdBoundCidrs.length === 0 && role.settings.boundCidrs.length === 0)
    throw fail('role_unbound', [
      'at least one constraint should be enabled on the role: bind_secret_id, or bound CIDRs',
    ])
  return role
}

function roleIdOf(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined
  if (given.length > MAX_ROLE_ID_CHARACTERS)
    throw fail('out_of_range', ['role_id', `must have at most ${MAX_ROLE_ID_CHARACTERS} characters`])
  return given
}

/** Returns the role as it is read, without its role id, which has an endpoint of its own. */
export function roleBody(role: AppRole): Record<string, unknown> {
  return {
    ...settingsBody(role.settings, role.oldNames),
    bind_secret_id: role.bindSecretId,
    // Null instead of an empty list, as in the reference; token_bound_cidrs is an empty list there, too.
    secret_id_bound_cidrs: role.secretIdBoundCidrs.length === 0 ? null : role.secretIdBoundCidrs,
    secret_id_num_uses: role.secretIdNumUses,
    secret_id_ttl: role.secretIdTtlSeconds,
    custom_secret_id_min_length: role.customSecretIdMinCharacters ?? SECRET_ID_MIN_CHARACTERS,
    local_secret_ids: false,
  }
}

/** Endpoints that manage whole roles; single settings have their own. */
export const APPROLE_ROLE_ENDPOINTS: readonly Endpoint<Approle>[] = namedThings({
  id: 'approle-role',
  path: 'role',
  name: roleField,
  summaries: {
    list: 'Lists the names of all roles',
    read: 'Returns the login constraints and token settings of a role',
    write: 'Creates a role, or updates the given fields',
    delete: 'Deletes a role and its secret ids; issued tokens stay valid until they expire, but cannot be renewed',
  },
  response: {
    ...TOKEN_SETTINGS_SHAPE,
    bind_secret_id: flag('Whether login requires a secret id'),
    secret_id_bound_cidrs: nullable(listOf(text('Address or CIDR block'), 'Where logins may come from; null: any')),
    secret_id_num_uses: integer('Number of logins that a new secret id allows; 0: unlimited'),
    secret_id_ttl: integer('Lifetime of a new secret id, in seconds; 0: it never expires'),
    custom_secret_id_min_length: integer('Minimum length of custom secret ids, in characters'),
    local_secret_ids: flag('Always false'),
    period: optional(integer('token_period, if it was set by this old name')),
  },
  fields: {
    role_id: string('Custom role id; generated for a new role if unset'),
    ...ROLE_FIELDS,
    ...TOKEN_FIELDS,
    ...OLD_TOKEN_FIELDS,
  },
  tellsNew: true,
  names: async ({ roles }: Approle, page) => pageOf(await roles.list(), page),
  find: ({ roles }: Approle, name) => roles.find(name),
  body: roleBody,
  write: async ({ roles, world }: Approle, name, args, { operation }) => {
    await roles.change(name, (before) => {
      if ((operation === 'create') !== (before === undefined)) throw new DecisionOutdated()
      return changedAppRole(args, before, () => world.random.uuid())
    })
    return DONE
  },
  remove: ({ roles }: Approle, name) => roles.delete(name),
})
