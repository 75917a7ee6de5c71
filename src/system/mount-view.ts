// Mounts as the API shows them: the shapes of answers, and the functions that fill them. An optional list that is empty
// is left out, because clients tell "not set" by the missing key.
import { isSwitchedOff, type LockoutSettings } from '../api/lockout.ts'
import type { MountConfig, MountEntry, Mounts, NamespacedPath } from '../api/mount.ts'
import { type Namespace, type Namespaces, pathWithin, ROOT } from '../api/namespace.ts'
import type { DataOwner, Sight } from '../api/node-role.ts'
import { flag, group, integer, listOf, mapOf, nullable, optional, type Shapes, text } from '../api/shape.ts'
import { own } from '../lib/own.ts'
import type { System as Whole } from './system.ts'

/** The parts of the system that these functions use. */
type System = Pick<Whole, 'facts' | 'mounts'>

/** Kind of token that a login gives when its mount does not set `token_type`. */
const DEFAULT_TOKEN_TYPE = 'default-service'

/** The type of tokens, as it is shown where it is not set. That of the tokens of a namespace below the root differs. */
export const defaultTokenType = ({ type, namespace }: MountEntry): string =>
  type === 'token' && namespace !== ROOT.id ? 'default' : DEFAULT_TOKEN_TYPE

/** The lockout settings of a login mount, in answers. */
export const LOCKOUT = group(
  {
    lockout_threshold: integer('Failed logins after which a user is locked out; 0: never'),
    lockout_duration: integer('How long the user is locked out, in seconds'),
    lockout_counter_reset: integer('Time without a failed login, in seconds, after which the count is reset'),
    lockout_disable: flag('The lockout is disabled'),
  },
  'User lockout of a login mount',
)

/** Lock-out settings of a login mount, as a read shows them; times are in seconds. */
export const lockoutBody = (settings: LockoutSettings): object => ({
  lockout_threshold: settings.threshold,
  lockout_duration: settings.durationSeconds,
  lockout_counter_reset: settings.counterResetSeconds,
  lockout_disable: isSwitchedOff(settings),
})

/** Fields that audit leaves readable, in answers about a mount; absent if there are none. */
export const CLEAR_KEYS: Shapes = {
  audit_non_hmac_request_keys: optional(
    listOf(text('Field'), 'Request fields that audit devices record in clear, not as HMAC'),
  ),
  audit_non_hmac_response_keys: optional(
    listOf(text('Field'), 'Response fields that audit devices record in clear, not as HMAC'),
  ),
}

/** Names of fields that audit writes in clear; all others are written as HMACs. */
export const clearKeysBody = ({ auditNonHmacRequestKeys, auditNonHmacResponseKeys }: MountConfig): object => ({
  ...(isGiven(auditNonHmacRequestKeys) ? { audit_non_hmac_request_keys: auditNonHmacRequestKeys } : {}),
  ...(isGiven(auditNonHmacResponseKeys) ? { audit_non_hmac_response_keys: auditNonHmacResponseKeys } : {}),
})

/** Managed keys that a mount may use, in answers; absent if there are none. */
export const MANAGED_KEYS: Shapes = {
  allowed_managed_keys: optional(listOf(text('Name'), 'Names of the managed keys that the engine can use')),
}

/** Names of the managed keys that the mount may use, besides those open to every mount. */
export const managedKeysBody = ({ allowedManagedKeys }: MountConfig): object =>
  isGiven(allowedManagedKeys) ? { allowed_managed_keys: allowedManagedKeys } : {}

/** Headers that go to an engine and come from it, in answers about a mount; absent if there are none. */
export const PASSED: Shapes = {
  passthrough_request_headers: optional(listOf(text('Header'), 'Request headers passed to the engine')),
  allowed_response_headers: optional(listOf(text('Header'), 'Response headers that the engine can set')),
}

/** Headers that pass between client and engine: none reaches the engine, or leaves it, unless it is listed. */
export const passedBody = ({ passthroughRequestHeaders, allowedResponseHeaders }: MountConfig): object => ({
  ...(isGiven(passthroughRequestHeaders) ? { passthrough_request_headers: passthroughRequestHeaders } : {}),
  ...(isGiven(allowedResponseHeaders) ? { allowed_response_headers: allowedResponseHeaders } : {}),
})

const isGiven = (keys: readonly string[] | undefined): boolean => keys !== undefined && keys.length > 0

/** The mount that is wherever the namespace is: a filter keeps both from a secondary, or none. */
export const systemMountOf = (mounts: Pick<Mounts, 'find'>, namespace: Namespace | undefined): MountEntry | undefined =>
  namespace && mounts.find(namespace, 'sys/')

/** What `local` means, in requests and answers. */
export const ABOUT_LOCAL = 'Local mount: a secondary for performance does not get it, one for disaster recovery does'

