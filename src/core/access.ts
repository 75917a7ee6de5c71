// The pipeline steps that decide about access: who is asking, and whether they may (Interface 5).
import { fail, permissionDenied, type Refusal } from '../api/errors.ts'
import { servesClients } from '../api/node-role.ts'
import type { Acl } from '../auth/acl.ts'
import { deniedAtTwin, refusedByName } from '../auth/named-paths.ts'
import type { AclDecision, AclRequest } from '../auth/permissions.ts'
import { refusalHint } from '../auth/refusal-hint.ts'
import type { PolicyNames } from '../auth/rights.ts'
import type { Subject } from '../auth/subject.ts'
import type { LiveToken } from '../auth/token-store.ts'
import { isJwt, isWrapping } from '../auth/wrapping.ts'
import { isInCidrs } from '../lib/cidr.ts'
import type { Exchange } from './exchange.ts'
import type { PipelineServices } from './pipeline-services.ts'

/**
 * True on a secondary for disaster recovery, whole or not. It tells its state to all alike: while it copies it may not
 * be able to read a token yet, and it could not charge a use of one.
 */
export function servesNoClient({ nodeRole }: Pick<PipelineServices, 'nodeRole'>): boolean {
  return !servesClients(nodeRole())
}

/** True if the endpoint judges its caller itself, by an operation token. */
export const judgesCaller = ({ endpoint }: Exchange, services: Pick<PipelineServices, 'nodeRole'>): boolean =>
  endpoint?.onDrSecondary === 'operation-token' && servesNoClient(services)

/**
 * Step: finds the token of the request, and the entity behind it. Refuses nothing itself: without a usable token the
 * exchange has none, and `authorise` decides what that means for the endpoint.
 */
export const authenticate = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const token = exchange.request.headers.token
  if (token === undefined || token === '' || services.sealed() || servesNoClient(services)) return
  // Judged before: the token was found then, and may have been charged its last use.
  if (exchange.chargedToken !== undefined) return recognise(exchange, services, exchange.chargedToken)
  if (exchange.endpoint?.takesWrappingToken === true && isJwt(token))
    return services.wrapping.recognise(token).then((live) => recognise(exchange, services, live))
  const found = services.tokens.find(token)
  return found instanceof Promise
    ? found.then((live) => recognise(exchange, services, live))
    : recognise(exchange, services, found)
}

/**
 * True if the token is live, may be used from this address, and its entity is not disabled. Charges no use of it, so it
 * can be asked before the body is read.
 */
export async function isKnown(
  token: string | undefined,
  remoteAddress: string,
  services: PipelineServices,
): Promise<boolean> {
  if (token === undefined || token === '' || services.sealed()) return false
  if (services.namespaces.stale) await services.namespaces.refresh()
  const live = await services.tokens.find(token)
  if (live === undefined || !isInCidrs(remoteAddress, live.entry.boundCidrs)) return false
  if (live.entry.entityId === '') return true
  const subject = await services.identities.subject(live.entry.entityId)
  return subject !== undefined && !subject.disabled
}

/**
 * Puts the token on the exchange if it may be used from this address (Interface 2.2, `token_bound_cidrs`) and its
 * entity is not disabled. Otherwise the request goes on as if it had no token.
 */
function recognise(exchange: Exchange, services: PipelineServices, live: LiveToken | undefined): void | Promise<void> {
  if (live === undefined) return
  const { boundCidrs, entityId } = live.entry
  // A wrapping token works for anyone who holds it, from any address.
  if (isToOpen(exchange, live)) return weigh(exchange, services, live)
  if (!isInCidrs(exchange.request.remoteAddress, boundCidrs)) return
  if (entityId === '') return weigh(exchange, services, live)
  const subject = services.identities.subject(entityId)
  const know = (found: Subject | undefined): void | Promise<void> => {
    if (found === undefined || found.disabled) return
    exchange.subject = found
    return weigh(exchange, services, live)
  }
  return subject instanceof Promise ? subject.then(know) : know(subject)
}

const isToOpen = ({ endpoint }: Exchange, { entry }: LiveToken): boolean =>
  endpoint?.takesWrappingToken === true && isWrapping(entry)

/** Finds the policies that count for the token. */
function weigh(exchange: Exchange, services: PipelineServices, live: LiveToken): void | Promise<void> {
  const policies = services.rights.policiesOf(live.entry, exchange.subject)
  const know = (found: PolicyNames): void | Promise<void> => {
    exchange.policies = found
    return admit(exchange, services, live)
  }
  return policies instanceof Promise ? policies.then(know) : know(policies)
}

/**
 * Charges one use of a limited token, even if the request is refused later (Interface 2.2, `token_num_uses`). That of a
 * wrapping token is charged when it is opened.
 */
function admit(exchange: Exchange, services: PipelineServices, live: LiveToken): void | Promise<void> {
  if (live.entry.numUses === 0 || exchange.chargedToken !== undefined || isToOpen(exchange, live)) {
    exchange.token = live
    return
  }
  return services.tokens.takeUse(live).then((paid) => {
    exchange.chargedToken = paid
    exchange.token = paid
  })
}

/** True while it is not known yet which namespace's policies judge the request: what it names decides. */
export const isMoveDue = ({ endpoint, isMoved }: Exchange, { namespaces }: PipelineServices): boolean =>
  !isMoved && typeof endpoint?.movesTo === 'object' && namespaces.count > 0

