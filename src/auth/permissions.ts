// The rules of all of a token's policies for one path, joined, and their verdict on a request for that path.

import type { Declared } from '../api/endpoint.ts'
import type { Field } from '../api/fields.ts'
import type { PlacedShape } from '../api/spelling.ts'
import { capabilityBit, capabilityBits, capabilityNames, type PolicyCapability } from './capabilities.ts'
import {
  checkParameters,
  hasParameter,
  mergeLists,
  type ParameterProblem,
  type ParameterRules,
  parameterOf,
  type RequestParameters,
} from './parameter-rules.ts'
import { type ParameterValue, understood } from './parameter-values.ts'
import type { PolicyRule } from './policy.ts'
import type { PathKind } from './policy-path.ts'

/**
 * What a request does, as policies see it. The pipeline derives it from method and endpoint; `renew`, `revoke` and
 * `rollback` are judged as updates.
 */
export type AclOperation =
  | 'create'
  | 'read'
  | 'update'
  | 'delete'
  | 'list'
  | 'scan'
  | 'patch'
  | 'help'
  | 'renew'
  | 'revoke'
  | 'rollback'

/**
 * A request as `Acl.check` judges it. The pipeline makes one for each request, and one for each further path that a
 * body names.
 */
export type AclRequest = {
  readonly operation: AclOperation
  /** Namespace and path, in canonical form. A list or scan gets a missing slash at its end. */
  readonly path: string
  /** Set if names in the path have several spellings. The path holds the canonical ones, and rules are folded alike. */
  readonly spelling?: PlacedShape | undefined
  /** What the client sent, without defaults and path captures. Absent: nothing was sent. */
  readonly parameters?: RequestParameters | undefined
  /** The body is not read yet: rules about it are left for later, and the decision says whether there are any. */
  readonly isUnread?: boolean | undefined
  /**
   * The endpoint's fields, by which values are judged as they are meant. Absent: values are judged as they were sent.
   */
  readonly declared?: Declared | undefined
  /** TTL asked for by `X-Vault-Wrap-TTL`; 0 or absent if the answer is not to be wrapped. */
  readonly wrapTtlSeconds?: number | undefined
  /** True if the endpoint needs `sudo` besides its capability. */
  readonly sudoRequired?: boolean | undefined
}

/** The reason for a decision: for audit, logs, and the explanation that a token's holder may ask for. */
export type AclReason = 'root' | 'help' | 'granted' | Refusal
type Refusal =
  | 'no-rule'
  | 'denied-by-rule'
  | 'capability-missing'
  | 'sudo-missing'
  | 'wrapping-required'
  | 'wrapping-ttl-too-long'
  | 'wrapping-ttl-too-short'
  | 'page-limit'
  | ParameterProblem

/** A verdict on one request. Shared between requests, so it must not be changed. */
export type AclDecision = {
  readonly allowed: boolean
  readonly reason: AclReason
  /** Policies that grant the capability on the path, for the audit log. */
  readonly policies: readonly GrantingPolicy[]
  /** If above 0: a list without a page size is cut to this many names. */
  readonly pageLimit: number
  /** True if the verdict also depends on what was sent: parameters, or the page that is asked for. */
  readonly judgesData: boolean
}
/** A policy behind a decision, as the audit log names it. */
export type GrantingPolicy = { readonly name: string; readonly namespace: string }

/** One decision for each refusal, made once: the hot path allocates none. */
export const REFUSED: Readonly<Record<Refusal, AclDecision>> = {
  'no-rule': refusal('no-rule'),
  'denied-by-rule': refusal('denied-by-rule'),
  'capability-missing': refusal('capability-missing'),
  'sudo-missing': refusal('sudo-missing'),
  'wrapping-required': refusal('wrapping-required'),
  'wrapping-ttl-too-long': refusal('wrapping-ttl-too-long'),
  'wrapping-ttl-too-short': refusal('wrapping-ttl-too-short'),
  'page-limit': refusal('page-limit'),
  'parameter-required': refusal('parameter-required'),
  'parameter-denied': refusal('parameter-denied'),
  'parameter-not-allowed': refusal('parameter-not-allowed'),
}

