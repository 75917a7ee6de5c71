// Tokens for applications: client credentials (RFC 6749 section 4.4), with a secret or with a token of another issuer
// (RFC 7523).

import type { Clock } from '../src/lib/world.ts'
import type { AccessTokens, ClientProof } from './access-tokens.ts'
import type { Directory, Principal, Tenant } from './directory.ts'
import { directoryError, unknownTenant } from './directory-errors.ts'
import type { CloudAnswer, CloudRequest, Routes } from './exchange.ts'

const LIFETIME_SECONDS = 3599
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Checks an assertion. Resolves to its fault; to undefined if the principal trusts it. */
export type CheckAssertion = (principal: Principal, assertion: string) => Promise<AssertionFault | undefined>
/** The number behind AADSTS, and the text. */
export type AssertionFault = { readonly code: number; readonly text: string }

/** The parts of the emulator that the endpoint works with. */
export type TokenEndpointParts = {
  readonly directory: Directory
  readonly tokens: AccessTokens
  readonly clock: Clock
  readonly graph: (request: CloudRequest) => string
  /** Returns the id, as a resource, of a principal that is a user-assigned identity. */
  readonly userIdentityOf: (principal: Principal) => string | undefined
  readonly checkAssertion: CheckAssertion
}

/** Returns the routes of both versions, which differ in how the audience is named: `scope` or `resource`. */
export function tokenRoutes(parts: TokenEndpointParts): Routes {
  return {
    'POST /:tenant/oauth2/v2.0/token': (request, { tenant }) =>
      answerToken(parts, request, tenant ?? '', (form) => audienceOf(form.get('scope'))),
    'POST /:tenant/oauth2/token': (request, { tenant }) =>
      answerToken(parts, request, tenant ?? '', (form) => form.get('resource') || undefined),
  }
}

async function answerToken(
  parts: TokenEndpointParts,
  request: CloudRequest,
  tenantName: string,
  readAudience: (form: URLSearchParams) => string | undefined,
): Promise<CloudAnswer> {
  const { directory, tokens } = parts
  const tenant = directory.findTenant(tenantName)
  if (tenant === undefined) throw unknownTenant(tenantName)
  const form = new URLSearchParams(request.body.toString())
  if (form.get('grant_type') !== 'client_credentials') {
    throw directoryError(400, 'unsupported_grant_type', 70003, `The grant type is not supported.`)
  }
  const { principal, proof } = await authenticate(parts, tenant, form)
  const audience = readAudience(form)
  if (audience === undefined) {
    const text = `The scope must be a resource followed by '/.default'.`
    throw directoryError(400, 'invalid_scope', 1002012, text)
  }
  if (!tokens.knows(tenant.id, audience)) throw unknownResource(audience, tenant)
  const { token } = await tokens.issue({
    principal,
    userIdentity: parts.userIdentityOf(principal),
    audience,
    authority: request.origin,
    graph: parts.graph(request),
    proof,
    lifetimeSeconds: LIFETIME_SECONDS,
  })
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    body: {
      token_type: 'Bearer',
      expires_in: LIFETIME_SECONDS,
      ext_expires_in: LIFETIME_SECONDS,
      access_token: token,
    },
  }
}

/** Returns the audience of a scope. `https://…windows.net//.default` means the audience with a slash at its end. */
function audienceOf(scope: string | null): string | undefined {
  const [audience, ...rest] = (scope ?? '').split(/\/\.default$/)
  return rest.length === 1 && audience !== '' && !audience?.includes(' ') ? audience : undefined
}

async function authenticate(
  { directory, clock, checkAssertion }: TokenEndpointParts,
  tenant: Tenant,
  form: URLSearchParams,
): Promise<{ principal: Principal; proof: ClientProof }> {
  const clientId = form.get('client_id') ?? ''
  const principal = directory.findClient(tenant.id, clientId)
  if (principal === undefined) {
    const text = `Application with identifier '${clientId}' was not found in the directory '${tenant.id}'.`
    throw directoryError(400, 'unauthorized_client', 700016, text)
  }
  const assertion = form.get('client_assertion')
  if (assertion !== null && form.get('client_assertion_type') === ASSERTION_TYPE) {
    const fault = await checkAssertion(principal, assertion)
    if (fault === undefined) return { principal, proof: 'certificate' }
    throw directoryError(400, 'invalid_request', fault.code, fault.text)
  }
  const secrets = directory.findApplication(tenant.id, clientId)?.secrets ?? []
  const given = form.get('client_secret')
  const now = clock.nowMs()
  const secret = secrets.find(
    ({ secretText, usableFromMs, startMs }) => secretText === given && usableFromMs <= now && startMs <= now,
  )
  if (secret === undefined) {
    const text = `Invalid client secret provided for app '${clientId}'.`
    throw directoryError(401, 'invalid_client', 7000215, text)
  }
  if (secret.endMs <= now) {
    const text = `The provided client secret keys for app '${clientId}' are expired.`
    throw directoryError(401, 'invalid_client', 7000222, text)
  }
  return { principal, proof: 'secret' }
}

function unknownResource(audience: string, tenant: Tenant) {
  const text = `The resource principal named ${audience} was not found in the tenant named ${tenant.id}.`
  return directoryError(400, 'invalid_resource', 500011, text)
}
