// Rules of a policy about request parameters: which are required, which are allowed, and with which values. Values are
// judged as the endpoint will understand them (parameter-values.ts).
import type { Declared } from '../api/endpoint.ts'
import type { Field } from '../api/fields.ts'
import { asciiLowerCase } from '../lib/ascii.ts'
import { matchGlob } from '../lib/glob.ts'
import { own } from '../lib/own.ts'
import { isHeldBy, isNothing, type ParameterValue, type Understood, understood } from './parameter-values.ts'

/** Values by parameter name in lower case. An empty list stands for every value, the name `*` for every parameter. */
export type ParameterLists = ReadonlyMap<string, readonly ParameterValue[]>

/** The parameter rules of one path, joined over all policies. */
export type ParameterRules = {
  readonly allowed: ParameterLists
  readonly denied: ParameterLists
  /** Names in lower case. */
  readonly required: readonly string[]
}

/** What the client sent in body or query. Contains no defaults, and nothing that was captured from the path. */
export type RequestParameters = ReadonlyMap<string, unknown> | Readonly<Record<string, unknown>>

/** Why a request breaks parameter rules. The words are reasons of an `AclDecision`. */
export type ParameterProblem = 'parameter-required' | 'parameter-denied' | 'parameter-not-allowed'

const EVERY = '*'

/**
 * One parameter as it was sent. Its meaning is decoded only when a rule asks, because a batch may have 100,000 items.
 */
class Sent {
  /** Name in lower case. */
  readonly name: string
  readonly value: unknown
  readonly #field: Field | undefined
  /** Other names of the same field: rules about them hold for this one. */
  readonly #otherNames: readonly string[]
  #isUnderstood = false
  #meaning: Understood | undefined

  constructor(sent: string, parameters: RequestParameters, declared: Declared | undefined) {
    this.name = asciiLowerCase(sent)
    this.value = parameterOf(parameters, sent)
    this.#field = declared === undefined ? undefined : fieldOf(declared, sent)
    this.#otherNames = declared?.otherNames?.get(this.name) ?? NOTHING
  }

  /** What the endpoint makes of the value; undefined if it has no such field, or will refuse the value. */
  get meaning(): Understood | undefined {
    if (!this.#isUnderstood) this.#meaning = this.#field === undefined ? undefined : understood(this.#field, this.value)
    this.#isUnderstood = true
    return this.#meaning
  }

  /** Returns the lists of values that rules have for the parameter's other names. */
  listsOfOthers(lists: ParameterLists): readonly (readonly ParameterValue[])[] {
    if (this.#otherNames.length === 0) return NO_LISTS
    const found = this.#otherNames.flatMap((name) => {
      const list = lists.get(name)
      return list === undefined ? [] : [list]
    })
    // Endpoints look at an older name only if it holds something, so rules about it do not bind an empty value.
    const isEmpty = found.length > 0 && (this.value === null || this.meaning?.isEmpty === true)
    return isEmpty ? NO_LISTS : found
  }
}

/**
 * Returns the first reason why `parameters` break the rules, or undefined. `declared` is what the endpoint declares, if
 * there is one.
 */
export function checkParameters(
  rules: ParameterRules,
  parameters: RequestParameters | undefined,
  declared?: Declared,
): ParameterProblem | undefined {
  const given = parameters === undefined ? NOTHING : sentOnes(parameters, declared)
  for (const name of rules.required) {
    // Engines know names in lower case only and would ignore `Type`, so it does not satisfy a required `type`. Nor does
    // an older name of the field, which some engines read only if the newer one is empty.
    if (!given.some((sent) => sent === name)) return 'parameter-required'
  }
  // Holds even if a rule denies every parameter: a request without parameters breaks no rule about them.
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

/** Returns the names that were sent, without those whose value the endpoint treats as absent. */
function sentOnes(parameters: RequestParameters, declared: Declared | undefined): readonly string[] {
  const names: string[] = parameters instanceof Map ? [...parameters.keys()] : Object.keys(parameters)
  if (declared === undefined) return names
  return names.filter((name) => {
    const field = fieldOf(declared, name)
    return field === undefined || !isNothing(field, parameterOf(parameters, name))
  })
}

/** Looks up a field by its exact name: the endpoint ignores any other spelling, which is judged as it was sent. */
function fieldOf({ fields }: Declared, name: string) {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function isDenied(denied: ParameterLists, sent: Sent): boolean {
  const own = denied.get(sent.name)
  if (own !== undefined && isListed(own, sent, 'denied')) return true
  return sent.listsOfOthers(denied).some((list) => isListed(list, sent, 'denied'))
}

/**
 * Judges by the parameter's own list if there is one, otherwise by those of its other names; undefined if there is
 * none.
 */
function isAllowed(allowed: ParameterLists, sent: Sent): boolean | undefined {
  const own = allowed.get(sent.name)
  if (own !== undefined) return isListed(own, sent, 'allowed')
  const lists = sent.listsOfOthers(allowed)
  return lists.length === 0 ? undefined : lists.some((list) => isListed(list, sent, 'allowed'))
}

/**
 * Joins the lists of several rules for one path. Values of a parameter are put together; an empty list, every value,
 * wins.
 */
export function mergeLists(into: Map<string, ParameterValue[]>, lists: ParameterLists): void {
  for (const [name, values] of lists) {
    const before = into.get(name)
    if (before === undefined || values.length === 0) into.set(name, [...values])
    else if (before.length > 0) for (const value of values) before.push(value)
  }
}

/** True if the parameter was sent, whatever its value. Safe for names such as `__proto__` (threats N-07). */
export function hasParameter(parameters: RequestParameters, name: string): boolean {
  return parameters instanceof Map ? parameters.has(name) : Object.hasOwn(parameters, name)
}

/** Returns the value of a parameter that was sent, under the same spelling. */
export function parameterOf(parameters: RequestParameters, name: string): unknown {
  return parameters instanceof Map ? parameters.get(name) : own(parameters as Readonly<Record<string, unknown>>, name)
}

/**
 * True if a list holds the value. A value that is not JSON equals nothing, so it counts as denied and never as allowed.
 */
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
  if (typeof value === 'object') return !ArrayBuffer.isView(value)
  return (
    typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  )
}

/** Compares JSON values, types included. Recurses along `listed`, whose depth the policy's parser bounds. */
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
