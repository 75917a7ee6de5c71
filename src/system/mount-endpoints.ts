// sys/mounts and sys/internal/ui/mounts.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { bool, duration, map, object, string, strings } from '../api/fields.ts'
import type { MountEntry } from '../api/mount.ts'
import { DONE } from '../api/request.ts'
import { flag, group, integer, mapOf, nullable, OTHERS, optional, type Shapes, text } from '../api/shape.ts'
import { ROOT_NAMESPACE } from '../storage/contract.ts'
import type { System } from './system.ts'

const MOUNT: Shapes = {
  type: text('Engine'),
  description: text('For people'),
  accessor: text('Names the mount'),
  uuid: text('Names its data'),
  local: flag('Stays out of replication'),
  seal_wrap: flag('Wrapped by the seal as well'),
  external_entropy_access: flag('May use entropy of the seal'),
  options: nullable(mapOf(text('Option'), 'Options of the engine')),
  plugin_version: text('Empty: built in'),
  running_plugin_version: text('Version of the engine'),
  running_sha256: text('Empty: built in'),
  deprecation_status: optional(text('supported')),
  config: group(
    {
      default_lease_ttl: integer('Seconds; 0: of the system'),
      max_lease_ttl: integer('Seconds; 0: of the system'),
      force_no_cache: flag('Nothing is cached'),
      listing_visibility: optional(text('unauth: listed to everybody')),
      token_type: optional(text('Kind of token a login gives')),
    },
    'Tuning',
  ),
}

export function mountBody(entry: MountEntry, version: string): object {
  const { config } = entry
  return {
    type: entry.type,
    description: entry.description,
    accessor: entry.accessor,
    uuid: entry.uuid,
    local: entry.local,
    seal_wrap: entry.sealWrap,
    external_entropy_access: entry.externalEntropyAccess,
    options: entry.options,
    plugin_version: '',
    running_plugin_version: `v${version}+builtin.keywright`,
    running_sha256: '',
    deprecation_status: 'supported',
    config: {
      default_lease_ttl: config.defaultLeaseTtlSeconds,
      max_lease_ttl: config.maxLeaseTtlSeconds,
      force_no_cache: config.forceNoCache,
      ...(config.listingVisibility === '' ? {} : { listing_visibility: config.listingVisibility }),
      ...(entry.kind === 'auth' ? { token_type: 'default-service' } : {}),
    },
  }
}

const bodyOf = (system: System, entry: MountEntry): object => mountBody(entry, system.facts.reportedVersion)

/** The paths as clients know them: those of login mounts without their 'auth/'. */
function bodies(
  system: System,
  kind: MountEntry['kind'],
  shown: (entry: MountEntry) => boolean,
): Record<string, object> {
  const entries = system.mounts.list().filter((entry) => entry.kind === kind && shown(entry))
  return Object.fromEntries(
    entries.map((entry) => [kind === 'auth' ? entry.path.slice('auth/'.length) : entry.path, bodyOf(system, entry)]),
  )
}

const list = endpoint({
  id: 'mounts-list',
  operation: 'read',
  path: 'mounts',
  capability: 'read',
  body: 'both',
  runsOn: 'any-node',
  summary: 'All mounts by path',
  fields: {},
  response: { [OTHERS]: group(MOUNT, 'Mount') },
  handler: (system: System) => ({ data: bodies(system, 'secret', () => true) }),
})

const folder = (path: string): string => (path.endsWith('/') ? path : `${path}/`)
const pathField = { path: string('Path of the mount', { required: true }) }

const read = endpoint({
  id: 'mounts-read',
  operation: 'read',
  path: 'mounts/:path...',
  capability: 'read',
  body: 'both',
  runsOn: 'any-node',
  summary: 'One mount',
  fields: pathField,
  response: MOUNT,
  handler: (system: System, { path }) => {
    const entry = system.mounts.find(folder(path))
    if (entry === undefined) throw fail('bad_request', [`No secret engine mount at ${folder(path)}`]) // Wire text.
    return { data: bodyOf(system, entry) }
  },
})

const notOffered = 'is not offered yet: leave it out'
const VISIBILITIES = ['', 'unauth', 'hidden']

