// The documents of the directory: its addresses (OpenID discovery) and its keys.
import type { JsonObject, JsonValue } from '../src/lib/json.ts'
import type { Directory } from './directory.ts'
import { directoryError, unknownTenant } from './directory-errors.ts'
import { type CloudAnswer, type CloudRequest, type Handler, type Routes, route } from './exchange.ts'
import type { SigningKeys } from './signing-keys.ts'

/** Names that stand for no tenant: the issuer in their documents is a template. */
const SHARED_NAMES = ['common', 'organizations', 'consumers']

/** The parts of the emulator that the directory's addresses work with. */
export type IdentityProviderParts = {
  readonly directory: Directory
  readonly keys: SigningKeys
  /** Answers `POST /:tenant/oauth2/token` and `POST /:tenant/oauth2/v2.0/token`. */
  readonly tokenRoutes: Routes
}

/** Returns the handler of the service, token endpoint included. */
export function identityProvider({ directory, keys, tokenRoutes }: IdentityProviderParts): Handler {
  const tenantIn = (name = ''): string => {
    if (SHARED_NAMES.includes(name.toLowerCase())) return '{tenantid}'
    const tenant = directory.findTenant(name)
    if (tenant === undefined) throw unknownTenant(name)
    return tenant.id
  }
  const keySet = (shows: (key: object) => object): CloudAnswer => ({
    status: 200,
    headers: { 'Cache-Control': 'max-age=86400, private' },
    body: { keys: keys.published.map(shows) as JsonValue[] },
  })
  const keysV1 = (): CloudAnswer => keySet((key) => key)
  const keysV2 = ({ origin }: CloudRequest): CloudAnswer =>
    keySet((key) => ({ issuer: `${origin}/{tenantid}/v2.0`, ...key }))
  const routes: Routes = {
    'GET /:tenant/.well-known/openid-configuration': ({ origin }, { tenant }) => ({
      status: 200,
      body: discoveryV1(origin, tenantIn(tenant), tenant ?? ''),
    }),
    'GET /:tenant/v2.0/.well-known/openid-configuration': ({ origin }, { tenant }) => ({
      status: 200,
      body: discoveryV2(origin, tenantIn(tenant), tenant ?? ''),
    }),
    'GET /common/discovery/instance': ({ origin }) => ({ status: 200, body: instanceDiscovery(origin) }),
    'GET /common/discovery/keys': keysV1,
    'GET /:tenant/discovery/keys': (_, { tenant }) => {
      tenantIn(tenant)
      return keysV1()
    },
    'GET /:tenant/discovery/v2.0/keys': (request, { tenant }) => {
      tenantIn(tenant)
      return keysV2(request)
    },
    ...tokenRoutes,
  }
  return route(routes, ({ path }) => directoryError(404, 'not_found', 90019, `No such address: ${path}`).answer)
}

/** The document of version 1. `name` is the tenant as the request wrote it, `id` its GUID. */
function discoveryV1(origin: string, id: string, name: string): JsonObject {
  const base = `${origin}/${name}`
  return {
    token_endpoint: `${base}/oauth2/token`,
    token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    jwks_uri: `${origin}/common/discovery/keys`,
    response_modes_supported: ['query', 'fragment', 'form_post'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256'],
    response_types_supported: ['code', 'id_token', 'code id_token', 'token id_token', 'token'],
    scopes_supported: ['openid'],
    issuer: `${origin}/${id}/`,
    authorization_endpoint: `${base}/oauth2/authorize`,
    device_authorization_endpoint: `${base}/oauth2/devicecode`,
    end_session_endpoint: `${base}/oauth2/logout`,
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'nonce', 'tid', 'ver', 'oid'],
    userinfo_endpoint: `${base}/openid/userinfo`,
    tenant_region_scope: null,
    cloud_instance_name: new URL(origin).host,
  }
}

function discoveryV2(origin: string, id: string, name: string): JsonObject {
  const base = `${origin}/${name}`
  return {
    ...discoveryV1(origin, id, name),
    token_endpoint: `${base}/oauth2/v2.0/token`,
    jwks_uri: `${base}/discovery/v2.0/keys`,
    scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
    issuer: `${origin}/${id}/v2.0`,
    authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
    device_authorization_endpoint: `${base}/oauth2/v2.0/devicecode`,
    end_session_endpoint: `${base}/oauth2/v2.0/logout`,
  }
}

/** The document that the vendor's libraries read before they trust a host. */
function instanceDiscovery(origin: string): JsonObject {
  const { host } = new URL(origin)
  return {
    tenant_discovery_endpoint: `${origin}/common/v2.0/.well-known/openid-configuration`,
    'api-version': '1.1',
    metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
  }
}
