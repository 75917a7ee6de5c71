// sys/quotas: rate limits by path, login role, address or entity. How they count: src/quotas/quota.ts. Requests here
// are never counted themselves: a quota that is too low can be lifted (docs/differences.md#telemetry-and-quotas).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, decimal, duration, string, strings } from '../../api/fields.ts'
import type { LoginMethod } from '../../api/login-method.ts'
import { namedThings, pageOf } from '../../api/named-things.ts'
import { type Namespace, pathWithin, ROOT } from '../../api/namespace.ts'
import type { Sight } from '../../api/node-role.ts'
import { DONE } from '../../api/request.ts'
import { flag, integer, listOf, number, text } from '../../api/shape.ts'
import { GROUPINGS, type Grouping, type RateQuota } from '../../quotas/quota.ts'
import { folder, systemMountOf } from '../mount-view.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'mounts' | 'namespaces' | 'quotas' | 'world'>

/** Far above what any server can answer. */
const MAX_RATE = 1_000_000_000
/** A year, for an interval and for a block. */
const MAX_SECONDS = 365 * 86_400
/** Exempt paths: each is compared with the path of every request. */
const MAX_EXEMPT = 1_000

/** The name is the last part of a stored key, and storage bounds the whole key. */
const MAX_NAME_CHARACTERS = 512
const nameField = { name: string('Name of the quota', { required: true, max: MAX_NAME_CHARACTERS }) }

const quotas = namedThings({
  id: 'rate-limit-quota',
  writes: 'set',
  offeredIn: 'root',
  namedMounts: async (system: System, args: { readonly name?: string; readonly path?: string }) => {
    const stored = await system.quotas.find(args.name ?? '')
    const { path = '' } = args
    return [stored && mountOf(system, stored), system.mounts.serving(path, 'shared'), mountAround(system, path)]
  },
  listId: 'rate-limit-quotas-list',
  path: 'quotas/rate-limit',
  name: nameField,
  summaries: {
    list: 'Lists the rate limit quotas',
    read: 'Shows a rate limit quota',
    write: 'Creates a rate limit quota, or changes the fields that are sent',
    delete: 'Deletes a rate limit quota',
  },
  descriptions: {
    write:
      'Only the most specific quota counts a request, in this order: for a role of a login, for a path, for ' +
      'a path prefix, for a mount, for its namespace, for the nearest namespace around that with an inheritable ' +
      'quota. A request over the limit is refused with status 429 and a Retry-After header. All spellings of the ' +
      'same name in a path or of a role count as one. Counts are exact across all threads, and restart when a ' +
      'quota is written.',
  },
  response: {
    type: text('rate-limit'),
    name: text('Name of the quota'),
    path: text('Full path of the namespace, mount or path that the quota applies to; empty: the root namespace'),
    role: text('Role whose logins the quota counts; empty: all requests'),
    rate: number('Number of requests allowed in each interval'),
    interval: integer('Length of the interval, in seconds'),
    block_interval: integer('How long a caller over the limit is refused, in seconds; 0: until the interval ends'),
    group_by: text('How callers are grouped: ip, none, entity_then_ip or entity_then_none'),
    secondary_rate: number('Rate for callers without an entity, if callers are grouped by entity; otherwise 0'),
    inheritable: flag('The quota of a namespace also applies to those below it'),
  },
  fields: {
    path: string(
      'Full path of a namespace, of a mount, or of a path within one, with * at the end to match a prefix; empty: ' +
        'the root namespace',
    ),
    role: string('Count only logins with this role; requires the path of a login mount that has roles'),
    rate: decimal('Number of requests allowed in each interval', { max: MAX_RATE }),
    interval: duration('Length of the interval, in seconds; 1 if unset on a new quota'),
    block_interval: duration('How long a caller over the limit is refused, in seconds; 0: until the interval ends'),
    group_by: string('How callers are grouped; ip if unset on a new quota', { oneOf: GROUPINGS }),
    secondary_rate: decimal(
      'Rate for callers without an entity; requires group_by entity_then_ip or entity_then_none; same as ' +
        'rate if unset on a new quota',
      {
        min: 0,
        max: MAX_RATE,
      },
    ),
    inheritable: bool(
      'Also counts requests in namespaces below, as far as no quota of theirs does; if unset on a new quota, true in ' +
        'the root namespace alone; has no effect for a mount',
    ),
  },
  names: async (system: System, page) => pageOf(await shownNames(system), page),
  find: findShown,
  body: ({ quota, path }: Shown) => bodyOf(quota, path),
  write: async (system: System, name, args, { sight }) => {
    const target = args.path === undefined ? undefined : targetOf(system, args.path, sight)
    if (args.interval !== undefined && (args.interval < 1 || args.interval > MAX_SECONDS))
      throw fail('out_of_range', ['interval', `must be from 1 to ${MAX_SECONDS} seconds`])
    if ((args.block_interval ?? 0) > MAX_SECONDS)
      throw fail('out_of_range', ['block_interval', `must be at most ${MAX_SECONDS} seconds`])
    await system.quotas.write(name, target?.about, (before) => {
      const rate = args.rate ?? before?.rate ?? 0
      if (rate <= 0) throw fail('out_of_range', ['rate', 'must be greater than 0'])
      const groupBy = (args.group_by as Grouping | undefined) ?? before?.groupBy ?? 'ip'
      if ((args.secondary_rate ?? 0) > 0 && !groupBy.startsWith('entity_'))
        throw fail('fields_conflict', ['secondary_rate', 'goes with group_by entity_then_ip or entity_then_none only'])
      const quota: RateQuota = {
        format: 1,
        name,
        // A new id at each write starts the counts anew: they belong to the rate that was written. Differs:
        // docs/differences.md#telemetry-and-quotas.
        id: system.world.random.uuid(),
        ...(target?.place ?? placeOf(before)),
        role: args.role ?? before?.role ?? '',
        rate,
        secondaryRate: args.secondary_rate || before?.secondaryRate || rate,
        intervalSeconds: args.interval ?? before?.intervalSeconds ?? 1,
        blockSeconds: args.block_interval ?? before?.blockSeconds ?? 0,
        groupBy,
        inheritable: args.inheritable ?? before?.inheritable ?? (target?.about ?? ROOT) === ROOT,
      }
      requireRoles(system, quota)
      return quota
    })
    return DONE
  },
  remove: (system: System, name) => system.quotas.delete(name),
})

