// The kinds of member that a stored record can have (src/storage/stored-record.ts). Each checks what it reads and gives
// TypeScript the type of its values. Nothing is converted: the program works with what is stored.
import { Base64Error, decodeBase64 } from './base64.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** A rule for the value of a member. */
export type Kind<T> = {
  /** The structure of its values, for tests that make some. */
  readonly form: Form
  /** Returns the value, or a copy with what was missing filled in; changes nothing. @throws Misfit */
  readonly read: (value: JsonValue) => T
  /** A member of this kind may be missing. */
  readonly optional?: boolean
  /** A member of this kind may be missing, and then has this value. */
  readonly otherwise?: { readonly value: T }
}

/** The structure of a kind's values, as data. */
export type Form =
  | { readonly is: 'text' | 'base64' | 'flag' | 'number' | 'object' }
  | { readonly is: 'integer'; readonly min: number; readonly max: number }
  | { readonly is: 'one of'; readonly values: readonly Literal[] }
  | { readonly is: 'list' | 'map' | 'checked'; readonly of: Kind<unknown> }
  | { readonly is: 'either'; readonly kinds: readonly Kind<unknown>[] }
  | { readonly is: 'group'; readonly members: Members; readonly others: Others }

type Literal = string | number | boolean | null
/** The treatment of members that are not declared: a newer version of the program may have stored some. */
export type Others = 'kept' | 'dropped'

/** The members of a record, by name. */
export type Members = Readonly<Record<string, Kind<unknown>>>
type Optional<T> = Kind<T> & { readonly optional: true }
type IsOptional<K> = K extends { readonly optional: true } ? true : false
/** The type of a kind's values. */
export type ValueOf<K> = K extends Kind<infer T> ? T : never
type Flat<T> = { [K in keyof T]: T[K] }
/** The type of an object with these members. */
export type GroupOf<M extends Members> = Flat<
  { readonly [K in keyof M as IsOptional<M[K]> extends true ? never : K]: ValueOf<M[K]> } & {
    readonly [K in keyof M as IsOptional<M[K]> extends true ? K : never]?: ValueOf<M[K]>
  }
>

/** A value that is not of its kind. It tells where, but no value, and no name that is data. */
export class Misfit extends Error {
  override name = 'Misfit'
  /** `config.lockout.threshold` or `versions[3]`; empty for the value as a whole. */
  readonly path: string
  readonly isMissing: boolean

  constructor(path = '', isMissing = false) {
    super(isMissing ? `"${path}" is missing` : `"${path}" cannot be`)
    this.path = path
    this.isMissing = isMissing
  }
}

function within(path: string, cause: unknown): unknown {
  if (!(cause instanceof Misfit)) return cause
  const joint = cause.path === '' || cause.path.startsWith('[') ? '' : '.'
  return new Misfit(path + joint + cause.path, cause.isMissing)
}

/** Any string. */
export const text: Kind<string> = {
  form: { is: 'text' },
  read: (value) => {
    if (typeof value !== 'string') throw new Misfit()
    return value
  },
}

/** True or false. */
export const flag: Kind<boolean> = {
  form: { is: 'flag' },
  read: (value) => {
    if (typeof value !== 'boolean') throw new Misfit()
    return value
  },
}

/** Any number, also with a fraction. */
export const number: Kind<number> = {
  form: { is: 'number' },
  read: (value) => {
    if (typeof value !== 'number') throw new Misfit()
    return value
  },
}

/** An object with any members: its owner looks into it. */
export const object: Kind<JsonObject> = {
  form: { is: 'object' },
  read: (value) => {
    if (!isJsonObject(value)) throw new Misfit()
    return value
  },
}

/** An integer between the two bounds, which belong to it. */
export function integer({ min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = {}): Kind<number> {
  return {
    form: { is: 'integer', min, max },
    read: (value) => {
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) throw new Misfit()
      return value
    },
  }
}

/** A number of things. Also a time span in the unit of the member's name, and milliseconds since 1970. */
export const count = integer({ min: 0 })

