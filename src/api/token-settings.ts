// The `token_*` fields that roles and users of all login methods share (Interface 2.2): declared, read and shown in one
// place.

import { asciiLowerCase, asciiTrim, isPrintableAscii } from '../lib/ascii.ts'
import { CidrError, normalizeCidr } from '../lib/cidr.ts'
import { own } from '../lib/own.ts'
import { fail } from './errors.ts'
import { type Args, bool, duration, int, string, strings } from './fields.ts'
import { NO_TOKEN_SETTINGS, type TokenSettings } from './login.ts'
import { flag, integer, listOf, optional, type Shapes, text } from './shape.ts'
import { keptCidr, keptPolicyName } from './spelling.ts'

/** The fields as endpoints declare them. */
export const TOKEN_FIELDS = {
  token_ttl: duration('TTL of issued tokens, in seconds; 0 uses the default of the mount'),
  token_max_ttl: duration('Maximum TTL including renewals, in seconds; 0 uses the maximum of the mount'),
  token_explicit_max_ttl: duration('Hard limit on the lifetime in seconds, regardless of renewals; 0: none'),
  token_period: duration(
    'Period in seconds: each renewal resets the TTL to it, with no maximum except token_explicit_max_ttl; 0: ' +
      'not periodic',
  ),
  token_policies: strings('Policies attached to issued tokens', { canonical: keptPolicyName }),
  token_bound_cidrs: strings(
    'IP addresses or CIDR blocks allowed for logins and for using the tokens; empty: any address',
    {
      canonical: keptCidr,
    },
  ),
  token_no_default_policy: bool('Do not attach the "default" policy'),
  token_num_uses: int('Maximum number of uses of a token; 0: unlimited', { min: 0 }),
  token_type: string('Token type: service, batch, or default, which uses the setting of the mount'),
}

/** Older names of some fields; if both are sent the newer name wins. */
export const OLD_TOKEN_FIELDS = {
  policies: strings('Deprecated: use token_policies', { aliasOf: 'token_policies', canonical: keptPolicyName }),
  ttl: duration('Deprecated: use token_ttl', { aliasOf: 'token_ttl' }),
  max_ttl: duration('Deprecated: use token_max_ttl', { aliasOf: 'token_max_ttl' }),
  bound_cidrs: strings('Deprecated: use token_bound_cidrs', { aliasOf: 'token_bound_cidrs', canonical: keptCidr }),
}

/** The fields as answers show them. */
export const TOKEN_SETTINGS_SHAPE: Shapes = {
  token_ttl: integer('TTL of issued tokens, in seconds; 0 uses the default of the mount'),
  token_max_ttl: integer('Maximum TTL in seconds; 0 uses the maximum of the mount'),
  token_explicit_max_ttl: integer('Hard limit on the lifetime in seconds; 0: none'),
  token_period: integer('Period in seconds; 0: not periodic'),
  token_policies: listOf(text('Policy'), 'Policies attached to issued tokens'),
  token_bound_cidrs: listOf(
    text('IP address or CIDR block'),
    'IP addresses or CIDR blocks allowed for logins and for using the tokens',
  ),
  token_no_default_policy: flag('Do not attach the "default" policy'),
  token_num_uses: integer('Maximum number of uses of a token; 0: unlimited'),
  token_strictly_bind_ip: flag('Always false'),
  token_type: text('Token type: default, service or batch'),
  policies: optional(listOf(text('Policy'), 'Same as token_policies; present if written under this old name')),
  ttl: optional(integer('Same as token_ttl; present if written under this old name')),
  max_ttl: optional(integer('Same as token_max_ttl; present if written under this old name')),
  bound_cidrs: optional(
    listOf(text('IP address or CIDR block'), 'Same as token_bound_cidrs; present if written under this old name'),
  ),
}

type Given = Partial<Args<typeof TOKEN_FIELDS>> & Partial<Args<typeof OLD_TOKEN_FIELDS>>

/** All old names in use; some methods also take `period` and `num_uses`. */
const OLD_NAMES = [...Object.keys(OLD_TOKEN_FIELDS), 'period', 'num_uses']

/** Returns the settings with what was sent applied. @throws Refusal naming the field */
export function changedSettings(given: Given, before: TokenSettings = NO_TOKEN_SETTINGS): TokenSettings {
  const cidrs = given.token_bound_cidrs ?? given.bound_cidrs
  const settings: TokenSettings = {
    ttlSeconds: given.token_ttl ?? given.ttl ?? before.ttlSeconds,
    maxTtlSeconds: given.token_max_ttl ?? given.max_ttl ?? before.maxTtlSeconds,
    explicitMaxTtlSeconds: given.token_explicit_max_ttl ?? before.explicitMaxTtlSeconds,
    periodSeconds: given.token_period ?? before.periodSeconds,
    policies:
      policyNames('token_policies', given.token_policies) ?? policyNames('policies', given.policies) ?? before.policies,
    boundCidrs: cidrs === undefined ? before.boundCidrs : blocks(cidrs),
    noDefaultPolicy: given.token_no_default_policy ?? before.noDefaultPolicy,
    numUses: given.token_num_uses ?? before.numUses,
    type: given.token_type === undefined ? before.type : typeOf(given.token_type),
  }
  requireFitting(settings)
  return settings
}

