// An endpoint, written once: router, decoding, the handler's types, policy, forwarding, OpenAPI, help and the
// authorisation test are derived from these definitions and from nothing else.
import { strict as assert } from 'node:assert'
import { own } from '../lib/own.ts'
import type { Args, Fields } from './fields.ts'
import { expandPattern, parsePattern } from './pattern.ts'
import type { Answer, ListenerSwitches, RequestInfo } from './request.ts'
import type { Shapes } from './shape.ts'
import type { Fold } from './spelling.ts'

/** The method of the wire: GET, LIST, POST or PUT, DELETE. */
export type EndpointOperation = 'read' | 'list' | 'update' | 'delete'

export type Capability = 'none' | 'read' | 'list' | 'update' | 'create-or-update' | 'delete'

/**
 * How the answer's data is written: in the envelope; bare; or in the envelope and copied to its top level, where old
 * clients read it.
 */
export type BodyForm = 'envelope' | 'plain' | 'both'

type Common<E, F extends Fields> = {
  /** Stable name for metrics, logs and OpenAPI. */
  readonly id: string
  readonly operation: EndpointOperation
  /** Segments; ':x' is one segment that is a name, ':x...' the rest of the path, '(/:x)' may be missing. */
  readonly path: string
  /** What a policy must grant on the path; 'none' needs no token at all. */
  readonly capability: Capability
  /** Policies must grant sudo as well. */
  readonly sudo?: boolean
  /**
   * 'writer': always changes something, so the request travels at once to where its data may be written.
   * 'any-node': served where it arrives; should it come to a write after all, it travels then.
   */
  readonly runsOn: 'any-node' | 'writer'
  /** Of a login method: answers at MOUNT/… too, without `auth/` before it, where no other mount is. */
  readonly alsoAtRoot?: boolean
  /** Answers even while the server is sealed. */
  readonly whileSealed?: boolean
  /** Makes the keys, opens or closes the barrier: a test that calls all endpoints keeps away from it. */
  readonly changesSeal?: boolean
  readonly body?: BodyForm
  /** The body of the request is bytes of any number, its fields stand in the query. */
  readonly takesStream?: boolean
  /** Success is bytes of any number, and no JSON. */
  readonly givesStream?: boolean
  /** May answer with the only copy of something (`isOnlyCopy`), which a wrapping that fails would lose. */
  readonly neverWrapped?: true
  /** Success may be text of another type than JSON, where the request asks for it. */
  readonly givesText?: boolean
  /** Where its listener says so, it answers without a token, and while the server is sealed. */
  readonly isOpen?: (listener: ListenerSwitches) => boolean
  /**
   * Beyond its fields the body is data of the caller's own: it is handed over as it came (`RequestInfo.input`). Such an
   * endpoint runs where the request arrives, and has bytes written.
   */
  readonly takesAnyFields?: boolean
  /** May be called with a wrapping token instead of one's own: it is looked at and not spent by that. */
  readonly takesWrappingToken?: boolean
  /** Of a name in the path whose spelling the engine alone knows; for all others `Field.canonical` says it. */
  readonly spelling?: {
    readonly field: string
    readonly foldOf: (engine: E, path: Readonly<Record<string, string>>) => Fold | undefined
  }
  /** Where the body names what a path could name; what is optional in the path itself need not be said. */
  readonly alsoNames?: readonly AlsoNamed[]
  /** Other paths of the same mount that do the same: what a rule denies there stays denied here. */
  readonly twins?: (path: Readonly<Record<string, string>>) => readonly string[]
  readonly summary: string
  readonly describe?: string
  readonly fields: F
  /** The members of the answer's data; absent where there are none. */
  readonly response?: Shapes
  /** Success may come without that data, as 204. */
  readonly mayBeEmpty?: boolean
  /** Success hands out or prolongs a token: the answer has an `auth` part (AUTH_BLOCK). */
  readonly givesToken?: boolean
  /** Told from the path alone, so that it can run before the policy: decides between create and update. */
  readonly exists?: (engine: E, path: Readonly<Record<string, string>>, tokenId: string) => boolean | Promise<boolean>
}

export type EndpointDefinition<E, F extends Fields> = Common<E, F> & {
  readonly handler: (engine: E, args: Args<F>, request: RequestInfo) => Promise<Answer> | Answer
}

