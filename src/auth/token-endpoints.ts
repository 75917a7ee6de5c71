// The endpoints under auth/token/.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { bool, duration, int, map, string, strings } from '../api/fields.ts'
import { type Caller, DONE, type RequestInfo } from '../api/request.ts'
import { flag, integer, listOf, mapOf, nullable, optional, type Shapes, text } from '../api/shape.ts'
import { tokenInfo } from './token-entry.ts'
import type { TokenService } from './token-service.ts'

const TOKEN_INFO: Shapes = {
  accessor: text('Names the token without giving access'),
  creation_time: integer('Seconds since the epoch'),
  creation_ttl: integer('Lifetime given at creation, seconds; 0: none'),
  display_name: text('For logs'),
  entity_id: text('Identity; empty without one'),
  expire_time: nullable(text('RFC 3339; null: never')),
  explicit_max_ttl: integer('Hard end after creation, seconds; 0: none'),
  id: text('The token, where the caller gave it'),
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
  ttl: integer('Seconds left; 0: no end'),
  type: text('service'),
}

function callerOf(request: RequestInfo): Caller {
  if (request.caller === undefined) throw fail('permission_denied', [])
  return request.caller
}

const createFields = {
  id: string('A text of your own as the token; needs sudo', { secret: true }),
  policies: strings('Policies; the default is those of the caller'),
  meta: map('Names and texts kept with the token'),
  no_parent: bool('No parent: it does not fall with the caller; needs sudo', { default: false }),
  no_default_policy: bool('Without the policy "default"', { default: false }),
  renewable: bool('Can be renewed', { default: true }),
  ttl: duration('Lifetime'),
  lease: duration('Old name of ttl'),
  type: string('Kind of token; only "service" is offered', { default: 'service' }),
  explicit_max_ttl: duration('Hard end after creation, whatever is renewed', { default: 0 }),
  display_name: string('For logs', { default: '' }),
  num_uses: int('Requests it may make; 0: unlimited', { default: 0, min: 0 }),
  period: duration('Each renewal gives this long, without an end; needs sudo', { default: 0 }),
  entity_alias: string('Only through a token role, which is not offered yet', { default: '' }),
}

const create = (id: string, path: string, orphan: boolean) =>
  endpoint({
    id,
    operation: 'update',
    path,
    capability: 'update',
    runsOn: 'writer',
    summary: orphan ? 'Makes a token without a parent' : 'Makes a token, a child of the caller',
    fields: createFields,
    givesToken: true,
    handler: async (service: TokenService, args, request) => {
      const caller = callerOf(request)
      const wanted = {
        ...args,
        id: args.id === '' ? undefined : args.id,
        ttl: args.ttl ?? args.lease ?? 0,
        no_parent: orphan || args.no_parent,
      }
      return service.create(caller, wanted, { path: `${request.mountPath}${path}`, orphanByPath: orphan })
    },
  })

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
    if (token === undefined || token === '') return { data: service.describeCaller(callerOf(request)) }
    return { data: await service.describe(token) }
  },
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
    handler: (service: TokenService, _args, request) => ({ data: service.describeCaller(callerOf(request)) }),
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
  handler: async (service: TokenService, { accessor }) => {
    const found = await service.tokens.findByAccessor(accessor)
    if (found === undefined) throw fail('bad_request', ['No token has the given accessor'])
    return { data: tokenInfo('', found.entry, service.nowMs()) }
  },
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
  handler: (service: TokenService, { increment }, request) => service.renew(callerOf(request).token, increment),
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
  handler: (service: TokenService, { token, increment }) => service.renew(token, increment),
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
    await service.tokens.revoke(service.tokens.idOf(token))
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
    await service.tokens.revoke(callerOf(request).tokenId)
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

export const TOKEN_ENDPOINTS: readonly Endpoint[] = [
  create('token-create', 'create', false),
  create('token-create-orphan', 'create-orphan', true),
  lookup,
  lookupSelf('read'),
  lookupSelf('update'),
  lookupAccessor,
  renew,
  renewSelf,
  revoke,
  revokeSelf,
  revokeAccessor,
]
