// What has an id and a name of its own is read and removed by either: entities and groups.
import { type AlsoNamed, type Endpoint, endpoint } from '../api/endpoint.ts'
import { string } from '../api/fields.ts'
import { LIST_OF_NAMES, pageOf } from '../api/named-things.ts'
import type { Answer } from '../api/request.ts'
import type { Shapes } from '../api/shape.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import type { IdentityStore } from './identity-store.ts'
import { pageFields } from './listing.ts'
import { keptName } from './names.ts'
import { type From, listNames } from './records.ts'

export const idField = (kind: Kind) => ({ id: string(`Id of the ${kind}`, { required: true }) })
export const nameField = (kind: Kind) => ({
  name: string(`Name of the ${kind}; the case of its letters makes no difference`, {
    required: true,
    canonical: keptName,
  }),
})

type Kind = 'entity' | 'group'

export type ByIdAndName<T> = {
  readonly kind: Kind
  /** Of the endpoints that list names, and that remove one. */
  readonly summaries: { readonly names: string; readonly removal: string }
  readonly response: Shapes
  readonly findById: (from: From, id: string) => Promise<T | undefined>
  readonly findByName: (from: From, name: string) => Promise<T | undefined>
  /** @throws Refusal `not_found` for undefined */
  readonly answer: (store: IdentityStore, thing: T | undefined) => Promise<Answer>
  /** One that is not there is no error. */
  readonly remove: (store: IdentityStore, find: (tx: ViewTransaction) => Promise<T | undefined>) => Promise<Answer>
}

/** A body that gives id or name of one. */
export const namesIn = (kind: Kind, operation: 'read' | 'update'): readonly AlsoNamed[] => [
  { field: 'id', operation, at: (id) => `${kind}/id/${id}` },
  { field: 'name', operation, at: (name) => `${kind}/name/${name}` },
]

type Offered = Readonly<Record<'readId' | 'deleteId' | 'listByName' | 'readName' | 'deleteName', Endpoint>>

export function byIdAndName<T>(things: ByIdAndName<T>): Offered {
  const { kind, summaries, response, findById, findByName, answer, remove } = things
  const reading = {
    operation: 'read',
    capability: 'read',
    runsOn: 'any-node',
    summary: `One ${kind}`,
    response,
  } as const
  const removing = { operation: 'delete', capability: 'delete', runsOn: 'writer', summary: summaries.removal } as const
  return {
    readId: endpoint({
      ...reading,
      id: `${kind}-read-id`,
      path: `${kind}/id/:id`,
      fields: idField(kind),
      handler: async (store: IdentityStore, { id }) => answer(store, await findById(store.view, id)),
    }),
    deleteId: endpoint({
      ...removing,
      id: `${kind}-delete-id`,
      path: `${kind}/id/:id`,
      fields: idField(kind),
      handler: (store: IdentityStore, { id }) => remove(store, (tx) => findById(tx, id)),
    }),
    listByName: endpoint({
      ...LIST_OF_NAMES,
      id: `${kind}-list-names`,
      path: `${kind}/name`,
      summary: summaries.names,
      fields: pageFields,
      handler: async ({ view }: IdentityStore, args) => ({
        data: { keys: pageOf((await listNames(view, `${kind}-name`)).sort(), args) },
      }),
    }),
    readName: endpoint({
      ...reading,
      id: `${kind}-read-name`,
      path: `${kind}/name/:name...`,
      fields: nameField(kind),
      handler: async (store: IdentityStore, { name }) => answer(store, await findByName(store.view, name)),
    }),
    deleteName: endpoint({
      ...removing,
      id: `${kind}-delete-name`,
      path: `${kind}/name/:name...`,
      fields: nameField(kind),
      handler: (store: IdentityStore, { name }) => remove(store, (tx) => findByName(tx, name)),
    }),
  }
}
