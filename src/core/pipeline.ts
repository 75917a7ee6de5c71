// The life of one request, as a list of named steps. Each finds out one thing and puts it on the exchange, or throws a
// Refusal. What is easily forgotten (token, policy, forwarding, decoding) happens here and nowhere else.

import { parseBool } from '../api/coercion.ts'
import { fail, permissionDenied } from '../api/errors.ts'
import { decodeFields } from '../api/fields.ts'
import { describeEndpoint } from '../api/help.ts'
import type { Answer, RequestInfo } from '../api/request.ts'
import type { Acl } from '../auth/acl.ts'
import type { AclRequest } from '../auth/permissions.ts'
import type { PolicyStore } from '../auth/policy-store.ts'
import { refusalHint } from '../auth/refusal-hint.ts'
import type { LiveToken, TokenStore } from '../auth/token-store.ts'
import type { JsonObject } from '../lib/json.ts'
import { parseBody } from './body.ts'
import type { Exchange, WireRequest, WireResponse } from './exchange.ts'
import { ExchangeCaller } from './exchange-caller.ts'
import { noteIgnored } from './ignored-fields.ts'
import type { MountTable } from './mount-table.ts'
import { successResponse } from './response.ts'
import { canonicalPath, parseQuery } from './target.ts'

/** What the steps work with; the same in every thread, but for `forward`. */
export type Surroundings = {
  readonly mounts: MountTable
  readonly tokens: TokenStore
  readonly policies: PolicyStore
  readonly sealed: () => boolean
  readonly initialized: () => boolean
  /** Whether the holder of a valid token learns what its policies lack for a request. */
  readonly permissionHints: boolean
  /** Where this thread does not write: hands the request to the one that does. */
  readonly forward: ((request: WireRequest) => Promise<WireResponse>) | undefined
}

export type Step = {
  readonly name: string
  readonly run: (exchange: Exchange, around: Surroundings) => void | Promise<void>
}

const readPath = (exchange: Exchange): void => {
  const path = canonicalPath(exchange.request.rawPath)
  if (path === undefined) throw fail('not_found', [])
  exchange.path = path
}

const readMethod = (exchange: Exchange): void => {
  const { method, query } = exchange.request
  switch (method) {
    case 'GET':
    case 'HEAD':
      exchange.input = query === '' ? undefined : parseQuery(query)
      exchange.method = asksForList(exchange.input) ? 'list' : 'read'
      break
    case 'LIST':
      exchange.input = query === '' ? undefined : parseQuery(query)
      exchange.method = 'list'
      break
    case 'POST':
    case 'PUT':
      exchange.method = 'update'
      break
    case 'PATCH':
      throw fail('unsupported_media', ['PATCH is not offered here, use POST'])
    case 'DELETE':
      exchange.input = query === '' ? undefined : parseQuery(query)
      exchange.method = 'delete'
      break
    case 'HELP':
      exchange.method = 'read'
      break
    default:
      throw fail('method_not_allowed', [])
  }
  exchange.operation = exchange.method
}

function asksForList(input: JsonObject | undefined): boolean {
  const value = input?.list
  if (typeof value !== 'string') return false
  const list = parseBool(value)
  if (list === undefined) throw fail('field_invalid', ['list', 'expected true or false'])
  return list
}

/** Only the root namespace exists; a request for another must not be served from this one. */
const readNamespace = (exchange: Exchange): void => {
  const namespace = exchange.request.headers.namespace
  if (namespace === undefined || namespace === '' || namespace === '/') return
  const name = namespace.startsWith('/') ? namespace.slice(1) : namespace
  if (name !== 'root' && name !== 'root/') throw fail('bad_namespace', [])
}

const refuseWrapping = (exchange: Exchange): void => {
  const ttl = exchange.request.headers.wrapTtl
  // To answer in clear what was asked for wrapped would hand a secret to the wrong reader.
  if (ttl !== undefined && ttl !== '' && ttl !== '0')
    throw fail('bad_request', ['X-Vault-Wrap-TTL: response wrapping is not offered yet'])
}

const route = (exchange: Exchange, around: Surroundings): void | Promise<void> => {
  if (around.mounts.stale && !around.sealed()) return around.mounts.refresh().then(() => findRoute(exchange, around))
  findRoute(exchange, around)
}

