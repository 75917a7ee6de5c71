// sys/policies/explain and explain-self: which rule of which policy decides about a request, without making it. Only
// the policies count: the answer does not depend on whether the path leads anywhere or the thing exists.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { anyObject, duration, string, strings } from '../../api/fields.ts'
import { type Namespace, pathWithin } from '../../api/namespace.ts'
import type { Answer } from '../../api/request.ts'
import { flag, group, integer, listOf, nullable, optional, type Shapes, text } from '../../api/shape.ts'
import type { RuleRole } from '../../auth/explain.ts'
import { deniedAtTwin, refusedByName } from '../../auth/named-paths.ts'
import type { AclReason, AclRequest } from '../../auth/permissions.ts'
import { normalizePolicyName, PolicyError } from '../../auth/policy.ts'
import { policyNamesOf, type Rights } from '../../auth/rights.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'mounts' | 'namespaces' | 'needsSudo' | 'policies' | 'rightsOf' | 'tokens'>

/** Operations as rules name them, not methods of HTTP: `create` and `update` are both a POST. */
const OPERATIONS = ['create', 'read', 'update', 'delete', 'list', 'patch', 'scan'] as const
type Asked = (typeof OPERATIONS)[number]
/** The endpoint operation that each policy operation is routed by. */
const METHOD = {
  create: 'update',
  read: 'read',
  update: 'update',
  delete: 'delete',
  list: 'list',
  patch: 'patch',
  scan: 'scan',
} as const

const requestFields = {
  path: string('Path of the request, without /v1/', { required: true, max: 4_096 }),
  operation: string('Operation; a POST is a create if the path has no entry yet, otherwise an update', {
    required: true,
    oneOf: OPERATIONS,
  }),
  parameters: anyObject('Parameters of the request; rules can allow or deny parameters and their values', {
    secret: true,
  }),
  wrap_ttl: duration('Value of X-Vault-Wrap-TTL, in seconds; 0: the response is not wrapped', { default: 0 }),
}

/** Where a rule stands, so that its author finds it. */
const RULE: Shapes = {
  policy: text('Name of the policy'),
  namespace: optional(text('Path of the namespace of the policy; absent for the root namespace')),
  path: text('Path of the rule, as written in the policy'),
  line: integer('Line of the policy text on which the rule begins, counted from 1'),
}

const EXPLANATION: Shapes = {
  allowed: flag('The policies allow the request'),
  reason: text('Reason for the decision, as a keyword'),
  explanation: text('Reason for the decision, as a sentence'),
  path: text('Path that was sent'),
  operation: text('Operation that was sent'),
  needed: listOf(text('Capability'), 'Capabilities that the request needs on the path'),
  rule: nullable(group(RULE, 'Rule that decides; null if no rule matches the path, and for root')),
  considered: listOf(
    group({ ...RULE, why: text('Role of the rule in the decision') }, 'Rule'),
    'Rules that match the path, at most 50; the rule that decides is first',
  ),
  omitted: integer('Number of matching rules that are not listed'),
}

/** Sentences for `explanation`; the type makes sure that none is missing. They tell nothing of what exists. */
const REASONS: Readonly<Record<AclReason, string>> = {
  root: 'The policy "root" allows everything',
  help: 'Help is open to every token',
  granted: 'The rule grants it',
  'no-rule': 'No rule is about the path, and what no rule allows is denied',
  'denied-by-rule': 'The rule denies the path, or its wrapping limits contradict each other',
  'capability-missing': 'The rule does not grant the capability; rules that are less specific do not count',
  'sudo-missing': 'The path needs "sudo" as well, and the rule does not grant it',
  'wrapping-required': 'The rule asks for a wrapped response',
  'wrapping-ttl-too-long': 'The wrapping lives longer than the rule allows',
  'wrapping-ttl-too-short': 'The wrapping lives shorter than the rule asks for',
  'page-limit': 'The list asks for more names at once than the rule allows',
  'parameter-required': 'A parameter that the rule requires is missing',
  'parameter-denied': 'The rule denies a parameter or its value',
  'parameter-not-allowed': 'A parameter, or its value, is not among those that the rule allows',
}

/** Sentences for `why`: what part each rule about the path plays. */
const ROLES: Readonly<Record<RuleRole, string>> = {
  decides: 'decides',
  joined: 'has the same path as the rule that decides, and is joined with it',
  'less-specific': 'is less specific than the rule that decides',
  expired: 'has expired',
  'policy-expired': 'belongs to a policy that has expired',
  'no-value': 'is left out: the identity of the token has no value for the template in its path',
  'unsafe-value': 'is left out: the value for the template in its path has a wildcard, a slash or a control character',
}

type Args = {
  readonly path: string
  readonly operation: string
  readonly parameters: JsonObject | undefined
  readonly wrap_ttl: number
}

/**
 * Explains a request in the steps of the pipeline: the path itself, then other paths that do the same, then paths that
 * its parameters name. The first refusal is explained, as it would be answered.
 */
