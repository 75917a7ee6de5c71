// The definition of an endpoint, written once. Router, decoding, types of handlers, policy, forwarding, OpenAPI, help
// and the authorisation test are derived from these definitions and from nothing else.
import { strict as assert } from 'node:assert'
import { own } from '../lib/own.ts'
import type { Args, Fields } from './fields.ts'
import { type Namespace, ROOT_ID } from './namespace.ts'
import type { DataOwner, Sight } from './node-role.ts'
import { expandPattern, parsePattern } from './pattern.ts'
import type { Answer, ListenerSwitches, RequestInfo } from './request.ts'
import type { Shapes } from './shape.ts'
import type { Fold } from './spelling.ts'

/** The action of a request, by its method: GET, LIST, SCAN, POST or PUT, PATCH, DELETE. */
export type EndpointOperation = 'read' | 'list' | 'scan' | 'update' | 'patch' | 'delete'

/**
 * The right that a policy must grant on the path. For 'create-or-update' the endpoint's `exists` decides which of the
 * two.
 */
export type Capability = 'none' | 'read' | 'list' | 'scan' | 'update' | 'patch' | 'create-or-update' | 'delete'

/**
 * The place of an answer's data: in the envelope; bare; or in the envelope and copied to its top level, where old
 * clients read it.
 */
export type BodyForm = 'envelope' | 'plain' | 'both'

/**
 * Whose stored data an endpoint may write, whether or not a request does so in the end. Absent: it writes none.
 * - 'set': what all clusters of a set share. 'cluster': what belongs to this cluster alone, such as tokens.
 * - 'node': what belongs to this node alone, or is only in memory.
 * - 'mount': data of its mount, which the set shares unless the mount is local.
 * - 'both': first what the set shares, such as an entity, then what the cluster owns, such as a token.
 * - A function decides by what the arguments name.
 */
export type Writes<E, A> =
  | DataOwner
  | 'mount'
  | 'both'
  | ((engine: E, args: A, namespace: Namespace, sight: Sight) => DataOwner | Promise<DataOwner>)

/**
 * The shared mounts that the arguments name, besides the one that serves the request. A secondary that a filter keeps
 * one of them from cannot have the request carried out.
 */
export type NamedMounts<E, A> = (engine: E, args: A, namespace: Namespace) => NamedMount[] | Promise<NamedMount[]>
type NamedMount = { readonly uuid: string } | undefined

/**
 * The ids in the arguments of what may be of another namespace than the request. A secondary that a filter keeps such a
 * namespace from is answered as for an id that nothing has.
 */
export type NamedIds<E, A> = (engine: E, args: A, namespace: Namespace) => NamedId[] | Promise<NamedId[]>
/** `unknown` is said of the field if nothing has the id. */
export type NamedId = { readonly id: string; readonly field: string; readonly unknown: string }

/**
 * Called on the writing thread of a secondary, with the answer of its primary: keeps in memory here what the handler
 * keeps there, for later requests that ask about it. It does not throw. A primary of another version may answer less.
 */
export type AfterPrimary<E, A> = (engine: E, args: A, namespace: Namespace, answer: Answer) => void

