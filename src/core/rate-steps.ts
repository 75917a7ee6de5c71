// Quotas, as steps of the pipeline. They come before the token is looked up and the body is read: a request over the
// limit then costs next to nothing (threats H-03). Two kinds need more: a quota of a role needs the body of the login,
// and a quota by entity needs the token.
import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { fail, Refusal } from '../api/errors.ts'
import { decodeFields } from '../api/fields.ts'
import type { LoginMethod } from '../api/login-method.ts'
import { isEntityGrouping, type QuotaConfig, type RateQuota } from '../quotas/quota.ts'
import type { QuotaRules } from '../quotas/quota-rules.ts'
import { parseBody } from './body.ts'
import type { Exchange } from './exchange.ts'
import { sentPath } from './namespace-steps.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { refusalResponse } from './response.ts'
import { API_PREFIX } from './target.ts'

/**
 * Step: charges the quota that applies. Only on the thread where the request arrived, and once for all its attempts.
 */
export const limitRate = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  exchange.isRateJudged = true
  if (exchange.isRetry || exchange.request.passedOn !== undefined || services.sealed()) return
  const rules = services.quotas.rules()
  return rules instanceof Promise
    ? rules.then((found) => limit(exchange, services, found))
    : limit(exchange, services, rules)
}

/**
 * Charges a request that an earlier step refused, or a flood of bad requests would pass by every quota. It counts for
 * the mount that its path leads to, else for the global quota. If it is over the limit, its response is 429 instead of
 * the refusal.
 */
export const limitRateOfRefused = async (exchange: Exchange, services: PipelineServices): Promise<void> => {
  if (exchange.isRateJudged || !exchange.request.rawPath.startsWith(API_PREFIX)) return
  await limitRate(exchange, services)
  // The token of a refused request is not looked up: a quota by entity counts it as it counts callers without one.
  if (exchange.response === undefined) await limitRateOfEntity(exchange, services)
}

function limit(exchange: Exchange, services: PipelineServices, rules: QuotaRules): void | Promise<void> {
  if (rules.isEmpty) return
  // A refusal may have come before the routing step; an empty path has no mount to find.
  const isRouted = exchange.mounted !== undefined || exchange.routeError !== undefined || exchange.path === ''
  if (!isRouted && services.mounts.stale)
    return services.mounts
      .refresh()
      .then(() => countAt(exchange, services, rules, services.mounts.route(exchange.path)))
  return countAt(exchange, services, rules, isRouted ? exchange.mounted : services.mounts.route(exchange.path))
}

function countAt(
  exchange: Exchange,
  services: PipelineServices,
  rules: QuotaRules,
  mounted: Mount,
): void | Promise<void> {
  const { path, spelling } = spelledIn(exchange, services)
  if (rules.isExempt(path, spelling)) return
  if (!rules.hasRoles(mounted?.entry.uuid ?? '')) return count(exchange, services, rules, { mounted, role: undefined })
  return roleOf(exchange).then((role) => count(exchange, services, rules, { mounted, role }))
}

/** The path with its names as they are kept. Routing has done that only if it found an endpoint. */
const spelledIn = (exchange: Exchange, { mounts }: PipelineServices): Pick<Exchange, 'path' | 'spelling'> =>
  exchange.endpoint === undefined ? mounts.spelled(exchange.path) : exchange

type Mount = Exchange['mounted']

/**
 * The role that a login names; undefined for any other request, and if the login method knows no such role. The body is
 * decoded as the login will decode it: a role id of digits may come as a number.
 */
async function roleOf({ endpoint, mounted, pathParameters, request }: Exchange): Promise<string | undefined> {
  const { body, headers } = request
  const method = mounted?.engine as LoginMethod | undefined
  if (endpoint?.givesToken !== true || endpoint.capability !== 'none' || body === undefined) return undefined
  if (method?.roleOf === undefined || body.length > MAX_OPEN_BODY_BYTES) return undefined
  let args: Readonly<Record<string, unknown>>
  try {
    args = decodeFields(endpoint.fields, parseBody(body, headers.contentType), pathParameters)
  } catch (cause) {
    // A body that cannot be read is refused later; until then it counts without a role.
    if (cause instanceof Refusal) return undefined
    throw cause
  }
  return method.roleOf(args)
}

function count(
  exchange: Exchange,
  services: PipelineServices,
  rules: QuotaRules,
  { mounted, role }: { readonly mounted: Mount; readonly role: string | undefined },
): void {
  const { path, spelling } = spelledIn(exchange, services)
  const { namespace } = exchange
  const mountPath = mounted?.path ?? ''
  const mount = mounted?.entry.uuid ?? ''
  const quota = rules.find({ namespace, mount, mountPath, path: path.slice(mountPath.length), spelling, role })
  if (quota === undefined) return
  if (isEntityGrouping(quota)) exchange.quota = quota
  else charge(exchange, services, quota, rules.config)
}

/**
 * Step: charges a quota that counts by entity, once the token is known and before anything else is done for the caller.
 */
export const limitRateOfEntity = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const { quota } = exchange
  if (quota === undefined) return
  const rules = services.quotas.rules()
  if (rules instanceof Promise) return rules.then(({ config }) => charge(exchange, services, quota, config))
  charge(exchange, services, quota, rules.config)
}

/**
 * Charges one request. If the quota is used up, sets the response to 429 with `Retry-After` in whole seconds, at least
 * 1.
 */
function charge(exchange: Exchange, services: PipelineServices, quota: RateQuota, config: QuotaConfig): void {
  const { remoteAddress } = exchange.request
  const { isAllowed, remaining, resetMs } = services.limiter.charge(quota, {
    remoteAddress,
    entityId: exchange.token?.entry.entityId || undefined,
  })
  const resetSeconds = String(Math.max(1, Math.ceil(resetMs / 1000)))
  if (config.responseHeaders) {
    exchange.extraHeaders = {
      ...exchange.extraHeaders,
      'X-RateLimit-Limit': String(Math.ceil(quota.rate)),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': resetSeconds,
    }
  }
  if (isAllowed) return
  services.noteRateLimited()
  exchange.isRateLimited = true
  exchange.isRateLimitAudited = config.auditsRefusals
  const refusal = fail('rate_limited', [sentPath(exchange)])
  exchange.error = refusal.message
  const refused = refusalResponse(refusal)
  exchange.response = { ...refused, headers: { 'Retry-After': resetSeconds } }
}