/** Bytes, written as standard base64 with padding. */
export const base64: Kind<string> = {
  form: { is: 'base64' },
  read: (value) => {
    if (typeof value !== 'string' || !isBase64(value)) throw new Misfit()
    return value
  },
}

function isBase64(value: string): boolean {
  try {
    decodeBase64(value)
    return true
  } catch (cause) {
    if (cause instanceof Base64Error) return false
    throw cause
  }
}

/** One of these values. */
export function oneOf<const T extends Literal>(...values: readonly T[]): Kind<T> {
  const known: readonly JsonValue[] = values
  return {
    form: { is: 'one of', values },
    read: (value) => {
      if (!known.includes(value)) throw new Misfit()
      return value as T
    },
  }
}

/** A list of values of one kind. */
export function listOf<T>(of: Kind<T>): Kind<readonly T[]> {
  return {
    form: { is: 'list', of },
    read: (value) => {
      if (!Array.isArray(value)) throw new Misfit()
      let result: unknown[] = value
      let at = 0
      try {
        for (; at < value.length; at++) {
          const item = value[at] as JsonValue
          const read = of.read(item)
          if (read === item) continue
          if (result === value) result = [...value]
          result[at] = read
        }
      } catch (cause) {
        throw within(`[${at}]`, cause)
      }
      return result as T[]
    },
  }
}

/** A list of strings. */
export const texts = listOf(text)

/** An object whose names are data, and whose values are of one kind. */
export function mapOf<T>(of: Kind<T>): Kind<Readonly<Record<string, T>>> {
  return {
    form: { is: 'map', of },
    read: (value) => {
      if (!isJsonObject(value)) throw new Misfit()
      try {
        const items = Object.entries(value)
        const read = items.map(([name, item]) => [name, of.read(item)] as const)
        const isSame = items.every(([, item], at) => read[at]?.[1] === item)
        return (isSame ? value : Object.fromEntries(read)) as Record<string, T>
      } catch (cause) {
        throw within('*', cause)
      }
    },
  }
}

/** A value of the kind, or null. */
export function nullable<T>(kind: Kind<T>): Kind<T | null> {
  return {
    form: { is: 'either', kinds: [oneOf(null), kind] },
    read: (value) => (value === null ? null : kind.read(value)),
  }
}

/** A value of one of the kinds, read by the first that fits. */
export function either<const K extends readonly Kind<unknown>[]>(...kinds: K): Kind<ValueOf<K[number]>> {
  return {
    form: { is: 'either', kinds },
    read: (value) => {
      let misfit: unknown
      for (const kind of kinds) {
        try {
          return kind.read(value) as ValueOf<K[number]>
        } catch (cause) {
          if (!(cause instanceof Misfit)) throw cause
          misfit = cause
        }
      }
      throw misfit
    },
  }
}

/** An object of one of several kinds, told by the member that only objects of that kind have. */
export function byMember<const K extends Members>(kinds: K): Kind<ValueOf<K[keyof K]>> {
  const all = Object.entries(kinds)
  return {
    form: { is: 'either', kinds: Object.values(kinds) },
    read: (value) => {
      const found = isJsonObject(value) ? all.find(([name]) => Object.hasOwn(value, name)) : undefined
      if (found === undefined) throw new Misfit()
      return found[1].read(value) as ValueOf<K[keyof K]>
    },
  }
}

/**
 * A value that older versions of the program stored in another form; `upgrade` turns that form into the present one.
 */
export function upgraded<T, U>(kind: Kind<T>, older: Kind<U>, upgrade: (value: U) => T): Kind<T> {
  return {
    form: kind.form,
    read: (value) => {
      try {
        return kind.read(value)
      } catch (misfit) {
        let found: U
        try {
          found = older.read(value)
        } catch {
          throw misfit
        }
        return upgrade(found)
      }
    },
  }
}

/** A value of the kind that also passes `fits`. */
export function checked<T>(of: Kind<T>, fits: (value: T) => boolean): Kind<T> {
  return {
    form: { is: 'checked', of },
    read: (value) => {
      const read = of.read(value)
      if (!fits(read)) throw new Misfit()
      return read
    },
  }
}