/** A quota whose mount and namespace are there, and the full path that it is for. */
type Shown = { readonly quota: RateQuota; readonly path: string }

/**
 * A secondary has the quotas of all mounts, whichever of these a filter keeps from it. Those count nothing there, and
 * are shown as little as a quota that goes with its mount.
 */
async function findShown(system: System, name: string): Promise<Shown | undefined> {
  const quota = await system.quotas.find(name)
  const path = quota && pathOf(system, quota)
  return quota === undefined || path === undefined ? undefined : { quota, path }
}

async function shownNames(system: System): Promise<string[]> {
  const names = await system.quotas.names()
  const found = await Promise.all(names.map((name) => findShown(system, name)))
  return names.filter((_, at) => found[at] !== undefined)
}

/** A quota as a read shows it. */
function bodyOf(quota: RateQuota, path: string): object {
  const { role, rate, intervalSeconds, blockSeconds, groupBy, secondaryRate, inheritable } = quota
  return {
    type: 'rate-limit',
    name: quota.name,
    path,
    role,
    rate,
    interval: intervalSeconds,
    block_interval: blockSeconds,
    group_by: groupBy,
    secondary_rate: groupBy.startsWith('entity_') ? secondaryRate : 0,
    inheritable,
  }
}

/** The quota names its mount by UUID, so a mount that is moved keeps its quotas and the path follows. */
function pathOf({ mounts, namespaces }: System, { mount, namespace = ROOT.id, path }: RateQuota): string | undefined {
  if (mount === '') return namespaces.byId(namespace)?.path
  const entry = mounts.all().find(({ uuid }) => uuid === mount)
  return entry && mounts.fullPathOf(entry) + path
}

/** The mount that a quota is for, which may be gone; for that of a namespace, the one that is wherever that is. */
const mountOf = ({ mounts, namespaces }: System, { mount, namespace = ROOT.id }: RateQuota) =>
  mount === '' ? systemMountOf(mounts, namespaces.byId(namespace)) : { uuid: mount }

