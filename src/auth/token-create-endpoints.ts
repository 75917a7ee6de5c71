// The endpoints that make tokens: auth/token/create, create-orphan, create/ROLE.

import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { type Args, bool, duration, int, map, string, strings } from '../api/fields.ts'
import { type Answer, callerOf, type RequestInfo } from '../api/request.ts'
import { keptPolicyName } from '../api/spelling.ts'
import type { CreationForm } from './token-creation.ts'
import type { TokenService } from './token-service.ts'

const fields = {
  id: string('Custom token ID; requires sudo', { secret: true }),
  policies: strings('Policies to attach to the token; default: the policies of the caller', {
    canonical: keptPolicyName,
  }),
  meta: map('Metadata of the token, as key-value pairs'),
  no_parent: bool('Create an orphan token, which is not revoked together with the caller; requires sudo', {
    default: false,
  }),
  no_default_policy: bool('Do not attach the "default" policy', { default: false }),
  renewable: bool('The token can be renewed', { default: true }),
  ttl: duration('TTL of the token, in seconds; 0 or unset uses the default of the mount'),
  lease: duration('Deprecated: use ttl', { aliasOf: 'ttl' }),
  type: string('Token type: service, or batch, which is not stored and cannot be renewed or revoked', { default: '' }),
  explicit_max_ttl: duration('Hard limit on the lifetime in seconds, regardless of renewals; 0: none', { default: 0 }),
  display_name: string('Display name, shown in logs', { default: '' }),
  num_uses: int('Maximum number of uses; 0: unlimited', { default: 0, min: 0 }),
  period: duration(
    'Period of a periodic token, in seconds: each renewal resets the TTL to it; requires sudo; 0: not periodic',
    { default: 0 },
  ),
  entity_alias: string('Entity alias to create the token for; the token role must allow it', { default: '' }),
}
const roleFields = { ...fields, role_name: string('Name of the token role', { required: true }) }

/** Hands a decoded request to the service; `lease` is the older name of `ttl`. */
function create(
  service: TokenService,
  args: Args<typeof fields>,
  request: RequestInfo,
  form: CreationForm,
): Promise<Answer> {
  const id = args.id === '' ? undefined : args.id
  return service.create(request.namespace, callerOf(request), { ...args, id, ttl: args.ttl ?? args.lease ?? 0 }, form)
}

const plain = (by: 'create' | 'create-orphan') =>
  endpoint({
    id: `token-${by}`,
    operation: 'update',
    path: by,
    capability: 'update',
    runsOn: 'writer',
    writes: 'both',
    summary:
      by === 'create'
        ? 'Creates a token as a child of the calling token'
        : 'Creates an orphan token, which has no parent',
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
  writes: 'both',
  summary: 'Creates a token with the settings of a token role',
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
