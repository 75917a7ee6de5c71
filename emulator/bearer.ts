// The caller of a service: its token is checked as the vendor's services do it.
import { errors, type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../src/lib/world.ts'
import type { CloudRequest } from './exchange.ts'
import type { SigningKeys } from './signing-keys.ts'

/** The identity that a valid token names. */
export type Caller = {
  readonly principalId: string
  readonly tenantId: string
  /** The claim `roles`: permissions of an application. */
  readonly roles: readonly string[]
}

/** The fault of a token; each service has its own words for it. */
export type BearerFault = 'missing' | 'invalid' | 'expired' | 'audience'

/** Checks the token of a request for one of the audiences. */
export type CheckBearer = (request: CloudRequest, audiences: ReadonlySet<string>) => Promise<Caller | BearerFault>

/** Makes the check of a cloud. `authorities` are the addresses that issuers may begin with. */
export function bearerCheck(keys: SigningKeys, clock: Clock, authorities: readonly string[]): CheckBearer {
  return async ({ headers }, audiences) => {
    const [, token] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
    if (token === undefined) return 'missing'
    const payload = await verify(token, keys, clock)
    if (typeof payload === 'string') return payload
    const { oid, tid, iss, aud, roles } = payload
    const issued = authorities.some((authority) =>
      [`${authority}/${tid}/`, `${authority}/${tid}/v2.0`].includes(iss ?? ''),
    )
    if (!issued || typeof oid !== 'string' || typeof tid !== 'string') return 'invalid'
    if (![aud].flat().some((each) => audiences.has(each ?? ''))) return 'audience'
    return { principalId: oid, tenantId: tid, roles: Array.isArray(roles) ? roles : [] }
  }
}

async function verify(token: string, keys: SigningKeys, clock: Clock): Promise<JWTPayload | 'invalid' | 'expired'> {
  try {
    const { payload } = await jwtVerify(token, ({ kid }) => keyOf(keys, kid), {
      algorithms: ['RS256'],
      currentDate: new Date(clock.nowMs()),
      requiredClaims: ['exp', 'iss', 'aud'],
    })
    return payload
  } catch (cause) {
    if (cause instanceof errors.JWTExpired) return 'expired'
    if (cause instanceof errors.JOSEError) return 'invalid'
    throw cause
  }
}

function keyOf(keys: SigningKeys, kid = '') {
  const key = keys.find(kid)
  if (key === undefined) throw new errors.JWKSNoMatchingKey()
  return key.publicKey
}