const mountAround = ({ mounts, namespaces }: System, path: string) =>
  systemMountOf(mounts, namespaces.around(folder(path)))

/** What a quota counts, as it is stored. */
type Place = Pick<RateQuota, 'mount' | 'namespace' | 'path'>

const placeOf = ({ mount = '', namespace, path = '' }: Partial<Place> = {}): Place => ({
  mount,
  path,
  ...(namespace === undefined ? {} : { namespace }),
})

/**
 * The namespace, the mount or the path in a mount that a quota is for, and the namespace around it. The path is the
 * full one. @throws Refusal where there is no mount
 */
function targetOf(
  { mounts, namespaces }: System,
  path: string,
  sight: Sight,
): { readonly place: Place; readonly about: Namespace } {
  const plain = path === 'root' || path === 'root/' || path === '*' ? '' : path
  if (plain === '') return { place: placeOf(), about: ROOT }
  const folder = plain.endsWith('/') ? plain : `${plain}/`
  const about = namespaces.around(folder)
  if (folder === about.path && !about.isGoing) return { place: placeOf({ namespace: about.id }), about }
  const mount = mounts.serving(plain, sight)
  // Wire text.
  if (mount === undefined) throw fail('field_invalid', ['path', `invalid mount path "${pathWithin(about, folder)}"`])
  return { place: placeOf({ mount: mount.uuid, path: plain.slice(mounts.fullPathOf(mount).length) }), about }
}

/** @throws Refusal for a quota by role if its mount has no roles, or it is for a path inside the mount */
function requireRoles(system: System, { mount, path, role }: RateQuota): void {
  if (role === '') return
  const engine = system.mounts.engineOf(mount) as Partial<LoginMethod> | undefined
  if (engine?.roleOf === undefined || path !== '')
    throw fail('field_invalid', ['role', 'the path must be a login mount whose method has roles'])
}

const readConfig = endpoint({
  id: 'quotas-config-read',
  operation: 'read',
  path: 'quotas/config',
  capability: 'read',
  offeredIn: 'root',
  runsOn: 'any-node',
  summary: 'Shows the settings for all quotas',
  fields: {},
  response: {
    rate_limit_exempt_paths: listOf(text('Path'), 'Full paths that no quota counts'),
    enable_rate_limit_response_headers: flag('Responses have X-RateLimit-… headers'),
    enable_rate_limit_audit_logging: flag('Requests refused by a quota are recorded in the audit log'),
  },
  handler: async (system: System) => {
    const { exemptPaths, responseHeaders, auditsRefusals } = await system.quotas.config()
    return {
      data: {
        rate_limit_exempt_paths: exemptPaths,
        enable_rate_limit_response_headers: responseHeaders,
        enable_rate_limit_audit_logging: auditsRefusals,
      },
    }
  },
})

const writeConfig = endpoint({
  id: 'quotas-config-write',
  operation: 'update',
  path: 'quotas/config',
  capability: 'update',
  offeredIn: 'root',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Changes the settings for all quotas',
  fields: {
    rate_limit_exempt_paths: strings('Full paths that no quota counts; * at the end matches a prefix'),
    enable_rate_limit_response_headers: bool('Adds X-RateLimit-… headers to responses'),
    enable_rate_limit_audit_logging: bool(
      'Records refused requests in the audit log; each refusal then costs as much as any recorded request',
    ),
  },
  handler: async (system: System, args) => {
    const { rate_limit_exempt_paths: exempt, enable_rate_limit_response_headers: headers } = args
    if (exempt !== undefined && exempt.length > MAX_EXEMPT)
      throw fail('out_of_range', ['rate_limit_exempt_paths', `has at most ${MAX_EXEMPT} paths`])
    await system.quotas.configure((before) => ({
      ...before,
      exemptPaths: exempt ?? before.exemptPaths,
      responseHeaders: headers ?? before.responseHeaders,
      auditsRefusals: args.enable_rate_limit_audit_logging ?? before.auditsRefusals,
    }))
    return {}
  },
})

/** Quotas by name, and the settings of all. */
export const QUOTA_ENDPOINTS: readonly Endpoint<System>[] = [...quotas, readConfig, writeConfig]