function findRoute(exchange: Exchange, around: Surroundings): void {
  const mounted = around.mounts.route(exchange.path)
  exchange.mounted = mounted
  if (mounted === undefined) {
    exchange.routeError = 'no_route'
    return
  }
  const found = mounted.router.find(exchange.method, exchange.path.slice(mounted.entry.path.length))
  if (found.kind === 'found') {
    exchange.endpoint = found.endpoint
    exchange.pathParameters = found.path
  } else exchange.routeError = found.kind === 'unsupported-path' ? 'unsupported_path' : 'unsupported_operation'
}

const refuseWhileSealed = (exchange: Exchange, around: Surroundings): void => {
  if (!around.sealed() || exchange.endpoint?.whileSealed === true) return
  throw around.initialized() ? fail('sealed', []) : fail('not_initialized', [])
}

const authenticate = (exchange: Exchange, around: Surroundings): void | Promise<void> => {
  const token = exchange.request.headers.token
  if (token === undefined || token === '' || around.sealed()) return
  const found = around.tokens.find(token)
  return found instanceof Promise ? found.then((live) => admit(exchange, around, live)) : admit(exchange, around, found)
}

/** A limited token pays for the request even if it is refused later (Interface 2.2, token_num_uses). */
function admit(exchange: Exchange, around: Surroundings, live: LiveToken | undefined): void | Promise<void> {
  if (live === undefined || live.entry.numUses === 0) {
    exchange.token = live
    return
  }
  return around.tokens.takeUse(live).then((paid) => {
    exchange.token = paid
  })
}

/** Decides whether a write creates or updates, before the policy is asked. Tells the caller nothing. */
const findExistence = (exchange: Exchange): void | Promise<void> => {
  const { endpoint, mounted } = exchange
  if (endpoint?.exists === undefined || mounted === undefined || exchange.token === undefined) return
  const exists = endpoint.exists(mounted.engine as never, exchange.pathParameters)
  const decide = (there: boolean): void => {
    exchange.operation = there ? 'update' : 'create'
  }
  return typeof exists === 'boolean' ? decide(exists) : exists.then(decide)
}

/** For callers without a token: the largest thing they send are shares, and OpenPGP keys to encrypt them to. */
const MAX_OPEN_BODY_BYTES = 262_144

const readBody = (exchange: Exchange): void => {
  const { body, headers, query } = exchange.request
  if (exchange.endpoint?.takesStream === true) {
    exchange.input = query === '' ? undefined : parseQuery(query)
    return
  }
  // An endpoint that needs no token is open to all, so its body is read too; else only a token's holder is parsed for.
  if (exchange.method !== 'update' || body === undefined || body.length === 0) return
  if (exchange.token === undefined && exchange.endpoint?.capability !== 'none') return
  // What parsing may cost is bounded by who asks: without a token, a few milliseconds.
  if (exchange.token === undefined && body.length > MAX_OPEN_BODY_BYTES)
    throw fail('body_too_large', [MAX_OPEN_BODY_BYTES])
  exchange.input = parseBody(body, headers.contentType)
}

const authorise = (exchange: Exchange, around: Surroundings): void | Promise<void> => {
  if (exchange.endpoint?.capability === 'none') return
  const { token } = exchange
  if (token === undefined) throw fail('permission_denied', [])
  const acl = around.policies.acl(token.entry.policies)
  return acl instanceof Promise ? acl.then((built) => judge(exchange, built, around)) : judge(exchange, acl, around)
}

function judge(exchange: Exchange, acl: Acl, around: Surroundings): void {
  const { path, operation } = exchange
  exchange.acl = acl
  const sudoRequired = exchange.endpoint?.sudo === true
  const listPath = operation === 'list' && !path.endsWith('/') ? `${path}/` : path
  const request = { operation, path: listPath, parameters: exchange.input, sudoRequired }
  const verdict = acl.check(request)
  if (!verdict.allowed) throw permissionDenied(around.permissionHints ? hintFor(exchange, acl, request) : '')
  // A policy that bounds a list bounds one that asks for no bound, too (threats A-08).
  if (verdict.pageLimit > 0 && exchange.input?.limit === undefined) {
    exchange.input = { ...exchange.input, limit: verdict.pageLimit }
  }
}

