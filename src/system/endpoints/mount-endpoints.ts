// sys/mounts and sys/auth: the same endpoints for the two kinds of mounts, engines and login methods.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { type Args, bool, map, object, string } from '../../api/fields.ts'
import type { MountEntry, MountKind } from '../../api/mount.ts'
import type { Namespace } from '../../api/namespace.ts'
import { DONE, type RequestInfo } from '../../api/request.ts'
import { flag, group, integer, mapOf, nullable, OTHERS, optional, type Shapes, text } from '../../api/shape.ts'
import { CONFIG_FIELDS, changedMountConfig, type GivenMountConfig, NOT_OFFERED } from '../mount-tuning.ts'
import {
  ABOUT_LOCAL,
  bodies,
  bodyOf,
  CLEAR_KEYS,
  clearKeysBody,
  defaultTokenType,
  folder,
  LOCKOUT,
  lockoutBody,
  MANAGED_KEYS,
  MOUNT,
  managedKeysBody,
  namedIn,
  ownerOfMount,
  PASSED,
  passedBody,
} from '../mount-view.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'facts' | 'mounts' | 'namespaces' | 'tokenLimits' | 'world'> & WithServices<'managedKeys'>

/** What differs between the two kinds. */
type Kind = {
  readonly kind: MountKind
  /** The folder of the endpoints, and the first part of their ids. */
  readonly under: 'mounts' | 'auth'
  /** Stands before the path that a client gives: clients name login methods without 'auth/'. */
  readonly prefix: '' | 'auth/'
  /** Paths below `auth` are root paths: a caller who makes a login method decides who may log in. */
  readonly sudo: boolean
  /** The noun in summaries, with its article. */
  readonly what: string
  readonly plural: string
}

const SECRETS: Kind = { kind: 'secret', under: 'mounts', prefix: '', sudo: false, what: 'an engine', plural: 'engines' }
const LOGINS: Kind = {
  kind: 'auth',
  under: 'auth',
  prefix: 'auth/',
  sudo: true,
  what: 'a login method',
  plural: 'login methods',
}

const pathField = { path: string('Path of the mount', { required: true }) }
const MAX_DESCRIPTION_CHARACTERS = 4_096
/** The mount of tokens themselves, which every server has and needs. */
const TOKEN_MOUNT = 'auth/token/'

/** Shape of `tuningBody`. Lifetimes are those in force, while MOUNT has those that were set. */
const TUNING: Shapes = {
  description: text('Description for operators'),
  default_lease_ttl: integer('Default TTL in effect, in seconds'),
  max_lease_ttl: integer('Maximum TTL in effect, in seconds'),
  force_no_cache: flag('Stored and shown, but has no effect'),
  listing_visibility: optional(text('unauth: listed to callers without a token')),
  ...CLEAR_KEYS,
  ...MANAGED_KEYS,
  ...PASSED,
  options: optional(nullable(mapOf(text('Value'), 'Options of the engine, as key-value pairs'))),
  token_type: optional(text('Type of token that a login issues')),
  user_lockout_config: optional(LOCKOUT),
}

/** The whole path of a mount, from the part that a client gives. */
const fullPath = ({ prefix }: Kind, path: string): string => prefix + folder(path)

/** `sudo` where the kind needs it. It is absent otherwise, as in other definitions. */
const guardOf = ({ sudo }: Kind): { readonly sudo?: true } => (sudo ? { sudo } : {})

const endpointsOf = (of: Kind): readonly Endpoint<System>[] => [
  listEndpoint(of),
  readEndpoint(of),
  mountEndpoint(of),
  unmountEndpoint(of),
  readTuningEndpoint(of),
  writeTuningEndpoint(of),
]

const listEndpoint = ({ kind, under, plural }: Kind): Endpoint<System> =>
  endpoint({
    id: `${under}-list`,
    operation: 'read',
    path: under,
    capability: 'read',
    body: 'both',
    runsOn: 'any-node',
    summary: `Lists all ${plural} by path`,
    fields: {},
    response: { [OTHERS]: group(MOUNT, 'Mount') },
    handler: (system: System, _args, { namespace }) => ({ data: bodies(system, namespace, kind, () => true) }),
  })

