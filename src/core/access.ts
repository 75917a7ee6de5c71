// Who asks, and whether they may: the steps of the pipeline that decide about access.
import { fail, permissionDenied, type Refusal } from '../api/errors.ts'
import type { Acl } from '../auth/acl.ts'
import { deniedAtTwin, refusedByName } from '../auth/named-paths.ts'
import type { AclDecision, AclRequest } from '../auth/permissions.ts'
import { refusalHint } from '../auth/refusal-hint.ts'
import { united } from '../auth/rights.ts'
import type { Subject } from '../auth/subject.ts'
import type { LiveToken } from '../auth/token-store.ts'
import { isJwt, isWrapping } from '../auth/wrapping.ts'
import { isInCidrs } from '../lib/cidr.ts'
import type { Exchange } from './exchange.ts'
import type { PipelineServices } from './pipeline-services.ts'

export const authenticate = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const token = exchange.request.headers.token
  if (token === undefined || token === '' || services.sealed()) return
  if (exchange.chargedToken !== undefined) return recognise(exchange, services, exchange.chargedToken)
  if (exchange.endpoint?.takesWrappingToken === true && isJwt(token))
    return services.wrapping.recognise(token).then((live) => recognise(exchange, services, live))
  const found = services.tokens.find(token)
  return found instanceof Promise
    ? found.then((live) => recognise(exchange, services, live))
    : recognise(exchange, services, found)
}

/** Whether there is a token that may be used, from this address, by somebody who has access. */
export async function isKnown(
  token: string | undefined,
  remoteAddress: string,
  services: PipelineServices,
): Promise<boolean> {
  if (token === undefined || token === '' || services.sealed()) return false
  const live = await services.tokens.find(token)
  if (live === undefined || !isInCidrs(remoteAddress, live.entry.boundCidrs)) return false
  if (live.entry.entityId === '') return true
  const subject = await services.identities.subject(live.entry.entityId)
  return subject !== undefined && !subject.disabled
}

/**
 * Whoever holds a token still needs to come from where it is bound to, and to be somebody who has access: else it is as
 * if there were no token.
 */
function recognise(exchange: Exchange, services: PipelineServices, live: LiveToken | undefined): void | Promise<void> {
  if (live === undefined) return
  const { boundCidrs, entityId } = live.entry
  if (exchange.endpoint?.takesWrappingToken === true && isWrapping(live.entry)) {
    exchange.token = live
    return
  }
  if (!isInCidrs(exchange.request.remoteAddress, boundCidrs)) return
  if (entityId === '') return admit(exchange, services, live)
  const subject = services.identities.subject(entityId)
  const know = (found: Subject | undefined): void | Promise<void> => {
    if (found === undefined || found.disabled) return
    exchange.subject = found
    return admit(exchange, services, live)
  }
  return subject instanceof Promise ? subject.then(know) : know(subject)
}

/** A limited token pays for the request even if it is refused later (Interface 2.2, token_num_uses). */
function admit(exchange: Exchange, services: PipelineServices, live: LiveToken): void | Promise<void> {
  if (live.entry.numUses === 0 || exchange.chargedToken !== undefined) {
    exchange.token = live
    return
  }
  return services.tokens.takeUse(live).then((paid) => {
    exchange.chargedToken = paid
    exchange.token = paid
  })
}

export const authorise = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  if (exchange.endpoint?.capability === 'none' || isOpen(exchange)) return
  const { token } = exchange
  if (token === undefined) throw refusalWithoutToken(exchange)
  const { subject } = exchange
  const names = subject === undefined ? token.entry.policies : united(token.entry.policies, subject.policies)
  const acl = services.policies.acl(names, subject)
  return acl instanceof Promise
    ? acl.then((built) => evaluatePolicy(exchange, built, services))
    : evaluatePolicy(exchange, acl, services)
}

/** Whether it answers everybody who comes to this listener. */
export const isOpen = ({ endpoint, request: { listener } }: Exchange): boolean =>
  endpoint?.isOpen !== undefined && listener !== undefined && endpoint.isOpen(listener)