const CAPABILITY_OF: Readonly<Record<Exclude<AclOperation, 'help'>, PolicyCapability>> = {
  create: 'create',
  read: 'read',
  update: 'update',
  delete: 'delete',
  list: 'list',
  scan: 'scan',
  patch: 'patch',
  renew: 'update',
  revoke: 'update',
  rollback: 'update',
}

/** Returns the capability that an operation needs; undefined if it needs none. */
export function capabilityFor(operation: AclOperation): PolicyCapability | undefined {
  return operation === 'help' ? undefined : CAPABILITY_OF[operation]
}

/** Capabilities whose grant can be bounded by parameter rules. */
const BOUNDED: ReadonlySet<PolicyCapability> = new Set(['read', 'update', 'create', 'patch'])

const DENY = capabilityBit('deny')
const SUDO = capabilityBit('sudo')

/** The path pattern by which rules of several policies are joined. */
export type RuleOrigin = { readonly kind: PathKind; readonly pattern: string }

/** Rules for one path while they are being joined; `permissions` gives the result. */
export class JoinedRules {
  #bits = 0
  #minWrappingTtlSeconds = 0
  #maxWrappingTtlSeconds = 0
  #pageLimit = 0
  readonly #allowed = new Map<string, ParameterValue[]>()
  readonly #denied = new Map<string, ParameterValue[]>()
  readonly #required = new Set<string>()
  readonly #sources: { readonly policy: GrantingPolicy; readonly bits: number }[] = []

