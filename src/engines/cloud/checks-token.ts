// Checks of the token: shape and claims first, which cost nothing, then its issuer, then its signature (threats L-07 to
// L-10).
import { isJwtSignedBy } from '../../crypto/jwt/jwt-signature.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import type { JsonObject } from '../../lib/json.ts'
import { known, type LoginAttempt, type LoginCheck, type Stage } from './attempt.ts'
import { audiencesOf, clientIdOf, groupsOf, isOfUser, textClaim, timeClaim } from './claims.ts'
import type { TokenVersion } from './directory.ts'
import { parseJwt } from './jwt.ts'
import { isGuid, isSameName } from './names.ts'
import { loginRefused, quotedInput } from './refusals.ts'

/** How far the clocks of the directory and of this machine may differ. */
const SKEW_SECONDS = 60
/** Characters of a key's name. */
const MAX_KID_CHARACTERS = 256

const shape: LoginCheck = {
  name: 'the token is well-formed',
  run: (attempt) => {
    attempt.jwt = parseJwt(attempt.input.jwt)
    return 'three parts, JSON'
  },
}

const headerOf = (attempt: LoginAttempt): JsonObject => known(attempt.jwt).header
const claimsOf = (attempt: LoginAttempt): JsonObject => known(attempt.jwt).claims

const algorithm: LoginCheck = {
  name: 'alg is RS256',
  run: (attempt) => {
    const { alg } = headerOf(attempt)
    if (alg !== 'RS256') throw loginRefused(`alg: ${typeof alg === 'string' ? quotedInput(alg) : 'none'} is not RS256`)
    return 'RS256'
  },
}

const header: LoginCheck = {
  name: 'the header asks for nothing unknown',
  run: (attempt) => {
    const { typ, crit, b64 } = headerOf(attempt)
    if (crit !== undefined || b64 !== undefined) throw loginRefused('header: crit and b64 are not understood')
    if (typ !== undefined && typ !== 'JWT') throw loginRefused('header: typ is not JWT')
    return 'yes'
  },
}

const kidOf = ({ kid }: JsonObject): string | undefined =>
  typeof kid === 'string' && kid !== '' && kid.length <= MAX_KID_CHARACTERS ? kid : undefined

const keyNamed: LoginCheck = {
  name: 'the header names a key',
  run: (attempt) => {
    const kid = kidOf(headerOf(attempt))
    if (kid === undefined) throw loginRefused('kid missing: the token does not name the key that signed it')
    return quotedInput(kid)
  },
}

/** Returns the tenant's GUID in the issuer; undefined unless the issuer has the cloud's form for this version. */
function tenantIn(attempt: LoginAttempt, version: TokenVersion): string | undefined {
  const { iss } = claimsOf(attempt)
  const { before, after } = known(attempt.provider).settings.cloud.issuers[version]
  if (typeof iss !== 'string' || !iss.startsWith(before) || !iss.endsWith(after)) return undefined
  const tenant = iss.slice(before.length, iss.length - after.length)
  return isGuid(tenant) ? tenant : undefined
}

/** Returns the version that the issuer shows, if this mount accepts it. */
function versionOf(attempt: LoginAttempt): TokenVersion | undefined {
  if (tenantIn(attempt, 'v1') !== undefined) return 'v1'
  return known(attempt.provider).settings.acceptV2Tokens && tenantIn(attempt, 'v2') !== undefined ? 'v2' : undefined
}

const NOT_HERE = 'is not one of this cloud'
const NOT_TAKEN = 'is of version 2.0: accept_v2_tokens of the configuration allows it'

const issuerForm: LoginCheck = {
  name: 'iss is of this cloud and tenant',
  run: (attempt) => {
    const { iss } = claimsOf(attempt)
    const presented = typeof iss === 'string' ? quotedInput(iss) : 'none'
    const version = versionOf(attempt)
    if (version === undefined) {
      throw loginRefused(`issuer: ${presented} ${tenantIn(attempt, 'v2') === undefined ? NOT_HERE : NOT_TAKEN}`)
    }
    const { tenant } = known(attempt.provider).settings
    if (isGuid(tenant) && !isSameName(tenantIn(attempt, version) ?? '', tenant))
      throw loginRefused(`issuer: ${presented} is of another tenant`)
    return presented
  },
}

const tenant: LoginCheck = {
  name: 'tid is the tenant of iss',
  run: (attempt) => {
    const tid = textClaim(claimsOf(attempt), 'tid')
    const ofIssuer = tenantIn(attempt, 'v1') ?? tenantIn(attempt, 'v2')
    if (tid === undefined || !isGuid(tid)) throw loginRefused('tenant: tid is missing, or no GUID')
    if (ofIssuer === undefined || !isSameName(tid, ofIssuer))
      throw loginRefused(`tenant: ${quotedInput(tid)} is not that of iss`)
    return quotedInput(tid)
  },
}

const VERSIONS = { v1: '1.0', v2: '2.0' } as const

