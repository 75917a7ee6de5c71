// The settings of a mount: given when it is made, and tuned afterwards.
import { fail } from '../api/errors.ts'
import { type Args, bool, duration, type Field, int, object, string, strings } from '../api/fields.ts'
import { DEFAULT_LOCKOUT, type LockoutSettings } from '../api/lockout.ts'
import type { MountConfig, MountKind } from '../api/mount.ts'
import { MAX_PASSED_HEADERS, whyNotSeen, whyNotSet } from '../api/passed-headers.ts'

const VISIBILITIES = ['', 'unauth', 'hidden']
const TOKEN_TYPES = ['service', 'batch', 'default-service', 'default-batch']
/** The remedy in refusals of fields that other servers of this API offer. */
export const NOT_OFFERED = 'is not offered yet: leave it out'

/** Treats an empty text as absent: clients send every field of a tuning, empty where their user gave nothing. */
function unlessEmpty<F extends Field<number>>(field: F): F {
  const decode: Field<number>['decode'] = (value, name) => (value === '' ? undefined : field.decode(value, name))
  return { ...field, decode }
}

/** A duration, or the word `system`, which stands for 0: the lifetime of the server's configuration. */
function leaseTtl(description: string) {
  const field = unlessEmpty(duration(description))
  const decode: Field<number>['decode'] = (value, name) => (value === 'system' ? 0 : field.decode(value, name))
  return { ...field, decode }
}

/** Fields of a tuning, and of `config` when a mount is made. An absent field leaves its setting as it was. */
export const CONFIG_FIELDS = {
  default_lease_ttl: leaseTtl('Default TTL, in seconds; 0 or "system" uses the system default'),
  max_lease_ttl: leaseTtl('Maximum TTL, in seconds; 0 or "system" uses the system maximum'),
  force_no_cache: bool('Stored and shown, but has no effect'),
  listing_visibility: string('unauth lists the mount to callers without a token; hidden or empty does not', {
    oneOf: VISIBILITIES,
  }),
  token_type: string('Token type of a login mount: service, batch, default-service or default-batch'),
  user_lockout_config: object('User lockout of a login mount', {
    lockout_threshold: unlessEmpty(int('Failed logins after which a user is locked out; 0: never', { min: 0 })),
    lockout_duration: unlessEmpty(duration('How long the user is locked out, in seconds')),
    lockout_counter_reset_duration: unlessEmpty(
      duration('Time without a failed login, in seconds, after which the count is reset'),
    ),
    lockout_disable: bool('Disables the lockout; setting it back to false restores the previous threshold'),
  }),
  audit_non_hmac_request_keys: strings('Request fields that audit devices record in clear, not as HMAC'),
  audit_non_hmac_response_keys: strings('Response fields that audit devices record in clear, not as HMAC'),
  passthrough_request_headers: strings(
    'Request headers passed to the engine; headers that carry credentials are refused',
  ),
  allowed_response_headers: strings(
    'Response headers that the engine can set; headers of the server itself are refused',
  ),
  allowed_managed_keys: strings('Names of the managed keys that the engine can use'),
  plugin_version: string('Must be empty: only the built-in version is available'),
}

/** The settings that a request names, each optional: a tuning changes no others. */
export type GivenMountConfig = Partial<Args<typeof CONFIG_FIELDS>>

/** The settings of a new mount: 0 and '' stand for those of the system. */
const NOTHING: MountConfig = {
  defaultLeaseTtlSeconds: 0,
  maxLeaseTtlSeconds: 0,
  forceNoCache: false,
  listingVisibility: '',
}

/**
 * Returns the settings of a mount after a change: `before` with what `given` has. `prefix` stands before field names in
 * messages: a tuning has the fields at its top level, a new mount has them in `config`.
 * @throws Refusal naming the field; also for a setting that the server would store and then not honour
 */
export function changedMountConfig(
  given: GivenMountConfig,
  kind: MountKind,
  { before = NOTHING, prefix = '' }: { readonly before?: MountConfig; readonly prefix?: string } = {},
): MountConfig {
  if ((given.plugin_version ?? '') !== '')
    throw fail('field_invalid', [`${prefix}plugin_version`, 'only the built-in version is offered'])
  const config: MountConfig = {
    ...before,
    defaultLeaseTtlSeconds: given.default_lease_ttl ?? before.defaultLeaseTtlSeconds,
    maxLeaseTtlSeconds: given.max_lease_ttl ?? before.maxLeaseTtlSeconds,
    forceNoCache: given.force_no_cache ?? before.forceNoCache,
    listingVisibility: given.listing_visibility ?? before.listingVisibility,
    ...clearKeys(given),
    ...managedKeys(given),
    ...passedHeaders(given, prefix),
    ...tokenType(given.token_type, kind),
    ...lockout(given.user_lockout_config, kind, before.lockout, prefix),
  }
  // The two are compared after the merge: a tuning may send only one of them.
  const { defaultLeaseTtlSeconds, maxLeaseTtlSeconds } = config
  if (maxLeaseTtlSeconds > 0 && defaultLeaseTtlSeconds > maxLeaseTtlSeconds)
    throw fail('out_of_range', [`${prefix}default_lease_ttl`, 'must not be longer than max_lease_ttl'])
  return config
}

