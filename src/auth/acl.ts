// What a token may do: the rules of all its policies, joined and put into tables that answer each request.
//
// Rules for one path are joined (permissions.ts); then exactly one path's rule decides about a request, the most
// specific one, whether it grants more or less than others that would match too.
import assert from 'node:assert/strict'
import { PathTree, type WildcardRule } from './path-tree.ts'
import {
  type AclDecision,
  type AclRequest,
  JoinedRules,
  type Permissions,
  REFUSED,
  type RulePlace,
} from './permissions.ts'
import { type Policy, PolicyError, type PolicyRule } from './policy.ts'
import { fillPattern, mayMatchBelow, type PathKind, type TemplateResolver } from './policy-path.ts'

export type { AclDecision, AclOperation, AclReason, AclRequest } from './permissions.ts'

const ROOT = 'root'
const SLASH = 0x2f
const HELP: AclDecision = { allowed: true, reason: 'help', policies: [], pageLimit: 0, judgesData: false }

/** The namespace in which everything is allowed, and the answer there. */
type RootGrant = { readonly namespace: string; readonly decision: AclDecision }
type Tables = {
  readonly exact: ReadonlyMap<string, Permissions>
  readonly wildcards: PathTree<Permissions>
  /** Of all rules, in no order. */
  readonly all: readonly Permissions[]
  /** Where the policy `root` allows everything; undefined without it. */
  readonly root: RootGrant | undefined
  readonly staleAtMs: number
}

export class Acl {
  readonly #exact: ReadonlyMap<string, Permissions>
  readonly #wildcards: PathTree<Permissions>
  readonly #all: readonly Permissions[]
  readonly #root: RootGrant | undefined
  /** When the next rule ends by an `expiration`; Infinity where none does. From then on build another Acl. */
  readonly staleAtMs: number

  constructor(tables: Tables) {
    this.#exact = tables.exact
    this.#wildcards = tables.wildcards
    this.#all = tables.all
    this.#root = tables.root
    this.staleAtMs = tables.staleAtMs
  }

  check(request: AclRequest): AclDecision {
    const { operation, keptPath } = request
    if (operation === 'help') return HELP
    const path = withoutLeadingSlash(request.path)
    if (this.#root !== undefined && path.startsWith(this.#root.namespace)) return this.#root.decision
    const permissions = this.#deciding(operation, path)
    const decision = permissions === undefined ? REFUSED['no-rule'] : permissions.decide(operation, request)
    if (keptPath === undefined || !decision.allowed) return decision
    const ofKept = this.#deciding(operation, withoutLeadingSlash(keptPath))
    const asked = isListing(operation) ? withTrailingSlash(path) : path
    return isAboutKeptAlone(ofKept, asked) ? stricter(decision, ofKept.decide(operation, request)) : decision
  }

  /** The path of the rules that decide about such a request; undefined where there are none, and for root. */
  placeOf({ operation, path }: Pick<AclRequest, 'operation' | 'path'>): RulePlace | undefined {
    return this.#root === undefined ? this.#deciding(operation, withoutLeadingSlash(path))?.place : undefined
  }

  #deciding(operation: AclRequest['operation'], path: string): Permissions | undefined {
    const lists = isListing(operation)
    return this.#find(lists ? withTrailingSlash(path) : path, lists)
  }

  /** Whether everything is allowed. */
  get isRoot(): boolean {
    return this.#root !== undefined
  }

  /** What is granted or denied by path, in no order; empty for root. */
  entries(): readonly Permissions[] {
    return this.#all
  }

