// The settings of a mount on the command line: options of `enable` and `tune`, and the fields of the request. Names and
// nesting are those of the reference's command line and API.
import { givenFields } from './call-command.ts'
import { namedValues } from './named-values.ts'
import type { OptionTable } from './options.ts'

/** Options that become members of a mount's `config`. */
const CONFIG_OPTIONS = {
  'default-lease-ttl': { kind: 'text', value: 'DURATION', about: 'Default lifetime of leases and tokens' },
  'max-lease-ttl': { kind: 'text', value: 'DURATION', about: 'Maximum lifetime of leases and tokens' },
  'listing-visibility': {
    kind: 'text',
    value: 'unauth|hidden',
    oneOf: ['unauth', 'hidden'],
    about: 'unauth lists the mount for callers without a token; hidden does not',
  },
  'audit-non-hmac-request-keys': {
    kind: 'texts',
    value: 'NAME',
    about: 'Request field that audit devices record in plain text',
  },
  'audit-non-hmac-response-keys': {
    kind: 'texts',
    value: 'NAME',
    about: 'Response field that audit devices record in plain text',
  },
  'passthrough-request-headers': { kind: 'texts', value: 'NAME', about: 'Request header to pass to the mount' },
  'allowed-response-headers': { kind: 'texts', value: 'NAME', about: 'Response header that the mount may set' },
  'allowed-managed-keys': { kind: 'texts', value: 'NAME', about: 'Managed key that the mount may use' },
  'plugin-version': { kind: 'text', value: 'VERSION', about: 'Version of the plugin' },
} as const satisfies OptionTable
const CONFIG_NAMES = Object.keys(CONFIG_OPTIONS)

/** Options of every mount. */
export const MOUNT_OPTIONS = {
  description: { kind: 'text', value: 'TEXT', about: 'Description of the mount' },
  options: { kind: 'texts', value: 'NAME=VALUE', about: 'Option specific to the type of the mount' },
  ...CONFIG_OPTIONS,
} as const satisfies OptionTable

/** Options about the lock on names whose password is being guessed. */
const LOCKOUT_OPTIONS = {
  'user-lockout-threshold': {
    kind: 'number',
    value: 'COUNT',
    about: 'Failed logins before a user is locked out; 0 disables the lockout',
  },
  'user-lockout-duration': { kind: 'text', value: 'DURATION', about: 'How long a user stays locked out' },
  'user-lockout-counter-reset-duration': {
    kind: 'text',
    value: 'DURATION',
    about: 'Time without a failed login after which the count restarts',
  },
  'user-lockout-disable': { kind: 'flag', about: 'Never lock out users' },
} as const satisfies OptionTable

/** Options that login methods have besides. */
export const LOGIN_MOUNT_OPTIONS = {
  'token-type': {
    kind: 'text',
    value: 'TYPE',
    about: 'Type of the tokens that logins get: service, batch, default-service or default-batch',
  },
  ...LOCKOUT_OPTIONS,
} as const satisfies OptionTable

type MountValues = Readonly<Record<string, unknown>> & { readonly options: readonly string[] }

/** Returns the fields that stand beside `config` in a mount request, and among its members in a tune request. */
export function mountFields(options: MountValues): object {
  const own = options.options.length === 0 ? {} : { options: namedValues('options', options.options) }
  return { ...givenFields(options, ['description']), ...own }
}

/** Returns the members of `config`. Options about locking form an object of their own, without the prefix `user_`. */
export function configFields(options: MountValues): object {
  const lockout = givenFields(options, Object.keys(LOCKOUT_OPTIONS))
  const members = Object.entries(lockout).map(([name, value]) => [name.slice('user_'.length), value] as const)
  return {
    ...givenFields(options, [...CONFIG_NAMES, 'token-type']),
    ...(members.length === 0 ? {} : { user_lockout_config: Object.fromEntries(members) }),
  }
}
