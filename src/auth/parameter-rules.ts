// What a policy says of the parameters of a request: which must be there, which may, with which values.
import { asciiLowerCase } from '../lib/ascii.ts'
import { matchGlob } from '../lib/glob.ts'
import { own } from '../lib/own.ts'

/** JSON, with maps for objects: names come from outside (threats N-07). */
export type ParameterValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly ParameterValue[]
  | ReadonlyMap<string, ParameterValue>

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

/** By the name of a parameter in lower case its other names, where it has some (api/endpoint.ts). */
type OtherNames = ReadonlyMap<string, readonly string[]>

export type ParameterProblem = 'parameter-required' | 'parameter-denied' | 'parameter-not-allowed'

const EVERY = '*'
const NONE: readonly (readonly ParameterValue[])[] = []

/** The first reason why `parameters` break the rules, or undefined. */
export function checkParameters(
  rules: ParameterRules,
  parameters: RequestParameters | undefined,
  otherNames?: OtherNames,
): ParameterProblem | undefined {
  for (const name of rules.required) {
    // Engines know names in lower case only, so a required `type` is not met by `Type`, which they would ignore; nor by
    // its older name, which some look at only where the newer one is empty.
    if (parameters === undefined || !hasParameter(parameters, name)) return 'parameter-required'
  }
  if (parameters === undefined) return undefined
  const names = parameters instanceof Map ? [...parameters.keys()] : Object.keys(parameters)
  // Also where a rule denies every parameter: a request without any is not about parameters.
  if (names.length === 0) return undefined
  if (rules.denied.has(EVERY)) return 'parameter-denied'
  for (const name of names) {
    if (isDenied(rules.denied, name, parameters, otherNames)) return 'parameter-denied'
  }
  const { allowed } = rules
  const allowsEvery = allowed.has(EVERY)
  if (allowed.size === 0 || (allowed.size === 1 && allowsEvery)) return undefined
  for (const name of names) {
    if (!(isAllowed(allowed, name, parameters, otherNames) ?? allowsEvery)) return 'parameter-not-allowed'
  }
  return undefined
}

function isDenied(
  denied: ParameterLists,
  sent: string,
  parameters: RequestParameters,
  otherNames: OtherNames | undefined,
): boolean {
  const [name, value] = [asciiLowerCase(sent), parameterOf(parameters, sent)]
  const lists = [denied.get(name), ...listsOfOthers(denied, name, value, otherNames)]
  return lists.some((list) => list !== undefined && isListed(list, value, true))
}

/** By its own list where there is one, else by those of its other names; undefined where there is none. */
function isAllowed(
  allowed: ParameterLists,
  sent: string,
  parameters: RequestParameters,
  otherNames: OtherNames | undefined,
): boolean | undefined {
  const [name, value] = [asciiLowerCase(sent), parameterOf(parameters, sent)]
  const own = allowed.get(name)
  if (own !== undefined) return isListed(own, value, false)
  const lists = listsOfOthers(allowed, name, value, otherNames)
  return lists.length === 0 ? undefined : lists.some((list) => isListed(list, value, false))
}

/** Null counts as not sent: under another name it is nobody's business. */
function listsOfOthers(
  lists: ParameterLists,
  name: string,
  value: unknown,
  otherNames: OtherNames | undefined,
): readonly (readonly ParameterValue[])[] {
  const others = otherNames?.get(name)
  if (others === undefined || value === null) return NONE
  return others.flatMap((other) => {
    const list = lists.get(other)
    return list === undefined ? [] : [list]
  })
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

/** `ifUnknown` is the answer for a value that is no JSON and so equals nothing: whichever leads to a refusal. */
function isListed(list: readonly ParameterValue[], value: unknown, ifUnknown: boolean): boolean {
  if (list.length === 0) return true
  if (!isJson(value)) return ifUnknown
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