  /**
   * What the policies grant on `path`, sorted: `["root"]` where everything is, `["deny"]` where nothing is. `keptPath`
   * as in a request.
   */
  capabilities(path: string, keptPath = path): string[] {
    const plain = withoutLeadingSlash(path)
    if (this.#root !== undefined && plain.startsWith(this.#root.namespace)) return [ROOT]
    const granted = this.#find(plain, true)?.capabilities() ?? ['deny']
    const ofKept = keptPath === path ? undefined : this.#find(withoutLeadingSlash(keptPath), true)
    if (!isAboutKeptAlone(ofKept, plain)) return granted
    const both = granted.filter((capability) => ofKept.capabilities().includes(capability))
    return both.length === 0 ? ['deny'] : both
  }

  /**
   * Whether anything is granted on `folder`, which ends in '/', or below it: for telling a caller which mounts there
   * are. Looks at every rule, and decides no request.
   */
  reaches(folder: string): boolean {
    if (this.#root !== undefined) return folder.startsWith(this.#root.namespace)
    if (this.#find(folder, true)?.grantsAnything() === true) return true
    return this.#all.some((one) => one.grantsAnything() && mayMatchBelow(one.place.kind, one.place.pattern, folder))
  }

  /**
   * The rule for `path`. A list of a folder is first looked for as it is named, so that a rule on `x/*` is not passed
   * over for a shorter one that fits `x` (threats A-01).
   */
  #find(path: string, isListing: boolean): Permissions | undefined {
    const exact = this.#exact.get(path)
    if (exact !== undefined) return exact
    const hasSlash = isListing && path.charCodeAt(path.length - 1) === SLASH
    if (!hasSlash) return this.#wildcards.find(path)
    const folder = path.slice(0, -1)
    return this.#exact.get(folder) ?? this.#wildcards.find(path) ?? this.#wildcards.find(folder)
  }
}

/**
 * The rules of all `policies` together. Without `resolve`, and where it knows no value, templated rules are left out.
 * Rules with an expiration, of their own or of their policy, hold while `nowMs` is before it; without a time they are
 * over, unless they deny.
 * @throws PolicyError where `root` is not alone.
 */
export function buildAcl(policies: readonly Policy[], resolve?: TemplateResolver, nowMs?: number): Acl {
  const root = policies.find(({ name }) => name === ROOT)
  if (root !== undefined) return rootAcl(root.namespace ?? '', policies.length)
  const joined: Record<PathKind, Map<string, JoinedRules>> = { exact: new Map(), prefix: new Map(), segment: new Map() }
  let staleAtMs = Infinity
  for (const { name, namespace = '', rules, expiresAtMs: policyEndMs = Infinity } of policies) {
    assert(!namespace.includes('+') && !namespace.includes('*'), 'the path of a namespace has no wildcards')
    const policy = { name, namespace }
    for (const rule of rules) {
      const expiresAtMs = Math.min(rule.expiresAtMs ?? Infinity, policyEndMs)
      if (isOver(rule, expiresAtMs, nowMs)) continue
      staleAtMs = Math.min(staleAtMs, expiresAtMs)
      const path = fillPattern(rule.path, resolve)
      if ('text' in path) rulesOf(joined[rule.path.kind], namespace + path.text).add(rule, policy)
    }
  }
  return aclOf(joined, staleAtMs)
}

function aclOf(joined: Readonly<Record<PathKind, ReadonlyMap<string, JoinedRules>>>, staleAtMs: number): Acl {
  const exact = new Map<string, Permissions>()
  const wildcards: WildcardRule<Permissions>[] = []
  const all: Permissions[] = []
  for (const kind of ['exact', 'prefix', 'segment'] as const) {
    for (const [pattern, rules] of joined[kind]) {
      const permissions = rules.permissions({ kind, pattern })
      all.push(permissions)
      if (kind === 'exact') exact.set(pattern, permissions)
      else wildcards.push({ pattern, isSegmented: kind === 'segment', value: permissions })
    }
  }
  return new Acl({ exact, wildcards: new PathTree(wildcards), all, root: undefined, staleAtMs })
}

function rootAcl(namespace: string, policyCount: number): Acl {
  if (policyCount > 1) throw new PolicyError('the policy "root" must be the only one of a token')
  const policies = [{ name: ROOT, namespace }]
  const decision: AclDecision = { allowed: true, reason: ROOT, policies, pageLimit: 0, judgesData: false }
  const tables = { exact: new Map(), wildcards: new PathTree<Permissions>([]), all: [] }
  return new Acl({ ...tables, root: { namespace, decision }, staleAtMs: Infinity })
}

/**
 * Whether what decides about a path as it is kept does not match the path as it came: then that spelling would pass it
 * by. What matches both has had its say, and a more specific rule for the other spelling was meant to go beyond it.
 */
function isAboutKeptAlone(ofKept: Permissions | undefined, path: string): ofKept is Permissions {
  if (ofKept === undefined) return false
  const { kind, pattern } = ofKept.place
  // A list is looked for with the slash at its end, and without.
  const forms = path.charCodeAt(path.length - 1) === SLASH ? [path, path.slice(0, -1)] : [path]
  if (kind === 'exact') return !forms.includes(pattern)
  const tree = new PathTree([{ pattern, isSegmented: kind === 'segment', value: true }])
  return forms.every((form) => tree.find(form) === undefined)
}

/** Of what is allowed for the path as it came, and of what is said of it as it is kept. */
function stricter(decision: AclDecision, ofKept: AclDecision): AclDecision {
  if (!ofKept.allowed) return ofKept
  const isNarrower = ofKept.pageLimit > 0 && (decision.pageLimit === 0 || ofKept.pageLimit < decision.pageLimit)
  const { judgesData } = ofKept
  return isNarrower || (judgesData && !decision.judgesData)
    ? { ...(isNarrower ? ofKept : decision), judgesData: judgesData || decision.judgesData }
    : decision
}

function rulesOf(table: Map<string, JoinedRules>, path: string): JoinedRules {
  const before = table.get(path)
  if (before !== undefined) return before
  const rules = new JoinedRules()
  table.set(path, rules)
  return rules
}

function isOver({ capabilities }: PolicyRule, expiresAtMs: number, nowMs: number | undefined): boolean {
  if (expiresAtMs === Infinity) return false
  return nowMs === undefined ? !capabilities.includes('deny') : expiresAtMs <= nowMs
}

const isListing = (operation: AclRequest['operation']): boolean => operation === 'list' || operation === 'scan'

function withoutLeadingSlash(path: string): string {
  return path.charCodeAt(0) === SLASH ? path.slice(1) : path
}

function withTrailingSlash(path: string): string {
  return path === '' || path.charCodeAt(path.length - 1) === SLASH ? path : `${path}/`
}