/**
 * Step: asks the policies of the token and of its entity whether there is a right to this path and operation. Rules
 * about parameters are left to `authoriseData`, once the body is read.
 * @throws Refusal `permission_denied`; `bad_wrapping_token` where a wrapping token was presented and is spent
 */
export const authorise = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  if (exchange.endpoint?.capability === 'none' || isOpen(exchange) || judgesCaller(exchange, services)) return
  const { policies, subject, token } = exchange
  if (token === undefined || policies === undefined) throw refusalWithoutToken(exchange)
  if (isMoveDue(exchange, services)) return
  const acl = services.policies.acl(policies, subject)
  return acl instanceof Promise
    ? acl.then((built) => evaluatePolicy(exchange, built, services))
    : evaluatePolicy(exchange, acl, services)
}

/** True if the endpoint needs no token on the listener that the request came by. */
export const isOpen = ({ endpoint, request: { listener } }: Exchange): boolean =>
  endpoint?.isOpen !== undefined && listener !== undefined && endpoint.isOpen(listener)

/**
 * A spent wrapping token gets a refusal of its own: the one who waits for the answer must learn that someone opened it
 * first.
 */
function refusalWithoutToken({ endpoint, request }: Exchange): Refusal {
  const presented = request.headers.token
  const asWrapping = endpoint?.takesWrappingToken === true && presented !== undefined && presented !== ''
  return asWrapping ? fail('bad_wrapping_token', []) : fail('permission_denied', [])
}

/** Mounts of these types are on every server at the same paths, so a hint may name their endpoints. */
const KNOWN_TO_ALL: ReadonlySet<string | undefined> = new Set(['system', 'token'])

function hintFor({ endpoint, mounted, namespace }: Exchange, acl: Acl, request: AclRequest): string {
  const isKnownToAll = KNOWN_TO_ALL.has(mounted?.entry.type)
  return refusalHint(acl, request, { isKnownToAll, namespace, dependsOnExistence: endpoint?.exists !== undefined })
}

/** Only a caller with some right to the request gets further: the body of any other is never parsed. */
function evaluatePolicy(exchange: Exchange, acl: Acl, services: PipelineServices): void {
  exchange.acl = acl
  const { judgesData, policies } = allowed(exchange, acl, services, true)
  exchange.isDataJudged = judgesData
  exchange.grantedBy = policies
  const denied = twinOf(exchange, acl, services)
  if (denied !== undefined) throw permissionDenied(services.permissionHints ? hintFor(exchange, acl, denied) : '')
}

/** The request at another path that does the same, if a rule denies it there; undefined otherwise (threats T-09). */
function twinOf(exchange: Exchange, acl: Acl, services: PipelineServices): AclRequest | undefined {
  const { endpoint, namespace, mounted, operation, pathParameters, path, wrapTtlSeconds } = exchange
  const hasOthers = endpoint?.twins !== undefined || endpoint?.mayLieBelow !== undefined
  if (endpoint === undefined || !hasOthers || mounted === undefined) return undefined
  const twinned = { endpoint, namespace, mountPath: mounted.path, pathParameters, path, wrapTtlSeconds }
  return deniedAtTwin(twinned, operation, acl, services)
}

/**
 * Step: judges the parameters, where a policy has a rule about them, and the other paths that the body names.
 * @throws Refusal `permission_denied`
 */
export const authoriseData = (exchange: Exchange, services: PipelineServices): void => {
  const { acl } = exchange
  if (acl === undefined) return
  if (exchange.isDataJudged) judgeData(exchange, acl, services)
  const named = refusedOfNamed(exchange, acl, services)
  if (named !== undefined) throw permissionDenied(services.permissionHints ? hintFor(exchange, acl, named) : '')
}

/** The request at a path named in the body that the policies refuse; undefined if there is none. */
function refusedOfNamed(exchange: Exchange, acl: Acl, services: PipelineServices): AclRequest | undefined {
  const { endpoint, namespace, input, mounted, pathParameters, path, wrapTtlSeconds } = exchange
  if (endpoint?.alsoNames === undefined || input === undefined || mounted === undefined) return undefined
  const naming = { endpoint, namespace, input, mountPath: mounted.path, pathParameters, path, wrapTtlSeconds }
  return refusedByName(naming, acl, services)
}

function judgeData(exchange: Exchange, acl: Acl, services: PipelineServices): void {
  const { pageLimit } = allowed(exchange, acl, services, false)
  // A policy that limits the length of a list also limits a request that asks for no limit (threats A-08).
  if (pageLimit > 0 && exchange.input?.limit === undefined) exchange.input = { ...exchange.input, limit: pageLimit }
}

/**
 * Returns the decision of the policies. `isUnread`: the body is not parsed yet, so only path and operation are judged.
 * @throws Refusal `permission_denied`, with a hint at what is missing where hints are on
 */
function allowed(exchange: Exchange, acl: Acl, services: PipelineServices, isUnread: boolean): AclDecision {
  const { path, spelling, operation, input: parameters, wrapTtlSeconds, endpoint } = exchange
  const sudoRequired = endpoint?.sudo === true
  // Policies write the path of a list with a slash at its end.
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
