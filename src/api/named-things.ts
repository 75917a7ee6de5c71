// What is kept under names, as every mount offers it: the list of the names, and one of them that may not be there.
import { own } from '../lib/own.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { fail } from './errors.ts'
import { type Args, type Fields, int, string } from './fields.ts'
import { type Answer, DONE, type RequestInfo } from './request.ts'
import { LISTED, type Shapes } from './shape.ts'

/** Every list has them: a policy that bounds a list sets the limit (core/access.ts). */
export const PAGE_FIELDS = {
  after: string('Only names that sort after this one', { default: '' }),
  limit: int('At most so many names; 0: all', { default: 0 }),
}
export type Page = { readonly after: string; readonly limit: number }

/** The endpoint that lists them, but for its id, path, summary and handler. */
export const LIST_OF_NAMES = {
  operation: 'list',
  capability: 'list',
  runsOn: 'any-node',
  fields: PAGE_FIELDS,
  response: LISTED,
} as const

/** Of names that were looked up page by page. @throws Refusal `not_found` where there is no name */
export function namesAnswer(keys: readonly string[]): Answer {
  if (keys.length === 0) throw fail('not_found', [])
  return { data: { keys } }
}

/** The names of one page out of all. @throws Refusal `not_found` for an empty page */
export function pageOf(sorted: readonly string[], { after, limit }: Page): string[] {
  const rest = sorted.filter((key) => key > after)
  if (rest.length === 0) throw fail('not_found', [])
  return limit > 0 ? rest.slice(0, limit) : rest
}

/** @throws Refusal `not_found` for what is undefined */
export function orNotFound<T>(thing: T | undefined): T {
  if (thing === undefined) throw fail('not_found', [])
  return thing
}

/** Things under names: PATH lists the names, PATH/NAME is one thing. `E` is the engine, `T` a thing as it is kept. */
export type NamedThings<E, T, F extends Fields> = {
  /** The endpoints are ID-list, ID-read, ID-write and ID-delete. */
  readonly id: string
  /** Where the list is called otherwise. */
  readonly listId?: string
  readonly path: string
  /** One field, which stands in the path. */
  readonly name: Fields
  /** Of the list, where they are others than PAGE_FIELDS. */
  readonly pageFields?: Fields
  readonly summaries: Readonly<Record<'list' | 'read' | 'write' | 'delete', string>>
  readonly descriptions?: Readonly<Partial<Record<'write' | 'delete', string>>>
  /** What is read. */
  readonly response: Shapes
  /** What can be written, besides the name. */
  readonly fields: F
  /** Policies tell a write that makes a thing from one that changes it. */
  readonly tellsNew?: true
  /** Those of one page, sorted; none where nothing is left. */
  readonly names: (engine: E, page: Page) => Promise<readonly string[]>
  readonly find: (engine: E, name: string) => Promise<T | undefined>
  /** As it is shown. */
  readonly body: (thing: T, name: string, engine: E) => object
  readonly write: (engine: E, name: string, args: Args<F>, request: RequestInfo) => Promise<Answer>
  /** One that is not there is no error. */
  readonly remove: (engine: E, name: string) => Promise<void>
}

/** Four endpoints: list, read, write and delete. */
export function namedThings<E, T, const F extends Fields>(things: NamedThings<E, T, F>): readonly Endpoint<E>[] {
  const [field = ''] = Object.keys(things.name)
  const one = {
    path: `${things.path}/:${field}`,
    nameIn: (args: object) => own(args as Readonly<Record<string, string>>, field) ?? '',
  }
  return [list(things), read(things, one), write(things, one), remove(things, one)]
}

/** The path of one thing, and its name in what was sent. */
type One = { readonly path: string; readonly nameIn: (args: object) => string }

const list = <E, T, F extends Fields>({ id, listId = `${id}-list`, ...things }: NamedThings<E, T, F>): Endpoint<E> =>
  endpoint({
    ...LIST_OF_NAMES,
    id: listId,
    path: things.path,
    summary: things.summaries.list,
    fields: things.pageFields ?? PAGE_FIELDS,
    handler: async (engine: E, page) => namesAnswer(await things.names(engine, page as Page)),
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
    handler: async (engine: E, args) => {
      const name = nameIn(args)
      return { data: things.body(orNotFound(await things.find(engine, name)), name, engine) }
    },
  })

function write<E, T, F extends Fields>(things: NamedThings<E, T, F>, { path, nameIn }: One): Endpoint<E> {
  const exists = async (engine: E, place: object) => (await things.find(engine, nameIn(place))) !== undefined
  const describe = things.descriptions?.write
  return endpoint({
    id: `${things.id}-write`,
    operation: 'update',
    path,
    ...(things.tellsNew === true ? { capability: 'create-or-update', exists } : { capability: 'update' }),
    runsOn: 'writer',
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
    summary: things.summaries.delete,
    ...(describe === undefined ? {} : { describe }),
    fields: things.name,
    handler: async (engine: E, args) => {
      await things.remove(engine, nameIn(args))
      return DONE
    },
  })
}
