// What has an id and a name of its own is made, read, changed and removed by either: entities and groups have the same
// endpoints.
import { type AlsoNamed, type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { type Args, type Fields, string } from '../api/fields.ts'
import { LIST_OF_NAMES, pageOf } from '../api/named-things.ts'
import type { Answer } from '../api/request.ts'
import type { Shapes } from '../api/shape.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import type { IdentityStore } from './identity-store.ts'
import { LISTED_WITH_INFO, pageFields, withInfo } from './listing.ts'
import { keptName } from './names.ts'
import { type From, listNames } from './records.ts'

type Kind = 'entity' | 'group'

/** `T` is a thing as it is kept, `F` what can be written of it besides its name. */
export type ByIdAndName<T, F extends Fields> = {
  readonly kind: Kind
  /** As texts call one of them, and all. */
  readonly oneOf: string
  readonly plural: string
  readonly removal: string
  readonly fields: F
  readonly response: Shapes
  /** Of a write. */
  readonly written: Shapes
  /** A write that made nothing new answers without that. */
  readonly isSilent?: true
  readonly findById: (from: From, id: string) => Promise<T | undefined>
  readonly findByName: (from: From, name: string) => Promise<T | undefined>
  /** What the list of ids tells of one. */
  readonly info: (store: IdentityStore, thing: T) => Promise<Record<string, unknown>>
  /** @throws Refusal `not_found` for undefined */
  readonly answer: (store: IdentityStore, thing: T | undefined) => Promise<Answer>
  /** Changes the thing, makes one where it is undefined. `name` is the new one; undefined: as it is, or made up. */
  readonly write: (
    store: IdentityStore,
    tx: ViewTransaction,
    thing: T | undefined,
    name: string | undefined,
    args: Args<F>,
  ) => Promise<Answer>
  /** One that is not there is no error. */
  readonly remove: (store: IdentityStore, find: (tx: ViewTransaction) => Promise<T | undefined>) => Promise<Answer>
}

/** A body that gives id or name of one. */
export const namesIn = (kind: Kind, operation: 'read' | 'update'): readonly AlsoNamed[] => [
  { field: 'id', operation, at: (id) => `${kind}/id/${id}` },
  { field: 'name', operation, at: (name) => `${kind}/name/${name}` },
]

const idField = (kind: Kind) => ({ id: string(`Id of the ${kind}`, { required: true }) })
const nameField = (kind: Kind) => ({
  name: string(`Name of the ${kind}; the case of its letters makes no difference`, {
    required: true,
    canonical: keptName,
  }),
})

const WRITING = { operation: 'update', capability: 'update', runsOn: 'writer' } as const
const LISTING = { operation: 'list', capability: 'list', runsOn: 'any-node' } as const

const readingOf = <T, F extends Fields>({ kind, response }: ByIdAndName<T, F>) =>
  ({ operation: 'read', capability: 'read', runsOn: 'any-node', summary: `One ${kind}`, response }) as const

const removingOf = <T, F extends Fields>({ removal }: ByIdAndName<T, F>) =>
  ({ operation: 'delete', capability: 'delete', runsOn: 'writer', summary: removal }) as const

/** What a write that may make something new answers. */
const madeOf = <T, F extends Fields>({ written, isSilent }: ByIdAndName<T, F>) =>
  isSilent === true ? ({ response: written, mayBeEmpty: true } as const) : { response: written }

type Place = { readonly store: IdentityStore; readonly tx: ViewTransaction }

/** @throws Refusal where there is none with the id */
async function writeById<T, F extends Fields>(
  things: ByIdAndName<T, F>,
  { store, tx }: Place,
  args: { readonly id: string; readonly name: string },
): Promise<Answer> {
  const there = await things.findById(tx, args.id)
  if (there === undefined) throw fail('field_invalid', ['id', `no ${things.kind} has this id`])
  return things.write(store, tx, there, args.name === '' ? undefined : args.name, args as unknown as Args<F>)
}

async function writeByName<T, F extends Fields>(
  things: ByIdAndName<T, F>,
  { store, tx }: Place,
  args: { readonly name: string },
): Promise<Answer> {
  const there = await things.findByName(tx, args.name)
  const newName = there === undefined && args.name !== '' ? args.name : undefined
  return things.write(store, tx, there, newName, args as unknown as Args<F>)
}

const make = <T, F extends Fields>(things: ByIdAndName<T, F>): Endpoint =>
  endpoint({
    ...WRITING,
    id: `${things.kind}-write`,
    path: things.kind,
    alsoNames: namesIn(things.kind, 'update'),
    summary: `Makes ${things.oneOf}, or changes the one with the id or the name`,
    fields: {
      id: string(`Id of ${things.oneOf} that is there`, { default: '' }),
      name: string('Name; the default is one that is made up', { default: '' }),
      ...(things.fields as Fields),
    },
    ...madeOf(things),
    handler: (store: IdentityStore, args) =>
      store.transaction((tx) => (args.id === '' ? writeByName : writeById)(things, { store, tx }, args)),
  })

function byId<T, F extends Fields>(things: ByIdAndName<T, F>): readonly Endpoint[] {
  const { kind, findById } = things
  const fields: Fields = things.fields
  const list = endpoint({
    ...LISTING,
    id: `${kind}-list-ids`,
    path: `${kind}/id`,
    summary: `Ids of the ${things.plural}`,
    fields: pageFields,
    response: LISTED_WITH_INFO,
    handler: async (store: IdentityStore, args) => ({
      data: await withInfo(pageOf(await store.view.list(`identity/${kind}/`), args), async (id) => {
        const found = await findById(store.view, id)
        return found === undefined ? undefined : things.info(store, found)
      }),
    }),
  })
  const one = { path: `${kind}/id/:id`, fields: idField(kind) }
  const read = endpoint({
    ...readingOf(things),
    ...one,
    id: `${kind}-read-id`,
    handler: async (store: IdentityStore, { id }) => things.answer(store, await findById(store.view, id)),
  })
  const write = endpoint({
    ...WRITING,
    id: `${kind}-write-id`,
    path: one.path,
    alsoNames: namesIn(kind, 'update').filter(({ field }) => field === 'name'),
    summary: `Changes ${things.oneOf}`,
    fields: { ...one.fields, name: string('New name', { default: '' }), ...fields },
    ...(things.isSilent === true ? {} : { response: things.written }),
    handler: (store: IdentityStore, args) => store.transaction((tx) => writeById(things, { store, tx }, args)),
  })
  const remove = endpoint({
    ...removingOf(things),
    ...one,
    id: `${kind}-delete-id`,
    handler: (store: IdentityStore, { id }) => things.remove(store, (tx) => findById(tx, id)),
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
    summary: `Names of the ${things.plural}`,
    fields: pageFields,
    handler: async ({ view }: IdentityStore, args) => ({
      data: { keys: pageOf((await listNames(view, `${kind}-name`)).sort(), args) },
    }),
  })
  const one = { path: `${kind}/name/:name...`, fields: nameField(kind) }
  const read = endpoint({
    ...readingOf(things),
    ...one,
    id: `${kind}-read-name`,
    handler: async (store: IdentityStore, { name }) => things.answer(store, await findByName(store.view, name)),
  })
  const write = endpoint({
    ...WRITING,
    id: `${kind}-write-name`,
    path: one.path,
    summary: `Makes the ${kind}, or changes it`,
    fields: { ...one.fields, ...fields },
    ...madeOf(things),
    handler: (store: IdentityStore, args) => store.transaction((tx) => writeByName(things, { store, tx }, args)),
  })
  const remove = endpoint({
    ...removingOf(things),
    ...one,
    id: `${kind}-delete-name`,
    handler: (store: IdentityStore, { name }) => things.remove(store, (tx) => findByName(tx, name)),
  })
  return [list, read, write, remove]
}

/** `make` is the endpoint without a name in its path; the others follow as the pages have them. */
export const byIdAndName = <T, const F extends Fields>(things: ByIdAndName<T, F>) => ({
  make: make(things),
  others: [...byId(things), ...byName(things)],
})
