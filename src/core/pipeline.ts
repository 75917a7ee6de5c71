// The life of one request, as a list of named steps. Each step finds out one thing and puts it on the exchange, or
// throws a Refusal. What an endpoint could forget (token, policy, forwarding, decoding) is done here and nowhere else.

import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { parseBool } from '../api/coercion.ts'
import type { EndpointOperation } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { decodeFields } from '../api/fields.ts'
import { describeEndpoint } from '../api/help.ts'
import type { MountEntry } from '../api/mount.ts'
import { isInside, pathWithin } from '../api/namespace.ts'
import { isCopied } from '../api/node-role.ts'
import { NO_HEADERS, seen, settable } from '../api/passed-headers.ts'
import type { Answer, RequestInfo } from '../api/request.ts'
import type { JsonObject } from '../lib/json.ts'
import { ownWrites } from '../storage/own-writes.ts'
import { authenticate, authorise, authoriseData, isMoveDue, isOpen, judgesCaller, servesNoClient } from './access.ts'
import { parseBody } from './body.ts'
import { tellBrowsers } from './browser-steps.ts'
import { awaitState, noteBefore, warnOfLate } from './consistency-steps.ts'
import type { Exchange } from './exchange.ts'
import { ExchangeCaller } from './exchange-caller.ts'
import { forward } from './forward.ts'
import { handToPrimary, sightOf } from './hand-over.ts'
import { noteIgnored } from './ignored-fields.ts'
import { loginGuardOf } from './login-guard.ts'
import type { Mounted } from './mount-table.ts'
import { moveToNamed, moveToOwn, readNamespace, refuseOutsideRoot } from './namespace-steps.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { primaryWrites } from './primary-writes.ts'
import { limitRate, limitRateOfEntity } from './rate-steps.ts'
import { successResponse } from './response.ts'
import { API_PREFIX, canonicalPath, parseQuery } from './target.ts'
import { limitWrapping, readWrapping, refuseToKeep, wrapAnswer } from './wrap-steps.ts'

/** One step. A step that has nothing to wait for returns undefined, not a promise: most requests need none. */
export type Step = {
  readonly name: string
  readonly run: (exchange: Exchange, services: PipelineServices) => void | Promise<void>
}

const readPath = (exchange: Exchange): void => {
  const path = canonicalPath(exchange.request.rawPath)
  if (path === undefined) throw fail('not_found', [])
  exchange.path = path
}

const MERGE_PATCH = 'application/merge-patch+json'

