// Tokens of other issuers in the place of a secret. An application trusts one by its federated credentials; the keys
// come from the issuer's own address, as in the vendor's directory.
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { isJsonObject, type JsonObject, parseJson } from '../src/lib/json.ts'
import { outboundTo } from '../src/lib/outbound.ts'
import type { Clock, Timers } from '../src/lib/world.ts'
import type { FederatedCredential } from './directory.ts'
import type { AssertionFault } from './token-endpoint.ts'

const TIMEOUT_MS = 3000
const NO_RECORD = 'No matching federated identity record found'

/** Returns what is wrong with `assertion`; undefined if it is a good token of one of the `trusted`. */
export async function faultOfAssertion(
  assertion: string,
  trusted: readonly FederatedCredential[],
  clock: Clock,
  timers: Timers,
): Promise<AssertionFault | undefined> {
  const claims = claimsOf(assertion)
  const credential = claims === undefined ? NOT_FOUND : findCredential(claims, trusted)
  if ('code' in credential) return credential
  const base = credential.issuer.replace(/\/$/, '')
  const discovery = await getJson(`${base}/.well-known/openid-configuration`, base, timers)
  const keys = await getJson(String(discovery?.jwks_uri), base, timers)
  if (discovery?.issuer !== credential.issuer || keys === undefined)
    return { code: 50_166, text: 'The documents of the issuer of the assertion could not be read.' }
  try {
    await jwtVerify(assertion, createLocalJWKSet(keys as unknown as JSONWebKeySet), {
      issuer: credential.issuer,
      subject: credential.subject,
      audience: credential.audience,
      algorithms: ['RS256'],
      currentDate: new Date(clock.nowMs()),
      requiredClaims: ['exp'],
    })
    return undefined
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError)) throw cause
    const isTime = cause instanceof errors.JWTExpired || (isClaim(cause) && cause.claim === 'nbf')
    return isTime
      ? { code: 700_024, text: 'Client assertion is not within its valid time range.' }
      : { code: 700_027, text: 'Client assertion failed signature validation.' }
  }
}

const NOT_FOUND: AssertionFault = { code: 70_021, text: `${NO_RECORD}.` }
const isClaim = (cause: unknown): cause is errors.JWTClaimValidationFailed =>
  cause instanceof errors.JWTClaimValidationFailed

/** Finds the credential that fits. If none does, the fault names the first of the three members that fits nowhere. */
function findCredential(
  { iss, sub, aud }: JWTPayload,
  trusted: readonly FederatedCredential[],
): FederatedCredential | AssertionFault {
  const ofIssuer = trusted.filter(({ issuer }) => issuer === iss)
  if (ofIssuer.length === 0) return missing(700_211, 'issuer')
  const ofSubject = ofIssuer.filter(({ subject }) => subject === sub)
  if (ofSubject.length === 0) return missing(700_213, 'subject')
  return ofSubject.find(({ audience }) => [aud].flat().includes(audience)) ?? missing(700_212, 'audience')
}

const missing = (code: number, what: string): AssertionFault => ({
  code,
  text: `${NO_RECORD} for presented assertion ${what}.`,
})

function claimsOf(assertion: string): JWTPayload | undefined {
  try {
    return decodeJwt(assertion)
  } catch (cause) {
    if (cause instanceof errors.JOSEError) return undefined
    throw cause
  }
}

/** Reads a JSON object at the origin of the issuer; undefined for any other answer. */
async function getJson(url: string, issuer: string, timers: Timers): Promise<JsonObject | undefined> {
  if (!URL.canParse(url) || !URL.canParse(issuer)) return undefined
  try {
    const outbound = outboundTo([new URL(issuer).origin], timers)
    const { status, body } = await outbound.request({ method: 'GET', url, headers: {}, timeoutMs: TIMEOUT_MS })
    const value = parseJson(body)
    return status === 200 && isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
