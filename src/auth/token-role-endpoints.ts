// The endpoints under auth/token/roles/, where operators say what tokens of auth/token/create/ROLE may be.

import type { Endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { type Args, bool, duration, int, string, strings } from '../api/fields.ts'
import { namedThings } from '../api/named-things.ts'
import { isName } from '../api/pattern.ts'
import { DONE } from '../api/request.ts'
import { flag, integer, listOf, optional, type Shapes, text } from '../api/shape.ts'
import { keptCidr, keptPolicyName } from '../api/spelling.ts'
import { CidrError, normalizeCidr } from '../lib/cidr.ts'
import { type OldName, ROLE_TOKEN_TYPES, type RoleTokenType, type TokenRole } from './token-role.ts'
import { sanitizePolicies } from './token-rules.ts'
import type { TokenService } from './token-service.ts'

/** Characters of a role's name and of its path suffix; both become part of storage keys. */
const MAX_NAME_LENGTH = 128

const nameField = { role_name: string('Name of the token role', { required: true, max: MAX_NAME_LENGTH }) }

const roleFields = {
  allowed_policies: strings(
    'Policies that its tokens can have, even if the caller lacks them; a request that names no policies gets ' +
      'all of them',
    {
      canonical: keptPolicyName,
    },
  ),
  disallowed_policies: strings('Policies that its tokens cannot have', { canonical: keptPolicyName }),
  allowed_policies_glob: strings('Like allowed_policies, as patterns with * at the start, at the end or both', {
    canonical: keptPolicyName,
  }),
  disallowed_policies_glob: strings('Like disallowed_policies, as patterns with * at the start, at the end or both', {
    canonical: keptPolicyName,
  }),
  orphan: bool('Its tokens are orphans'),
  renewable: bool('Its tokens can be renewed'),
  path_suffix: string('Suffix appended to the path of its tokens, so that they can be revoked by prefix', {
    max: MAX_NAME_LENGTH,
  }),
  allowed_entity_aliases: strings(
    'Entity aliases that its tokens can be created for; * at the start or end matches any text',
  ),
  token_period: duration(
    'Period of its tokens, in seconds: each renewal resets the TTL to it, with no maximum except ' +
      'token_explicit_max_ttl; 0: not periodic',
  ),
  token_explicit_max_ttl: duration('Hard limit on the lifetime in seconds, regardless of renewals; 0: none'),
  token_bound_cidrs: strings('IP addresses or CIDR blocks that its tokens can be used from; empty: any address', {
    canonical: keptCidr,
  }),
  token_type: string('Token type: service or batch; with default-service and default-batch the request can choose'),
  token_no_default_policy: bool('Do not attach the "default" policy'),
  token_num_uses: int('Maximum number of uses of each token; 0: unlimited', { min: 0 }),
  period: duration('Deprecated: use token_period', { aliasOf: 'token_period' }),
  explicit_max_ttl: duration('Deprecated: use token_explicit_max_ttl', { aliasOf: 'token_explicit_max_ttl' }),
  bound_cidrs: strings('Deprecated: use token_bound_cidrs', { aliasOf: 'token_bound_cidrs', canonical: keptCidr }),
}

const ROLE: Shapes = {
  name: text('Name of the token role'),
  allowed_policies: listOf(text('Policy'), 'Policies that its tokens can have'),
  disallowed_policies: listOf(text('Policy'), 'Policies that its tokens cannot have'),
  allowed_policies_glob: listOf(text('Pattern'), 'Patterns of policies that its tokens can have'),
  disallowed_policies_glob: listOf(text('Pattern'), 'Patterns of policies that its tokens cannot have'),
  allowed_entity_aliases: listOf(text('Pattern'), 'Entity aliases that its tokens can be created for'),
  orphan: flag('Its tokens are orphans'),
  renewable: flag('Its tokens can be renewed'),
  path_suffix: text('Suffix appended to the path of its tokens'),
  token_period: integer('Period in seconds; 0: not periodic'),
  token_explicit_max_ttl: integer('Hard limit on the lifetime in seconds; 0: none'),
  token_bound_cidrs: listOf(text('CIDR block'), 'IP addresses or CIDR blocks that its tokens can be used from'),
  token_type: text('Token type: service, batch, default-service or default-batch'),
  token_no_default_policy: flag('Do not attach the "default" policy'),
  token_num_uses: integer('Maximum number of uses of each token; 0: unlimited'),
  period: integer('Same as token_period if written under this old name; otherwise 0'),
  explicit_max_ttl: integer('Same as token_explicit_max_ttl if written under this old name; otherwise 0'),
  bound_cidrs: optional(
    listOf(text('CIDR block'), 'Same as token_bound_cidrs; present if written under this old name'),
  ),
}

/** Returns a role as it is read. Settings appear under their old names only if they were written so. */
function shown(name: string, role: TokenRole): object {
  const byOldName = (old: OldName): boolean => role.oldNames.includes(old)
  return {
    name,
    allowed_policies: role.allowedPolicies,
    disallowed_policies: role.disallowedPolicies,
    allowed_policies_glob: role.allowedPoliciesGlob,
    disallowed_policies_glob: role.disallowedPoliciesGlob,
    allowed_entity_aliases: role.allowedEntityAliases,
    orphan: role.orphan,
    renewable: role.renewable,
    path_suffix: role.pathSuffix,
    token_period: role.periodSeconds,
    token_explicit_max_ttl: role.explicitMaxTtlSeconds,
    token_bound_cidrs: role.boundCidrs,
    token_type: role.tokenType,
    token_no_default_policy: role.noDefaultPolicy,
    token_num_uses: role.numUses,
    period: byOldName('period') ? role.periodSeconds : 0,
    explicit_max_ttl: byOldName('explicit_max_ttl') ? role.explicitMaxTtlSeconds : 0,
    ...(byOldName('bound_cidrs') ? { bound_cidrs: role.boundCidrs } : {}),
  }
}

type RoleArgs = Args<typeof roleFields>

/** Merges a write into the role. Settings that were not sent stay; a new name wins over its old one. */
function changed(old: TokenRole, args: RoleArgs): TokenRole {
  const policies = (name: 'allowed_policies' | 'disallowed_policies', before: readonly string[]) =>
    args[name] === undefined ? before : sanitizePolicies(args[name], name).sort()
  const role: TokenRole = {
    ...old,
    allowedPolicies: policies('allowed_policies', old.allowedPolicies),
    disallowedPolicies: policies('disallowed_policies', old.disallowedPolicies),
    allowedPoliciesGlob: lowered(args.allowed_policies_glob) ?? old.allowedPoliciesGlob,
    disallowedPoliciesGlob: lowered(args.disallowed_policies_glob) ?? old.disallowedPoliciesGlob,
    allowedEntityAliases: lowered(args.allowed_entity_aliases) ?? old.allowedEntityAliases,
    orphan: args.orphan ?? old.orphan,
    renewable: args.renewable ?? old.renewable,
    pathSuffix: args.path_suffix === undefined ? old.pathSuffix : suffix(args.path_suffix),
    periodSeconds: args.token_period ?? args.period ?? old.periodSeconds,
    explicitMaxTtlSeconds: args.token_explicit_max_ttl ?? args.explicit_max_ttl ?? old.explicitMaxTtlSeconds,
    boundCidrs:
      cidrs('token_bound_cidrs', args.token_bound_cidrs) ?? cidrs('bound_cidrs', args.bound_cidrs) ?? old.boundCidrs,
    tokenType: args.token_type === undefined ? old.tokenType : tokenType(args.token_type),
    noDefaultPolicy: args.token_no_default_policy ?? old.noDefaultPolicy,
    numUses: args.token_num_uses ?? old.numUses,
    oldNames: oldNames(old, args),
  }
  if (role.tokenType === 'batch') checkBatch(role)
  return role
}

function oldNames(old: TokenRole, args: RoleArgs): OldName[] {
  const isOld = (name: OldName): boolean =>
    args[`token_${name}`] === undefined && (args[name] !== undefined || old.oldNames.includes(name))
  return (['period', 'explicit_max_ttl', 'bound_cidrs'] as const).filter(isOld)
}

/** Policies and aliases are compared in lower case. */
const lowered = (globs: readonly string[] | undefined): string[] | undefined =>
  globs === undefined ? undefined : [...new Set(globs.map((glob) => glob.trim().toLowerCase()))].filter(Boolean)

function suffix(given: string): string {
  if (given === '' || isName(given)) return given
  throw fail('field_invalid', ['path_suffix', 'must be letters, digits and "_", inside also "-" and "."'])
}

function cidrs(field: string, given: readonly string[] | undefined): string[] | undefined {
  try {
    return given?.filter((block) => block !== '').map(normalizeCidr)
  } catch (cause) {
    if (cause instanceof CidrError) throw fail('field_invalid', [field, cause.message], cause)
    throw cause
  }
}

function tokenType(given: string): RoleTokenType {
  if (given === '' || given === 'default') return 'default-service'
  const type = ROLE_TOKEN_TYPES.find((one) => one === given)
  if (type !== undefined) return type
  throw fail('choice_unknown', [`invalid 'token_type' value "${given}": ${ROLE_TOKEN_TYPES.join(', ')}`])
}

/** Refuses a role of batch tokens that promises what they lack: revocation, renewal or counted uses. */
function checkBatch(role: TokenRole): void {
  const cannot = (why: string) => fail('fields_conflict', [`'token_type' cannot be 'batch' where ${why}`])
  if (!role.orphan) throw cannot("the role's tokens have a parent: set orphan")
  if (role.renewable) throw cannot("the role's tokens can be renewed: set renewable to false")
  if (role.periodSeconds > 0) throw cannot('a period is set')
  if (role.explicitMaxTtlSeconds > 0) throw cannot('an explicit maximum is set')
  if (role.numUses > 0) throw cannot('a number of uses is set')
}

/** The endpoints of token roles; token-endpoints.ts joins them with the others. */
export const TOKEN_ROLE_ENDPOINTS: readonly Endpoint[] = namedThings({
  id: 'token-roles',
  writes: 'set',
  path: 'roles',
  name: nameField,
  pageFields: {
    after: string('Returns only names that sort after this one', { default: '' }),
    limit: int('Maximum number of names to return; 0: all', { default: 0, min: 0 }),
  },
  summaries: {
    list: 'Lists the token roles',
    read: 'Shows a token role',
    write: 'Creates a token role, or changes the fields that are sent',
    delete: 'Deletes a token role; its tokens stay valid, and an unknown role is not an error',
  },
  response: ROLE,
  fields: roleFields,
  tellsNew: true,
  names: ({ roles }: TokenService, { after, limit }, { id }) => roles.list(id, after, limit),
  find: async ({ roles }: TokenService, name, { id }) =>
    name.length > MAX_NAME_LENGTH ? undefined : roles.read(id, name),
  body: (role, name) => shown(name, role),
  write: async ({ roles }: TokenService, name, args, { namespace }) => {
    await roles.write(namespace, name, (old) => changed(old, args))
    return DONE
  },
  remove: ({ roles }: TokenService, name, { id }) => roles.delete(id, name),
})
