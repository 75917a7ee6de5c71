// Explains which rule decides about a request, and why the others do not: for the authors of policies. It goes through
// all rules one by one, so it is slow; requests themselves are decided by acl.ts.
import { ROOT_ID } from '../api/namespace.ts'
import { foldedPattern } from '../api/spelling.ts'
import { buildAcl } from './acl.ts'
import type { PolicyCapability } from './capabilities.ts'
import { checkParameters } from './parameter-rules.ts'
import { isAbout } from './path-tree.ts'
import { type AclReason, type AclRequest, capabilityFor, type RuleOrigin } from './permissions.ts'
import type { Policy, PolicyRule } from './policy.ts'
import { fillPattern, type PathKind, type TemplateResolver, type UnfilledReason } from './policy-path.ts'

/** Names one `path` block of a policy, as an author can find it. */
export type RuleReference = {
  readonly policy: string
  /** Path of the policy's namespace; absent for the root. */
  readonly namespace?: string
  /** The path as the policy spells it, templates included. */
  readonly path: string
  readonly line: number
}

/** Why a rule about the path does or does not count. `joined` means that it has the same path as the deciding rule. */
export type RuleRole = 'decides' | 'joined' | 'less-specific' | 'expired' | 'policy-expired' | UnfilledReason

/** A rule about the requested path, with the part it plays in the decision. */
export type ConsideredRule = RuleReference & { readonly role: RuleRole }

/** The answer of `explainAccess`: the verdict of `Acl.check`, and the rules behind it. */
export type Explanation = {
  readonly allowed: boolean
  readonly reason: AclReason
  /** The capabilities that the request takes, sorted. */
  readonly needed: readonly PolicyCapability[]
  /** The deciding rule. Undefined if no rule is about the path, and for root and help, which need none. */
  readonly rule: RuleReference | undefined
  /** The deciding rule first, then those joined with it, then the others in the order of the policies. */
  readonly considered: readonly ConsideredRule[]
  /** Number of rules left out because `considered` is full. */
  readonly omitted: number
}

/** Rules listed in one answer: enough for an author, and a bound for a token with thousands of rules. */
const MOST_CONSIDERED = 50

/** A rule about the requested path, before the deciding one is known. */
type Candidate = { readonly rule: PolicyRule; readonly reference: RuleReference; readonly role: RuleRole }

/**
 * Explains the decision about `request`, which is the same as that of `Acl.check` at `nowMs`.
 * @throws PolicyError if `root` is not the only policy.
 */
export function explainAccess(
  policies: readonly Policy[],
  request: AclRequest,
  resolve: TemplateResolver | undefined,
  nowMs: number,
): Explanation {
  const acl = buildAcl(policies, resolve, nowMs)
  const { allowed, reason } = acl.check(request)
  const needed = neededFor(request)
  const candidates = candidatesFor(policies, acl.placeOf(request), request, resolve, nowMs)
  const joined = candidates.filter(({ role }) => role === 'joined')
  const decisive = decisiveOf(joined, reason, request)
  const ordered = [
    ...(decisive === undefined ? [] : [{ ...decisive, role: 'decides' as const }]),
    ...joined.filter((one) => one !== decisive),
    ...candidates.filter(({ role }) => role !== 'joined'),
  ]
  const considered = ordered.slice(0, MOST_CONSIDERED).map(({ reference, role }) => ({ ...reference, role }))
  return {
    allowed,
    reason,
    needed,
    rule: decisive?.reference,
    considered,
    omitted: ordered.length - considered.length,
  }
}

/** Returns the capabilities that an operation takes, sorted. */
export function neededFor({ operation, sudoRequired }: AclRequest): readonly PolicyCapability[] {
  const capability = capabilityFor(operation)
  if (capability === undefined) return []
  return sudoRequired === true ? [capability, 'sudo' as const].toSorted() : [capability]
}

