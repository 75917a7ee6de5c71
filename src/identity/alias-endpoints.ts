// identity/entity-alias.
import { type AlsoNamed, type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { map, string } from '../api/fields.ts'
import { orNotFound, pageOf } from '../api/named-things.ts'
import { type Answer, type Caller, DONE } from '../api/request.ts'
import { text } from '../api/shape.ts'
import { type AliasChange, deleteAlias, writeAlias } from './aliases.ts'
import { ALIAS, aliasBody } from './answers.ts'
import { createEntity } from './entities.ts'
import type { IdentityStore } from './identity-store.ts'
import { LISTED_WITH_INFO, pageFields, withInfo } from './listing.ts'
import { findAlias, listAliasIds } from './records.ts'

const idField = { id: string('Id of the alias', { required: true }) }
const changeFields = {
  name: string('Name at the login mount, as its method gives it', { default: '' }),
  mount_accessor: string('Accessor of the login mount', { default: '' }),
  canonical_id: string('Id of its entity; the default for a new alias is a new entity', { default: '' }),
  entity_id: string('Old name of canonical_id', { aliasOf: 'canonical_id', default: '' }),
  custom_metadata: map('Names and texts; all of them are replaced'),
}
const MADE = { id: text('Id of the alias'), canonical_id: text('Id of its entity') }

type ChangeArgs = {
  readonly name: string
  readonly mount_accessor: string
  readonly canonical_id: string
  readonly entity_id: string
  readonly custom_metadata: Readonly<Record<string, string>> | undefined
}

const given = (value: string): string | undefined => (value === '' ? undefined : value)

const changeOf = (args: ChangeArgs): AliasChange => ({
  name: given(args.name),
  mountAccessor: given(args.mount_accessor),
  entityId: given(args.canonical_id) ?? given(args.entity_id),
  customMetadata: args.custom_metadata,
})

/** What the mount and the name name is judged as what an id names. */
const rightTo =
  (caller: Caller | undefined) =>
  (aliasId: string): void => {
    if (caller?.isRefusedAt(`entity-alias/id/${aliasId}`) === true) throw fail('permission_denied', [])
  }

async function write(
  store: IdentityStore,
  id: string | undefined,
  change: AliasChange,
  caller: Caller | undefined,
): Promise<Answer> {
  const { parts } = store
  const alias = await store.transaction((tx) =>
    writeAlias(parts, tx, id, change, async () => (await createEntity(parts, tx, {})).id, rightTo(caller)),
  )
  return { data: { id: alias.id, canonical_id: alias.entityId } }
}

/** Whose alias it is to be. */
const OWNER: AlsoNamed = {
  field: 'canonical_id',
  operation: 'update',
  at: (id) => `entity/id/${id}`,
  onlyDenials: true,
}

const make = endpoint({
  id: 'entity-alias-write',
  operation: 'update',
  path: 'entity-alias',
  capability: 'update',
  alsoNames: [{ field: 'id', operation: 'update', at: (id) => `entity-alias/id/${id}` }, OWNER],
  runsOn: 'writer',
  summary: 'Makes an alias, or changes the one with the id or with the mount and the name',
  fields: { id: string('Id of an alias that is there', { default: '' }), ...changeFields },
  response: MADE,
  handler: (store: IdentityStore, { id, ...args }, { caller }) => write(store, given(id), changeOf(args), caller),
})

const list = endpoint({
  id: 'entity-alias-list',
  operation: 'list',
  path: 'entity-alias/id',
  capability: 'list',
  runsOn: 'any-node',
  summary: 'Ids of the aliases',
  fields: pageFields,
  response: LISTED_WITH_INFO,
  handler: async ({ view, parts }: IdentityStore, args) => ({
    data: await withInfo(pageOf(await listAliasIds(view), args), async (id) => {
      const alias = await findAlias(view, id)
      if (alias === undefined) return undefined
      const { name, canonical_id, mount_accessor, mount_path, mount_type, local } = aliasBody(alias, parts.mountOf)
      return { name, canonical_id, mount_accessor, mount_path, mount_type, local }
    }),
  }),
})

const read = endpoint({
  id: 'entity-alias-read',
  operation: 'read',
  path: 'entity-alias/id/:id',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'One alias',
  fields: idField,
  response: ALIAS,
  handler: async ({ view, parts }: IdentityStore, { id }) => {
    const alias = orNotFound(await findAlias(view, id))
    return { data: aliasBody(alias, parts.mountOf) }
  },
})

const writeId = endpoint({
  id: 'entity-alias-write-id',
  operation: 'update',
  path: 'entity-alias/id/:id',
  capability: 'update',
  alsoNames: [OWNER],
  runsOn: 'writer',
  summary: 'Changes an alias; another name, mount or entity ends the memberships that logins by it gave',
  fields: { ...idField, ...changeFields },
  response: MADE,
  handler: (store: IdentityStore, { id, ...args }, { caller }) => write(store, id, changeOf(args), caller),
})

const remove = endpoint({
  id: 'entity-alias-delete',
  operation: 'delete',
  path: 'entity-alias/id/:id',
  capability: 'delete',
  runsOn: 'writer',
  summary: 'Removes an alias; the entity stays',
  fields: idField,
  handler: (store: IdentityStore, { id }) =>
    store.transaction(async (tx) => {
      const alias = await findAlias(tx, id)
      if (alias !== undefined) await deleteAlias(store.parts, tx, alias)
      return DONE
    }),
})

export const ALIAS_ENDPOINTS: readonly Endpoint[] = [make, list, read, writeId, remove]
