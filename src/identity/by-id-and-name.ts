// Endpoints of things with an id and a name, entities and groups. Each is read, changed and removed by either.
import { type AlsoNamed, type Endpoint, endpoint, type NamedIds } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { type Args, type Fields, string } from '../api/fields.ts'
import { LIST_OF_NAMES, pageOf } from '../api/named-things.ts'
import type { Answer } from '../api/request.ts'
import type { Shapes } from '../api/shape.ts'
import type { Halves } from './halves.ts'
import type { IdentityStore } from './identity-store.ts'
import { LISTED_WITH_INFO, pageFields, withInfo } from './listing.ts'
import { keptName } from './names.ts'
import { type From, idsIn, listNames } from './records.ts'

type Kind = 'entity' | 'group'

/** What differs between the two. `T` is a thing as it is stored, `F` has the fields of a write besides the name. */
export type ByIdAndName<T, F extends Fields> = {
  readonly kind: Kind
  /** Nouns for summaries. */
  readonly oneOf: string
  readonly plural: string
  readonly removal: string
  readonly fields: F
  readonly response: Shapes
  /** Members of the answer to a write: fewer than a read shows. */
  readonly written: Shapes
  /** A write that changes a thing is answered without data; only one that makes a thing has them. */
  readonly isSilent?: true
  /** What a write names of any namespace. */
  readonly namedIds?: NamedIds<IdentityStore, object>
  /** May refuse the id of a thing in another namespace; undefined says that there is none. */
  readonly findById: (from: From, namespaceId: string, id: string) => Promise<T | undefined>
  readonly findByName: (from: From, namespaceId: string, name: string) => Promise<T | undefined>
  /** The facts about a thing in the list of ids. */
  readonly info: (store: IdentityStore, thing: T) => Promise<Record<string, unknown>>
  /** The answer to a read. @throws Refusal `not_found` for undefined */
  readonly answer: (store: IdentityStore, thing: T | undefined) => Promise<Answer>
  /** Changes the thing, or makes one if it is undefined. An undefined `name` keeps the old one, or one is made up. */
  readonly write: (
    store: IdentityStore,
    tx: Halves,
    namespaceId: string,
    thing: T | undefined,
    name: string | undefined,
    args: Args<F>,
  ) => Promise<Answer>
  /** Removes a thing; does nothing if `find` gives none. */
  readonly remove: (
    store: IdentityStore,
    namespaceId: string,
    find: (tx: From) => Promise<T | undefined>,
  ) => Promise<Answer>
}

/** Paths that a body names by `id` or `name`: what a policy says of them holds for the request too (threats T-09). */
export const namesIn = (kind: Kind, operation: 'read' | 'update'): readonly AlsoNamed[] => [
  { field: 'id', operation, at: (id) => `${kind}/id/${id}` },
  { field: 'name', operation, at: (name) => `${kind}/name/${name}` },
]

const idField = (kind: Kind) => ({ id: string(`ID of the ${kind}`, { required: true }) })
const nameField = (kind: Kind) => ({
  name: string(`Name of the ${kind}; case-insensitive`, {
    required: true,
    canonical: keptName,
  }),
})

const writingOf = <T, F extends Fields>({ namedIds }: ByIdAndName<T, F>) =>
  ({
    operation: 'update',
    capability: 'update',
    runsOn: 'writer',
    writes: 'set',
    ...(namedIds === undefined ? {} : { namedIds }),
  }) as const
const LISTING = { operation: 'list', capability: 'list', runsOn: 'any-node' } as const

const readingOf = <T, F extends Fields>({ oneOf, response }: ByIdAndName<T, F>) =>
  ({ operation: 'read', capability: 'read', runsOn: 'any-node', summary: `Shows ${oneOf}`, response }) as const

const removingOf = <T, F extends Fields>({ removal }: ByIdAndName<T, F>) =>
  ({ operation: 'delete', capability: 'delete', runsOn: 'writer', writes: 'set', summary: removal }) as const

/** The response of a write that may make a thing. */
const madeOf = <T, F extends Fields>({ written, isSilent }: ByIdAndName<T, F>) =>
  isSilent === true ? ({ response: written, mayBeEmpty: true } as const) : { response: written }

type Writing = { readonly store: IdentityStore; readonly tx: Halves; readonly namespaceId: string }

/** Changes the thing with the id; ids are never made by callers. @throws Refusal if there is none */
async function writeById<T, F extends Fields>(
  things: ByIdAndName<T, F>,
  { store, tx, namespaceId }: Writing,
  args: { readonly id: string; readonly name: string },
): Promise<Answer> {
  const there = await things.findById(tx, namespaceId, args.id)
  if (there === undefined) throw fail('field_invalid', ['id', `no ${things.kind} has this id`])
  return things.write(
    store,
    tx,
    namespaceId,
    there,
    args.name === '' ? undefined : args.name,
    args as unknown as Args<F>,
  )
}