/** Mounts of these types are on every server, at the same paths: their endpoints are no secret. */
const KNOWN_TO_ALL: ReadonlySet<string | undefined> = new Set(['system', 'token'])

function hintFor({ endpoint, mounted, path }: Exchange, acl: Acl, request: AclRequest): string {
  const isKnownToAll = KNOWN_TO_ALL.has(mounted?.entry.type)
  return refusalHint(acl, { ...request, path }, { isKnownToAll, dependsOnExistence: endpoint?.exists !== undefined })
}

/** What is not there is told only to those who would have been allowed to use it. */
const refuseUnknown = (exchange: Exchange): void => {
  if (exchange.routeError === undefined) return
  if (exchange.method === 'update' && exchange.path.endsWith('/')) throw fail('write_to_folder', [])
  if (exchange.routeError === 'no_route') throw fail('no_route', [exchange.path])
  throw fail(exchange.routeError, [])
}

const forwardWrites = (exchange: Exchange, around: Surroundings): void | Promise<void> => {
  if (exchange.endpoint?.runsOn !== 'writer' || around.forward === undefined) return
  return forward(exchange, around.forward)
}

/** Hands the request, as it came, to where it can be served; what comes back is the response. */
export async function forward(exchange: Exchange, to: NonNullable<Surroundings['forward']>): Promise<void> {
  exchange.response = await to(exchange.request)
}

const decode = (exchange: Exchange): void => {
  const endpoint = exchange.endpoint as NonNullable<typeof exchange.endpoint>
  const { input, pathParameters } = exchange
  exchange.args = decodeFields(endpoint.fields, input, pathParameters)
  if (input !== undefined) noteIgnored(exchange, endpoint.fields, input)
}

const handle = (exchange: Exchange): void | Promise<void> => {
  const { endpoint, mounted } = exchange
  if (endpoint === undefined || mounted === undefined)
    throw new Error('A request without an endpoint reached its handler')
  const answer = endpoint.handler(
    mounted.engine as never,
    exchange.args as never,
    requestInfo(exchange, mounted.entry.path),
  )
  if (!(answer instanceof Promise)) {
    exchange.answer = answer
    return
  }
  return answer.then((found: Answer) => {
    exchange.answer = found
  })
}

function requestInfo(exchange: Exchange, mountPath: string): RequestInfo {
  return {
    id: exchange.id,
    operation: exchange.operation,
    mountPath,
    remoteAddress: exchange.request.remoteAddress,
    caller: exchange.token === undefined ? undefined : new ExchangeCaller(exchange, exchange.token),
    stream: exchange.request.stream,
  }
}

const giveHelp = (exchange: Exchange): void => {
  const asked =
    exchange.request.method === 'HELP' ||
    (exchange.method === 'read' && exchange.input?.help !== undefined && exchange.input.help !== '')
  if (!asked) return
  if (exchange.token === undefined) throw fail('permission_denied', [])
  if (exchange.mounted === undefined) throw fail('no_route', [exchange.path])
  const relative = exchange.path.slice(exchange.mounted.entry.path.length)
  const help = describeEndpoint(exchange.mounted.router, relative)
  if (help === undefined) throw fail('unsupported_path', [])
  exchange.response = { status: 200, body: `${JSON.stringify({ help, see_also: null })}\n` }
}

const writeResponse = (exchange: Exchange): void => {
  exchange.response = successResponse(exchange)
}

export const STEPS: readonly Step[] = [
  { name: 'read the path', run: readPath },
  { name: 'read the method', run: readMethod },
  { name: 'read the namespace', run: readNamespace },
  { name: 'refuse wrapping', run: refuseWrapping },
  { name: 'find mount and endpoint', run: route },
  { name: 'refuse while sealed', run: refuseWhileSealed },
  { name: 'authenticate', run: authenticate },
  { name: 'give help', run: giveHelp },
  { name: 'create or update', run: findExistence },
  { name: 'read the body', run: readBody },
  { name: 'authorise', run: authorise },
  { name: 'refuse what is not there', run: refuseUnknown },
  { name: 'forward writes', run: forwardWrites },
  { name: 'decode the fields', run: decode },
  { name: 'handle', run: handle },
  { name: 'write the response', run: writeResponse },
]