const readMethod = (exchange: Exchange): void => {
  const { request } = exchange
  const { method, query } = request
  switch (method) {
    case 'GET':
    case 'HEAD':
      exchange.input = query === '' ? undefined : parseQuery(query)
      exchange.method = listedAs(exchange.input) ?? 'read'
      break
    case 'LIST':
      exchange.input = query === '' ? undefined : parseQuery(query)
      exchange.method = 'list'
      break
    case 'SCAN':
      exchange.input = query === '' ? undefined : parseQuery(query)
      exchange.method = 'scan'
      break
    case 'POST':
    case 'PUT':
      exchange.method = 'update'
      break
    case 'PATCH':
      if (request.headers.contentType?.startsWith(MERGE_PATCH) !== true)
        throw fail('unsupported_media', [`PATCH takes a body of type ${MERGE_PATCH} (RFC 7396), where it is offered`])
      exchange.method = 'patch'
      break
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

/** GET with `list=true` or `scan=true` is LIST or SCAN. */
function listedAs(input: JsonObject | undefined): 'list' | 'scan' | undefined {
  return (['list', 'scan'] as const).find((name) => {
    const value = input?.[name]
    if (typeof value !== 'string') return false
    const isAsked = parseBool(value)
    if (isAsked === undefined) throw fail('field_invalid', [name, 'expected true or false'])
    return isAsked
  })
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
  findEndpoint(exchange, mounted)
}

/** Finds the endpoint for the exchange's path in the mount, and the names in the path. */
export function findEndpoint(exchange: Exchange, mounted: Mounted): void {
  const { path: mountPath, engine } = mounted
  const found = mounted.router.find(exchange.method, exchange.path.slice(mountPath.length), engine)
  if (found.kind === 'found') {
    exchange.endpoint = found.endpoint
    exchange.pathParameters = found.path
    exchange.givenNames = found.given
    // From here on policy, quotas, audit and handler see only the spelling that the name is kept under.
    if (found.keptPath !== undefined) exchange.path = mountPath + found.keptPath
    if (found.shape !== undefined) exchange.spelling = { mountPath, shape: found.shape }
  } else exchange.routeError = found.kind === 'unsupported-path' ? 'unsupported_path' : 'unsupported_operation'
}

/**
 * Interface 4.1: `cloud/rotate-root` means `auth/cloud/rotate-root`. The path is rewritten here, before policy and
 * audit see it, and only if no mount serves it as it stands.
 */
function routeBelowAuth(exchange: Exchange, { mounts }: PipelineServices): Mounted | undefined {
  const { namespace } = exchange
  const path = `${namespace.path}auth/${pathWithin(namespace, exchange.path)}`
  const mounted = mounts.route(path)
  if (mounted === undefined) return undefined
  const found = mounted.router.find(exchange.method, path.slice(mounted.path.length))
  if (found.kind !== 'found' || found.endpoint.alsoAtRoot !== true) return undefined
  exchange.path = path
  return mounted
}

const refuseWhileSealed = (exchange: Exchange, services: PipelineServices): void => {
  if (!services.sealed() || exchange.endpoint?.whileSealed === true || isOpen(exchange)) return
  throw services.initialized() ? fail('sealed', []) : fail('not_initialized', [])
}

/**
 * A secondary for disaster recovery follows its primary and serves no client, but those who operate it. While it is
 * sealed its seal decides, so that shares can open it.
 */
const refuseOnDrSecondary = (exchange: Exchange, services: PipelineServices): void => {
  if (!servesNoClient(services)) return
  if (services.sealed() || exchange.endpoint?.onDrSecondary !== undefined || isOpen(exchange)) return
  throw isServedOtherwise(exchange) ? fail('unsupported_operation', []) : fail('dr_secondary', [])
}

/**
 * A performance secondary whose copy is not whole has no mounts, policies or keys that could be relied on. It tells its
 * state, and a token made by generate-root can take it out of its set.
 */
const refuseWhileCopied = ({ endpoint }: Exchange, services: PipelineServices): void => {
  if (!isCopied(services.nodeRole()) || services.sealed() || servesNoClient(services)) return
  const { whileCopied, whileSealed, onDrSecondary } = endpoint ?? {}
  if (whileCopied !== true && whileSealed !== true && onDrSecondary === undefined)
    throw fail('being_copied', [services.primaryAddress()])
}

const OPERATIONS: readonly EndpointOperation[] = ['read', 'update', 'patch', 'list', 'scan', 'delete']

/** True if the path is one that a secondary for disaster recovery serves, by another method. */
function isServedOtherwise({ mounted, routeError, path }: Exchange): boolean {
  if (mounted === undefined || routeError !== 'unsupported_operation') return false
  const below = path.slice(mounted.path.length)
  return OPERATIONS.some((operation) => {
    const found = mounted.router.find(operation, below)
    return found.kind === 'found' && found.endpoint.onDrSecondary !== undefined
  })
}

/**
 * Decides whether a write creates or updates, before the policy is asked (Interface 5). The caller learns nothing from
 * it.
 */
const findExistence = (exchange: Exchange): void | Promise<void> => {
  const { endpoint, mounted } = exchange
  if (endpoint?.exists === undefined || mounted === undefined || exchange.token === undefined) return
  const { pathParameters, token, namespace } = exchange
  const exists = endpoint.exists(mounted.engine as never, pathParameters, token, namespace)
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
  // Past `authorise` a caller has a right to the endpoint, or the endpoint is open to all. The body of any other is not
  // read.
  const isWrite = exchange.method === 'update' || exchange.method === 'patch'
  if (!isWrite || (body === undefined && isBodyCut !== true) || body?.length === 0) return
  const isOpenToAll = exchange.endpoint?.capability === 'none' || judgesCaller(exchange, services)
  if (exchange.token === undefined && !isOpenToAll) return
  // Without a token only a small body is parsed, which takes a few milliseconds. The limit of a login is the same with
  // a token, since quotas by role read its body before the token is known.
  const isLogin = exchange.endpoint?.capability === 'none' && exchange.endpoint.givesToken === true
  if (
    body === undefined ||
    ((exchange.token === undefined || isLogin || isMoveDue(exchange, services)) && body.length > MAX_OPEN_BODY_BYTES)
  )
    throw fail('body_too_large', [MAX_OPEN_BODY_BYTES])
  // Refused before it is parsed: such a body is stored as it is, and a larger one cannot be.
  if (exchange.endpoint?.takesAnyFields === true && body.length > services.mostFreeBytes)
    throw fail('value_too_large', [services.mostFreeBytes])
  exchange.input = parseBody(body, headers.contentType)
}

/** Only there is it known whose policies judge the request. */
const goWhereNamed = (exchange: Exchange, services: PipelineServices): Promise<void> | undefined =>
  isMoveDue(exchange, services) ? moveToNamed(exchange, services).then(() => authorise(exchange, services)) : undefined

/**
 * Tells that an endpoint does not exist, but only to callers with a right to the path: any other could map the mounts.
 */
const refuseUnknown = (exchange: Exchange): void => {
  if (exchange.routeError === undefined) return
  if (exchange.method === 'update' && exchange.path.endsWith('/')) throw fail('write_to_folder', [])
  if (exchange.routeError === 'no_route') throw fail('no_route', [pathWithin(exchange.namespace, exchange.path)])
  throw fail(exchange.routeError, [])
}

/** Forwards requests that always write. Others are forwarded when their handler comes to a write (core.ts). */
const forwardWrites = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  // Free-form data are parsed here and stored as bytes; their handler sends those to the writing thread itself.
  if (exchange.endpoint?.takesAnyFields === true) return
  // Wrapping stores the answer, so it is a write.
  const writes = exchange.endpoint?.runsOn === 'writer' || exchange.wrapTtlSeconds > 0
  if (!writes || services.forward === undefined) return
  return forward(exchange, services.forward)
}

/** Returns undefined if they are known already. */
const findAuditDevices = (_exchange: Exchange, { audit }: PipelineServices): Promise<void> | undefined => audit.ready()

/**
 * Writes the first audit entry, before the handler has any effect. Earlier steps only charge quotas and take a use of
 * the token. A request refused before is recorded along with its refusal (record-end.ts).
 */
const recordRequest = (exchange: Exchange, { audit }: PipelineServices): void | Promise<void> => {
  if (exchange.record !== undefined || !isRecorded(exchange)) return
  if (!isAdopted(exchange, audit)) return audit.begin(exchange)
}

/** True if another thread wrote the first entry, to devices that take the second one here. */
export function isAdopted(exchange: Exchange, audit: PipelineServices['audit']): boolean {
  const { recordedBy = [] } = exchange.request.passedOn ?? {}
  return recordedBy.length > 0 && audit.adopt(exchange, recordedBy)
}

/**
 * True for every request of the API except those about the state of the server, which must answer while no device can
 * record.
 */
export const isRecorded = ({ endpoint, request }: Exchange): boolean =>
  endpoint?.whileSealed !== true && request.rawPath.startsWith(API_PREFIX)

const decode = (exchange: Exchange): void => {
  const endpoint = exchange.endpoint as NonNullable<typeof exchange.endpoint>
  const { input, pathParameters } = exchange
  exchange.args = decodeFields(endpoint.fields, input, pathParameters)
  if (input !== undefined && endpoint.takesAnyFields !== true) noteIgnored(exchange, endpoint, input)
}

const handle = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const { endpoint, mounted } = exchange
  // The primary has carried it out.
  if (exchange.answer !== undefined) return
  if (endpoint === undefined || mounted === undefined)
    throw new Error('A request without an endpoint reached its handler')
  const info = requestInfo(exchange, mounted.entry, services)
  const answer = noted(exchange, () => endpoint.handler(mounted.engine as never, exchange.args as never, info))
  if (!(answer instanceof Promise)) {
    exchange.answer = answer
    return
  }
  return answer.then((found: Answer) => {
    exchange.answer = found
  })
}

