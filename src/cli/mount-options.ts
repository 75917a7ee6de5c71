// The settings of a mount on the command line: options of `enable` and `tune`, and the fields of the request. Names and
// nesting are those of the reference's command line and API.
import { givenFields } from './call-command.ts'
import { namedValues } from './named-values.ts'
import type { OptionTable } from './options.ts'

/** Options that become members of a mount's `config`. */
const CONFIG_OPTIONS = {
  'default-lease-ttl': { kind: 'text', value: 'DURATION', about: 'Lifetime where nothing else is said' },
  'max-lease-ttl': { kind: 'text', value: 'DURATION', about: 'Longest lifetime' },
  'listing-visibility': {
    kind: 'text',
    value: 'unauth|hidden',
    oneOf: ['unauth', 'hidden'],
    about: 'unauth: shown to callers without a token',
  },
  'audit-non-hmac-request-keys': { kind: 'texts', value: 'NAME', about: 'Field that audit shows in clear' },
  'audit-non-hmac-response-keys': { kind: 'texts', value: 'NAME', about: 'Field of answers that audit shows in clear' },
  'passthrough-request-headers': { kind: 'texts', value: 'NAME', about: 'Header that it gets to see' },
  'allowed-response-headers': { kind: 'texts', value: 'NAME', about: 'Header that it may set' },
  'allowed-managed-keys': { kind: 'texts', value: 'NAME', about: 'Managed key that it may use' },
  'plugin-version': { kind: 'text', value: 'VERSION', about: 'Version of the plugin' },
} as const satisfies OptionTable
const CONFIG_NAMES = Object.keys(CONFIG_OPTIONS)

/** Options of every mount. */
export const MOUNT_OPTIONS = {
  description: { kind: 'text', value: 'TEXT', about: 'For people' },
  options: { kind: 'texts', value: 'NAME=VALUE', about: 'Option of its own' },
  ...CONFIG_OPTIONS,
} as const satisfies OptionTable

/** Options about the lock on names whose password is being guessed. */
const LOCKOUT_OPTIONS = {
  'user-lockout-threshold': { kind: 'number', value: 'COUNT', about: 'Failures until a name is locked; 0: never' },
  'user-lockout-duration': { kind: 'text', value: 'DURATION', about: 'How long it is locked' },
  'user-lockout-counter-reset-duration': {
    kind: 'text',
    value: 'DURATION',
    about: 'Without a failure for so long the count begins anew',
  },
  'user-lockout-disable': { kind: 'flag', about: 'Names are never locked' },
} as const satisfies OptionTable

/** Options that login methods have besides. */
export const LOGIN_MOUNT_OPTIONS = {
  'token-type': { kind: 'text', value: 'TYPE', about: 'Of logins: service, batch, default-service or default-batch' },
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