type Common<E, F extends Fields> = {
  /** Stable name for metrics, logs and OpenAPI. */
  readonly id: string
  readonly operation: EndpointOperation
  /** Pattern of the path: ':x' is one segment that is a name, ':x...' the rest of the path, '(/:x)' may be missing. */
  readonly path: string
  /** The right that a policy must grant on the path; 'none' needs no token at all. */
  readonly capability: Capability
  /** True if policies must grant sudo as well. */
  readonly sudo?: boolean
  /**
   * 'writer': always changes something, so the request is forwarded to the node and thread that may write before its
   * handler runs, unless it `takesAnyFields`. 'any-node': served where it arrives, and forwarded only once it turns out
   * to write, as when its answer is wrapped.
   */
  readonly runsOn: 'any-node' | 'writer'
  /** A performance secondary refuses it with 400: it is sent to the primary by its caller, and never handed over. */
  readonly onlyOnPrimary?: true
  /**
   * It writes nothing but what is the node's own, and a stand-in goes by that when it takes over: as with any other
   * write, the answer waits for synchronous secondaries.
   */
  readonly standInRelies?: true
  /**
   * Whether a secondary for disaster recovery answers it: 'open' to all, 'operation-token' to holders of an operation
   * token. Absent: refused, as nearly all are. The pipeline judges no token there, whatever `capability` says: the
   * handler of an 'operation-token' does (`OperationTokens` of src/system).
   */
  readonly onDrSecondary?: 'open' | 'operation-token'
  /** A performance secondary answers it also while its copy is not whole: for its operators, who can give it up. */
  readonly whileCopied?: true
  /** The path may end in '/': what it names is one. */
  readonly alsoAsFolder?: true
  /** On a login method: the endpoint also answers at MOUNT/… without `auth/`, unless another mount is there. */
  readonly alsoAtRoot?: boolean
  /** True if the endpoint answers while the server is sealed. */
  readonly whileSealed?: boolean
  /**
   * Where a built-in mount offers it. Absent: in each namespace, about what that one has. 'root': in the root alone;
   * elsewhere it is an unsupported path. 'root-keys': likewise, refused as one that has no keys of its own. 'all': it
   * answers in each as in the root, also where X-Vault-Namespace names none that exists, or a locked one.
   */
  readonly offeredIn?: 'root' | 'root-keys' | 'all'
  /**
   * The namespace that the request is moved to, before a policy is asked. 'token': that of the caller's token. A field
   * with a token or the id of a lease: that of what it names, if that exists; then the body is read first.
   */
  readonly movesTo?: 'token' | { readonly field: string; readonly names: 'token' | 'lease' }
  /** True if it makes the keys, or opens or closes the barrier; a test that calls all endpoints leaves it out. */
  readonly changesSeal?: boolean
  readonly body?: BodyForm
  /** The body is a stream of bytes of any length; the fields are in the query. */
  readonly takesStream?: boolean
  /** Success is a stream of bytes of any length, not JSON. */
  readonly givesStream?: boolean
  /** The answer may be the only copy or word of something (`isOnlyCopy`), which would be lost if wrapping failed. */
  readonly neverWrapped?: true
  /** Success may be text of another type than JSON, if the request asks for it. */
  readonly givesText?: boolean
  /** Returns true if the listener lets the endpoint answer without a token, and while the server is sealed. */
  readonly isOpen?: (listener: ListenerSwitches) => boolean
  /**
   * Beyond its fields the body is the caller's own data, handed over as it came (`RequestInfo.input`). The handler runs
   * where the request arrived, even with `runsOn: 'writer'`, and sends only the bytes to be stored to the thread that
   * writes. The whole request is forwarded only if a step comes to a write itself, such as counting a use of the token.
   */
  readonly takesAnyFields?: boolean
  /**
   * May be called with a wrapping token instead of a token of one's own: the call reads the wrapping token and does not
   * use it up.
   */
  readonly takesWrappingToken?: boolean
  /** A name in the path whose spellings only the engine knows; for all others `Field.canonical` says them. */
  readonly spelling?: {
    readonly field: string
    readonly foldOf: (engine: E, path: Readonly<Record<string, string>>) => Fold | undefined
  }
  /** Fields of the body that name what a path could name. Optional parts of the path itself are added by `endpoint`. */
  readonly alsoNames?: readonly AlsoNamed[]
  /** As `AlsoNamed.mayLieBelow`, for a name in the path. */
  readonly mayLieBelow?: string
  /** Other paths of the mount that do the same: a rule that denies one of them denies this request too. */
  readonly twins?: (path: Readonly<Record<string, string>>) => readonly string[]
  readonly summary: string
  readonly describe?: string
  readonly fields: F
  /** Members of the answer's data; absent if there are none. */
  readonly response?: Shapes
  /** True if success may come without data, as 204. */
  readonly mayBeEmpty?: boolean
  /** Success has a warning in place of data, and so is 200 and never 204. */
  readonly alwaysWarns?: true
  /** Field without which the answer is wrapped, whatever the request asks for (`wrapAs`). */
  readonly wrappedWithout?: string
  /** True if success hands out or renews a token: the answer then has an `auth` part (AUTH_BLOCK). */
  readonly givesToken?: boolean
  /**
   * Tells whether the thing exists, and so decides between create and update. It gets only the path, since it runs
   * before the policy and so before the body is read.
   */
  readonly exists?: (
    engine: E,
    path: Readonly<Record<string, string>>,
    token: AskingToken,
    namespace: Namespace,
  ) => boolean | Promise<boolean>
}