function readEndpoint(of: Kind): Endpoint<System> {
  const { kind, under, what } = of
  return endpoint({
    id: `${under}-read`,
    operation: 'read',
    path: `${under}/:path...`,
    mayLieBelow: 'path',
    twins: twinsOf(of, ''),
    capability: 'read',
    ...guardOf(of),
    body: 'both',
    runsOn: 'any-node',
    summary: `Shows ${what}`,
    fields: pathField,
    response: MOUNT,
    handler: (system: System, { path }, { namespace }) => {
      // Also one of a namespace below, whose path stands before that of the mount.
      const at = namedIn(system, namespace, fullPath(of, path))
      const entry = system.mounts.find(at.namespace, at.path)
      // `sys/mounts/auth/PATH` shows a login method without sudo, as the list of all of them does: clients rely on it.
      if (entry === undefined || (kind === 'auth' && entry.kind !== kind)) {
        const missing = kind === 'auth' ? 'No auth engine at' : 'No secret engine mount at' // Wire text.
        throw fail('no_such_entry', [`${missing} ${folder(path)}`])
      }
      return { data: bodyOf(system, entry) }
    },
  })
}

const MOUNT_FIELDS = {
  ...pathField,
  type: string('Type of the engine or login method', { default: '' }),
  description: string('Description for operators', { default: '', max: MAX_DESCRIPTION_CHARACTERS }),
  local: bool(ABOUT_LOCAL, { default: false }),
  seal_wrap: bool('Must be false: seal wrap is not offered yet', { default: false }),
  external_entropy_access: bool('Must be false: entropy from the seal is not offered yet', { default: false }),
  options: map('Options of the engine, as key-value pairs'),
  plugin_name: string('Deprecated: use type', { aliasOf: 'type', default: '' }),
  plugin_version: string('Must be empty: only the built-in version is available', { default: '' }),
  config: object('Settings of the mount, as in tune', CONFIG_FIELDS),
}

/** Only below its own kind: an engine is mounted by sys/mounts, a login method by sys/auth. */
function mountEndpoint(of: Kind): Endpoint<System> {
  const { under, what } = of
  return endpoint({
    id: `${under}-mount`,
    operation: 'update',
    path: `${under}/:path...`,
    capability: 'update',
    ...guardOf(of),
    runsOn: 'writer',
    writes: (_system: System, { local }) => (local ? 'cluster' : 'set'),
    summary: `Mounts ${what} at a path`,
    fields: MOUNT_FIELDS,
    handler: async (system: System, args, { namespace }) => {
      await system.mounts.mount(newMount(system, of, namespace, args))
      return DONE
    },
  })
}

/** The entry of a new mount. @throws Refusal naming the field that is wrong */
function newMount(system: System, of: Kind, { id: namespace }: Namespace, args: Args<typeof MOUNT_FIELDS>): MountEntry {
  const { kind } = of
  const { random } = system.world
  // Old clients send the word `plugin` as the type, and the engine beside it.
  const type = args.type === 'plugin' || args.type === '' ? args.plugin_name : args.type
  if (type === '') throw fail('field_missing', ['type'])
  refuseUnoffered(args)
  requireManagedKeys(system, args.config)
  return {
    format: 1,
    uuid: random.uuid(),
    namespace,
    kind,
    path: mountPath(fullPath(of, args.path)),
    type,
    description: args.description,
    // Other servers of this API give accessors this form, and operators know a mount's kind by it.
    accessor: `${kind === 'auth' ? 'auth_' : ''}${type}_${random.bytes(4).toString('hex')}`,
    options: args.options ?? {},
    local: args.local,
    sealWrap: false,
    externalEntropyAccess: false,
    config: changedMountConfig(args.config ?? {}, kind, { prefix: 'config.' }),
  }
}

