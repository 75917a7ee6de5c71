// What a token may do: the rules of all its policies, joined and put into tables that answer each request.
//
// Rules for one path are joined (permissions.ts); then exactly one path's rule decides about a request, the most
// specific one, whether it grants more or less than others that would match too.
import assert from 'node:assert/strict'
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

export type { AclDecision, AclOperation, AclReason, AclRequest } from './permissions.ts'

const ROOT = 'root'
const SLASH = 0x2f
const HELP: AclDecision = { allowed: true, reason: 'help', policies: [], pageLimit: 0, judgesData: false }

/** The namespace in which everything is allowed, and the answer there. */
type RootGrant = { readonly namespace: string; readonly decision: AclDecision }
/** Joined, and in tables. */
type Rules = {
  readonly exact: ReadonlyMap<string, Permissions>
  readonly wildcards: PathTree<Permissions>
  /** Of all rules, in no order. */
  readonly all: readonly Permissions[]
}
/** A rule of a policy with its templates filled. */
type Source = {
  readonly rule: PolicyRule
  readonly policy: GrantingPolicy
  /** With the path of its namespace. */
  readonly pattern: string
}
type Tables = {
  readonly rules: Rules
  /** What they are made of. */
  readonly sources: readonly Source[]
  /** Where the policy `root` allows everything; undefined without it. */
  readonly root: RootGrant | undefined
  readonly staleAtMs: number
}

export class Acl {
  readonly #rules: Rules
  readonly #sources: readonly Source[]
  readonly #root: RootGrant | undefined
  /** The rules by the place of paths whose names go by several spellings, with those names as they are kept. */
  readonly #folded = new Map<PathShape, Map<string, Rules>>()
  /** When the next rule ends by an `expiration`; Infinity where none does. From then on build another Acl. */
  readonly staleAtMs: number

  constructor(tables: Tables) {
    this.#rules = tables.rules
    this.#sources = tables.sources
    this.#root = tables.root
    this.staleAtMs = tables.staleAtMs
  }

  check(request: AclRequest): AclDecision {
    const { operation } = request
    if (operation === 'help') return HELP
    const path = withoutLeadingSlash(request.path)
    if (this.#root !== undefined && path.startsWith(this.#root.namespace)) return this.#root.decision
    return this.#deciding(operation, path, request.spelling)?.decide(operation, request) ?? REFUSED['no-rule']
  }

  /**
   * How rules refuse the request that are not about `path` as well, which was judged before; undefined where they allow
   * it, and where there are none.
   */
  refusalBeside(request: AclRequest, path: string): AclDecision | undefined {
    const { operation } = request
    if (operation === 'help' || this.isRoot) return undefined
    const permissions = this.#deciding(operation, withoutLeadingSlash(request.path), request.spelling)
    if (permissions === undefined || isAbout(permissions.place, withoutLeadingSlash(path))) return undefined
    const decision = permissions.decide(operation, request)
    return decision.allowed ? undefined : decision
  }

  /** The path of the rules that decide about such a request; undefined where there are none, and for root. */
  placeOf({ operation, path, spelling }: Pick<AclRequest, 'operation' | 'path' | 'spelling'>): RuleOrigin | undefined {
    if (this.#root !== undefined) return undefined
    return this.#deciding(operation, withoutLeadingSlash(path), spelling)?.place
  }

  #deciding(operation: AclRequest['operation'], path: string, spelling?: PlacedShape): Permissions | undefined {
    const lists = isListing(operation)
    return find(this.#rulesFor(spelling), lists ? withTrailingSlash(path) : path, lists)
  }

  /** A name in a rule is any name of the policy's author: where it folds in paths it folds here. */
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

  /** The same rules where all of them are written so already. */
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

  /** Whether everything is allowed. */
  get isRoot(): boolean {
    return this.#root !== undefined
  }

  /** What it takes of memory grows with them. */
  get ruleCount(): number {
    return this.#sources.length
  }

  /** What is granted or denied by path, in no order; empty for root. */
  entries(): readonly Permissions[] {
    return this.#rules.all
  }

  /**
   * What the policies grant on `path`, sorted: `["root"]` where everything is, `["deny"]` where nothing is. `spelling`
   * as in a request.
   */
  capabilities(path: string, spelling?: PlacedShape): string[] {
    const plain = withoutLeadingSlash(path)
    if (this.#root !== undefined && plain.startsWith(this.#root.namespace)) return [ROOT]
    return find(this.#rulesFor(spelling), plain, true)?.capabilities() ?? ['deny']
  }

  /**
   * Whether anything is granted on `folder`, which ends in '/', or below it: for telling a caller which mounts there
   * are. Looks at every rule, and decides no request.
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
 * The rule for `path`. A list of a folder is first looked for as it is named, so that a rule on `x/*` is not passed
 * over for a shorter one that fits `x` (threats A-01).
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
 * The rules of all `policies` together. Without `resolve`, and where it knows no value, templated rules are left out.
 * Rules with an expiration, of their own or of their policy, hold while `nowMs` is before it; without a time they are
 * over, unless they deny.
 * @throws PolicyError where `root` is not alone.
 */
export function buildAcl(policies: readonly Policy[], resolve?: TemplateResolver, nowMs?: number): Acl {
  const root = policies.find(({ name }) => name === ROOT)
  if (root !== undefined) return rootAcl(root.namespace ?? '', policies.length)
  const sources: Source[] = []
  let staleAtMs = Infinity
  for (const { name, namespace = '', rules, expiresAtMs: policyEndMs = Infinity } of policies) {
    assert(!namespace.includes('+') && !namespace.includes('*'), 'the path of a namespace has no wildcards')
    const policy = { name, namespace }
    for (const rule of rules) {
      const expiresAtMs = Math.min(rule.expiresAtMs ?? Infinity, policyEndMs)
      if (isOver(rule, expiresAtMs, nowMs)) continue
      staleAtMs = Math.min(staleAtMs, expiresAtMs)
      const path = fillPattern(rule.path, resolve)
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
