// What a policy says of the parameters of a request: which must be there, which may, with which values. Values are
// judged as the endpoint will understand them (parameter-values.ts).
import type { Declared } from '../api/endpoint.ts'
import type { Field } from '../api/fields.ts'
import { asciiLowerCase } from '../lib/ascii.ts'
import { matchGlob } from '../lib/glob.ts'
import { own } from '../lib/own.ts'
import { isHeldBy, isNothing, type ParameterValue, type Understood, understood } from './parameter-values.ts'

/** Values by parameter name in lower case; an empty list stands for every value, the name `*` for every parameter. */
export type ParameterLists = ReadonlyMap<string, readonly ParameterValue[]>

export type ParameterRules = {
  readonly allowed: ParameterLists
  readonly denied: ParameterLists
  /** In lower case. */
  readonly required: readonly string[]
}

/** What the client sent in body or query: no defaults, and nothing that was captured from the path. */
export type RequestParameters = ReadonlyMap<string, unknown> | Readonly<Record<string, unknown>>

export type ParameterProblem = 'parameter-required' | 'parameter-denied' | 'parameter-not-allowed'

const EVERY = '*'

/** One parameter as it was sent. What it means is found out where a rule asks: a batch has 100,000 items. */
class Sent {
  /** In lower case. */
  readonly name: string
  readonly value: unknown
  readonly #field: Field | undefined
  /** Of the same field: what is said of them holds for this one. */
  readonly #otherNames: readonly string[]
  #isUnderstood = false
  #meaning: Understood | undefined

  constructor(sent: string, parameters: RequestParameters, declared: Declared | undefined) {
    this.name = asciiLowerCase(sent)
    this.value = parameterOf(parameters, sent)
    this.#field = declared === undefined ? undefined : fieldOf(declared, sent)
    this.#otherNames = declared?.otherNames?.get(this.name) ?? NOTHING
  }

  /** As the endpoint understands it; undefined where it has no such field, or will refuse the value. */
  get meaning(): Understood | undefined {
    if (!this.#isUnderstood) this.#meaning = this.#field === undefined ? undefined : understood(this.#field, this.value)
    this.#isUnderstood = true
    return this.#meaning
  }

  /** Those that are about its other names. */
  listsOfOthers(lists: ParameterLists): readonly (readonly ParameterValue[])[] {
    if (this.#otherNames.length === 0) return NO_LISTS
    const found = this.#otherNames.flatMap((name) => {
      const list = lists.get(name)
      return list === undefined ? [] : [list]
    })
    // An empty value is nobody's business there: endpoints look at it only where it holds something.
    const isEmpty = found.length > 0 && (this.value === null || this.meaning?.isEmpty === true)
    return isEmpty ? NO_LISTS : found
  }
}

/** The first reason why `parameters` break the rules, or undefined. `declared`: by the endpoint, where there is one. */
export function checkParameters(
  rules: ParameterRules,
  parameters: RequestParameters | undefined,
  declared?: Declared,
): ParameterProblem | undefined {
  const given = parameters === undefined ? NOTHING : sentOnes(parameters, declared)
  for (const name of rules.required) {
    // Engines know names in lower case only, so a required `type` is not met by `Type`, which they would ignore; nor by
    // its older name, which some look at only where the newer one is empty.
    if (!given.some((sent) => sent === name)) return 'parameter-required'
  }
  // Also where a rule denies every parameter: a request without any is not about parameters.
  if (parameters === undefined || given.length === 0) return undefined
  const { allowed, denied } = rules
  if (denied.has(EVERY)) return 'parameter-denied'
  const allowsEvery = allowed.has(EVERY)
  const isOpen = allowed.size === 0 || (allowed.size === 1 && allowsEvery)
  if (isOpen && denied.size === 0) return undefined
  const all = given.map((sent) => new Sent(sent, parameters, declared))
  if (all.some((sent) => isDenied(denied, sent))) return 'parameter-denied'
  if (isOpen || all.every((sent) => isAllowed(allowed, sent) ?? allowsEvery)) return undefined
  return 'parameter-not-allowed'
}

const NOTHING: readonly string[] = []
const NO_LISTS: readonly (readonly ParameterValue[])[] = []