function unmountEndpoint(of: Kind): Endpoint<System> {
  const { kind, under, what } = of
  return endpoint({
    id: `${under}-unmount`,
    operation: 'delete',
    path: `${under}/:path...`,
    capability: 'delete',
    ...guardOf(of),
    runsOn: 'writer',
    writes: (system: System, { path }, namespace, sight) =>
      ownerOfMount(system.mounts, namespace, fullPath(of, path), sight),
    namedMounts: ({ mounts }, { path }, namespace) => [mounts.find(namespace, fullPath(of, path), 'shared')],
    summary: `Unmounts ${what} and deletes all its data; a path without a mount is not an error`,
    fields: pathField,
    handler: async (system: System, { path }, { namespace, sight }) => {
      const full = fullPath(of, path)
      // Wire text.
      if (full === TOKEN_MOUNT) throw fail('part_of_server', ['token credential backend cannot be disabled'])
      const entry = system.mounts.find(namespace, full, sight)
      if (entry === undefined && namedIn(system, namespace, full).namespace.id !== namespace.id)
        throw fail('field_invalid', ['path', 'lies in a namespace below: a mount is removed from its own'])
      // Each kind is removed under its own name only: a right to remove engines must not remove login methods.
      if (entry !== undefined && entry.kind !== kind)
        throw fail('field_invalid', ['path', `a login method is there: it is removed by sys/${full.slice(0, -1)}`])
      await system.mounts.unmount(namespace, full, sight)
      return DONE
    },
  })
}

/**
 * Other paths that do the same, which a policy may deny. A login method is read and tuned below `mounts/auth` and below
 * `auth`; it is made and removed below `auth` alone.
 */
function twinsOf({ under }: Kind, end: '' | '/tune') {
  return ({ path = '' }: Readonly<Record<string, string>>): readonly string[] => {
    if (under === 'auth') return [`mounts/auth/${path}${end}`]
    return path.startsWith('auth/') ? [path + end] : []
  }
}

/** The mount that is read or tuned. @throws Refusal if there is none of the kind, or the caller lacks sudo for it */
function tunedMount(system: System, of: Kind, path: string, { caller, namespace, sight }: RequestInfo): MountEntry {
  const entry = system.mounts.find(namespace, fullPath(of, path), sight)
  // Wire text.
  if (entry === undefined || (of.kind === 'auth' && entry.kind !== of.kind))
    throw fail('no_such_entry', [`cannot fetch sysview for path "${folder(path)}"`])
  // Login mounts need sudo by whichever path they are tuned (threats T-09).
  if (entry.kind === 'auth' && caller?.hasSudo() !== true) throw fail('permission_denied', [])
  return entry
}

function readTuningEndpoint(of: Kind): Endpoint<System> {
  const { under, what } = of
  return endpoint({
    id: `${under}-tune-read`,
    operation: 'read',
    path: `${under}/:path.../tune`,
    twins: twinsOf(of, '/tune'),
    capability: 'read',
    ...guardOf(of),
    body: 'both',
    runsOn: 'any-node',
    summary: `Shows the settings of ${what}`,
    fields: pathField,
    response: TUNING,
    handler: (system: System, { path }, request) => ({
      data: tuningBody(system, tunedMount(system, of, path, request)),
    }),
  })
}

/** Changes what is sent. Options are replaced as a whole. */
function writeTuningEndpoint(of: Kind): Endpoint<System> {
  const { under, what } = of
  return endpoint({
    id: `${under}-tune-write`,
    operation: 'update',
    path: `${under}/:path.../tune`,
    twins: twinsOf(of, '/tune'),
    capability: 'update',
    ...guardOf(of),
    runsOn: 'writer',
    writes: (system: System, { path }, namespace, sight) =>
      ownerOfMount(system.mounts, namespace, fullPath(of, path), sight),
    namedMounts: ({ mounts }, { path }, namespace) => [mounts.find(namespace, fullPath(of, path), 'shared')],
    summary: `Tunes ${what}: changes the settings that are sent`,
    fields: {
      ...pathField,
      description: string('Description for operators', { max: MAX_DESCRIPTION_CHARACTERS }),
      options: map('Options of the engine, as key-value pairs'),
      ...CONFIG_FIELDS,
    },
    handler: async (system: System, args, request) => {
      const { path, type } = tunedMount(system, of, args.path, request)
      if (FIXED.has(type)) throw fail('part_of_server', [`cannot tune "${folder(args.path)}"`])
      if (path === TOKEN_MOUNT && args.token_type !== undefined)
        throw fail('field_not_applicable', ["'token_type' cannot be set for 'token' or 'ns_token' auth mounts"])
      requireManagedKeys(system, args)
      await system.mounts.tune(request.namespace, path, (entry) => tuned(entry, args), request.sight)
      return DONE
    },
  })
}