/** Runs work of a performance secondary so that what is written here and by the primary is noted. */
function noted<T>({ own, atPrimary }: Exchange, work: () => T): T {
  const asking = atPrimary === undefined ? work : () => primaryWrites.run(atPrimary, work)
  return own === undefined ? asking() : ownWrites.run(own, asking)
}

function requestInfo(
  exchange: Exchange,
  { path: mountPath, config }: MountEntry,
  services: PipelineServices,
): RequestInfo {
  const { passed, token } = exchange.request.headers
  const isUnjudged = servesNoClient(services)
  const names = config.passthroughRequestHeaders
  return {
    id: exchange.id,
    operation: exchange.operation,
    namespace: exchange.namespace,
    mountPath,
    givenNames: exchange.givenNames,
    remoteAddress: exchange.request.remoteAddress,
    headers: passed === undefined || names === undefined ? NO_HEADERS : seen(passed, names),
    listener: exchange.request.listener,
    caller: exchange.token === undefined ? undefined : new ExchangeCaller(exchange, exchange.token),
    sight: sightOf(exchange),
    unjudgedToken: isUnjudged ? token : undefined,
    wrapTtlSeconds: exchange.wrapTtlSeconds,
    guardLogin: loginGuardOf(exchange),
    input: isUnjudged || exchange.endpoint?.takesAnyFields === true ? exchange.input : undefined,
    stream: exchange.request.stream,
  }
}