/** A member that may be missing, and is then missing in what is read. */
export const optional = <T>(kind: Kind<T>): Optional<T> => ({ ...kind, optional: true })

/** A member that older versions of the program did not store; it then has `value`. */
export const otherwise = <T>(kind: Kind<T>, value: NoInfer<T>): Kind<T> => ({ ...kind, otherwise: { value } })

/** A member that is always there after reading, as undefined if it is not stored. */
export const orUndefined = <T>(kind: Kind<T>): Kind<T | undefined> => ({ ...kind, otherwise: { value: undefined } })

/** An object with these members. */
export function group<const M extends Members>(members: M, others: Others = 'kept'): Kind<GroupOf<M>> {
  const declared = declaredOf(members)
  const read = others === 'kept' ? readKept : readDeclared
  return {
    form: { is: 'group', members, others },
    read: (value) => {
      if (!isJsonObject(value)) throw new Misfit()
      return read(declared, value) as GroupOf<M>
    },
  }
}

/** Two lists instead of pairs, which cost more to walk through: a key may have thousands of versions to read. */
type Declared = {
  readonly names: readonly string[]
  readonly kinds: readonly Kind<unknown>[]
  /** Undefined if no member has a default. */
  readonly defaults: Readonly<Record<string, unknown>> | undefined
}

function declaredOf(members: Members): Declared {
  const names = Object.keys(members)
  // Otherwise a record without the member would seem to have what every object inherits (threats N-07).
  if (names.some((name) => Object.hasOwn(Object.prototype, name))) throw new Error('A member has a name of all objects')
  const absent = Object.entries(members).flatMap(([name, { otherwise: other }]) =>
    other === undefined ? [] : [[name, other.value]],
  )
  return {
    names,
    kinds: Object.values(members),
    defaults: absent.length === 0 ? undefined : Object.fromEntries(absent),
  }
}

/** Defaults come first, so that a record that is stored again keeps its members in their order. */
function readKept({ names, kinds, defaults }: Declared, value: JsonObject): unknown {
  let result: Record<string, unknown> = defaults === undefined ? value : { ...defaults, ...value }
  let at = 0
  try {
    for (; at < names.length; at++) {
      const name = names[at] as string
      const kind = kinds[at] as Kind<unknown>
      const member = value[name]
      if (member === undefined) {
        requireAbsent(kind)
        continue
      }
      const read = kind.read(member)
      if (read === member) continue
      if (result === value) result = { ...value }
      result[name] = read
    }
  } catch (cause) {
    throw within(names[at] ?? '', cause)
  }
  return result
}

/** Returns the declared members in their order: the value itself, if it has exactly those in that order. */
function readDeclared({ names, kinds }: Declared, value: JsonObject): unknown {
  const stored = Object.keys(value)
  let [at, seen] = [0, 0]
  let isSame = true
  try {
    for (; at < names.length; at++) {
      const name = names[at] as string
      const kind = kinds[at] as Kind<unknown>
      const member = value[name]
      if (member === undefined) {
        requireAbsent(kind)
        if (kind.otherwise !== undefined) isSame = false
        continue
      }
      if (kind.read(member) !== member) isSame = false
      if (stored[seen] === name) seen++
    }
  } catch (cause) {
    throw within(names[at] ?? '', cause)
  }
  return isSame && seen === stored.length ? value : declaredIn(names, kinds, value)
}

function declaredIn(names: readonly string[], kinds: readonly Kind<unknown>[], value: JsonObject): unknown {
  const result: Record<string, unknown> = {}
  for (const [at, name] of names.entries()) {
    const kind = kinds[at]
    const member = value[name]
    if (member !== undefined) result[name] = kind?.read(member)
    else if (kind?.otherwise !== undefined) result[name] = kind.otherwise.value
  }
  return result
}

function requireAbsent({ optional: mayBe, otherwise: other }: Kind<unknown>): void {
  if (mayBe !== true && other === undefined) throw new Misfit('', true)
}
