// Endpoints for things that are kept under names: list the names; read, write and delete one thing.
import { own } from '../lib/own.ts'
import { type Endpoint, endpoint, type NamedMounts } from './endpoint.ts'
import { fail, type Refusal } from './errors.ts'
import { type Args, type Fields, int, string } from './fields.ts'
import type { Namespace } from './namespace.ts'
import { type Answer, DONE, type RequestInfo } from './request.ts'
import { LISTED, type Shapes } from './shape.ts'

/** Fields of every list. A policy that bounds a list sets the limit (core/access.ts). */
export const PAGE_FIELDS = {
  after: string('Returns only names that sort after this one', { default: '' }),
  limit: int('Maximum number of names to return; 0: all', { default: 0 }),
}
/** The part of a list that a request asks for. */
export type Page = { readonly after: string; readonly limit: number }

/** The endpoint that lists names, without id, path, summary and handler. */
export const LIST_OF_NAMES = {
  operation: 'list',
  capability: 'list',
  runsOn: 'any-node',
  fields: PAGE_FIELDS,
  response: LISTED,
} as const

/** The answer with names that were looked up page by page. @throws Refusal `not_found` if there are none */
export function namesAnswer(keys: readonly string[]): Answer {
  if (keys.length === 0) throw fail('not_found', [])
  return { data: { keys } }
}

/** Cuts one page out of all names. @throws Refusal `not_found` for an empty page */
export function pageOf(sorted: readonly string[], { after, limit }: Page): string[] {
  const rest = sorted.filter((key) => key > after)
  if (rest.length === 0) throw fail('not_found', [])
  return limit > 0 ? rest.slice(0, limit) : rest
}

/** Returns the thing. @throws Refusal `not_found` if it is undefined */
export function orNotFound<T>(thing: T | undefined): T {
  if (thing === undefined) throw fail('not_found', [])
  return thing
}

/** Things under names: PATH lists the names, PATH/NAME is one thing. `E` is the engine, `T` a stored thing. */
export type NamedThings<E, T, F extends Fields> = {
  /** Prefix of the ids of the endpoints: ID-list, ID-read, ID-write and ID-delete. */
  readonly id: string
  /** Id of the list, if it is not ID-list. */
  readonly listId?: string
  readonly path: string
  /** The one field that is in the path. */
  readonly name: Fields
  /** Fields of the list, if they are not PAGE_FIELDS. */
  readonly pageFields?: Fields
  readonly summaries: Readonly<Record<'list' | 'read' | 'write' | 'delete', string>>
  readonly descriptions?: Readonly<Partial<Record<'write' | 'delete', string>>>
  /** Members of the answer to a read. */
  readonly response: Shapes
  /** Fields that can be written, besides the name. */
  readonly fields: F
  /** Offered in the root namespace alone. */
  readonly offeredIn?: 'root'
  /** Whose data the writes change: of the mount, unless it is said. */
  readonly writes?: 'set'
  readonly namedMounts?: NamedMounts<E, object>
  /** Policies distinguish writes that create from writes that update. */
  readonly tellsNew?: true
  /** Returns the names of one page, sorted; empty if none are left. */
  readonly names: (engine: E, page: Page, namespace: Namespace) => Promise<readonly string[]>
  readonly find: (engine: E, name: string, namespace: Namespace) => Promise<T | undefined>
  /** What says that nothing has the name, where it is read; missing: 404 without a sentence. */
  readonly missing?: (name: string) => Refusal
  /** The thing as it is shown. */
  readonly body: (thing: T, name: string, engine: E) => object
  readonly write: (engine: E, name: string, args: Args<F>, request: RequestInfo) => Promise<Answer>
  /** Deletes the thing; does nothing if there is none. */
  readonly remove: (engine: E, name: string, namespace: Namespace) => Promise<void>
}

/** Makes the four endpoints: list, read, write and delete. */
export function namedThings<E, T, const F extends Fields>(things: NamedThings<E, T, F>): readonly Endpoint<E>[] {
  const [field = ''] = Object.keys(things.name)
  const one = {
    path: `${things.path}/:${field}`,
    nameIn: (args: object) => own(args as Readonly<Record<string, string>>, field) ?? '',
  }
  const made = [list(things), read(things, one), write(things, one), remove(things, one)]
  const { offeredIn } = things
  return offeredIn === undefined ? made : made.map((endpoint) => ({ ...endpoint, offeredIn }))
}

/** The path of one thing, and how to find its name in the arguments. */
type One = { readonly path: string; readonly nameIn: (args: object) => string }

const list = <E, T, F extends Fields>({ id, listId = `${id}-list`, ...things }: NamedThings<E, T, F>): Endpoint<E> =>
  endpoint({
    ...LIST_OF_NAMES,
    id: listId,
    path: things.path,
    summary: things.summaries.list,
    fields: things.pageFields ?? PAGE_FIELDS,
    handler: async (engine: E, page, { namespace }) => namesAnswer(await things.names(engine, page as Page, namespace)),
  })

const read = <E, T, F extends Fields>(things: NamedThings<E, T, F>, { path, nameIn }: One): Endpoint<E> =>
  endpoint({
    id: `${things.id}-read`,
    operation: 'read',
    path,
    capability: 'read',
    runsOn: 'any-node',
    summary: things.summaries.read,
    fields: things.name,
    response: things.response,
    handler: async (engine: E, args, { namespace }) => {
      const name = nameIn(args)
      const found = await things.find(engine, name, namespace)
      if (found === undefined && things.missing !== undefined) throw things.missing(name)
      return { data: things.body(orNotFound(found), name, engine) }
    },
  })

function write<E, T, F extends Fields>(things: NamedThings<E, T, F>, { path, nameIn }: One): Endpoint<E> {
  const exists: Endpoint<E>['exists'] = async (engine, args, _token, namespace) =>
    (await things.find(engine, nameIn(args), namespace)) !== undefined
  const describe = things.descriptions?.write
  return endpoint({
    id: `${things.id}-write`,
    operation: 'update',
    path,
    ...(things.tellsNew === true ? { capability: 'create-or-update', exists } : { capability: 'update' }),
    runsOn: 'writer',
    writes: things.writes ?? 'mount',
    ...(things.namedMounts === undefined ? {} : { namedMounts: things.namedMounts }),
    summary: things.summaries.write,
    ...(describe === undefined ? {} : { describe }),
    fields: { ...things.name, ...things.fields },
    handler: (engine: E, args, request) => things.write(engine, nameIn(args), args as unknown as Args<F>, request),
  })
}

function remove<E, T, F extends Fields>(things: NamedThings<E, T, F>, { path, nameIn }: One): Endpoint<E> {
  const describe = things.descriptions?.delete
  return endpoint({
    id: `${things.id}-delete`,
    operation: 'delete',
    path,
    capability: 'delete',
    runsOn: 'writer',
    writes: things.writes ?? 'mount',
    ...(things.namedMounts === undefined ? {} : { namedMounts: things.namedMounts }),
    summary: things.summaries.delete,
    ...(describe === undefined ? {} : { describe }),
    fields: things.name,
    handler: async (engine: E, args, { namespace }) => {
      await things.remove(engine, nameIn(args), namespace)
      return DONE
    },
  })
}