/** A field that names what a path of the same mount could name: that path is judged as well. */
export type AlsoNamed = {
  readonly field: string
  /** What is done there. */
  readonly operation: 'read' | 'list' | 'update' | 'delete'
  /**
   * The path inside the mount. `path` are the names in the request's own one, `sent` says what another field holds;
   * undefined: it names none.
   */
  readonly at: (
    name: string,
    path: Readonly<Record<string, string>>,
    sent: (field: string) => string | undefined,
  ) => string | undefined
  /** The thing is only referred to: a right to it is not asked for, but what a rule denies stays denied. */
  readonly onlyDenials?: true
  /** No name in such a path goes by several spellings. */
  readonly foldsNone?: true
}

/** What an endpoint says of its parameters, for those who judge them. */
export type Declared = { readonly fields: Fields; readonly otherNames?: OtherNames }

/** By each name of a field that has several its others. */
export type OtherNames = ReadonlyMap<string, readonly string[]>

/**
 * A definition without the types of its fields. `E` is what it takes of the engine: an engine lists those that take no
 * more than it has. Router and pipeline hold endpoints of all engines, and each mount pairs them with its own.
 */
export type Endpoint<E = never> = Common<E, Fields> & {
  /** Missing where each field has one name, as most do. */
  readonly otherNames?: OtherNames
  readonly handler: (engine: E, args: never, request: RequestInfo) => Promise<Answer> | Answer
}

/** Checks a definition when the program starts, so that a contradiction cannot be served. */
export function endpoint<E, const F extends Fields>(definition: EndpointDefinition<E, F>): Endpoint<E> {
  const where = `endpoint ${definition.id}`
  for (const name of parsePattern(definition.path).flatMap((segment) =>
    segment.kind === 'literal' ? [] : [segment.name],
  )) {
    assert(Object.hasOwn(definition.fields, name), `${where}: path parameter ${name} is not in fields`)
  }
  const { spelling } = definition
  assert(spelling === undefined || Object.hasOwn(definition.fields, spelling.field), `${where}: spelling of no field`)
  assert(
    (definition.exists !== undefined) === (definition.capability === 'create-or-update'),
    `${where}: exists goes with create-or-update`,
  )
  assert(definition.operation !== 'list' || definition.capability !== 'update', `${where}: a list does not update`)
  const otherNames = otherNamesOf(definition.fields, where)
  const alsoNames = [...optionalNames(definition), ...(definition.alsoNames ?? [])]
  for (const { field } of alsoNames) assert(Object.hasOwn(definition.fields, field), `${where}: ${field} names nothing`)
  const named = alsoNames.length === 0 ? {} : { alsoNames }
  return { ...definition, ...(otherNames === undefined ? {} : { otherNames }), ...named } as unknown as Endpoint<E>
}

/** `a(/:b)`: what the path may leave out the body may say. */
function optionalNames({ path, operation, fields }: Pick<Common<never, Fields>, 'path' | 'operation' | 'fields'>) {
  const names = parsePattern(path).flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name]))
  const plain = names.every((name) => own(fields, name)?.canonical === undefined) ? { foldsNone: true as const } : {}
  const [shortest = [], ...longer] = expandPattern(path)
  const required = new Set(shortest.flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name])))
  return longer.flatMap((segments): AlsoNamed[] => {
    const last = segments.at(-1)
    if (last === undefined || last.kind === 'literal' || required.has(last.name)) return []
    const at: AlsoNamed['at'] = (name, given, sent) => {
      const texts = segments.map((segment) => {
        if (segment.kind === 'literal') return segment.text
        if (segment === last) return name
        return own(given, segment.name) ?? sent(segment.name) ?? own(fields, segment.name)?.default
      })
      return texts.includes(undefined) ? undefined : texts.join('/')
    }
    return [{ field: last.name, operation, at, ...plain }]
  })
}

function otherNamesOf(fields: Fields, where: string): OtherNames | undefined {
  const byNewest = new Map<string, string[]>()
  for (const [name, { aliasOf }] of Object.entries(fields)) {
    if (aliasOf === undefined) continue
    assert(Object.hasOwn(fields, aliasOf), `${where}: ${name} is an alias of ${aliasOf}, which is not in fields`)
    assert(own(fields, aliasOf)?.aliasOf === undefined, `${where}: ${name} is an alias of an alias`)
    byNewest.set(aliasOf, [...(byNewest.get(aliasOf) ?? [aliasOf]), name])
  }
  if (byNewest.size === 0) return undefined
  const others = new Map<string, readonly string[]>()
  for (const names of byNewest.values())
    for (const name of names)
      others.set(
        name,
        names.filter((other) => other !== name),
      )
  return others
}
