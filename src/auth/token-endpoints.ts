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
  accessor: text('Names the token without giving access; a batch token has none'),
  bound_cidrs: optional(listOf(text('Block'), 'Addresses that it may be used from')),
  creation_time: integer('Seconds since the epoch'),
  creation_ttl: integer('Lifetime given at creation, seconds; 0: none'),
  display_name: text('For logs'),
  entity_id: text('Identity; empty without one'),
  expire_time: nullable(text('RFC 3339; null: never')),
  explicit_max_ttl: integer('Hard end after creation, seconds; 0: none'),
  id: text('The token, where the caller gave it'),
  identity_policies: optional(listOf(text('Policy'), 'Those of its entity and groups')),
  issue_time: optional(text('RFC 3339')),
  last_renewal: optional(text('RFC 3339')),
  last_renewal_time: optional(integer('Seconds since the epoch')),
  meta: nullable(mapOf(text('Text'), 'Names and texts given at creation')),
  num_uses: integer('Requests left; 0: unlimited'),
  orphan: flag('Has no parent'),
  path: text('Request path that made it'),
  period: optional(integer('Each renewal gives so many seconds')),
  policies: listOf(text('Policy'), 'Policies, sorted'),
  renewable: optional(flag('Can be renewed')),
  role: optional(text('The token role that it was made by')),
  ttl: integer('Seconds left; 0: no end'),
  type: text('service or batch'),
}

const tokenField = { token: string('The token', { required: true, secret: true }) }
const accessorField = { accessor: string('The accessor', { required: true }) }
const incrementField = { increment: duration('How long from now; 0: the lifetime it was made with', { default: 0 }) }

const lookup = endpoint({
  id: 'token-lookup',
  operation: 'update',
  path: 'lookup',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Shows what is known of a token',
  fields: { token: string('The token; the default is the caller', { secret: true }) },
  response: TOKEN_INFO,
  handler: async (service: TokenService, { token }, request) => {
    if (token === undefined || token === '') return { data: await service.describeCaller(callerOf(request)) }
    return { data: await service.describe(token) }
  },
})

const lookupByPath = endpoint({
  id: 'token-lookup-by-path',
  operation: 'read',
  path: 'lookup/:token...',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Old form of lookup: the token stands in the path, where logs of proxies may show it',
  fields: { token: string('The token', { required: true, secret: true }) },
  response: TOKEN_INFO,
  handler: async (service: TokenService, { token }) => ({ data: await service.describe(token) }),
})

const lookupSelf = (operation: 'read' | 'update') =>
  endpoint({
    id: `token-lookup-self-${operation}`,
    operation,
    path: 'lookup-self',
    capability: operation,
    runsOn: 'any-node',
    summary: 'Shows what is known of the calling token',
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
  summary: 'Shows what is known of the token with this accessor, without the token itself',
  fields: accessorField,
  response: TOKEN_INFO,
  handler: async (service: TokenService, { accessor }) => ({ data: await service.describeAccessor(accessor) }),
})

const renewSelf = endpoint({
  id: 'token-renew-self',
  operation: 'update',
  path: 'renew-self',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Prolongs the calling token',
  fields: incrementField,
  givesToken: true,
  handler: (service: TokenService, { increment }, request) => service.renewal.renew(callerOf(request).token, increment),
})

const renew = endpoint({
  id: 'token-renew',
  operation: 'update',
  path: 'renew',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Prolongs a token',
  fields: { ...tokenField, ...incrementField },
  givesToken: true,
  handler: (service: TokenService, { token, increment }) => service.renewal.renew(token, increment),
})

const renewAccessor = endpoint({
  id: 'token-renew-accessor',
  operation: 'update',
  path: 'renew-accessor',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Prolongs the token with this accessor, without showing the token itself',
  fields: { ...accessorField, ...incrementField },
  givesToken: true,
  handler: async (service: TokenService, { accessor, increment }) =>
    service.renewal.renewById((await service.byAccessor(accessor)).id, increment),
})

const revoke = endpoint({
  id: 'token-revoke',
  operation: 'update',
  path: 'revoke',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Ends a token and all its children; one that is not there is no error',
  fields: tokenField,
  handler: async (service: TokenService, { token }) => {
    await service.revoke(token)
    return DONE
  },
})

const revokeSelf = endpoint({
  id: 'token-revoke-self',
  operation: 'update',
  path: 'revoke-self',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Ends the calling token and all its children',
  fields: {},
  handler: async (service: TokenService, _args, request) => {
    await service.revoke(callerOf(request).token)
    return DONE
  },
})

const revokeAccessor = endpoint({
  id: 'token-revoke-accessor',
  operation: 'update',
  path: 'revoke-accessor',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Ends the token with this accessor and all its children',
  fields: accessorField,
  handler: async (service: TokenService, { accessor }) => {
    const found = await service.tokens.findByAccessor(accessor)
    if (found === undefined) return { warnings: ['No token found with this accessor'] }
    await service.tokens.revoke(found.id)
    return DONE
  },
})

const revokeOrphan = endpoint({
  id: 'token-revoke-orphan',
  operation: 'update',
  path: 'revoke-orphan',
  capability: 'update',
  sudo: true,
  runsOn: 'writer',
  summary: 'Ends a token alone: its children stay, without a parent',
  fields: tokenField,
  handler: async (service: TokenService, { token }) => {
    await service.revokeOrphaning(token)
    return DONE
  },
})

const accessors = endpoint({
  ...LIST_OF_NAMES,
  id: 'token-accessors',
  path: 'accessors',
  sudo: true,
  summary: 'Accessors of all tokens, in no order that means anything',
  fields: {
    after: string('Only those behind this one of the page before', { default: '' }),
    limit: int('At most so many; 0: all', { default: 0, min: 0 }),
  },
  handler: async (service: TokenService, { after, limit }) => namesAnswer(await service.accessors(after, limit)),
})

const tidy = endpoint({
  id: 'token-tidy',
  operation: 'update',
  path: 'tidy',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Removes, behind the answer, what is left of tokens that can never be used again',
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
