// Policies: the access rules that tokens carry, parsed from text (HCL 1 or JSON) into a list of rules. What the rules
// of several policies mean together is in acl.ts.
import { keptPolicyName } from '../api/spelling.ts'
import { asciiLowerCase, asciiTrim, isPrintableAscii } from '../lib/ascii.ts'
import { Base64Error, decodeBase64 } from '../lib/base64.ts'
import { blocksOf, type HclBlock, HclError, parseHcl } from '../lib/hcl.ts'
import type { PolicyCapability } from './capabilities.ts'
import type { ParameterLists } from './parameter-rules.ts'
import { PolicyError, quoteForMessage } from './policy-error.ts'
import { type PathPattern, parsePathPattern } from './policy-path.ts'
import { RuleFields } from './rule-fields.ts'

/** Re-exported: every caller of the parser has to catch it. */
export { PolicyError }

/** One `path` block. Blocks for the same path stay separate rules; the ACL joins them. */
export type PolicyRule = {
  readonly path: PathPattern
  /** The path as the policy spells it, templates and a leading slash included. */
  readonly pathText: string
  /** Line in the text where the block begins, counted from 1. */
  readonly line: number
  /** Sorted; `deny` stands alone. */
  readonly capabilities: readonly PolicyCapability[]
  readonly allowedParameters: ParameterLists
  readonly deniedParameters: ParameterLists
  /** Names in lower case. */
  readonly requiredParameters: readonly string[]
  /** Seconds, with fractions; 0 if there is no such limit. */
  readonly minWrappingTtlSeconds: number
  readonly maxWrappingTtlSeconds: number
  /** Names that one list may ask for; 0 if there is no limit. */
  readonly pageLimit: number
  /** From this time on the rule grants nothing; undefined if it never expires. */
  readonly expiresAtMs: number | undefined
}

/** The rules of one policy text. */
export type ParsedPolicy = {
  readonly rules: readonly PolicyRule[]
  /** What the text asks for and this server cannot grant; shown to the author. */
  readonly warnings: readonly string[]
}

/** A policy under the name by which tokens carry it, ready to be joined. */
export type Policy = {
  readonly name: string
  /** Path of the policy's namespace: empty, or ending in '/'. */
  readonly namespace?: string
  /** Id of that namespace; absent: the root's. */
  readonly namespaceId?: string
  readonly rules: readonly PolicyRule[]
  /** From this time on no rule of it grants anything; undefined if it never expires. */
  readonly expiresAtMs?: number | undefined
}

/** Parses the text of a policy. @throws PolicyError saying what is wrong in the text, and where. */
export function parsePolicy(text: string): ParsedPolicy {
  if (asciiTrim(text) === '') throw new PolicyError('the policy text is empty')
  const rules: PolicyRule[] = []
  const warnings: string[] = []
  for (const block of pathBlocks(text)) rules.push(parseRule(block, warnings))
  return { rules, warnings }
}

/**
 * Parses a policy as the API accepts it, as text or base64. Returns the text, which is what is stored, with its rules.
 * @throws PolicyError like `parsePolicy` and `decodePolicyText`.
 */
export function parsePolicyDocument(document: string): ParsedPolicy & { readonly text: string } {
  const text = decodePolicyText(document)
  return { text, ...parsePolicy(text) }
}

/**
 * Returns the canonical form of a policy's name; empty if nothing is left of it. Every check of a name must come after
 * this, or a spelling of `root` would pass (threats I-01).
 * @throws PolicyError for anything but printable ASCII, so that no other text can turn into a name (threats N-17).
 */
export function normalizePolicyName(name: string): string {
  const kept = keptPolicyName(name)
  if (!isPrintableAscii(kept)) {
    throw new PolicyError(`policy name ${quoteForMessage(asciiTrim(name))} has characters other than printable ASCII`)
  }
  return kept
}

/**
 * Returns the text of a policy that was sent as it is or, to spare the client the quoting, as base64.
 * @throws PolicyError if it is base64 of something other than text.
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

/** Returns the `path` blocks. `name` at the top is accepted and ignored; any other key is an error. */
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
 * Drops grants that depend on conditions which this server cannot check. A policy from elsewhere must not allow here
 * what it allowed there only after an approval, or only in part.
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