function requireFitting({ ttlSeconds, maxTtlSeconds, periodSeconds, numUses, type }: TokenSettings): void {
  if (maxTtlSeconds > 0 && ttlSeconds > maxTtlSeconds)
    throw fail('out_of_range', ['token_ttl', 'must not be longer than token_max_ttl'])
  if (type !== 'batch') return
  if (periodSeconds > 0)
    throw fail('fields_conflict', ["'token_type' cannot be 'batch' when set to generate periodic tokens"])
  if (numUses > 0)
    throw fail('fields_conflict', ["'token_type' cannot be 'batch' when set to generate tokens with limited use count"])
}

function typeOf(text: string): TokenSettings['type'] {
  if (text === '' || text === 'default') return 'default'
  if (text === 'service' || text === 'batch') return text
  throw fail('choice_unknown', [`invalid 'token_type' value "${text.slice(0, 40)}": default, service and batch are`])
}

/**
 * Names of policies in canonical form: lower case, each once, sorted. No character turns into another one
 * (threats I-01). Undefined if none were sent.
 * @throws Refusal naming the field, also for more than a token can have: a role with them would let nobody in
 */
function policyNames(field: string, names: readonly string[] | undefined): readonly string[] | undefined {
  if (names === undefined) return undefined
  const plain = names.map((name) => asciiLowerCase(asciiTrim(name))).filter((name) => name !== '')
  if (!plain.every(isPrintableAscii))
    throw fail('field_invalid', [field, 'a name has characters other than printable ASCII'])
  const policies = new Set(plain)
  requirePolicyLimits(field, policies)
  return [...policies].sort()
}

/**
 * Limits of a list of policies: names in it, and characters of each. They bound a token's entry and its joined rules.
 */
const MAX_POLICIES = 256
const MAX_POLICY_NAME_LENGTH = 128

/** @throws Refusal naming the field, for more policies than a token can have, or a name that is too long */
export function requirePolicyLimits(field: string, names: ReadonlySet<string>): void {
  for (const { length } of names)
    if (length > MAX_POLICY_NAME_LENGTH)
      throw fail('out_of_range', [field, `a name has at most ${MAX_POLICY_NAME_LENGTH} characters`])
  if (names.size > MAX_POLICIES) throw fail('out_of_range', [field, `must be at most ${MAX_POLICIES}`])
}

/** Normalises address blocks; blank texts are dropped. @throws Refusal naming the field */
export function blocks(texts: readonly string[], field = 'token_bound_cidrs'): readonly string[] {
  try {
    return texts.filter((text) => text.trim() !== '').map(normalizeCidr)
  } catch (cause) {
    if (cause instanceof CidrError) throw fail('field_invalid', [field, cause.message], cause)
    throw cause
  }
}

/**
 * Returns the old names that a role or user was written by. They are also read back, since clients that write an old
 * name compare by it. A name leaves once its field is written by the new name alone.
 */
export function oldNamesUsed(given: object, before: readonly string[] = []): readonly string[] {
  const sent = new Set(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name])))
  return OLD_NAMES.filter((name) => sent.has(name) || (before.includes(name) && !sent.has(`token_${name}`)))
}

function oldBody(settings: TokenSettings, names: readonly string[]): object {
  const values: Readonly<Record<string, unknown>> = {
    policies: settings.policies,
    ttl: settings.ttlSeconds,
    max_ttl: settings.maxTtlSeconds,
    bound_cidrs: settings.boundCidrs,
    period: settings.periodSeconds,
    num_uses: settings.numUses,
  }
  return Object.fromEntries(names.map((name) => [name, own(values, name)]))
}

/** The settings as a read shows them, the old names in use included. */
export function settingsBody(settings: TokenSettings, oldNames: readonly string[] = []): object {
  return {
    ...oldBody(settings, oldNames),
    token_bound_cidrs: settings.boundCidrs,
    token_explicit_max_ttl: settings.explicitMaxTtlSeconds,
    token_max_ttl: settings.maxTtlSeconds,
    token_no_default_policy: settings.noDefaultPolicy,
    token_num_uses: settings.numUses,
    token_period: settings.periodSeconds,
    token_policies: settings.policies,
    token_strictly_bind_ip: false,
    token_ttl: settings.ttlSeconds,
    token_type: settings.type,
  }
}
