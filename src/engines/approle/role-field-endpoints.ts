// Single fields of a role, as some clients use them: read, write, and reset to the default.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import type { Fields } from '../../api/fields.ts'
import { string } from '../../api/fields.ts'
import { orNotFound } from '../../api/named-things.ts'
import { DONE } from '../../api/request.ts'
import { anything, OTHERS, text } from '../../api/shape.ts'
import { OLD_TOKEN_FIELDS, TOKEN_FIELDS } from '../../api/token-settings.ts'
import { own } from '../../lib/own.ts'
import { changedAppRole, ROLE_FIELDS, roleBody, roleField } from './role-endpoints.ts'
import type { AppRole, AppRoles } from './roles.ts'

/** The part of the mount that these endpoints use. */
type Approle = { readonly roles: Pick<AppRoles, 'find' | 'change'> }

/** One field that has endpoints of its own. */
type SingleField = {
  /** The last segment of the path. */
  readonly path: string
  /** The fields that may be sent; the first is the one that is read back. */
  readonly fields: Fields
  readonly initial: Readonly<Record<string, unknown>>
}

const FIELDS: readonly SingleField[] = [
  {
    path: 'policies',
    fields: { token_policies: TOKEN_FIELDS.token_policies, policies: OLD_TOKEN_FIELDS.policies },
    initial: { token_policies: [] },
  },
  { path: 'bind-secret-id', fields: { bind_secret_id: ROLE_FIELDS.bind_secret_id }, initial: { bind_secret_id: true } },
  {
    path: 'secret-id-num-uses',
    fields: { secret_id_num_uses: ROLE_FIELDS.secret_id_num_uses },
    initial: { secret_id_num_uses: 0 },
  },
  { path: 'secret-id-ttl', fields: { secret_id_ttl: ROLE_FIELDS.secret_id_ttl }, initial: { secret_id_ttl: 0 } },
  {
    path: 'secret-id-bound-cidrs',
    fields: { secret_id_bound_cidrs: ROLE_FIELDS.secret_id_bound_cidrs },
    initial: { secret_id_bound_cidrs: [] },
  },
  { path: 'token-ttl', fields: { token_ttl: TOKEN_FIELDS.token_ttl }, initial: { token_ttl: 0 } },
  { path: 'token-max-ttl', fields: { token_max_ttl: TOKEN_FIELDS.token_max_ttl }, initial: { token_max_ttl: 0 } },
  { path: 'token-num-uses', fields: { token_num_uses: TOKEN_FIELDS.token_num_uses }, initial: { token_num_uses: 0 } },
  {
    path: 'period',
    fields: { token_period: TOKEN_FIELDS.token_period, period: ROLE_FIELDS.period },
    initial: { token_period: 0 },
  },
  {
    path: 'token-bound-cidrs',
    fields: { token_bound_cidrs: TOKEN_FIELDS.token_bound_cidrs },
    initial: { token_bound_cidrs: [] },
  },
]

/** Finds a role. @throws Refusal 404 if there is none. */
async function mustFind(approle: Approle, name: string): Promise<AppRole> {
  return orNotFound(await approle.roles.find(name))
}

/** Changes an existing role; never makes one. @throws Refusal */
async function change(approle: Approle, name: string, given: Readonly<Record<string, unknown>>): Promise<void> {
  await approle.roles.change(name, (before) => {
    if (before === undefined) throw fail('not_found', [])
    return changedAppRole(given, before, () => before.roleId)
  })
}

function endpointsOf({ path: last, fields, initial }: SingleField): readonly Endpoint<Approle>[] {
  const path = `role/:role_name/${last}`
  const name = Object.keys(fields)[0] as string
  const read = endpoint({
    id: `approle-role-${last}-read`,
    operation: 'read',
    path,
    capability: 'read',
    runsOn: 'any-node',
    summary: `Returns ${name} of a role`,
    fields: roleField,
    response: { [OTHERS]: anything('Current value') },
    handler: async (approle: Approle, { role_name }) => {
      const body = roleBody(await mustFind(approle, role_name))
      const named = Object.keys(fields).filter((one) => own(body, one) !== undefined)
      return { data: Object.fromEntries(named.map((one) => [one, own(body, one)])) }
    },
  })
  const write = endpoint({
    id: `approle-role-${last}-write`,
    operation: 'update',
    path,
    capability: 'update',
    runsOn: 'writer',
    writes: 'mount',
    summary: `Sets ${name} of a role`,
    fields: { ...fields, ...roleField },
    handler: async (approle: Approle, args: Readonly<Record<string, unknown>>) => {
      if (Object.keys(fields).every((one) => own(args, one) === undefined)) throw fail('field_missing', [name])
      await change(approle, String(args.role_name), args)
      return DONE
    },
  })
  const remove = endpoint({
    id: `approle-role-${last}-delete`,
    operation: 'delete',
    path,
    capability: 'delete',
    runsOn: 'writer',
    writes: 'mount',
    summary: `Resets ${name} of a role to its default`,
    fields: roleField,
    handler: async (approle: Approle, { role_name }) => {
      await change(approle, role_name, initial)
      return DONE
    },
  })
  return [read, write, remove]
}

const roleIdRead = endpoint({
  id: 'approle-role-role-id-read',
  operation: 'read',
  path: 'role/:role_name/role-id',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Returns the role id of a role',
  fields: roleField,
  response: { role_id: text('Role id, which identifies the role at login') },
  handler: async (approle: Approle, { role_name }) => ({
    data: { role_id: (await mustFind(approle, role_name)).roleId },
  }),
})

const roleIdWrite = endpoint({
  id: 'approle-role-role-id-write',
  operation: 'update',
  path: 'role/:role_name/role-id',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Sets a custom role id for a role',
  fields: { ...roleField, role_id: string('New role id', { required: true }) },
  handler: async (approle: Approle, { role_name, role_id }) => {
    if (role_id === '') throw fail('field_missing', ['role_id'])
    await change(approle, role_name, { role_id })
    return DONE
  },
})

/** The endpoints of single fields, and of the role id. */
export const ROLE_FIELD_ENDPOINTS: readonly Endpoint<Approle>[] = [
  ...FIELDS.flatMap(endpointsOf),
  roleIdRead,
  roleIdWrite,
]
