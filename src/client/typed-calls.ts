// The types of calls, read off the generated table of endpoints.

import type { Endpoints } from './endpoints.ts'
import type { WrapInfo } from './envelope.ts'

type Verb = 'GET' | 'LIST' | 'POST' | 'DELETE'

/** The paths that have this method, as `transit/keys/:name`. */
export type PathOf<V extends Verb> = keyof Endpoints extends infer Key
  ? Key extends `${V} ${infer Path}`
    ? Path
    : never
  : never

type Row<V extends Verb, P extends PathOf<V>> = `${V} ${P}` extends keyof Endpoints ? Endpoints[`${V} ${P}`] : never

export type FieldsOf<V extends Verb, P extends PathOf<V>> = Row<V, P>['fields']
export type ResultOf<V extends Verb, P extends PathOf<V>> = Row<V, P>['result']

/** The fields may be left out where none of them is needed. */
export type Arguments<Fields, Options> =
  Record<never, never> extends Fields ? [fields?: Fields, options?: Options] : [fields: Fields, options?: Options]

/** What a call resolves to: with wrapping, the token that the answer is under. */
export type Given<Wrapped extends boolean, Result> = Wrapped extends true ? WrapInfo : Result