/** A wrapping token that was used is told from no permission: whoever waits for it must learn that it was opened. */
function refusalWithoutToken({ endpoint, request }: Exchange): Refusal {
  const presented = request.headers.token
  const asWrapping = endpoint?.takesWrappingToken === true && presented !== undefined && presented !== ''
  return asWrapping ? fail('bad_wrapping_token', []) : fail('permission_denied', [])
}

/** Mounts of these types are on every server, at the same paths: their endpoints are no secret. */
const KNOWN_TO_ALL: ReadonlySet<string | undefined> = new Set(['system', 'token'])

function hintFor({ endpoint, mounted }: Exchange, acl: Acl, request: AclRequest): string {
  const isKnownToAll = KNOWN_TO_ALL.has(mounted?.entry.type)
  return refusalHint(acl, request, { isKnownToAll, dependsOnExistence: endpoint?.exists !== undefined })
}

/** Whether there is a right to such a request at all: only for whoever has one the body is parsed. */
function evaluatePolicy(exchange: Exchange, acl: Acl, services: PipelineServices): void {
  exchange.acl = acl
  const { judgesData } = allowed(exchange, acl, services, true)
  exchange.isDataJudged = judgesData
  const denied = twinOf(exchange, acl, services)
  if (denied !== undefined) throw permissionDenied(services.permissionHints ? hintFor(exchange, acl, denied) : '')
}

function twinOf(exchange: Exchange, acl: Acl, { mounts }: PipelineServices): AclRequest | undefined {
  const { endpoint, mounted, operation, pathParameters, path, wrapTtlSeconds } = exchange
  if (endpoint?.twins === undefined || mounted === undefined) return undefined
  const place = { endpoint, mountPath: mounted.entry.path, pathParameters, path, wrapTtlSeconds }
  return deniedAtTwin(place, operation, acl, mounts)
}

/** Of what was sent, where a policy says something of it, and of what it names. */
export const authoriseData = (exchange: Exchange, services: PipelineServices): void => {
  const { acl } = exchange
  if (acl === undefined) return
  if (exchange.isDataJudged) judgeData(exchange, acl, services)
  const named = refusedOfNamed(exchange, acl, services)
  if (named !== undefined) throw permissionDenied(services.permissionHints ? hintFor(exchange, acl, named) : '')
}

function refusedOfNamed(exchange: Exchange, acl: Acl, { mounts }: PipelineServices): AclRequest | undefined {
  const { endpoint, input, mounted, pathParameters, path, wrapTtlSeconds } = exchange
  if (endpoint?.alsoNames === undefined || input === undefined || mounted === undefined) return undefined
  const naming = { endpoint, input, mountPath: mounted.entry.path, pathParameters, path, wrapTtlSeconds }
  return refusedByName(naming, acl, mounts)
}

function judgeData(exchange: Exchange, acl: Acl, services: PipelineServices): void {
  const { pageLimit } = allowed(exchange, acl, services, false)
  // A policy that bounds a list bounds one that asks for no bound, too (threats A-08).
  if (pageLimit > 0 && exchange.input?.limit === undefined) exchange.input = { ...exchange.input, limit: pageLimit }
}

/** @throws Refusal with what is missing */
function allowed(exchange: Exchange, acl: Acl, services: PipelineServices, isUnread: boolean): AclDecision {
  const { path, spelling, operation, input: parameters, wrapTtlSeconds, endpoint } = exchange
  const sudoRequired = endpoint?.sudo === true
  const listPath = operation === 'list' && !path.endsWith('/') ? `${path}/` : path
  const request = {
    operation,
    path: listPath,
    spelling,
    parameters,
    isUnread,
    declared: endpoint,
    sudoRequired,
    wrapTtlSeconds,
  }
  const verdict = acl.check(request)
  if (!verdict.allowed)
    throw permissionDenied(services.permissionHints ? hintFor(exchange, acl, { ...request, path }) : '')
  return verdict
}