/** Changes the thing with the name, or makes it. */
async function writeByName<T, F extends Fields>(
  things: ByIdAndName<T, F>,
  { store, tx, namespaceId }: Writing,
  args: { readonly name: string },
): Promise<Answer> {
  const there = await things.findByName(tx, namespaceId, args.name)
  const newName = there === undefined && args.name !== '' ? args.name : undefined
  return things.write(store, tx, namespaceId, there, newName, args as unknown as Args<F>)
}

const make = <T, F extends Fields>(things: ByIdAndName<T, F>): Endpoint =>
  endpoint({
    ...writingOf(things),
    id: `${things.kind}-write`,
    path: things.kind,
    alsoNames: namesIn(things.kind, 'update'),
    summary: `Creates ${things.oneOf}, or updates the one with the given id or name`,
    fields: {
      id: string(`ID of an existing ${things.kind}`, { default: '' }),
      name: string('Name; generated if unset', { default: '' }),
      ...(things.fields as Fields),
    },
    ...madeOf(things),
    handler: (store: IdentityStore, args, { namespace: { id: namespaceId } }) =>
      store.transaction(namespaceId, (tx) =>
        (args.id === '' ? writeByName : writeById)(things, { store, tx, namespaceId }, args),
      ),
  })

function byId<T, F extends Fields>(things: ByIdAndName<T, F>): readonly Endpoint[] {
  const { kind, findById } = things
  const fields: Fields = things.fields
  const list = endpoint({
    ...LISTING,
    id: `${kind}-list-ids`,
    path: `${kind}/id`,
    summary: `Lists the IDs of the ${things.plural}`,
    fields: pageFields,
    response: LISTED_WITH_INFO,
    handler: async (store: IdentityStore, args, { namespace }) => ({
      data: await withInfo(pageOf(await idsIn(store.view, `identity/${kind}/`, namespace.id), args), async (id) => {
        const found = await findById(store.view, namespace.id, id)
        return found === undefined ? undefined : things.info(store, found)
      }),
    }),
  })
  const one = { path: `${kind}/id/:id`, fields: idField(kind) }
  const read = endpoint({
    ...readingOf(things),
    ...one,
    id: `${kind}-read-id`,
    handler: async (store: IdentityStore, { id }, { namespace }) =>
      things.answer(store, await findById(store.view, namespace.id, id)),
  })
  const write = endpoint({
    ...writingOf(things),
    id: `${kind}-write-id`,
    path: one.path,
    alsoNames: namesIn(kind, 'update').filter(({ field }) => field === 'name'),
    summary: `Updates ${things.oneOf}`,
    fields: { ...one.fields, name: string('New name', { default: '' }), ...fields },
    ...(things.isSilent === true ? {} : { response: things.written }),
    handler: (store: IdentityStore, args, { namespace: { id: namespaceId } }) =>
      store.transaction(namespaceId, (tx) => writeById(things, { store, tx, namespaceId }, args)),
  })
  const remove = endpoint({
    ...removingOf(things),
    ...one,
    id: `${kind}-delete-id`,
    handler: (store: IdentityStore, { id }, { namespace }) =>
      things.remove(store, namespace.id, (tx) => findById(tx, namespace.id, id)),
  })
  return [list, read, write, remove]
}

function byName<T, F extends Fields>(things: ByIdAndName<T, F>): readonly Endpoint[] {
  const { kind, findByName } = things
  const fields: Fields = things.fields
  const list = endpoint({
    ...LIST_OF_NAMES,
    id: `${kind}-list-names`,
    path: `${kind}/name`,
    summary: `Lists the names of the ${things.plural}`,
    fields: pageFields,
    handler: async ({ view }: IdentityStore, args, { namespace }) => ({
      data: { keys: pageOf((await listNames(view, `${kind}-name`, namespace.id)).sort(), args) },
    }),
  })
  const one = { path: `${kind}/name/:name...`, fields: nameField(kind) }
  const read = endpoint({
    ...readingOf(things),
    ...one,
    id: `${kind}-read-name`,
    handler: async (store: IdentityStore, { name }, { namespace }) =>
      things.answer(store, await findByName(store.view, namespace.id, name)),
  })
  const write = endpoint({
    ...writingOf(things),
    id: `${kind}-write-name`,
    path: one.path,
    summary: `Creates ${things.oneOf} with this name, or updates it`,
    fields: { ...one.fields, ...fields },
    ...madeOf(things),
    handler: (store: IdentityStore, args, { namespace: { id: namespaceId } }) =>
      store.transaction(namespaceId, (tx) => writeByName(things, { store, tx, namespaceId }, args)),
  })
  const remove = endpoint({
    ...removingOf(things),
    ...one,
    id: `${kind}-delete-name`,
    handler: (store: IdentityStore, { name }, { namespace }) =>
      things.remove(store, namespace.id, (tx) => findByName(tx, namespace.id, name)),
  })
  return [list, read, write, remove]
}

/** Returns `make`, the endpoint with neither id nor name in its path, and the others, in the order of docs/api. */
export const byIdAndName = <T, const F extends Fields>(things: ByIdAndName<T, F>) => ({
  make: make(things),
  others: [...byId(things), ...byName(things)],
})