const mount = endpoint({
  id: 'mounts-mount',
  operation: 'update',
  path: 'mounts/:path...',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Mounts an engine at a path',
  fields: {
    ...pathField,
    type: string('Engine', { default: '' }),
    description: string('For people', { default: '', max: 4_096 }),
    local: bool('Keep out of replication', { default: false }),
    seal_wrap: bool('Wrap by the seal as well', { default: false }),
    external_entropy_access: bool('Use entropy of the seal', { default: false }),
    options: map('Options of the engine'),
    plugin_name: string('Old way to name the engine', { default: '' }),
    plugin_version: string('Only the built-in version is offered', { default: '' }),
    config: object('Tuning', {
      default_lease_ttl: duration('Lifetime of leases where nothing else is said'),
      max_lease_ttl: duration('Longest lifetime of leases'),
      force_no_cache: bool('Nothing is cached', { default: false }),
      listing_visibility: string('unauth: listed to callers without a token', { oneOf: VISIBILITIES, default: '' }),
      audit_non_hmac_request_keys: strings('Fields that audit shows in clear'),
      audit_non_hmac_response_keys: strings('Fields that audit shows in clear'),
      passthrough_request_headers: strings('Headers handed to the engine'),
      allowed_response_headers: strings('Headers the engine may set'),
      allowed_managed_keys: strings('Managed keys the engine may use'),
      plugin_version: string('Only the built-in version is offered', { default: '' }),
    }),
  },
  handler: async (system: System, args) => {
    const type = args.type === 'plugin' || args.type === '' ? args.plugin_name : args.type
    if (type === '') throw fail('field_missing', ['type'])
    refuseUnoffered(args)
    const { config } = args
    const [defaultTtl, maxTtl] = [config?.default_lease_ttl ?? 0, config?.max_lease_ttl ?? 0]
    if (maxTtl > 0 && defaultTtl > maxTtl)
      throw fail('field_invalid', ['config.default_lease_ttl', 'must not be longer than max_lease_ttl'])
    const { random } = system.world
    await system.mounts.mount({
      format: 1,
      uuid: random.uuid(),
      namespace: ROOT_NAMESPACE,
      kind: 'secret',
      path: mountPath(args.path),
      type,
      description: args.description,
      accessor: `${type}_${random.bytes(4).toString('hex')}`,
      options: args.options ?? {},
      local: args.local,
      sealWrap: false,
      externalEntropyAccess: false,
      config: {
        defaultLeaseTtlSeconds: defaultTtl,
        maxLeaseTtlSeconds: maxTtl,
        forceNoCache: config?.force_no_cache ?? false,
        listingVisibility: config?.listing_visibility ?? '',
      },
    })
    return DONE
  },
})

type MountArgs = {
  readonly seal_wrap: boolean
  readonly external_entropy_access: boolean
  readonly plugin_version: string
  readonly config: Readonly<Record<string, unknown>> | undefined
}

/** What would be promised and not kept is refused by name. */
function refuseUnoffered(args: MountArgs): void {
  if (args.seal_wrap) throw fail('field_invalid', ['seal_wrap', notOffered])
  if (args.external_entropy_access) throw fail('field_invalid', ['external_entropy_access', notOffered])
  if (args.plugin_version !== '')
    throw fail('field_invalid', ['plugin_version', 'only the built-in version is offered'])
  for (const name of [
    'audit_non_hmac_request_keys',
    'audit_non_hmac_response_keys',
    'passthrough_request_headers',
    'allowed_response_headers',
    'allowed_managed_keys',
  ]) {
    const value = args.config?.[name]
    if (Array.isArray(value) && value.length > 0) throw fail('field_invalid', [`config.${name}`, notOffered])
  }
}

const MAX_MOUNT_PATH_LENGTH = 128
const PRINTABLE_FROM = 0x21
const PRINTABLE_TO = 0x7e

function mountPath(given: string): string {
  const path = folder(given)
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code < PRINTABLE_FROM || code > PRINTABLE_TO || path[i] === '*' || path[i] === '+') {
      throw fail('field_invalid', ['path', "must be printable ASCII without '*' and '+'"])
    }
  }
  if (path === '/' || path.length > MAX_MOUNT_PATH_LENGTH)
    throw fail('field_invalid', ['path', `must have 1 to ${MAX_MOUNT_PATH_LENGTH} characters`])
  return path
}

const unmount = endpoint({
  id: 'mounts-unmount',
  operation: 'delete',
  path: 'mounts/:path...',
  capability: 'delete',
  runsOn: 'writer',
  summary: 'Removes a mount and all its data; one that is not there is no error',
  fields: pathField,
  handler: async (system: System, { path }) => {
    await system.mounts.unmount(folder(path))
    return DONE
  },
})

const listForUi = endpoint({
  id: 'ui-mounts-list',
  operation: 'read',
  path: 'internal/ui/mounts',
  capability: 'none',
  runsOn: 'any-node',
  summary: 'Mounts that the caller can reach; without a token those that are listed to everybody',
  fields: {},
  response: {
    secret: mapOf(group(MOUNT, 'Mount'), 'Engines by path'),
    auth: mapOf(group(MOUNT, 'Mount'), 'Login methods by path'),
  },
  handler: async (system: System, _args, request) => {
    const { caller } = request
    const acl = caller === undefined ? undefined : await system.policies.acl(caller.policies)
    const shown = (entry: MountEntry): boolean =>
      entry.config.listingVisibility === 'unauth' || (acl?.reaches(entry.path) ?? false)
    return { data: { secret: bodies(system, 'secret', shown), auth: bodies(system, 'auth', shown) } }
  },
})

const readForUi = endpoint({
  id: 'ui-mounts-read',
  operation: 'read',
  path: 'internal/ui/mounts/:path...',
  capability: 'none',
  runsOn: 'any-node',
  summary: 'The mount that serves a path, to a caller who can reach it',
  fields: pathField,
  response: { ...MOUNT, path: text('Path of the mount') },
  handler: async (system: System, { path }, { caller }) => {
    const entry = caller === undefined ? undefined : system.mounts.serving(path)
    const acl = caller === undefined ? undefined : await system.policies.acl(caller.policies)
    if (entry === undefined || acl === undefined || !acl.reaches(entry.path)) throw fail('permission_denied', [])
    return { data: { ...bodyOf(system, entry), path: entry.path } }
  },
})

export const MOUNT_ENDPOINTS: readonly Endpoint[] = [list, read, mount, unmount, listForUi, readForUi]
