// Policies: the access rules that tokens carry, from their text (HCL 1 or JSON) to a list of rules. What the rules of
// several policies mean together is acl.ts.
import { keptPolicyName } from '../api/spelling.ts'
import { asciiLowerCase, asciiTrim, isPrintableAscii } from '../lib/ascii.ts'
import { Base64Error, decodeBase64 } from '../lib/base64.ts'
import { blocksOf, type HclBlock, HclError, parseHcl } from '../lib/hcl.ts'
import type { PolicyCapability } from './capabilities.ts'
import type { ParameterLists } from './parameter-rules.ts'
import { PolicyError, quoteForMessage } from './policy-error.ts'
import { type PathPattern, parsePathPattern } from './policy-path.ts'
import { RuleFields } from './rule-fields.ts'

export { PolicyError }

/** One `path` block. Blocks for the same path stay separate rules; the ACL joins them. */
export type PolicyRule = {
  readonly path: PathPattern
  /** As the policy has it, templates and a leading slash included. */
  readonly pathText: string
  /** Where the block begins in the text, from 1 on. */
  readonly line: number
  /** Sorted; `deny` stands alone. */
  readonly capabilities: readonly PolicyCapability[]
  readonly allowedParameters: ParameterLists
  readonly deniedParameters: ParameterLists
  /** In lower case. */
  readonly requiredParameters: readonly string[]
  /** 0 where there is no such limit; a fraction where the policy names one. */
  readonly minWrappingTtlSeconds: number
  readonly maxWrappingTtlSeconds: number
  /** Most names that one list may ask for; 0 where there is no limit. */
  readonly pageLimit: number
  /** From then on the rule does not exist; undefined where it stays. */
  readonly expiresAtMs: number | undefined
}

export type ParsedPolicy = {
  readonly rules: readonly PolicyRule[]
  /** What the text asks for and the rules cannot give, for the one who writes it. */
  readonly warnings: readonly string[]
}

/** A policy under its name, as tokens name it. */
export type Policy = {
  readonly name: string
  /** Path of the namespace that the policy belongs to, '' or ending in '/'. */
  readonly namespace?: string
  readonly rules: readonly PolicyRule[]
  /** From then on none of its rules exists; missing: it stays. */
  readonly expiresAtMs?: number | undefined
}

/** @throws PolicyError saying what is wrong in the text, and where. */
export function parsePolicy(text: string): ParsedPolicy {
  if (asciiTrim(text) === '') throw new PolicyError('the policy text is empty')
  const rules: PolicyRule[] = []
  const warnings: string[] = []
  for (const block of pathBlocks(text)) rules.push(parseRule(block, warnings))
  return { rules, warnings }
}

/** A policy as the API accepts it, as text or in base64: the text, which is what is stored, and its rules. */
export function parsePolicyDocument(document: string): ParsedPolicy & { readonly text: string } {
  const text = decodePolicyText(document)
  return { text, ...parsePolicy(text) }
}

/**
 * The one form of a policy's name; '' where there is none. Every check of a name comes after this (threats I-01).
 * @throws PolicyError for what is not printable ASCII, so that no other text can turn into a name (threats N-17).
 */
export function normalizePolicyName(name: string): string {
  const kept = keptPolicyName(name)
  if (!isPrintableAscii(kept)) {
    throw new PolicyError(`policy name ${quoteForMessage(asciiTrim(name))} has characters other than printable ASCII`)
  }
  return kept
}

/**
 * The text of a policy that came as it is or, to spare the client the quoting, as base64.
 * @throws PolicyError where it is base64 of something else than text.
 */
export function decodePolicyText(document: string): string {
  let bytes: Buffer
  try {
    bytes = decodeBase64(document)
  } catch (cause) {
    // A policy has braces and quotes, so no text is both a policy and base64.
    if (cause instanceof Base64Error) return document
    throw cause
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new PolicyError('the policy is base64 of something that is not UTF-8 text', { cause })
  }
}

/** `name` at the top is accepted and means nothing; whatever else is no `path` is an error. */
function pathBlocks(text: string): HclBlock[] {
  try {
    const body = parseHcl(text)
    for (const { key, line } of body.items) {
      if (key !== 'path' && key !== 'name') throw new PolicyError(`invalid key ${quoteForMessage(key)} on line ${line}`)
    }
    return blocksOf(body, 'path', 1)
  } catch (cause) {
    if (cause instanceof HclError) throw new PolicyError(cause.message, { cause })
    throw cause
  }
}

function parseRule(block: HclBlock, warnings: string[]): PolicyRule {
  const pathText = block.labels[0] ?? ''
  const fields = new RuleFields(pathText, block.body)
  const limits = wrappingLimits(fields)
  const { capabilities, warning } = grantable(fields)
  if (warning !== undefined) warnings.push(fields.message(warning))
  return {
    path: parsePathPattern(pathText),
    pathText,
    line: block.line,
    capabilities,
    allowedParameters: fields.parameterLists('allowed_parameters'),
    deniedParameters: fields.parameterLists('denied_parameters'),
    requiredParameters: fields.strings('required_parameters').map(asciiLowerCase),
    ...limits,
    pageLimit: fields.count('pagination_limit'),
    expiresAtMs: fields.time('expiration'),
  }
}

function wrappingLimits(fields: RuleFields) {
  const minWrappingTtlSeconds = fields.seconds('min_wrapping_ttl')
  const maxWrappingTtlSeconds = fields.seconds('max_wrapping_ttl')
  if (maxWrappingTtlSeconds > 0 && maxWrappingTtlSeconds < minWrappingTtlSeconds) {
    throw fields.problem('max_wrapping_ttl is shorter than min_wrapping_ttl')
  }
  return { minWrappingTtlSeconds, maxWrappingTtlSeconds }
}

/**
 * Conditions on a grant that this service cannot check take the grant with them: a policy from elsewhere must not
 * allow here what it allowed there only after an approval, or only in part.
 */
function grantable(fields: RuleFields): { capabilities: readonly PolicyCapability[]; warning?: string } {
  const capabilities = fields.capabilities()
  if (capabilities.includes('deny')) return { capabilities }
  for (const key of ['control_group', 'mfa_methods'] as const) {
    if (fields.isSet(key)) return { capabilities: [], warning: `${key} is not available, so the rule grants nothing` }
  }
  const filter = 'list_scan_response_keys_filter_path'
  if (!fields.isSet(filter)) return { capabilities }
  const rest = capabilities.filter((capability) => capability !== 'list' && capability !== 'scan')
  return { capabilities: rest, warning: `${filter} is not available, so the rule grants neither list nor scan` }
}