const version: LoginCheck = {
  name: 'ver fits iss',
  run: (attempt) => {
    const ver = textClaim(claimsOf(attempt), 'ver')
    const found = versionOf(attempt)
    if (ver === undefined) return 'not told'
    if (found === undefined || ver !== VERSIONS[found])
      throw loginRefused(`version: ${quotedInput(ver)} does not fit iss`)
    return quotedInput(ver)
  },
}

const audience: LoginCheck = {
  name: 'aud is the configured resource',
  run: (attempt) => {
    const audiences = audiencesOf(claimsOf(attempt))
    if (audiences.includes(known(attempt.provider).settings.resource)) return audiences.map(quotedInput).join(', ')
    const presented = audiences.length === 0 ? 'none' : audiences.slice(0, 5).map(quotedInput).join(', ')
    throw loginRefused(`audience: ${presented} is not the resource of the configuration; a "/" at its end counts`)
  },
}

const nowSeconds = ({ parts }: LoginAttempt): number => parts.clock.nowMs() / 1000

const expiry: LoginCheck = {
  name: 'exp is ahead',
  run: (attempt) => {
    const exp = timeClaim(claimsOf(attempt), 'exp')
    if (exp === undefined) throw loginRefused('expired: exp is missing, or no number')
    const leftSeconds = exp - nowSeconds(attempt)
    if (leftSeconds <= 0) throw loginRefused(`expired ${Math.ceil(-leftSeconds)} s ago`)
    return `${Math.floor(leftSeconds)} s left`
  },
}

const notBefore: LoginCheck = {
  name: 'nbf has passed',
  run: (attempt) => {
    const nbf = timeClaim(claimsOf(attempt), 'nbf')
    if (nbf === undefined) throw loginRefused('not yet valid: nbf is missing, or no number')
    const aheadSeconds = nbf - nowSeconds(attempt)
    if (aheadSeconds > SKEW_SECONDS)
      throw loginRefused(
        `not yet valid for ${Math.ceil(aheadSeconds)} s: compare the clocks, ${SKEW_SECONDS} s are allowed`,
      )
    return aheadSeconds > 0 ? `${Math.ceil(aheadSeconds)} s ahead, within the skew` : 'yes'
  },
}

const objectId: LoginCheck = {
  name: 'oid names an identity',
  run: (attempt) => {
    const claims = claimsOf(attempt)
    const oid = textClaim(claims, 'oid')
    if (oid === undefined || !isGuid(oid)) throw loginRefused('object id missing: oid is missing, or no GUID')
    return quotedInput(oid)
  },
}

const claimTypes: LoginCheck = {
  name: 'the other claims are of their kinds',
  run: (attempt) => {
    const claims = claimsOf(attempt)
    const groups = groupsOf(claims)
    for (const name of ['appid', 'azp', 'xms_mirid', 'xms_az_rid']) textClaim(claims, name)
    return groups.isOverage ? 'too many groups to list them' : `${groups.ids.length} groups`
  },
}

const issuer: LoginCheck = {
  name: 'iss is what the identity provider publishes',
  run: async (attempt) => {
    const claims = claimsOf(attempt)
    const found = known(versionOf(attempt))
    const directory = known(attempt.provider).directories[found]
    const published = await directory.issuer(attempt.parts.deadline)
    if (claims.iss !== published.issuer)
      throw loginRefused(`issuer: ${quotedInput(String(claims.iss))} is of another tenant`)
    const tid = textClaim(claims, 'tid') ?? ''
    if (!isSameName(tid, published.tenant)) throw loginRefused(`tenant: ${quotedInput(tid)} is another`)
    attempt.identity = {
      oid: asciiLowerCase(textClaim(claims, 'oid') ?? ''),
      tid: asciiLowerCase(tid),
      clientId: clientIdOf(claims),
      isUser: isOfUser(claims),
      version: found,
      groups: groupsOf(claims),
    }
    return 'yes'
  },
}

const signature: LoginCheck = {
  name: 'a key of the identity provider signed it',
  run: async (attempt) => {
    const { version: found, tid } = known(attempt.identity)
    const { deadline } = attempt.parts
    const key = await known(attempt.provider).directories[found].key(kidOf(headerOf(attempt)) ?? '', deadline)
    if (key === undefined) throw loginRefused('signature: the identity provider has no key of that name')
    if (key.tenant !== undefined && !isSameName(key.tenant, tid))
      throw loginRefused('signing key issuer: the key is of another tenant')
    if (!(await isJwtSignedBy(known(attempt.jwt).compact, key.key))) throw loginRefused('signature: it does not verify')
    return 'yes'
  },
}

/** The checks of the token. Everything before `issuer` and `signature` is checked without asking the cloud. */
export const TOKEN_STAGES: readonly Stage[] = [
  [shape],
  [algorithm, header, keyNamed],
  [issuerForm, tenant, version, audience, expiry, notBefore, objectId, claimTypes],
  [issuer],
  [signature],
]
