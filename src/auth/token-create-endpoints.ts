// The endpoints that make tokens: auth/token/create, create-orphan, create/ROLE.

import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { type Args, bool, duration, int, map, string, strings } from '../api/fields.ts'
import { type Answer, callerOf, type RequestInfo } from '../api/request.ts'
import { keptPolicyName } from '../api/spelling.ts'
import type { CreationForm } from './token-creation.ts'
import type { TokenService } from './token-service.ts'

const fields = {
  id: string('A text of your own as the token; needs sudo', { secret: true }),
  policies: strings('Policies; the default is those of the caller', { canonical: keptPolicyName }),
  meta: map('Names and texts kept with the token'),
  no_parent: bool('No parent: it does not fall with the caller; needs sudo', { default: false }),
  no_default_policy: bool('Without the policy "default"', { default: false }),
  renewable: bool('Can be renewed', { default: true }),
  ttl: duration('Lifetime'),
  lease: duration('Old name of ttl', { aliasOf: 'ttl' }),
  type: string('service, or batch: not stored, cannot be renewed or revoked', { default: '' }),
  explicit_max_ttl: duration('Hard end after creation, whatever is renewed', { default: 0 }),
  display_name: string('For logs', { default: '' }),
  num_uses: int('Requests it may make; 0: unlimited', { default: 0, min: 0 }),
  period: duration('Each renewal gives this long, without an end; needs sudo', { default: 0 }),
  entity_alias: string('Who it is for, where the token role allows it', { default: '' }),
}
const roleFields = { ...fields, role_name: string('The token role', { required: true }) }

/** Hands a decoded request to the service; `lease` is the older name of `ttl`. */
function create(
  service: TokenService,
  args: Args<typeof fields>,
  request: RequestInfo,
  form: CreationForm,
): Promise<Answer> {
  const id = args.id === '' ? undefined : args.id
  return service.create(callerOf(request), { ...args, id, ttl: args.ttl ?? args.lease ?? 0 }, form)
}

const plain = (by: 'create' | 'create-orphan') =>
  endpoint({
    id: `token-${by}`,
    operation: 'update',
    path: by,
    capability: 'update',
    runsOn: 'writer',
    summary: by === 'create' ? 'Makes a token, a child of the caller' : 'Makes a token without a parent',
    fields,
    givesToken: true,
    handler: (service: TokenService, args, request) =>
      create(service, args, request, { by, path: request.mountPath + by }),
  })

const byRole = endpoint({
  id: 'token-create-by-role',
  operation: 'update',
  path: 'create/:role_name',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Makes a token as a token role says',
  fields: roleFields,
  givesToken: true,
  handler: (service: TokenService, args, request) =>
    create(service, args, request, {
      by: 'role',
      path: `${request.mountPath}create/${args.role_name}`,
      role: args.role_name,
    }),
})

/** The endpoints of auth/token/ that make tokens. token-endpoints.ts joins them with the others. */
export const TOKEN_CREATE_ENDPOINTS: readonly Endpoint[] = [plain('create'), plain('create-orphan'), byRole]