type GivenTuning = GivenMountConfig & {
  readonly description?: string | undefined
  readonly options?: Readonly<Record<string, string>> | undefined
}

/** The entry with what was sent; absent fields stay. */
const tuned = (entry: MountEntry, given: GivenTuning): MountEntry => ({
  ...entry,
  description: given.description ?? entry.description,
  options: given.options ?? entry.options,
  config: changedMountConfig(given, entry.kind, { before: entry.config }),
})

/** Engines of the mounts that cannot be tuned: they belong to the server itself. */
const FIXED: ReadonlySet<string> = new Set(['system', 'cubbyhole', 'identity'])

/** A mount's settings as they are in force: lifetimes that it does not set are those of the system. */
function tuningBody(system: System, entry: MountEntry): object {
  const { kind, config, description, options } = entry
  const { defaultTtlSeconds, maxTtlSeconds } = system.tokenLimits
  const hasOptions = options !== null && Object.keys(options).length > 0
  return {
    description,
    default_lease_ttl: config.defaultLeaseTtlSeconds > 0 ? config.defaultLeaseTtlSeconds : defaultTtlSeconds,
    max_lease_ttl: config.maxLeaseTtlSeconds > 0 ? config.maxLeaseTtlSeconds : maxTtlSeconds,
    force_no_cache: config.forceNoCache,
    ...(config.listingVisibility === '' ? {} : { listing_visibility: config.listingVisibility }),
    ...(hasOptions ? { options } : {}),
    ...clearKeysBody(config),
    ...managedKeysBody(config),
    ...passedBody(config),
    ...(kind === 'auth' ? { token_type: config.tokenType ?? defaultTokenType(entry) } : {}),
    ...(config.lockout === undefined ? {} : { user_lockout_config: lockoutBody(config.lockout) }),
  }
}

type MountArgs = {
  readonly seal_wrap: boolean
  readonly external_entropy_access: boolean
  readonly plugin_version: string
}

/** Refuses fields that the server would have to ignore: a client must not believe in a protection that is not there. */
function refuseUnoffered(args: MountArgs): void {
  if (args.seal_wrap) throw fail('field_not_applicable', ['seal_wrap', NOT_OFFERED])
  if (args.external_entropy_access) throw fail('field_not_applicable', ['external_entropy_access', NOT_OFFERED])
  if (args.plugin_version !== '')
    throw fail('field_invalid', ['plugin_version', 'only the built-in version is offered'])
}

/** @throws Refusal if managed keys are named, and the edition has none */
function requireManagedKeys({ services }: System, given: GivenMountConfig | undefined): void {
  if ((given?.allowed_managed_keys?.length ?? 0) > 0) services.managedKeys.requireOffered()
}

/** The longest path of a mount, with the '/' at its end. */
const MAX_MOUNT_PATH_LENGTH = 128
const PRINTABLE_FROM = 0x21
const PRINTABLE_TO = 0x7e

/** Returns a path that may be that of a mount; it ends in '/'. @throws Refusal for any other */
export function mountPath(path: string): string {
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code < PRINTABLE_FROM || code > PRINTABLE_TO || path[i] === '*' || path[i] === '+') {
      throw fail('field_invalid', ['path', "must be printable ASCII without '*' and '+'"])
    }
  }
  // No request could reach such a mount: the pipeline refuses dot segments, and drops empty ones (core/target.ts).
  const segments = path.slice(0, -1).split('/')
  if (path !== '/' && segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw fail('field_invalid', ['path', 'must not have empty, "." or ".." segments'])
  if (path === '/' || path.length > MAX_MOUNT_PATH_LENGTH)
    throw fail('field_invalid', ['path', `must have 1 to ${MAX_MOUNT_PATH_LENGTH} characters`])
  return path
}

/** Read, make, remove and tune, once below `mounts` and once below `auth`. */
export const MOUNT_ENDPOINTS: readonly Endpoint<System>[] = [...endpointsOf(SECRETS), ...endpointsOf(LOGINS)]
