// The life of one request, as a list of named steps. Each finds out one thing and puts it on the exchange, or throws a
// Refusal. What is easily forgotten (token, policy, forwarding, decoding) happens here and nowhere else.

import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { parseBool } from '../api/coercion.ts'
import { fail } from '../api/errors.ts'
import { decodeFields } from '../api/fields.ts'
import { describeEndpoint } from '../api/help.ts'
import type { MountEntry } from '../api/mount.ts'
import { NO_HEADERS, seen, settable } from '../api/passed-headers.ts'
import type { Answer, RequestInfo } from '../api/request.ts'
import type { JsonObject } from '../lib/json.ts'
import { authenticate, authorise, authoriseData, isOpen } from './access.ts'
import { parseBody } from './body.ts'
import { tellBrowsers } from './browser-steps.ts'
import type { Exchange } from './exchange.ts'
import { ExchangeCaller } from './exchange-caller.ts'
import { noteIgnored } from './ignored-fields.ts'
import type { Mounted } from './mount-table.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { limitRate, limitRateOfEntity } from './rate-steps.ts'
import { successResponse } from './response.ts'
import { API_PREFIX, canonicalPath, parseQuery } from './target.ts'
import { limitWrapping, readWrapping, refuseToKeep, wrapAnswer } from './wrap-steps.ts'

export type Step = {
  readonly name: string
  readonly run: (exchange: Exchange, services: PipelineServices) => void | Promise<void>
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

const route = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  if (services.mounts.stale && !services.sealed())
    return services.mounts.refresh().then(() => findRoute(exchange, services))
  findRoute(exchange, services)
}

function findRoute(exchange: Exchange, services: PipelineServices): void {
  const mounted = services.mounts.route(exchange.path) ?? routeBelowAuth(exchange, services)
  exchange.mounted = mounted
  if (mounted === undefined) {
    exchange.routeError = 'no_route'
    return
  }
  const { entry, engine } = mounted
  const found = mounted.router.find(exchange.method, exchange.path.slice(entry.path.length), engine)
  if (found.kind === 'found') {
    exchange.endpoint = found.endpoint
    exchange.pathParameters = found.path
    exchange.givenNames = found.given
    // From here on nobody sees another spelling than the one that the name is kept under.
    if (found.keptPath !== undefined) exchange.path = entry.path + found.keptPath
    if (found.shape !== undefined) exchange.spelling = { mountPath: entry.path, shape: found.shape }
  } else exchange.routeError = found.kind === 'unsupported-path' ? 'unsupported_path' : 'unsupported_operation'
}

/**
 * Interface 4.1: `cloud/rotate-root` is `auth/cloud/rotate-root`. The path is rewritten here, before policy and audit
 * see it, and only where no mount serves it as it is.
 */
function routeBelowAuth(exchange: Exchange, { mounts }: PipelineServices): Mounted | undefined {
  const path = `auth/${exchange.path}`
  const mounted = mounts.route(path)
  if (mounted === undefined) return undefined
  const found = mounted.router.find(exchange.method, path.slice(mounted.entry.path.length))
  if (found.kind !== 'found' || found.endpoint.alsoAtRoot !== true) return undefined
  exchange.path = path
  return mounted
}

const refuseWhileSealed = (exchange: Exchange, services: PipelineServices): void => {
  if (!services.sealed() || exchange.endpoint?.whileSealed === true || isOpen(exchange)) return
  throw services.initialized() ? fail('sealed', []) : fail('not_initialized', [])
}

/** Decides whether a write creates or updates, before the policy is asked. Tells the caller nothing. */
const findExistence = (exchange: Exchange): void | Promise<void> => {
  const { endpoint, mounted } = exchange
  if (endpoint?.exists === undefined || mounted === undefined || exchange.token === undefined) return
  const exists = endpoint.exists(mounted.engine as never, exchange.pathParameters, exchange.token.id)
  const decide = (there: boolean): void => {
    exchange.operation = there ? 'update' : 'create'
  }
  return typeof exists === 'boolean' ? decide(exists) : exists.then(decide)
}