/**
 * Makes the token of a login. A login method only says who the caller is; the rules for tokens are the same for all of
 * them, and are here.
 */
const issueToken = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const { answer, mounted } = exchange
  if (answer?.login === undefined || mounted === undefined) return
  // No other engine may give tokens, whatever it answers (threats T-11).
  if (mounted.entry.kind !== 'auth') throw new Error('An engine that is no login method gave a login')
  const path = pathWithin(exchange.namespace, exchange.path)
  const request = { path, remoteAddress: exchange.request.remoteAddress }
  const { login } = answer
  return noted(exchange, () => services.logins.issue(login, mounted.entry, request)).then((issued) => {
    exchange.answer = { ...issued, warnings: [...(answer.warnings ?? []), ...(issued.warnings ?? [])] }
  })
}

const giveHelp = (exchange: Exchange, { tokens }: PipelineServices): void => {
  const asked =
    exchange.request.method === 'HELP' ||
    (exchange.method === 'read' && exchange.input?.help !== undefined && exchange.input.help !== '')
  if (!asked) return
  // Help tells which mounts there are, and no policy is asked: it is given where the token is at home, and below.
  const home = exchange.token && tokens.namespaceOf(exchange.token.entry)
  if (home === undefined || !isInside(exchange.namespace, home)) throw fail('permission_denied', [])
  if (exchange.mounted === undefined) throw fail('no_route', [pathWithin(exchange.namespace, exchange.path)])
  const relative = exchange.path.slice(exchange.mounted.path.length)
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

/**
 * The steps in their order, which docs/architecture.md draws. What costs the server most, or tells the caller most,
 * comes last: quotas before the token, the token before the body, a right to the path before "there is no such
 * endpoint".
 */
export const STEPS: readonly Step[] = [
  { name: 'tell browsers', run: tellBrowsers },
  { name: 'read the path', run: readPath },
  { name: 'wait for the state that is asked for', run: awaitState },
  { name: 'read the namespace', run: readNamespace },
  { name: 'read the method', run: readMethod },
  { name: 'read the wrapping', run: readWrapping },
  { name: 'find mount and endpoint', run: route },
  { name: 'refuse outside the root', run: refuseOutsideRoot },
  { name: 'wrap what can be wrapped', run: limitWrapping },
  { name: 'refuse while sealed', run: refuseWhileSealed },
  { name: 'refuse on a DR secondary', run: refuseOnDrSecondary },
  { name: 'refuse while it is copied', run: refuseWhileCopied },
  { name: 'limit the rate', run: limitRate },
  { name: 'find the audit devices', run: findAuditDevices },
  { name: 'authenticate', run: authenticate },
  { name: 'go where the token is', run: moveToOwn },
  { name: 'limit the rate of who asks', run: limitRateOfEntity },
  { name: 'give help', run: giveHelp },
  { name: 'create or update', run: findExistence },
  { name: 'authorise', run: authorise },
  { name: 'read the body', run: readBody },
  { name: 'go where what is named is', run: goWhereNamed },
  { name: 'authorise what is sent', run: authoriseData },
  { name: 'refuse what is not there', run: refuseUnknown },
  { name: 'refuse to keep what is public', run: refuseToKeep },
  { name: 'forward writes', run: forwardWrites },
  { name: 'record the request', run: recordRequest },
  { name: 'decode the fields', run: decode },
  { name: 'note where the log stands', run: noteBefore },
  { name: 'hand to the primary', run: handToPrimary },
  { name: 'handle', run: handle },
  { name: 'issue the token of a login', run: issueToken },
  { name: 'warn of what is on its way', run: warnOfLate },
  { name: 'wrap the answer', run: wrapAnswer },
  { name: 'write the response', run: writeResponse },
]

/** The steps from the one that has this name to the one that has the other, with both. */
export function stepsBetween(first: string, last: string): readonly Step[] {
  const at = (name: string): number => STEPS.findIndex((step) => step.name === name)
  return STEPS.slice(at(first), at(last) + 1)
}
