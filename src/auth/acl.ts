// Decides what a token may do: the rules of all its policies, joined into tables that answer each request.
//
// Rules for one path are joined (permissions.ts). Then the rule of exactly one path decides about a request: the most
// specific one, whether it grants more or less than the others that match. The checks of this order are threats A-01,
// A-05 and A-08.
import assert from 'node:assert/strict'
import { ROOT_ID } from '../api/namespace.ts'
import { foldedPattern, type PathShape, type PlacedShape } from '../api/spelling.ts'
import { isAbout, PathTree, type WildcardRule } from './path-tree.ts'
import {
  type AclDecision,
  type AclRequest,
  type GrantingPolicy,
  JoinedRules,
  type Permissions,
  REFUSED,
  type RuleOrigin,
} from './permissions.ts'
import { type Policy, PolicyError, type PolicyRule } from './policy.ts'
import { fillPattern, mayMatchBelow, type PathKind, type TemplateResolver } from './policy-path.ts'

/** Re-exported: callers of an `Acl` need its request and decision, and nothing else of permissions.ts. */
export type { AclDecision, AclOperation, AclReason, AclRequest } from './permissions.ts'

const ROOT = 'root'
const SLASH = 0x2f
/** Every token may ask for help, whatever its policies say. */
const HELP: AclDecision = { allowed: true, reason: 'help', policies: [], pageLimit: 0, judgesData: false }

/** The namespace in which the policy `root` allows everything, and the decision that every request there gets. */
type RootGrant = { readonly namespace: string; readonly decision: AclDecision }
/** The rules of all policies, joined by path and indexed for look-up. */
type Rules = {
  readonly exact: ReadonlyMap<string, Permissions>
  readonly wildcards: PathTree<Permissions>
  /** Every joined rule once, in no order. */
  readonly all: readonly Permissions[]
}
/** One rule of a policy with its templates filled: what the tables are built from, and rebuilt from when names fold. */
type Source = {
  readonly rule: PolicyRule
  readonly policy: GrantingPolicy
  /** Begins with the path of the policy's namespace. */
  readonly pattern: string
}
/** Everything an `Acl` holds; `buildAcl` makes it. */
type Tables = {
  readonly rules: Rules
  /** The unjoined rules behind `rules`. */
  readonly sources: readonly Source[]
  /** Set if a policy is `root`, which allows everything in its namespace. */
  readonly root: RootGrant | undefined
  readonly staleAtMs: number
}

/**
 * The joined policies of one token: answers whether a request is allowed. Immutable apart from a cache, so it can be
 * shared by all tokens with the same policies and subject; the policy store keeps it. Every verdict is about paths
 * without their leading slash.
 */
export class Acl {
  readonly #rules: Rules
  readonly #sources: readonly Source[]
  readonly #root: RootGrant | undefined
  /**
   * Rules rewritten for mounts whose names have several spellings, by shape and mount path. Filled on first use;
   * bounded by the mounts that are asked about.
   */
  readonly #folded = new Map<PathShape, Map<string, Rules>>()
  /**
   * When the next rule ends by its `expiration`; Infinity if none does. From then on the caller must build another Acl.
   */
  readonly staleAtMs: number

  constructor(tables: Tables) {
    this.#rules = tables.rules
    this.#sources = tables.sources
    this.#root = tables.root
    this.staleAtMs = tables.staleAtMs
  }