const readBody = (exchange: Exchange, services: PipelineServices): void => {
  const { body, headers, isBodyCut, query } = exchange.request
  if (exchange.endpoint?.takesStream === true) {
    exchange.input = query === '' ? undefined : parseQuery(query)
    return
  }
  // An endpoint that needs no token is open to all, so its body is read too; else whoever gets here has the right.
  if (exchange.method !== 'update' || (body === undefined && isBodyCut !== true) || body?.length === 0) return
  if (exchange.token === undefined && exchange.endpoint?.capability !== 'none') return
  // What parsing may cost is bounded by who asks: without a token, a few milliseconds. A token that is sent along makes
  // no login larger: quotas of roles read none that is.
  const isLogin = exchange.endpoint?.capability === 'none' && exchange.endpoint.givesToken === true
  if (body === undefined || ((exchange.token === undefined || isLogin) && body.length > MAX_OPEN_BODY_BYTES))
    throw fail('body_too_large', [MAX_OPEN_BODY_BYTES])
  // Before a byte of it is looked at: nothing larger is kept.
  if (exchange.endpoint?.takesAnyFields === true && body.length > services.mostFreeBytes)
    throw fail('value_too_large', [services.mostFreeBytes])
  exchange.input = parseBody(body, headers.contentType)
}

/** What is not there is told only to those who would have been allowed to use it. */
const refuseUnknown = (exchange: Exchange): void => {
  if (exchange.routeError === undefined) return
  if (exchange.method === 'update' && exchange.path.endsWith('/')) throw fail('write_to_folder', [])
  if (exchange.routeError === 'no_route') throw fail('no_route', [exchange.path])
  throw fail(exchange.routeError, [])
}

const forwardWrites = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  // A caller's own data were parsed here, and are nowhere else: their handler sends bytes to where they are stored.
  if (exchange.endpoint?.takesAnyFields === true) return
  // What is wrapped is stored.
  const writes = exchange.endpoint?.runsOn === 'writer' || exchange.wrapTtlSeconds > 0
  if (!writes || services.forward === undefined) return
  return forward(exchange, services.forward)
}

/** Hands the request, as it came, to where it can be served; what comes back is the response. */
export async function forward(exchange: Exchange, to: NonNullable<PipelineServices['forward']>): Promise<void> {
  // Where no device was there to write the first entry, one may be by now: it is to have both.
  const recordedBy = exchange.record?.set.uuids ?? []
  const passedOn = { id: exchange.id, trace: exchange.trace?.context, recordedBy }
  const end = exchange.trace?.begin('forward')
  try {
    exchange.response = await to({ ...exchange.request, passedOn })
    exchange.isForwarded = true
  } finally {
    end?.(!exchange.isForwarded)
  }
}

/** Undefined where they are known. */
const findAuditDevices = (_exchange: Exchange, { audit }: PipelineServices): Promise<void> | undefined => audit.ready()

/** From here on something happens. What is refused before is recorded with its refusal, in core.ts. */
const recordRequest = (exchange: Exchange, { audit }: PipelineServices): void | Promise<void> => {
  if (exchange.record !== undefined || !isRecorded(exchange)) return
  if (!isAdopted(exchange, audit)) return audit.begin(exchange)
}

/** Whether another thread wrote the first entry, to devices that take the second one here. */
export function isAdopted(exchange: Exchange, audit: PipelineServices['audit']): boolean {
  const { recordedBy = [] } = exchange.request.passedOn ?? {}
  return recordedBy.length > 0 && audit.adopt(exchange, recordedBy)
}

/** All requests but those for the state of the server, which have answers while nothing can be recorded. */
export const isRecorded = ({ endpoint, request }: Exchange): boolean =>
  endpoint?.whileSealed !== true && request.rawPath.startsWith(API_PREFIX)