/** A mount in answers, with the lifetimes that were set; 0 stands for those of the system. */
export const MOUNT: Shapes = {
  type: text('Type of the engine or login method'),
  description: text('Description for operators'),
  accessor: text('Accessor of the mount'),
  uuid: text('UUID of the mount'),
  local: flag(ABOUT_LOCAL),
  seal_wrap: flag('Data is also encrypted by the seal (seal wrap)'),
  external_entropy_access: flag('The engine can use entropy from the seal'),
  options: nullable(mapOf(text('Value'), 'Options of the engine')),
  plugin_version: text('Always empty: the engine is built in'),
  running_plugin_version: text('Version of the engine'),
  running_sha256: text('Always empty: the engine is built in'),
  deprecation_status: optional(text('supported')),
  config: group(
    {
      default_lease_ttl: integer('Default TTL in seconds; 0: the system default'),
      max_lease_ttl: integer('Maximum TTL in seconds; 0: the system maximum'),
      force_no_cache: flag('Stored and shown, but has no effect'),
      listing_visibility: optional(text('unauth: listed to callers without a token')),
      ...CLEAR_KEYS,
      ...MANAGED_KEYS,
      token_type: optional(text('Type of token that a login issues')),
      user_lockout_config: optional(LOCKOUT),
      ...PASSED,
    },
    'Settings of the mount',
  ),
}

/** Shown and not used, because clients compare mounts (docs/differences.md#the-server). By engine. */
const PASSED_HEADERS: Readonly<Record<string, readonly string[]>> = { system: ['Accept'], identity: ['Authorization'] }

/** True for the system mount too: it owns the records that open the barrier, and the seal wraps those itself. */
const isSealWrapped = ({ type, sealWrap }: MountEntry): boolean => sealWrap || type === 'system'

/** Version of every engine: all are part of the server. A semantic version with build metadata, which clients parse. */
export const builtinVersion = ({ facts }: System): string => `v${facts.reportedVersion}+builtin.keywright`

/** The type of a mount. Those that a namespace always has are named after it, as clients know them. */
const shownType = ({ type, namespace }: MountEntry): string =>
  namespace !== ROOT.id && BUILT_IN.has(type) ? `ns_${type}` : type
const BUILT_IN: ReadonlySet<string> = new Set(['system', 'token', 'identity', 'cubbyhole'])

/** A mount as `sys/mounts` and `sys/auth` show it. `version` comes from `builtinVersion`. */
export function mountBody(entry: MountEntry, version: string): object {
  const { config } = entry
  const passed = own(PASSED_HEADERS, entry.type)
  return {
    type: shownType(entry),
    description: entry.description,
    accessor: entry.accessor,
    uuid: entry.uuid,
    local: entry.local,
    seal_wrap: isSealWrapped(entry),
    external_entropy_access: entry.externalEntropyAccess,
    options: entry.options,
    plugin_version: '',
    running_plugin_version: version,
    running_sha256: '',
    deprecation_status: 'supported',
    config: {
      default_lease_ttl: config.defaultLeaseTtlSeconds,
      max_lease_ttl: config.maxLeaseTtlSeconds,
      force_no_cache: config.forceNoCache,
      ...(config.listingVisibility === '' ? {} : { listing_visibility: config.listingVisibility }),
      ...clearKeysBody(config),
      ...managedKeysBody(config),
      ...(entry.kind === 'auth' ? { token_type: config.tokenType ?? defaultTokenType(entry) } : {}),
      ...(passed === undefined ? {} : { passthrough_request_headers: passed }),
      ...passedBody(config),
      ...(config.lockout === undefined ? {} : { user_lockout_config: lockoutBody(config.lockout) }),
    },
  }
}

/** A mount as this server shows it, with the version that it reports. */
export const bodyOf = (system: System, entry: MountEntry): object => mountBody(entry, builtinVersion(system))

/** Mounts of one kind of a namespace, by path. Login mounts are listed without their 'auth/', as clients know them. */
export function bodies(
  system: System,
  of: Namespace,
  kind: MountEntry['kind'],
  shown: (entry: MountEntry) => boolean,
  body: (entry: MountEntry) => object = (entry) => bodyOf(system, entry),
): Record<string, object> {
  const entries = system.mounts.list(of).filter((entry) => entry.kind === kind && shown(entry))
  return Object.fromEntries(
    entries.map((entry) => [kind === 'auth' ? entry.path.slice('auth/'.length) : entry.path, body(entry)]),
  )
}

/** The path with a '/' at its end, as the mount table keeps it. */
export const folder = (path: string): string => (path.endsWith('/') ? path : `${path}/`)

/** Whose data the mount's entry is. A path without a mount counts as shared: the primary may have one there. */
export const ownerOfMount = (mounts: Pick<Mounts, 'find'>, within: Namespace, path: string, sight: Sight): DataOwner =>
  mounts.find(within, path, sight)?.local === true ? 'cluster' : 'set'

/** The place that a path names, which may lie in a namespace below. */
export function namedIn(
  { namespaces }: { readonly namespaces: Namespaces },
  within: Namespace,
  path: string,
): NamespacedPath {
  const full = within.path + folder(path)
  const namespace = namespaces.around(full)
  return { namespace, path: pathWithin(namespace, full) }
}