/** The token of a request: its name in storage, and the id of its namespace. */
type AskingToken = { readonly id: string; readonly entry: { readonly namespace: string } }

/** A definition as it is written: the handler's arguments are typed by the fields. */
export type EndpointDefinition<E, F extends Fields> = Common<E, F> & {
  readonly writes?: Writes<E, Args<F>>
  readonly namedMounts?: NamedMounts<E, Args<F>>
  readonly namedIds?: NamedIds<E, Args<F>>
  readonly afterPrimary?: AfterPrimary<E, Args<F>>
  readonly handler: (engine: E, args: Args<F>, request: RequestInfo) => Promise<Answer> | Answer
}

/** A field that names what a path of the same mount could name; the rules about that path apply as well. */
export type AlsoNamed = {
  readonly field: string
  /** The action of the request on the named thing. */
  readonly operation: EndpointOperation
  /**
   * Returns the path inside the mount, or undefined if the field names none. `path` holds the names in the request's
   * own path; `sent` returns what another field holds.
   */
  readonly at: (
    name: string,
    path: Readonly<Record<string, string>>,
    sent: (field: string) => string | undefined,
  ) => string | undefined
  /** The thing is only referred to: no right to it is required, but a rule that denies it still denies the request. */
  readonly onlyDenials?: true
  /** No name in such a path has several spellings. */
  readonly foldsNone?: true
  /** The name is the path of a mount, which may lie in a namespace below: rules that deny it there count, too. */
  readonly mayLieBelow?: true
}

/** The part of an endpoint that policy rules about parameters are checked against. */
export type Declared = { readonly fields: Fields; readonly otherNames?: OtherNames }

/** For each name of a field that has several, the others: a rule about one holds for all. */
export type OtherNames = ReadonlyMap<string, readonly string[]>

/**
 * A definition without the types of its fields. `E` is what the endpoint needs of its engine; an engine may list
 * endpoints that need no more than it has. Router and pipeline hold endpoints of all engines, and each mount pairs them
 * with its own.
 */
export type Endpoint<E = never> = Common<E, Fields> & {
  /** Missing if each field has one name, as most do. */
  readonly otherNames?: OtherNames
  readonly writes?: Writes<E, never>
  readonly namedMounts?: NamedMounts<E, never>
  readonly namedIds?: NamedIds<E, never>
  readonly afterPrimary?: AfterPrimary<E, never>
  readonly handler: (engine: E, args: never, request: RequestInfo) => Promise<Answer> | Answer
}

/** True if the namespace offers the endpoint. */
export const isOfferedIn = ({ id }: Namespace, { offeredIn }: Pick<Endpoint, 'offeredIn'>): boolean =>
  id === ROOT_ID || offeredIn === undefined || offeredIn === 'all'

/**
 * Checks a definition and completes it. It runs when the program starts, so a contradiction stops the start.
 * @throws AssertionError
 */
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
  checkWrites(definition, where)
  const otherNames = otherNamesOf(definition.fields, where)
  const alsoNames = [...optionalNames(definition), ...(definition.alsoNames ?? [])]
  for (const { field } of alsoNames) assert(Object.hasOwn(definition.fields, field), `${where}: ${field} names nothing`)
  const named = alsoNames.length === 0 ? {} : { alsoNames }
  return { ...definition, ...(otherNames === undefined ? {} : { otherNames }), ...named } as unknown as Endpoint<E>
}

/** What runs where writes are made says whose data it writes. A step that hands requests over relies on it. */
function checkWrites({ runsOn, writes, onlyOnPrimary }: CheckedWrites, where: string): void {
  assert(runsOn !== 'writer' || writes !== undefined, `${where}: runs on the writer, and does not say what it writes`)
  assert(
    onlyOnPrimary !== true || writes === 'set' || typeof writes === 'function',
    `${where}: only what writes data of the set can be kept for the primary`,
  )
}

type CheckedWrites = Pick<Endpoint, 'runsOn' | 'onlyOnPrimary'> & { readonly writes?: unknown }

/** In `a(/:b)` the body may name what the path left out, so the path with that name is checked as well. */
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