  /** Joins one more rule. Capabilities add up; of two limits the lower one holds. */
  add(rule: PolicyRule, policy: GrantingPolicy): void {
    const bits = capabilityBits(rule.capabilities)
    this.#bits |= bits
    this.#minWrappingTtlSeconds = lowestLimit(this.#minWrappingTtlSeconds, rule.minWrappingTtlSeconds)
    this.#maxWrappingTtlSeconds = lowestLimit(this.#maxWrappingTtlSeconds, rule.maxWrappingTtlSeconds)
    this.#pageLimit = lowestLimit(this.#pageLimit, rule.pageLimit)
    mergeLists(this.#allowed, rule.allowedParameters)
    mergeLists(this.#denied, rule.deniedParameters)
    for (const name of rule.requiredParameters) this.#required.add(name)
    this.#sources.push({ policy, bits })
  }

  /** Returns the joined rules. Any `deny` takes everything else away. */
  permissions(place: RuleOrigin): Permissions {
    const minSeconds = this.#minWrappingTtlSeconds
    const maxSeconds = this.#maxWrappingTtlSeconds
    // Limits of several policies may leave a range that no request can meet: that denies.
    const isImpossible = maxSeconds > 0 && maxSeconds < minSeconds
    const bits = isImpossible || (this.#bits & DENY) !== 0 ? DENY : this.#bits
    const required = [...this.#required]
    return new Permissions(place, {
      bits,
      minSeconds,
      maxSeconds,
      pageLimit: this.#pageLimit,
      parameters: this.#isFree ? undefined : { allowed: this.#allowed, denied: this.#denied, required },
      granted: new Map(capabilityNames(bits & ~DENY).map((capability) => [capability, this.#grant(capability)])),
    })
  }

  /** True if no rule mentions parameters. */
  get #isFree(): boolean {
    return this.#allowed.size === 0 && this.#denied.size === 0 && this.#required.size === 0
  }

  #grant(capability: PolicyCapability): AclDecision {
    const bit = capabilityBit(capability)
    const policies = this.#sources.filter((source) => (source.bits & bit) !== 0).map((source) => source.policy)
    const pageLimit = capability === 'list' || capability === 'scan' ? this.#pageLimit : 0
    const judgesData = pageLimit > 0 || (BOUNDED.has(capability) && !this.#isFree)
    return { allowed: true, reason: 'granted', policies: [...new Set(policies)], pageLimit, judgesData }
  }
}

/** The result of joining, as `JoinedRules` hands it over. */
type Parts = {
  readonly bits: number
  /** Limits of the wrapping TTL; 0 if there is none. */
  readonly minSeconds: number
  readonly maxSeconds: number
  readonly pageLimit: number
  /** Undefined if no policy mentions parameters. */
  readonly parameters: ParameterRules | undefined
  /** The decision for each capability that is granted, made in advance. */
  readonly granted: ReadonlyMap<PolicyCapability, AclDecision>
}

/** What the joined rules of one path allow. Immutable, and kept as long as its `Acl`. */
export class Permissions {
  readonly place: RuleOrigin
  readonly #parts: Parts

  constructor(place: RuleOrigin, parts: Parts) {
    this.place = place
    this.#parts = parts
  }

  /**
   * The joined parameter rules, for endpoints that show what is granted; undefined if no policy mentions parameters.
   */
  get parameterRules(): ParameterRules | undefined {
    return this.#parts.parameters
  }

  /** Returns the capabilities, sorted; `["deny"]` if nothing is granted. */
  capabilities(): PolicyCapability[] {
    return this.grantsAnything() ? capabilityNames(this.#parts.bits) : ['deny']
  }

  /** True if any operation may be allowed, whatever its parameters. */
  grantsAnything(): boolean {
    return this.#parts.granted.size > 0
  }

  /** Judges a request for this path. Order of the checks: capability, sudo, wrapping, then what was sent. */
  decide(operation: Exclude<AclOperation, 'help'>, request: AclRequest): AclDecision {
    const { bits, granted } = this.#parts
    const grant = granted.get(CAPABILITY_OF[operation])
    if (grant === undefined) return REFUSED[(bits & DENY) === 0 ? 'capability-missing' : 'denied-by-rule']
    if (request.sudoRequired === true && (bits & SUDO) === 0) return REFUSED['sudo-missing']
    const problem = this.#wrappingProblem(request.wrapTtlSeconds ?? 0)
    if (problem !== undefined) return REFUSED[problem]
    return request.isUnread === true || !grant.judgesData ? grant : this.#decideOnData(grant, operation, request)
  }

  #decideOnData(grant: AclDecision, operation: AclOperation, request: AclRequest): AclDecision {
    const problem = this.#dataProblem(operation, request)
    return problem === undefined ? grant : REFUSED[problem]
  }

  #wrappingProblem(wrapTtlSeconds: number): Refusal | undefined {
    const { minSeconds, maxSeconds } = this.#parts
    if (minSeconds === 0 && maxSeconds === 0) return undefined
    if (!(wrapTtlSeconds > 0)) return 'wrapping-required'
    if (maxSeconds > 0 && wrapTtlSeconds > maxSeconds) return 'wrapping-ttl-too-long'
    return wrapTtlSeconds < minSeconds ? 'wrapping-ttl-too-short' : undefined
  }

  #dataProblem(operation: AclOperation, { parameters, declared }: AclRequest): Refusal | undefined {
    const { pageLimit, parameters: rules } = this.#parts
    switch (operation) {
      case 'read':
      case 'update':
      case 'create':
      case 'patch':
        return rules === undefined ? undefined : checkParameters(rules, parameters, declared)
      case 'list':
      case 'scan':
        return pageLimit === 0 || isPageWithin(pageLimit, parameters, declared) ? undefined : 'page-limit'
      default:
        return undefined
    }
  }
}

/**
 * True if the request asks for no page, or for a page within the limit. A `limit` of 0 or below means all names to the
 * engine, so it exceeds any page limit (threats A-08).
 */
function isPageWithin(
  pageLimit: number,
  parameters: RequestParameters | undefined,
  declared: Declared | undefined,
): boolean {
  if (parameters === undefined || !hasParameter(parameters, 'limit')) return true
  const asked = parameterOf(parameters, 'limit')
  const limit = wholeNumber(asked, declared?.fields.limit)
  return typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= pageLimit
}

function wholeNumber(asked: unknown, field: Field | undefined): unknown {
  if (field !== undefined) return understood(field, asked)?.number
  return typeof asked === 'string' && isShortDecimal(asked) ? Number(asked) : asked
}

function isShortDecimal(text: string): boolean {
  if (text === '' || text.length > 15) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

/** Returns the lower of two limits, of which 0 means none. */
function lowestLimit(a: number, b: number): number {
  return a === 0 || b === 0 ? a + b : Math.min(a, b)
}

function refusal(reason: Refusal): AclDecision {
  return { allowed: false, reason, policies: [], pageLimit: 0, judgesData: false }
}