/** Returns every rule about the path. Those that make up the decision have the role `joined`. */
function candidatesFor(
  policies: readonly Policy[],
  deciding: RuleOrigin | undefined,
  request: AclRequest,
  resolve: TemplateResolver | undefined,
  nowMs: number,
): Candidate[] {
  const paths = askedPaths(request)
  const found: Candidate[] = []
  for (const { name, namespace = '', namespaceId = ROOT_ID, rules, expiresAtMs: policyEndMs } of policies) {
    const isPolicyOver = isPast(policyEndMs, nowMs)
    for (const rule of rules) {
      const within = namespace === '' ? {} : { namespace }
      const reference = { policy: name, ...within, path: rule.pathText, line: rule.line }
      const filled = fillPattern(rule.path, resolve, namespaceId)
      const { kind } = rule.path
      if ('unfilled' in filled) {
        if (mayBeAbout(rule, namespace, paths)) found.push({ rule, reference, role: filled.unfilled })
        continue
      }
      const pattern = keptPattern(request, namespace + filled.text, kind)
      if (pattern === undefined || !paths.some((path) => isAbout({ kind, pattern }, path))) continue
      const isDeciding = deciding?.kind === kind && deciding.pattern === pattern
      const role = isPast(rule.expiresAtMs, nowMs) ? 'expired' : isDeciding ? 'joined' : 'less-specific'
      found.push({ rule, reference, role: isPolicyOver ? 'policy-expired' : role })
    }
  }
  return found
}

/** Returns the pattern with its names folded for this request; undefined if it matches no path of that shape. */
function keptPattern({ spelling }: AclRequest, pattern: string, kind: PathKind): string | undefined {
  return spelling === undefined ? pattern : foldedPattern(spelling, pattern, kind === 'exact')
}

const isPast = (atMs: number | undefined, nowMs: number): boolean => atMs !== undefined && atMs <= nowMs

/** A list of a folder is judged by rules about the folder with and without its slash. */
function askedPaths({ operation, path }: AclRequest): readonly string[] {
  const plain = path.startsWith('/') ? path.slice(1) : path
  if (operation !== 'list' && operation !== 'scan') return [plain]
  return plain.endsWith('/') ? [plain, plain.slice(0, -1)] : [`${plain}/`, plain]
}

/**
 * True if a rule with an unfilled template could be about one of the paths. Judged by the literal text before the first
 * template or wildcard.
 */
function mayBeAbout(rule: PolicyRule, namespace: string, paths: readonly string[]): boolean {
  const [first] = rule.path.parts
  const head = namespace + (typeof first === 'string' ? first : '')
  const plus = head.indexOf('+')
  const literal = plus === -1 ? head : head.slice(0, plus)
  return paths.some((path) => path.startsWith(literal))
}

/** Returns the first joined rule that brings about the decision by itself; otherwise the first joined rule. */
function decisiveOf(joined: readonly Candidate[], reason: AclReason, request: AclRequest): Candidate | undefined {
  return joined.find(({ rule }) => bringsAbout(rule, reason, request)) ?? joined[0]
}

function bringsAbout(rule: PolicyRule, reason: AclReason, request: AclRequest): boolean {
  const capability = capabilityFor(request.operation)
  const wrapTtlSeconds = request.wrapTtlSeconds ?? 0
  switch (reason) {
    case 'granted':
      return capability !== undefined && rule.capabilities.includes(capability)
    case 'denied-by-rule':
      return rule.capabilities.includes('deny')
    case 'wrapping-required':
      return rule.minWrappingTtlSeconds > 0 || rule.maxWrappingTtlSeconds > 0
    case 'wrapping-ttl-too-long':
      return rule.maxWrappingTtlSeconds > 0 && wrapTtlSeconds > rule.maxWrappingTtlSeconds
    case 'wrapping-ttl-too-short':
      return wrapTtlSeconds < rule.minWrappingTtlSeconds
    case 'page-limit':
      return rule.pageLimit > 0
    case 'parameter-required':
    case 'parameter-denied':
    case 'parameter-not-allowed': {
      const { allowedParameters: allowed, deniedParameters: denied, requiredParameters: required } = rule
      return checkParameters({ allowed, denied, required }, request.parameters, request.declared) === reason
    }
    default:
      return false
  }
}
