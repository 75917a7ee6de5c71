// sys/policies/acl and its older twin sys/policy: the same operations with other member names, so each names the other
// as its twin: what a rule denies at one is denied at the other (docs/differences.md#tokens-and-policies).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, duration, int, string } from '../../api/fields.ts'
import { orNotFound, PAGE_FIELDS, type Page } from '../../api/named-things.ts'
import { type Namespace, ROOT } from '../../api/namespace.ts'
import type { Answer } from '../../api/request.ts'
import { flag, integer, LISTED, listOf, optional, type Shapes, text } from '../../api/shape.ts'
import { keptPolicyName } from '../../api/spelling.ts'
import { UNEDITABLE_POLICIES } from '../../auth/builtin-policies.ts'
import { normalizePolicyName, PolicyError, parsePolicyDocument } from '../../auth/policy.ts'
import type { StoredPolicy } from '../../auth/policy-store.ts'
import { parseInstantMs } from '../../lib/instant.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'policies' | 'world'>

const nameField = {
  name: string('Name of the policy; stored in lower case', { required: true, canonical: keptPolicyName }),
}

/** Runs `work` and turns its errors about a policy's name or text into a Refusal that says which of them. */
function checked<T>(field: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof PolicyError)
      throw fail('policy_invalid', [`failed to parse ${field}: ${cause.message}`], cause)
    throw cause
  }
}

const MAX_NAME_LENGTH = 128

/** The folded name, by which the policy is stored and looked up alike (threats I-01). @throws Refusal */
function nameOf(given: string): string {
  const name = checked('name', () => normalizePolicyName(given))
  requireSegments(name)
  if (name !== '' && name.length <= MAX_NAME_LENGTH) return name
  throw fail('field_invalid', ['name', `must have 1 to ${MAX_NAME_LENGTH} characters`])
}

/**
 * @throws Refusal for a name that no stored key can have. The pipeline checked the segments of the path, but folding
 * trims the name afterwards, which can make new ones.
 */
