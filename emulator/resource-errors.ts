// Refusals of the resource manager, in its own form and words.
import type { BearerFault } from './bearer.ts'
import { Refusal } from './exchange.ts'

/** Makes a refusal. */
export function resourceError(status: number, code: string, message: string): Refusal {
  return new Refusal({ status, body: { error: { code, message } } })
}

/** The refusal for a missing or wrong token. It sends the caller to `authority` for one. */
export function unauthenticated(fault: BearerFault, authority: string): Refusal {
  const [code, text] = FAULTS[fault]
  return challenge(code, text, `${authority}/common`)
}

const FAULTS: Readonly<Record<BearerFault, readonly [code: string, text: string]>> = {
  missing: ['AuthenticationFailed', `Authentication failed. The 'Authorization' header is missing.`],
  invalid: ['InvalidAuthenticationToken', 'The access token is invalid.'],
  expired: ['ExpiredAuthenticationToken', 'The access token expiry UTC time is earlier than current UTC time.'],
  audience: ['InvalidAuthenticationTokenAudience', 'The access token has been obtained for wrong audience.'],
}

/** The refusal for a token of a tenant that the subscription does not belong to. */
export function wrongTenant(tenantId: string, authority: string): Refusal {
  const text = `The access token is from the wrong issuer. It must match the tenant '${authority}/${tenantId}/'.`
  return challenge('InvalidAuthenticationTokenTenant', text, `${authority}/${tenantId}`)
}

function challenge(code: string, text: string, authorizationUri: string): Refusal {
  const { answer } = resourceError(401, code, text)
  const value = `Bearer authorization_uri="${authorizationUri}", error="invalid_token", error_description="${text}"`
  return new Refusal({ ...answer, headers: { 'WWW-Authenticate': value } })
}
