// The endpoints under auth/token/ that look up, renew and revoke tokens. Those that make tokens and roles have files of
// their own.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { duration, int, string } from '../api/fields.ts'
import { LIST_OF_NAMES, namesAnswer } from '../api/named-things.ts'
import { callerOf, DONE } from '../api/request.ts'
import { flag, integer, listOf, mapOf, nullable, optional, type Shapes, text } from '../api/shape.ts'
import { TOKEN_CREATE_ENDPOINTS } from './token-create-endpoints.ts'
import { TOKEN_ROLE_ENDPOINTS } from './token-role-endpoints.ts'
import type { TokenService } from './token-service.ts'
import { tidyWarning } from './token-tidy.ts'

const TOKEN_INFO: Shapes = {
  accessor: text('Accessor: refers to the token without giving access; empty for a batch token'),
  bound_cidrs: optional(listOf(text('CIDR block'), 'IP addresses or CIDR blocks that the token can be used from')),
  creation_time: integer('Time of creation, Unix time in seconds'),
  creation_ttl: integer('TTL set at creation, in seconds; 0: none'),
  display_name: text('Display name, shown in logs'),
  entity_id: text('ID of the entity; empty if there is none'),
  expire_time: nullable(text('Expiration time, RFC 3339; null: never expires')),
  explicit_max_ttl: integer('Hard limit on the lifetime, in seconds; 0: none'),
  id: text('The token, if the caller sent it; otherwise empty'),
  identity_policies: optional(listOf(text('Policy'), 'Policies from its entity and groups')),
  issue_time: optional(text('Time of creation, RFC 3339')),
  last_renewal: optional(text('Time of the last renewal, RFC 3339')),
  last_renewal_time: optional(integer('Time of the last renewal, Unix time in seconds')),
  meta: nullable(mapOf(text('Value'), 'Metadata set at creation, as key-value pairs')),
  namespace_path: optional(text('Path of its namespace; absent for a token of the root')),
  num_uses: integer('Remaining uses; 0: unlimited'),
  orphan: flag('The token has no parent'),
  path: text('Path of the request that created the token'),
  period: optional(integer('Period in seconds: each renewal resets the TTL to it')),
  policies: listOf(text('Policy'), 'Policies attached to the token, sorted'),
  renewable: optional(flag('The token can be renewed')),
  role: optional(text('Token role that the token was created by')),
  ttl: integer('Remaining TTL in seconds; 0: never expires'),
  type: text('Token type: service or batch'),
}

const tokenField = { token: string('The token', { required: true, secret: true }) }
/** What is asked about a token is judged in the namespace of that token, wherever it is asked. */
const MOVES = { movesTo: { field: 'token', names: 'token' } } as const
const MOVES_TO_OWN = { movesTo: 'token' } as const
const accessorField = { accessor: string('Accessor of the token', { required: true }) }
const incrementField = {
  increment: duration('Requested TTL from now, in seconds; 0: the TTL set at creation', { default: 0 }),
}

const lookup = endpoint({
  id: 'token-lookup',
  operation: 'update',
  path: 'lookup',
  ...MOVES,
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Looks up a token',
  fields: { token: string('The token; default: the calling token', { secret: true }) },
  response: TOKEN_INFO,
  handler: async (service: TokenService, { token }, request) => {
    if (token === undefined || token === '') return { data: await service.describeCaller(callerOf(request)) }
    return { data: await service.describe(request.namespace.id, token) }
  },
})

const lookupByPath = endpoint({
  id: 'token-lookup-by-path',
  operation: 'read',
  path: 'lookup/:token...',
  ...MOVES,
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Looks up a token given in the path (deprecated: proxies may write the path to their logs)',
  fields: { token: string('The token', { required: true, secret: true }) },
  response: TOKEN_INFO,
  handler: async (service: TokenService, { token }, { namespace }) => ({
    data: await service.describe(namespace.id, token),
  }),
})

const lookupSelf = (operation: 'read' | 'update') =>
  endpoint({
    id: `token-lookup-self-${operation}`,
    operation,
    path: 'lookup-self',
    ...MOVES_TO_OWN,
    capability: operation,
    runsOn: 'any-node',
    summary: 'Looks up the calling token',
    fields: {},
    response: TOKEN_INFO,
    handler: (service: TokenService, _args, request) => {
      const info = service.describeCaller(callerOf(request))
      return info instanceof Promise ? info.then((data) => ({ data })) : { data: info }
    },
  })

const lookupAccessor = endpoint({
  id: 'token-lookup-accessor',
  operation: 'update',
  path: 'lookup-accessor',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Looks up a token by its accessor, without showing the token itself',
  fields: accessorField,
  response: TOKEN_INFO,
  handler: async (service: TokenService, { accessor }, { namespace }) => ({
    data: await service.describeAccessor(namespace.id, accessor),
  }),
})