function requireSegments(name: string): void {
  if (name !== '' && name.split('/').some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw fail('field_invalid', ['name', 'must not have empty, "." or ".." segments'])
}

/** The record of `root`, which is in the root alone: it has no text, because it is no set of rules. */
const NOTHING_WRITTEN: StoredPolicy = {
  text: '',
  version: 0,
  modifiedAtMs: undefined,
  casRequired: false,
  expiresAtMs: undefined,
}

/** The policy as it is stored, under its folded name. @throws Refusal `not_found` */
async function find(
  system: System,
  { id }: Namespace,
  given: string,
): Promise<StoredPolicy & { readonly name: string }> {
  const name = nameOf(given)
  if (name === 'root') return { name, ...orNotFound(id === ROOT.id ? NOTHING_WRITTEN : undefined) }
  const found = orNotFound(await system.policies.read(id, name))
  return { name, ...found }
}

/** What a write may demand beyond the text: the version that it replaces, and when the policy ends. */
type Conditions = {
  readonly cas?: number | undefined
  readonly cas_required?: boolean | undefined
  readonly expiration?: string
  readonly ttl?: number
}

/**
 * Stores a policy. Warnings say what the caller may not expect: a folded name, or an expiration that is gone.
 * @throws Refusal for a text that does not parse, a built-in policy, or a version that is not the stored one
 */
async function write(
  system: System,
  { id }: Namespace,
  given: string,
  document: string,
  { cas, cas_required: casRequired, ...end }: Conditions = {},
): Promise<Answer> {
  if (document === '') throw fail('field_missing', ['policy', "'policy' parameter not supplied or empty"])
  const name = nameOf(given)
  if (UNEDITABLE_POLICIES.has(name)) throw fail('part_of_server', [`cannot update "${name}" policy`])
  const policy = checked('policy', () => parsePolicyDocument(document))
  const expiresAtMs = endOf(system, name, end)
  // Read only for the warning below; the version is compared inside the transaction of the write.
  const before = await system.policies.read(id, name)
  if (!(await system.policies.write(id, name, { text: policy.text, cas, casRequired, expiresAtMs }))) {
    const why =
      cas === undefined
        ? 'must be given for this policy: the version that is replaced'
        : 'is not the version of the policy: read it again'
    throw fail('field_invalid', ['cas', why])
  }
  const warnings = [...policy.warnings]
  if (name !== given) warnings.unshift(`policy name was converted to ${name}`)
  if (before?.expiresAtMs !== undefined && expiresAtMs === undefined)
    warnings.push('the policy had an expiration, and has none any more: give ttl or expiration to set one')
  return { warnings }
}

/** RFC 3339 section 5.6: a year has four digits. */
const LAST_END_MS = Date.UTC(9999, 11, 31)

/** When the policy ends; undefined if it stays. @throws Refusal */
function endOf(system: System, name: string, { expiration = '', ttl = 0 }: Conditions): number | undefined {
  if (expiration === '' && ttl === 0) return undefined
  const field = expiration === '' ? 'ttl' : 'expiration'
  if (expiration !== '' && ttl !== 0) throw fail('fields_conflict', ['ttl', 'give either ttl or expiration'])
  // It would be unclear what counts afterwards: the built-in text, or nothing.
  if (name === 'default') throw fail('field_invalid', [field, 'the policy "default" always exists'])
  const nowMs = system.world.clock.nowMs()
  const atMs = ttl === 0 ? parseInstantMs(expiration) : nowMs + ttl * 1000
  if (atMs === undefined)
    throw fail('field_invalid', [field, 'must be a time such as 2030-01-31T00:00:00Z, or seconds since 1970'])
  if (atMs <= nowMs || atMs > LAST_END_MS) throw fail('out_of_range', [field, 'must be in the future, until 9999'])
  return atMs
}

/** Removes a policy. @throws Refusal for built-in ones, which tokens rely on */
async function remove(system: System, { id }: Namespace, given: string): Promise<Answer> {
  const name = nameOf(given)
  if (UNEDITABLE_POLICIES.has(name) || name === 'default')
    throw fail('part_of_server', [`cannot delete "${name}" policy`])
  await system.policies.delete(id, name)
  return {}
}

/** One page of names. `root` always comes last, as clients know it; it is stored nowhere. */
async function page(system: System, { id }: Namespace, { after, limit }: Page): Promise<string[]> {
  const comesAfter = (name: string): boolean => after !== 'root' && (name === 'root' || name > after)
  const names = (await system.policies.list(id)).filter(comesAfter)
  if (names.length === 0) throw fail('not_found', [])
  return limit > 0 ? names.slice(0, limit) : names
}

/** Names in the path of a request. */
type Names = Readonly<Record<string, string>>
const ACL = { twins: ({ name }: Names) => [name === undefined ? 'policies/acl' : `policies/acl/${name}`] }
const OLD = { twins: ({ name }: Names) => [name === undefined ? 'policy' : `policy/${name}`] }

const listAcl = endpoint({
  id: 'policies-list',
  operation: 'list',
  path: 'policies/acl',
  ...OLD,
  capability: 'list',
  runsOn: 'any-node',
  summary: 'Lists the policies',
  fields: PAGE_FIELDS,
  response: LISTED,
  handler: async (system: System, args, { namespace }) => ({ data: { keys: await page(system, namespace, args) } }),
})

const readAcl = endpoint({
  id: 'policies-read',
  operation: 'read',
  path: 'policies/acl/:name...',
  ...OLD,
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows a policy',
  fields: nameField,
  response: {
    name: text('Name of the policy'),
    policy: text('Text of the policy in HCL or JSON, as written'),
    version: integer('Version, incremented with each write; 0: built in, or written before versions were counted'),
    modified: optional(text('Time of the last write (RFC 3339), if known')),
    cas_required: flag('Writes must send cas, the version that they replace'),
    expiration: optional(text('Expiration time (RFC 3339), if the policy expires')),
  },
  handler: async (system: System, given, { namespace }) => {
    const {
      name,
      text: policy,
      version,
      modifiedAtMs,
      casRequired,
      expiresAtMs,
    } = await find(system, namespace, given.name)
    const modified = modifiedAtMs === undefined ? {} : { modified: new Date(modifiedAtMs).toISOString() }
    const expiration = expiresAtMs === undefined ? {} : { expiration: new Date(expiresAtMs).toISOString() }
    return { data: { name, policy, version, ...modified, cas_required: casRequired, ...expiration } }
  },
})

const endFields = {
  expiration: string('Expiration time (RFC 3339 or Unix time in seconds); empty: never expires', { default: '' }),
  ttl: duration('Time until the policy expires, in seconds; alternative to expiration; 0: never expires', {
    default: 0,
  }),
}

const writeAcl = endpoint({
  id: 'policies-write',
  operation: 'update',
  path: 'policies/acl/:name...',
  ...OLD,
  capability: 'update',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Creates or replaces a policy',
  fields: {
    ...nameField,
    policy: string('Text of the policy in HCL or JSON, optionally base64-encoded', { default: '' }),
    cas: int('Check-and-set: writes only if this is the current version; -1: only if the policy does not exist', {
      min: -1,
    }),
    cas_required: bool('Requires cas on later writes; if unset, unchanged'),
    ...endFields,
  },
  // The name as it was sent, so that a warning can say that it was folded.
  handler: (system: System, { name, policy, ...conditions }, { givenNames, namespace }) =>
    write(system, namespace, givenNames?.name ?? name, policy, conditions),
})

const deleteAcl = endpoint({
  id: 'policies-delete',
  operation: 'delete',
  path: 'policies/acl/:name...',
  ...OLD,
  capability: 'delete',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Deletes a policy; an unknown policy is not an error',
  fields: nameField,
  handler: (system: System, { name }, { namespace }) => remove(system, namespace, name),
})

const OLD_LIST: Shapes = { ...LISTED, policies: listOf(text('Name'), 'Same as keys') }

/** The list at the older path, where a read lists as well. */
const listOld = (operation: 'read' | 'list') =>
  endpoint({
    id: `policy-${operation}`,
    operation,
    path: 'policy',
    ...ACL,
    capability: operation,
    body: 'both',
    runsOn: 'any-node',
    summary: 'Lists the policies, for old clients',
    fields: PAGE_FIELDS,
    response: OLD_LIST,
    handler: async (system: System, args, { namespace }) => {
      const keys = await page(system, namespace, args)
      return { data: { keys, policies: keys } }
    },
  })

const readOld = endpoint({
  id: 'policy-read-one',
  operation: 'read',
  path: 'policy/:name...',
  ...ACL,
  capability: 'read',
  body: 'both',
  runsOn: 'any-node',
  summary: 'Shows a policy, for old clients',
  fields: nameField,
  response: { name: text('Name of the policy'), rules: text('Text of the policy in HCL or JSON, as written') },
  handler: async (system: System, { name }, { namespace }) => {
    const found = await find(system, namespace, name)
    return { data: { name: found.name, rules: found.text } }
  },
})

const writeOld = endpoint({
  id: 'policy-write',
  operation: 'update',
  path: 'policy/:name...',
  ...ACL,
  capability: 'update',
  body: 'both',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Creates or replaces a policy, for old clients',
  fields: {
    ...nameField,
    policy: string('Text of the policy in HCL or JSON, optionally base64-encoded', { default: '' }),
    rules: string('Deprecated: use policy', { aliasOf: 'policy', default: '' }),
    ...endFields,
  },
  handler: async (system: System, { name: kept, policy, rules, ...end }, { givenNames, namespace }) => {
    const name = givenNames?.name ?? kept
    if (policy !== '' || rules === '') return write(system, namespace, name, policy, end)
    const answer = await write(system, namespace, name, rules, end)
    return { ...answer, warnings: [...(answer.warnings ?? []), "'rules' is deprecated, please use 'policy' instead"] }
  },
})

const deleteOld = endpoint({
  id: 'policy-delete',
  operation: 'delete',
  path: 'policy/:name...',
  ...ACL,
  capability: 'delete',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Deletes a policy, for old clients',
  fields: nameField,
  handler: (system: System, { name }, { namespace }) => remove(system, namespace, name),
})

/** Both families. The older one can be listed by a read too. */
export const POLICY_ENDPOINTS: readonly Endpoint<System>[] = [
  listAcl,
  readAcl,
  writeAcl,
  deleteAcl,
  listOld('read'),
  listOld('list'),
  readOld,
  writeOld,
  deleteOld,
]