function managedKeys({ allowed_managed_keys: names }: GivenMountConfig): Pick<MountConfig, 'allowedManagedKeys'> {
  return names === undefined ? {} : { allowedManagedKeys: names }
}

/** Fields that audit writes in clear. An empty list is stored and counts as none. */
function clearKeys(given: GivenMountConfig): Pick<MountConfig, 'auditNonHmacRequestKeys' | 'auditNonHmacResponseKeys'> {
  const { audit_non_hmac_request_keys: request, audit_non_hmac_response_keys: response } = given
  return {
    ...(request === undefined ? {} : { auditNonHmacRequestKeys: request }),
    ...(response === undefined ? {} : { auditNonHmacResponseKeys: response }),
  }
}

/**
 * Headers that a mount passes on; an empty list is stored and counts as none.
 * @throws Refusal for a header that carries credentials or belongs to the server (src/api/passed-headers.ts)
 */
function passedHeaders(
  given: GivenMountConfig,
  prefix: string,
): Pick<MountConfig, 'passthroughRequestHeaders' | 'allowedResponseHeaders'> {
  const { passthrough_request_headers: request, allowed_response_headers: response } = given
  requireHeaders(request, whyNotSeen, `${prefix}passthrough_request_headers`)
  requireHeaders(response, whyNotSet, `${prefix}allowed_response_headers`)
  return {
    ...(request === undefined ? {} : { passthroughRequestHeaders: request }),
    ...(response === undefined ? {} : { allowedResponseHeaders: response }),
  }
}

/** @throws Refusal for too many headers, and for one that may not be passed on */
function requireHeaders(
  names: readonly string[] | undefined,
  whyNot: (name: string) => string | undefined,
  field: string,
): void {
  if (names === undefined) return
  if (names.length > MAX_PASSED_HEADERS)
    throw fail('out_of_range', [field, `must have at most ${MAX_PASSED_HEADERS} items`])
  for (const name of names) {
    const why = whyNot(name)
    if (why !== undefined) throw fail('field_invalid', [field, why])
  }
}

/** Kind of token; an empty text leaves it as it was. @throws Refusal for mounts that have no logins */
function tokenType(given: string | undefined, kind: MountKind): Pick<MountConfig, 'tokenType'> {
  if (given === undefined || given === '') return {}
  if (kind !== 'auth') throw fail('field_not_applicable', ["'token_type' can only be modified on auth mounts"])
  if (!TOKEN_TYPES.includes(given))
    throw fail('choice_unknown', [`invalid value for 'token_type': ${TOKEN_TYPES.join(', ')} are`])
  return { tokenType: given }
}

/**
 * Settings of the lock-out after failed logins. Switching it off keeps the threshold, so that switching it on again
 * restores it (src/api/lockout.ts).
 * @throws Refusal for mounts that have no logins, and for a threshold of 0 that is said to be on
 */
function lockout(
  given: GivenMountConfig['user_lockout_config'],
  kind: MountKind,
  before: LockoutSettings = DEFAULT_LOCKOUT,
  prefix = '',
): Pick<MountConfig, 'lockout'> {
  if (given === undefined) return {}
  if (kind !== 'auth') throw fail('field_not_applicable', ["'user_lockout_config' can only be modified on auth mounts"])
  const { lockout_threshold: sent, lockout_disable: off } = given
  if (sent === 0 && off === false) {
    const remedy = 'must be above 0 where lockout_disable is false: 0 means that names are never locked'
    throw fail('field_invalid', [`${prefix}user_lockout_config.lockout_threshold`, remedy])
  }
  // Stores written before `disabled` existed hold threshold 0 for both ways to switch the lock-out off.
  const kept = off === false && before.threshold === 0 ? DEFAULT_LOCKOUT.threshold : before.threshold
  // A threshold sent without lockout_disable is meant to take effect, so it switches the lock-out on again.
  const staysOff = off ?? (sent === undefined && before.disabled === true)
  return {
    lockout: {
      threshold: sent ?? kept,
      durationSeconds: given.lockout_duration ?? before.durationSeconds,
      counterResetSeconds: given.lockout_counter_reset_duration ?? before.counterResetSeconds,
      ...(staysOff ? { disabled: true } : {}),
    },
  }
}
