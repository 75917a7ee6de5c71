// sys/wrapping: wraps data under a token that is good once, and looks up, unwraps and rewraps by such a token.
import { type Endpoint, type EndpointOperation, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import type { Answer, RequestInfo, WrapInfo } from '../../api/request.ts'
import { anything, integer, OTHERS, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'wrapping' | 'wrappingJwt'>

const tokenField = { token: string('The wrapping token; default: the calling token', { secret: true }) }

/** The wrapping token of a request: the field, or the calling token itself. */
const given = (token: string | undefined, { caller }: RequestInfo): string | undefined =>
  token === undefined || token === '' ? caller?.token : token

/** The answer that names the new token. The old one is spent, so it reaches the caller even if it is not recorded. */
const movedAnswer = (wrapInfo: WrapInfo): Answer => ({ wrapInfo, isOnlyCopy: true })

// The body is the data, whatever its members. A request without a lifetime is refused: it would send the data back.
const wrap = endpoint({
  id: 'wrapping-wrap',
  operation: 'update',
  path: 'wrapping/wrap',
  capability: 'update',
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Wraps the data of the request, for the time given in X-Vault-Wrap-TTL',
  fields: {},
  takesAnyFields: true,
  response: { [OTHERS]: anything('Member of the request data, as sent') },
  handler: (_system: System, _args, { wrapTtlSeconds, input }) => {
    // Wire text.
    if (wrapTtlSeconds === 0) throw fail('wrapping_refused', ['endpoint requires response wrapping to be used'])
    return { data: input ?? {} }
  },
})

/** Needs no policy: the wrapping token is the permission. A receiver looks it up before it trusts the answer. */
const lookup = (operation: EndpointOperation & ('read' | 'update')) =>
  endpoint({
    id: `wrapping-lookup-${operation}`,
    operation,
    path: 'wrapping/lookup',
    capability: 'none',
    takesWrappingToken: true,
    runsOn: 'any-node',
    summary: 'Looks up a wrapping token, without using it up',
    fields: tokenField,
    response: {
      creation_time: text('Time of creation, RFC 3339'),
      creation_ttl: integer('TTL set at creation, in seconds'),
      creation_path: text('Path of the request whose response is wrapped'),
    },
    handler: async (system: System, { token }, request) => {
      const { entry } = await system.wrapping.find(given(token, request))
      const { createdAtMs, creationTtlSeconds, path } = entry
      const creation_time = new Date(createdAtMs).toISOString()
      return { data: { creation_path: path, creation_time, creation_ttl: creationTtlSeconds } }
    },
  })

const unwrap = endpoint({
  id: 'wrapping-unwrap',
  operation: 'update',
  path: 'wrapping/unwrap',
  capability: 'update',
  takesWrappingToken: true,
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Unwraps the wrapped response; this works only once',
  describe:
    'With X-Vault-Wrap-TTL the response is wrapped again under a new token of the same form for that time, ' +
    'as by sys/wrapping/rewrap.',
  fields: tokenField,
  response: { [OTHERS]: anything('Member of the original response') },
  handler: async (system: System, { token }, request) => {
    const spent = given(token, request)
    const { wrapTtlSeconds } = request
    // The answer goes from token to token in one transaction. Unwrapped first, it could be lost before it is wrapped.
    // Differs: docs/differences.md#tokens-and-policies.
    if (wrapTtlSeconds > 0) return movedAnswer(await system.wrapping.rewrap(spent, wrapTtlSeconds))
    return { body: await system.wrapping.unwrap(spent), isOnlyCopy: true }
  },
})

const rewrap = endpoint({
  id: 'wrapping-rewrap',
  operation: 'update',
  path: 'wrapping/rewrap',
  capability: 'update',
  takesWrappingToken: true,
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Moves the wrapped response to a new token with the same TTL; the old token is used up',
  fields: tokenField,
  handler: async (system: System, { token }, request) =>
    movedAnswer(await system.wrapping.rewrap(given(token, request))),
})

const pubkey = endpoint({
  id: 'wrapping-pubkey',
  operation: 'read',
  path: 'wrapping/pubkey',
  capability: 'none',
  runsOn: 'any-node',
  summary: 'Shows the public key that verifies wrapping tokens in JWT form (ES512)',
  fields: {},
  response: {
    public_key: text('Public key, PEM'),
    jwt_curve: text('p521'),
    jwt_x: text('X coordinate of the public key, as a decimal number'),
    jwt_y: text('Y coordinate of the public key, as a decimal number'),
  },
  handler: async (system: System) => {
    const { pem, x, y } = await system.wrappingJwt.publicKey()
    return { data: { public_key: pem, jwt_curve: 'p521', jwt_x: String(x), jwt_y: String(y) } }
  },
})

/** All of them; the lookup answers a read too, by which a token looks up itself. */
export const WRAPPING_ENDPOINTS: readonly Endpoint<System>[] = [
  pubkey,
  wrap,
  lookup('read'),
  lookup('update'),
  unwrap,
  rewrap,
]