  /** Decides about one request. A request that no rule matches is refused with the reason `no-rule`. */
  check(request: AclRequest): AclDecision {
    const { operation } = request
    if (operation === 'help') return HELP
    const path = withoutLeadingSlash(request.path)
    if (this.#root !== undefined && path.startsWith(this.#root.namespace)) return this.#root.decision
    return this.#deciding(operation, path, request.spelling)?.decide(operation, request) ?? REFUSED['no-rule']
  }

  /**
   * Returns the refusal of a second path that the request names, if its rules refuse it. Returns undefined if they
   * allow it, if there are none, or if the deciding rule is also about `path`, which was judged before.
   */
  refusalBeside(request: AclRequest, path: string): AclDecision | undefined {
    const { operation } = request
    if (operation === 'help' || this.isRoot) return undefined
    const permissions = this.#deciding(operation, withoutLeadingSlash(request.path), request.spelling)
    if (permissions === undefined || isAbout(permissions.place, withoutLeadingSlash(path))) return undefined
    const decision = permissions.decide(operation, request)
    return decision.allowed ? undefined : decision
  }

  /**
   * Returns the path pattern of the rule that decides about such a request; undefined if no rule does, and for root.
   */
  placeOf({ operation, path, spelling }: Pick<AclRequest, 'operation' | 'path' | 'spelling'>): RuleOrigin | undefined {
    if (this.#root !== undefined) return undefined
    return this.#deciding(operation, withoutLeadingSlash(path), spelling)?.place
  }

  #deciding(operation: AclRequest['operation'], path: string, spelling?: PlacedShape): Permissions | undefined {
    const lists = isListing(operation)
    return find(this.#rulesFor(spelling), lists ? withTrailingSlash(path) : path, lists)
  }

  /**
   * Rule authors may write a name in any spelling, so patterns are folded like the names in paths: otherwise a denial
   * of `Admin` would miss `admin`.
   */
  #rulesFor(spelling: PlacedShape | undefined): Rules {
    if (spelling === undefined) return this.#rules
    const { shape, mountPath } = spelling
    const known = this.#folded.get(shape)?.get(mountPath)
    if (known !== undefined) return known
    const rules = this.#fold(spelling)
    const byMount = this.#folded.get(shape) ?? new Map<string, Rules>()
    this.#folded.set(shape, byMount.set(mountPath, rules))
    return rules
  }

  /** Returns the rules with their names folded; `#rules` itself if folding changes none, which saves a second table. */
  #fold(spelling: PlacedShape): Rules {
    let isOther = false
    const sources = this.#sources.flatMap((source) => {
      const { rule, pattern } = source
      const folded = foldedPattern(spelling, pattern, rule.path.kind === 'exact')
      isOther ||= folded !== undefined && folded !== pattern
      return folded === undefined ? [] : [{ ...source, pattern: folded }]
    })
    return isOther ? rulesOf(sources) : this.#rules
  }

  /** True if the policy `root` is among the policies. */
  get isRoot(): boolean {
    return this.#root !== undefined
  }

  /** The number of unjoined rules, by which the policy store bounds its cache: memory grows with it. */
  get ruleCount(): number {
    return this.#sources.length
  }

  /** Returns what is granted or denied by path, in no order; empty for root. */
  entries(): readonly Permissions[] {
    return this.#rules.all
  }

  /**
   * Returns what the policies grant on `path`, sorted: `["root"]` if everything is allowed, `["deny"]` if nothing is.
   * `spelling` is that of a request to the path.
   */
  capabilities(path: string, spelling?: PlacedShape): string[] {
    const plain = withoutLeadingSlash(path)
    if (this.#root !== undefined && plain.startsWith(this.#root.namespace)) return [ROOT]
    return find(this.#rulesFor(spelling), plain, true)?.capabilities() ?? ['deny']
  }

  /**
   * True if anything is granted on `folder`, which ends in '/', or below it. Tells which mounts a caller may see; looks
   * at every rule, and decides no request.
   */
  reaches(folder: string): boolean {
    if (this.#root !== undefined) return folder.startsWith(this.#root.namespace)
    if (find(this.#rules, folder, true)?.grantsAnything() === true) return true
    return this.#rules.all.some(
      (one) => one.grantsAnything() && mayMatchBelow(one.place.kind, one.place.pattern, folder),
    )
  }
}

/**
 * Finds the rule for `path`. A list is first looked up under the folder's own name. Otherwise a rule on `x/*` would be
 * passed over for a shorter one that fits `x` (threats A-01).
 */
function find({ exact, wildcards }: Rules, path: string, isListing: boolean): Permissions | undefined {
  const rule = exact.get(path)
  if (rule !== undefined) return rule
  const hasSlash = isListing && path.charCodeAt(path.length - 1) === SLASH
  if (!hasSlash) return wildcards.find(path)
  const folder = path.slice(0, -1)
  return exact.get(folder) ?? wildcards.find(path) ?? wildcards.find(folder)
}

/**
 * Joins the rules of all `policies`. Templated rules are left out without `resolve`, and if it knows no value for them.
 * Rules that expire, by themselves or with their policy, hold while `nowMs` is before their end. Without `nowMs` they
 * count as expired, unless they deny: an unknown time must not grant anything.
 * @throws PolicyError if `root` is not the only policy.
 */
export function buildAcl(policies: readonly Policy[], resolve?: TemplateResolver, nowMs?: number): Acl {
  const root = policies.find(({ name }) => name === ROOT)
  if (root !== undefined) return rootAcl(root.namespace ?? '', policies.length)
  const sources: Source[] = []
  let staleAtMs = Infinity
  for (const one of policies) {
    const { name, namespace = '', namespaceId = ROOT_ID, rules, expiresAtMs: policyEndMs = Infinity } = one
    assert(!namespace.includes('+') && !namespace.includes('*'), 'the path of a namespace has no wildcards')
    const policy = { name, namespace }
    for (const rule of rules) {
      const expiresAtMs = Math.min(rule.expiresAtMs ?? Infinity, policyEndMs)
      if (isOver(rule, expiresAtMs, nowMs)) continue
      staleAtMs = Math.min(staleAtMs, expiresAtMs)
      const path = fillPattern(rule.path, resolve, namespaceId)
      if ('text' in path) sources.push({ rule, policy, pattern: namespace + path.text })
    }
  }
  return new Acl({ rules: rulesOf(sources), sources, root: undefined, staleAtMs })
}

function rulesOf(sources: readonly Source[]): Rules {
  const joined: Record<PathKind, Map<string, JoinedRules>> = { exact: new Map(), prefix: new Map(), segment: new Map() }
  for (const { rule, policy, pattern } of sources) joinedAt(joined[rule.path.kind], pattern).add(rule, policy)
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
  return { exact, wildcards: new PathTree(wildcards), all }
}

function rootAcl(namespace: string, policyCount: number): Acl {
  if (policyCount > 1) throw new PolicyError('the policy "root" must be the only one of a token')
  const policies = [{ name: ROOT, namespace }]
  const decision: AclDecision = { allowed: true, reason: ROOT, policies, pageLimit: 0, judgesData: false }
  return new Acl({ rules: rulesOf([]), sources: [], root: { namespace, decision }, staleAtMs: Infinity })
}

function joinedAt(table: Map<string, JoinedRules>, path: string): JoinedRules {
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
