// The keys of one `path` block of a policy, each read as the kind of value that it takes.
import { asciiLowerCase } from '../lib/ascii.ts'
import { DurationError, parseDurationNanoseconds } from '../lib/duration.ts'
import { hclStrings, scalar } from '../lib/hcl.ts'
import type { HclItem, HclObject, HclValue } from '../lib/hcl-tree.ts'
import { parseDigits, parseInstantMs } from '../lib/instant.ts'
import { CAPABILITIES, isCapability, type PolicyCapability } from './capabilities.ts'
import { mergeLists, type ParameterLists } from './parameter-rules.ts'
import type { ParameterValue } from './parameter-values.ts'
import { PolicyError, quoteForMessage } from './policy-error.ts'

const KEYS = [
  'capabilities',
  'policy',
  'allowed_parameters',
  'denied_parameters',
  'required_parameters',
  'min_wrapping_ttl',
  'max_wrapping_ttl',
  'pagination_limit',
  'expiration',
  'comment',
  'mfa_methods',
  'control_group',
  'list_scan_response_keys_filter_path',
  'subscribe_event_types',
] as const
type RuleKey = (typeof KEYS)[number]

const WRITE: readonly PolicyCapability[] = ['create', 'read', 'update', 'delete', 'list']
/** What the words of the legacy key `policy` stand for. */
const LEGACY: ReadonlyMap<string, readonly PolicyCapability[]> = new Map([
  ['deny', ['deny']],
  ['read', ['read', 'list']],
  ['write', WRITE],
  ['sudo', [...WRITE, 'sudo']],
])

/** The keys of one block, by name. Every error names the path and the line, for the author of the policy. */
export class RuleFields {
  readonly #path: string
  readonly #items = new Map<RuleKey, HclItem[]>()

  /** Sorts the items of a block by key. @throws PolicyError if a key is unknown. */
  constructor(path: string, body: HclObject) {
    this.#path = path
    for (const item of body.items) {
      const key = KEYS.find((known) => known === item.key)
      if (key === undefined) throw this.problem(`invalid key ${quoteForMessage(item.key)} on line ${item.line}`)
      if (item.labels.length > 0) throw this.problem(`${key} takes no label, on line ${item.line}`)
      const before = this.#items.get(key)
      if (before === undefined) this.#items.set(key, [item])
      else before.push(item)
    }
  }

  /** Returns a message that begins with the path of the block. */
  message(text: string): string {
    return `path ${quoteForMessage(this.#path)}: ${text}`
  }

  /** Returns an error about the block, for the caller to throw. */
  problem(text: string): PolicyError {
    return new PolicyError(this.message(text))
  }