/** Names of what was sent. A value that the endpoint takes for none is as if it had not been. */
function sentOnes(parameters: RequestParameters, declared: Declared | undefined): readonly string[] {
  const names: string[] = parameters instanceof Map ? [...parameters.keys()] : Object.keys(parameters)
  if (declared === undefined) return names
  return names.filter((name) => {
    const field = fieldOf(declared, name)
    return field === undefined || !isNothing(field, parameterOf(parameters, name))
  })
}

/** By its very name: another one is ignored by the endpoint, and judged as it was sent. */
function fieldOf({ fields }: Declared, name: string) {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function isDenied(denied: ParameterLists, sent: Sent): boolean {
  const own = denied.get(sent.name)
  if (own !== undefined && isListed(own, sent, 'denied')) return true
  return sent.listsOfOthers(denied).some((list) => isListed(list, sent, 'denied'))
}

/** By its own list where there is one, else by those of its other names; undefined where there is none. */
function isAllowed(allowed: ParameterLists, sent: Sent): boolean | undefined {
  const own = allowed.get(sent.name)
  if (own !== undefined) return isListed(own, sent, 'allowed')
  const lists = sent.listsOfOthers(allowed)
  return lists.length === 0 ? undefined : lists.some((list) => isListed(list, sent, 'allowed'))
}

/** Joins rules for one path: the lists of a parameter are put together, and an empty list, every value, wins. */
export function mergeLists(into: Map<string, ParameterValue[]>, lists: ParameterLists): void {
  for (const [name, values] of lists) {
    const before = into.get(name)
    if (before === undefined || values.length === 0) into.set(name, [...values])
    else if (before.length > 0) for (const value of values) before.push(value)
  }
}

export function hasParameter(parameters: RequestParameters, name: string): boolean {
  return parameters instanceof Map ? parameters.has(name) : Object.hasOwn(parameters, name)
}

/** The value of a parameter that is there. */
export function parameterOf(parameters: RequestParameters, name: string): unknown {
  return parameters instanceof Map ? parameters.get(name) : own(parameters as Readonly<Record<string, unknown>>, name)
}

/** A value that is no JSON equals nothing: then the answer is whichever leads to a refusal. */
function isListed(list: readonly ParameterValue[], sent: Sent, as: 'allowed' | 'denied'): boolean {
  if (list.length === 0) return true
  const { value, meaning } = sent
  if (meaning !== undefined) return isHeldBy(list, meaning, as)
  if (!isJson(value)) return as === 'denied'
  for (const listed of list) {
    const matches =
      typeof listed === 'string' && typeof value === 'string' ? matchGlob(listed, value) : isEqual(listed, value)
    if (matches) return true
  }
  return false
}

function isJson(value: unknown): boolean {
  if (value === null) return true
  if (typeof value === 'object') return !ArrayBuffer.isView(value)
  return (
    typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  )
}

/** Equality of JSON values, types included. Recurses along `listed`, whose nesting the policy's parser bounds. */
function isEqual(listed: ParameterValue, value: unknown): boolean {
  if (Array.isArray(listed)) {
    return (
      Array.isArray(value) && value.length === listed.length && listed.every((part, at) => isEqual(part, value[at]))
    )
  }
  if (listed instanceof Map) return isEqualObject(listed, value)
  if (typeof listed === 'bigint' || typeof listed === 'number') return isSameNumber(listed, value)
  return listed === value
}

function isEqualObject(listed: ReadonlyMap<string, ParameterValue>, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return false
  const object = value as RequestParameters
  const size = object instanceof Map ? object.size : Object.keys(object).length
  if (size !== listed.size) return false
  for (const [name, part] of listed) {
    if (!hasParameter(object, name) || !isEqual(part, parameterOf(object, name))) return false
  }
  return true
}

function isSameNumber(listed: number | bigint, value: unknown): boolean {
  if (typeof value === typeof listed) return value === listed
  if (typeof value === 'bigint') return Number.isInteger(listed) && BigInt(listed) === value
  return typeof value === 'number' && Number.isInteger(value) && BigInt(value) === listed
}