const renewSelf = endpoint({
  id: 'token-renew-self',
  operation: 'update',
  path: 'renew-self',
  ...MOVES_TO_OWN,
  capability: 'update',
  runsOn: 'writer',
  writes: 'both',
  summary: 'Renews the calling token',
  fields: incrementField,
  givesToken: true,
  handler: (service: TokenService, { increment }, request) => {
    const { namespaceId, token } = callerOf(request)
    return service.renewal.renew(namespaceId, token, increment)
  },
})

const renew = endpoint({
  id: 'token-renew',
  operation: 'update',
  path: 'renew',
  ...MOVES,
  capability: 'update',
  runsOn: 'writer',
  writes: 'both',
  summary: 'Renews a token',
  fields: { ...tokenField, ...incrementField },
  givesToken: true,
  handler: (service: TokenService, { token, increment }, { namespace }) =>
    service.renewal.renew(namespace.id, token, increment),
})

const renewAccessor = endpoint({
  id: 'token-renew-accessor',
  operation: 'update',
  path: 'renew-accessor',
  capability: 'update',
  runsOn: 'writer',
  writes: 'both',
  summary: 'Renews a token by its accessor, without showing the token itself',
  fields: { ...accessorField, ...incrementField },
  givesToken: true,
  handler: async (service: TokenService, { accessor, increment }, { namespace }) =>
    service.renewal.renewById((await service.byAccessor(namespace.id, accessor)).id, increment),
})

const revoke = endpoint({
  id: 'token-revoke',
  operation: 'update',
  path: 'revoke',
  ...MOVES,
  capability: 'update',
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Revokes a token and all its children; an unknown token is not an error',
  fields: tokenField,
  handler: async (service: TokenService, { token }, { namespace }) => {
    await service.revoke(namespace.id, token)
    return DONE
  },
})

const revokeSelf = endpoint({
  id: 'token-revoke-self',
  operation: 'update',
  path: 'revoke-self',
  ...MOVES_TO_OWN,
  capability: 'update',
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Revokes the calling token and all its children',
  fields: {},
  handler: async (service: TokenService, _args, request) => {
    const { namespaceId, token } = callerOf(request)
    await service.revoke(namespaceId, token)
    return DONE
  },
})

const revokeAccessor = endpoint({
  id: 'token-revoke-accessor',
  operation: 'update',
  path: 'revoke-accessor',
  capability: 'update',
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Revokes a token by its accessor, and all its children',
  fields: accessorField,
  handler: async (service: TokenService, { accessor }, { namespace }) => {
    const found = await service.findByAccessor(namespace.id, accessor)
    if (found === undefined) return { warnings: ['No token found with this accessor'] }
    await service.tokens.revoke(found.id)
    return DONE
  },
})

const revokeOrphan = endpoint({
  id: 'token-revoke-orphan',
  operation: 'update',
  path: 'revoke-orphan',
  ...MOVES,
  capability: 'update',
  sudo: true,
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Revokes a token but not its children, which become orphans',
  fields: tokenField,
  handler: async (service: TokenService, { token }, { namespace }) => {
    await service.revokeOrphaning(namespace.id, token)
    return DONE
  },
})

const accessors = endpoint({
  ...LIST_OF_NAMES,
  id: 'token-accessors',
  path: 'accessors',
  sudo: true,
  summary: 'Lists the accessors of all tokens of the namespace, in no meaningful order',
  fields: {
    after: string('Last accessor of the previous page: returns only those after it', { default: '' }),
    limit: int('Maximum number of accessors to return; 0: all', { default: 0, min: 0 }),
  },
  response: { keys: listOf(text('Accessor'), 'Accessors, in no meaningful order') },
  handler: async (service: TokenService, { after, limit }, { namespace }) =>
    namesAnswer(await service.accessors(namespace.id, after, limit)),
})

const tidy = endpoint({
  id: 'token-tidy',
  operation: 'update',
  path: 'tidy',
  capability: 'update',
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Starts a background task that removes leftover data of tokens that are no longer valid',
  fields: {},
  handler: (service: TokenService) => ({ status: 202, warnings: [tidyWarning(service.tidy.start())] }),
})

/** Every endpoint of the mount auth/token/. */
export const TOKEN_ENDPOINTS: readonly Endpoint[] = [
  ...TOKEN_CREATE_ENDPOINTS,
  lookup,
  lookupByPath,
  lookupSelf('read'),
  lookupSelf('update'),
  lookupAccessor,
  renew,
  renewSelf,
  renewAccessor,
  revoke,
  revokeSelf,
  revokeAccessor,
  revokeOrphan,
  accessors,
  tidy,
  ...TOKEN_ROLE_ENDPOINTS,
]
