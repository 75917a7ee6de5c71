// sys/quotas: rate limits by path, login role, address or entity. How they count: src/quotas/quota.ts. Requests here
// are never counted themselves: a quota that is too low can be lifted (docs/differences.md#telemetry-and-quotas).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, decimal, duration, string, strings } from '../../api/fields.ts'
import type { LoginMethod } from '../../api/login-method.ts'
import { namedThings, pageOf } from '../../api/named-things.ts'
import { DONE } from '../../api/request.ts'
import { flag, integer, listOf, number, text } from '../../api/shape.ts'
import { GROUPINGS, type Grouping, type RateQuota } from '../../quotas/quota.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'mounts' | 'quotas' | 'world'>

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
  listId: 'rate-limit-quotas-list',
  path: 'quotas/rate-limit',
  name: nameField,
  summaries: {
    list: 'Names of the quotas',
    read: 'A quota',
    write: 'Makes or changes a quota',
    delete: 'Removes a quota',
  },
  descriptions: {
    write:
      'The most specific quota alone counts a request: one for a role of a login before one for a path, that before ' +
      'one for the beginning of a path, that before one for a mount, and that before one for everything. What it ' +
      'refuses is answered with 429 and Retry-After. A name in a path, or of a role, is counted in every spelling ' +
      'that means the same. Counts are exact over all threads, and begin anew when a quota is written.',
  },
  response: {
    type: text('rate-limit'),
    name: text('Name'),
    path: text('What it counts requests to; empty: everything'),
    role: text('Role of the logins that it counts; empty: it counts everything'),
    rate: number('Requests in each interval'),
    interval: integer('Seconds'),
    block_interval: integer('Seconds; 0: nobody is refused beyond the interval'),
    group_by: text('By whom requests are counted'),
    secondary_rate: number('The rate of those without an entity, where they are counted for themselves'),
    inheritable: flag('Counts in namespaces below, too'),
  },
  fields: {
    path: string('A mount, or a path in one, with * at the end for all that begin so; empty: everything'),
    role: string('Only logins with this role; the path is a login mount that has roles'),
    rate: decimal('Requests in each interval', { max: MAX_RATE }),
    interval: duration('How long an interval is; a second where nothing was said'),
    block_interval: duration('How long who exceeds it is refused; 0: until the interval is over'),
    group_by: string('By whom requests are counted: ip where nothing was said', { oneOf: GROUPINGS }),
    secondary_rate: decimal('The rate of those without an entity; only with group_by entity_then_…', {
      min: 0,
      max: MAX_RATE,
    }),
    inheritable: bool('Of a quota for everything: true, where there are no namespaces'),
  },
  names: async (system: System, page) => pageOf(await system.quotas.names(), page),
  find: (system: System, name) => system.quotas.find(name),
  body: (quota: RateQuota, _name, system: System) => shown(system, quota),
  write: async (system: System, name, args) => {
    const target = args.path === undefined ? undefined : targetOf(system, args.path)
    if (args.interval !== undefined && (args.interval < 1 || args.interval > MAX_SECONDS))
      throw fail('out_of_range', ['interval', `must be from 1 to ${MAX_SECONDS} seconds`])
    if ((args.block_interval ?? 0) > MAX_SECONDS)
      throw fail('out_of_range', ['block_interval', `must be at most ${MAX_SECONDS} seconds`])
    await system.quotas.write(name, (before) => {
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
        mount: target?.mount ?? before?.mount ?? '',
        path: target?.path ?? before?.path ?? '',
        role: args.role ?? before?.role ?? '',
        rate,
        secondaryRate: args.secondary_rate || before?.secondaryRate || rate,
        intervalSeconds: args.interval ?? before?.intervalSeconds ?? 1,
        blockSeconds: args.block_interval ?? before?.blockSeconds ?? 0,
        groupBy,
        inheritable: args.inheritable ?? before?.inheritable ?? true,
      }
      requireRoles(system, quota)
      return quota
    })
    return DONE
  },
  remove: (system: System, name) => system.quotas.delete(name),
})

/** A quota as a read shows it. */
function shown(system: System, quota: RateQuota): object {
  const { mount, path, role, rate, intervalSeconds, blockSeconds, groupBy, secondaryRate, inheritable } = quota
  // The quota names its mount by UUID, so a mount that is moved keeps its quotas and the path follows.
  const mountPath = system.mounts.list().find(({ uuid }) => uuid === mount)?.path ?? ''
  return {
    type: 'rate-limit',
    name: quota.name,
    path: mountPath + path,
    role,
    rate,
    interval: intervalSeconds,
    block_interval: blockSeconds,
    group_by: groupBy,
    secondary_rate: groupBy.startsWith('entity_') ? secondaryRate : 0,
    inheritable,
  }
}

/** The mount that a quota is for, and the path in it; both are empty for everything. @throws Refusal without a mount */
function targetOf(system: System, path: string): { readonly mount: string; readonly path: string } {
  const plain = path === 'root' || path === 'root/' || path === '*' ? '' : path
  if (plain === '') return { mount: '', path: '' }
  const mount = system.mounts.serving(plain)
  if (mount === undefined) throw fail('field_invalid', ['path', 'no mount is there'])
  return { mount: mount.uuid, path: plain.slice(mount.path.length) }
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
  runsOn: 'any-node',
  summary: 'What counts for all quotas',
  fields: {},
  response: {
    rate_limit_exempt_paths: listOf(text('Path'), 'What no quota counts'),
    enable_rate_limit_response_headers: flag('X-RateLimit- headers tell callers what is left'),
    enable_rate_limit_audit_logging: flag('What a quota refuses is recorded in the audit'),
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
  runsOn: 'writer',
  summary: 'Changes what counts for all quotas',
  fields: {
    rate_limit_exempt_paths: strings('Paths that no quota counts, with * at the end for all that begin so'),
    enable_rate_limit_response_headers: bool('Tells callers what is left, in X-RateLimit- headers'),
    enable_rate_limit_audit_logging: bool(
      'Records what a quota refuses: each refusal then costs as much as a request that is recorded',
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