async function explain(
  system: System,
  namespace: Namespace,
  { policies, subject }: Rights,
  args: Args,
): Promise<Answer> {
  const operation = args.operation as Asked
  const { path, spelling } = system.mounts.spelled(namespace.path + canonical(args.path))
  const routed = system.mounts.routed(path, METHOD[operation])
  const request: AclRequest = {
    operation,
    path,
    spelling,
    parameters: args.parameters,
    declared: routed?.endpoint,
    wrapTtlSeconds: args.wrap_ttl,
    sudoRequired: system.needsSudo(pathWithin(system.namespaces.around(path), path), operation),
  }
  const ofPath = await system.policies.explain(policies, request, subject)
  let named: AclRequest | undefined
  let twin: AclRequest | undefined
  if (ofPath.allowed && routed !== undefined) {
    const acl = await system.policies.acl(policies, subject)
    const asked = system.namespaces.around(path)
    const naming = { ...routed, namespace: asked, path, input: args.parameters ?? {}, wrapTtlSeconds: args.wrap_ttl }
    twin = deniedAtTwin(naming, operation, acl, system)
    named = twin === undefined ? refusedByName(naming, acl, system) : undefined
  }
  const other = twin ?? named
  const also = twin === undefined ? 'The parameters name' : 'The same is done by'
  const decisive = other === undefined ? ofPath : await system.policies.explain(policies, other, subject)
  const { allowed, reason, needed, rule, considered, omitted } = decisive
  const data = {
    allowed,
    reason,
    explanation: (other === undefined ? '' : `${also} ${pathWithin(namespace, other.path)}, too. `) + REASONS[reason],
    path: args.path,
    operation,
    needed,
    rule: rule ?? null,
    considered: considered.map(({ role, ...reference }) => ({ ...reference, why: ROLES[role] })),
    omitted,
  }
  return { data }
}

/** The path as policies see it. @throws Refusal for one that the pipeline refuses before it asks the policies */
function canonical(path: string): string {
  const plain = path.startsWith('/') ? path.slice(1) : path
  const segments = plain.split('/')
  const isRelative = segments.some((segment) => segment === '.' || segment === '..')
  if (plain === '' || isRelative || segments.slice(0, -1).includes(''))
    throw fail('field_invalid', ['path', 'must be a path without empty, "." and ".." segments'])
  return plain
}

const ofSelf = endpoint({
  id: 'policies-explain-self',
  operation: 'update',
  path: 'policies/explain-self',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Explains which rule decides a request of the calling token',
  describe:
    'The explanation does not tell whether the path leads anywhere or the object exists. For the ' +
    'capabilities of a token use sys/capabilities-self.',
  fields: requestFields,
  response: EXPLANATION,
  handler: async (system: System, args, { caller, namespace }) => {
    if (caller === undefined) throw fail('permission_denied', [])
    return explain(system, namespace, await system.rightsOf(caller.entry), args)
  },
})

const ofAny = endpoint({
  id: 'policies-explain',
  operation: 'update',
  path: 'policies/explain',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Explains which rule decides a request of a token, or a request under a list of policies',
  describe: 'Send one of token, accessor and policies; without any of them the calling token is used.',
  fields: {
    token: string('The token', { default: '', secret: true }),
    accessor: string('Accessor of the token', { default: '' }),
    policies: strings('Names of policies, as if attached to a token'),
    ...requestFields,
  },
  response: EXPLANATION,
  handler: async (system: System, args, { caller, namespace }) => {
    const given = [args.token !== '', args.accessor !== '', args.policies !== undefined].filter(Boolean).length
    if (given > 1) throw fail('fields_conflict', ['Give only one of token, accessor and policies'])
    if (args.policies !== undefined) {
      const policies = policyNamesOf(namespace.id, policyNames(args.policies))
      return explain(system, namespace, { policies, subject: undefined }, args)
    }
    if (given === 0 && caller !== undefined)
      return explain(system, namespace, await system.rightsOf(caller.entry), args)
    const isAccessor = args.token === ''
    const found = await (isAccessor ? system.tokens.findByAccessor(args.accessor) : system.tokens.find(args.token))
    // An accessor leads to a token in its own namespace alone.
    if (found === undefined || (isAccessor && found.entry.namespace !== namespace.id))
      throw fail('no_such_token', [isAccessor ? 'invalid accessor' : 'invalid token'])
    return explain(system, namespace, await system.rightsOf(found.entry), args)
  },
})

/** A bound on the work of one call: each policy is read and parsed. */
const MOST_POLICIES = 200

/** Names as a token would carry them: folded, sorted, each once; `root` stands alone. @throws Refusal */
function policyNames(given: readonly string[]): string[] {
  if (given.length > MOST_POLICIES) throw fail('out_of_range', ['policies', `must have at most ${MOST_POLICIES} names`])
  try {
    const names = new Set(given.map(normalizePolicyName).filter((name) => name !== ''))
    return names.has('root') ? ['root'] : [...names].sort()
  } catch (cause) {
    if (cause instanceof PolicyError) throw fail('field_invalid', ['policies', cause.message], cause)
    throw cause
  }
}

/** For the caller's own token, and for any token or list of policies. */
export const EXPLAIN_ENDPOINTS: readonly Endpoint<System>[] = [ofSelf, ofAny]
