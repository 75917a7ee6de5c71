// The types of calls, derived from the generated table of endpoints, whose keys are `METHOD path`.

import type { Endpoints } from './endpoints.ts'
import type { WrapInfo } from './envelope.ts'

/** Methods of the table. PUT means POST; LIST and SCAN travel as GET. */
type Verb = 'GET' | 'LIST' | 'SCAN' | 'POST' | 'PATCH' | 'DELETE'

/** The paths that have this method, such as `transit/keys/:name`. */
export type PathOf<V extends Verb> = keyof Endpoints extends infer Key
  ? Key extends `${V} ${infer Path}`
    ? Path
    : never
  : never

/** The entry of an endpoint; `never` for a path without this method. */
type Row<V extends Verb, P extends PathOf<V>> = `${V} ${P}` extends keyof Endpoints ? Endpoints[`${V} ${P}`] : never

/** The fields that an endpoint takes, those in the path among them. */
export type FieldsOf<V extends Verb, P extends PathOf<V>> = Row<V, P>['fields']
/** The members of an answer that the call resolves to. */
export type ResultOf<V extends Verb, P extends PathOf<V>> = Row<V, P>['result']

/** The parameters of a call. The fields may be left out if none of them is required. */
export type Arguments<Fields, Options> =
  Record<never, never> extends Fields ? [fields?: Fields, options?: Options] : [fields: Fields, options?: Options]

/** The result of a call; with wrapping it is the token that stands for it. */
export type Given<Wrapped extends boolean, Result> = Wrapped extends true ? WrapInfo : Result