  /** True if the key is present and not empty. */
  isSet(key: RuleKey): boolean {
    return this.#all(key).some(({ value }) => {
      if (value.kind === 'list') return value.elements.length > 0
      if (value.kind === 'object') return value.items.length > 0
      return value.value !== '' && value.value !== null
    })
  }

  /**
   * Returns the capabilities, sorted and without duplicates. `deny` anywhere stands alone, because a denial is never
   * weakened.
   */
  capabilities(): readonly PolicyCapability[] {
    const granted = new Set<PolicyCapability>()
    for (const word of this.strings('capabilities')) {
      if (!isCapability(word)) throw this.problem(`invalid capability ${quoteForMessage(word)}`)
      granted.add(word)
    }
    const legacy = this.#scalar('policy')
    if (legacy !== undefined && legacy !== '') {
      const words = typeof legacy === 'string' ? LEGACY.get(legacy) : undefined
      if (words === undefined) throw this.problem('invalid policy, use deny, read, write or sudo')
      for (const word of words) granted.add(word)
    }
    return granted.has('deny') ? ['deny'] : CAPABILITIES.filter((capability) => granted.has(capability))
  }

  /** Returns the texts of all lists under the key. A repeated list continues the first, as everywhere in HCL 1. */
  strings(key: RuleKey): string[] {
    return this.#all(key).flatMap((item) => {
      const texts = hclStrings(item.value)
      if (texts === undefined) throw this.#wrong(item, 'a list of texts in quotes')
      return texts
    })
  }

  /**
   * Returns the parameter lists under the key. Repeated blocks are joined as the ACL joins rules for one path, and so
   * are names that differ only in case.
   */
  parameterLists(key: RuleKey): ParameterLists {
    const lists = new Map<string, ParameterValue[]>()
    for (const item of this.#all(key)) {
      const objects = item.value.kind === 'list' ? item.value.elements : [item.value]
      for (const object of objects) {
        if (object.kind !== 'object') throw this.#wrong(item, 'parameter names, each with a list of values')
        for (const parameter of object.items) mergeLists(lists, this.#parameterList(item, parameter))
      }
    }
    return lists
  }

  #parameterList(block: HclItem, { key, labels, value, line }: HclItem): ParameterLists {
    if (labels.length > 0 || value.kind !== 'list') {
      throw this.problem(`${block.key} needs a list of values for ${quoteForMessage(key)} on line ${line}`)
    }
    return new Map([[asciiLowerCase(key), value.elements.map((element) => this.#parameterValue(element))]])
  }

  #parameterValue(value: HclValue): ParameterValue {
    if (value.kind === 'list') return value.elements.map((element) => this.#parameterValue(element))
    if (value.kind !== 'object') return value.value
    const members = new Map<string, ParameterValue>()
    for (const { key, labels, value: member, line } of value.items) {
      if (labels.length > 0 || members.has(key)) {
        throw this.problem(`a value on line ${line} is an object with labels or with a key given twice`)
      }
      members.set(key, this.#parameterValue(member))
    }
    return members
  }

  /** Returns seconds, from a number, a numeric text or a duration; 0 if the key is absent. */
  seconds(key: RuleKey): number {
    const value = this.#scalar(key)
    if (value === undefined) return 0
    if (typeof value !== 'string' && typeof value !== 'number') throw this.#wrong(this.#all(key)[0], 'a duration')
    try {
      // Fractions of a second are kept: rounding would turn a short limit into none.
      const seconds = Number(parseDurationNanoseconds(value)) / 1e9
      if (seconds < 0) throw this.#wrong(this.#all(key)[0], 'a duration that is not negative')
      return seconds
    } catch (cause) {
      if (cause instanceof DurationError) throw this.#wrong(this.#all(key)[0], 'seconds or a duration such as "90m"')
      throw cause
    }
  }

  /** Returns a whole number from 0 on, from a number or its decimal text; 0 if the key is absent. */
  count(key: RuleKey): number {
    const value = this.#scalar(key)
    if (value === undefined) return 0
    const count = typeof value === 'string' ? parseDigits(value) : value
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count
    throw this.#wrong(this.#all(key)[0], 'a whole number that is not negative')
  }

  /** Returns milliseconds since the epoch, from seconds or RFC 3339; undefined if the key is absent. */
  time(key: RuleKey): number | undefined {
    const value = this.#scalar(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isFinite(value)) return value * 1000
    const atMs = typeof value === 'string' ? parseInstantMs(value) : undefined
    if (atMs === undefined)
      throw this.#wrong(this.#all(key)[0], 'seconds since 1970 or a time such as "2030-01-31T00:00:00Z"')
    return atMs
  }

  #all(key: RuleKey): readonly HclItem[] {
    return this.#items.get(key) ?? []
  }

  /**
   * Returns the value of a key that may stand once. A second one is an error, since a reader could not tell which
   * holds.
   */
  #scalar(key: RuleKey) {
    const [item, second] = this.#all(key)
    if (second !== undefined) throw this.problem(`${key} is given a second time on line ${second.line}`)
    if (item === undefined || item.value.kind === 'null') return undefined
    const value = scalar(item.value)
    if (value === undefined || value === null) throw this.#wrong(item, 'a single value')
    return value
  }

  #wrong(item: HclItem | undefined, wanted: string): PolicyError {
    return this.problem(`${item?.key} on line ${item?.line} must be ${wanted}`)
  }
}