const decode = (exchange: Exchange): void => {
  const endpoint = exchange.endpoint as NonNullable<typeof exchange.endpoint>
  const { input, pathParameters } = exchange
  exchange.args = decodeFields(endpoint.fields, input, pathParameters)
  if (input !== undefined && endpoint.takesAnyFields !== true) noteIgnored(exchange, endpoint, input)
}

const handle = (exchange: Exchange): void | Promise<void> => {
  const { endpoint, mounted } = exchange
  if (endpoint === undefined || mounted === undefined)
    throw new Error('A request without an endpoint reached its handler')
  const answer = endpoint.handler(mounted.engine as never, exchange.args as never, requestInfo(exchange, mounted.entry))
  if (!(answer instanceof Promise)) {
    exchange.answer = answer
    return
  }
  return answer.then((found: Answer) => {
    exchange.answer = found
  })
}

function requestInfo(exchange: Exchange, { path: mountPath, config }: MountEntry): RequestInfo {
  const { passed } = exchange.request.headers
  const names = config.passthroughRequestHeaders
  return {
    id: exchange.id,
    operation: exchange.operation,
    mountPath,
    givenNames: exchange.givenNames,
    remoteAddress: exchange.request.remoteAddress,
    headers: passed === undefined || names === undefined ? NO_HEADERS : seen(passed, names),
    listener: exchange.request.listener,
    caller: exchange.token === undefined ? undefined : new ExchangeCaller(exchange, exchange.token),
    wrapTtlSeconds: exchange.wrapTtlSeconds,
    input: exchange.endpoint?.takesAnyFields === true ? exchange.input : undefined,
    stream: exchange.request.stream,
  }
}

/** A login method says who the caller is; what token that gives is decided here, for all methods alike. */
const issueToken = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const { answer, mounted } = exchange
  if (answer?.login === undefined || mounted === undefined) return
  // No other engine may give tokens, whatever it answers (threats T-11).
  if (mounted.entry.kind !== 'auth') throw new Error('An engine that is no login method gave a login')
  const request = { path: exchange.path, remoteAddress: exchange.request.remoteAddress }
  return services.logins.issue(answer.login, mounted.entry, request).then((issued) => {
    exchange.answer = { ...issued, warnings: [...(answer.warnings ?? []), ...(issued.warnings ?? [])] }
  })
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
  const response = successResponse(exchange)
  const { answer, mounted } = exchange
  const names = answer?.headers === undefined ? undefined : mounted?.entry.config.allowedResponseHeaders
  exchange.response =
    answer?.headers === undefined || names === undefined
      ? response
      : { ...response, headers: { ...settable(answer.headers, names), ...response.headers } }
}

export const STEPS: readonly Step[] = [
  { name: 'tell browsers', run: tellBrowsers },
  { name: 'read the path', run: readPath },
  { name: 'read the method', run: readMethod },
  { name: 'read the namespace', run: readNamespace },
  { name: 'read the wrapping', run: readWrapping },
  { name: 'find mount and endpoint', run: route },
  { name: 'wrap what can be wrapped', run: limitWrapping },
  { name: 'refuse while sealed', run: refuseWhileSealed },
  { name: 'limit the rate', run: limitRate },
  { name: 'find the audit devices', run: findAuditDevices },
  { name: 'authenticate', run: authenticate },
  { name: 'limit the rate of who asks', run: limitRateOfEntity },
  { name: 'give help', run: giveHelp },
  { name: 'create or update', run: findExistence },
  { name: 'authorise', run: authorise },
  { name: 'read the body', run: readBody },
  { name: 'authorise what is sent', run: authoriseData },
  { name: 'refuse what is not there', run: refuseUnknown },
  { name: 'refuse to keep what is public', run: refuseToKeep },
  { name: 'forward writes', run: forwardWrites },
  { name: 'record the request', run: recordRequest },
  { name: 'decode the fields', run: decode },
  { name: 'handle', run: handle },
  { name: 'issue the token of a login', run: issueToken },
  { name: 'wrap the answer', run: wrapAnswer },
  { name: 'write the response', run: writeResponse },
]
