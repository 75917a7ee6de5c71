// The exchange at the beginning of an attempt.
import { ROOT } from '../api/namespace.ts'
import type { ObservedRequest } from '../telemetry/request-observer.ts'
import type { Exchange, WireRequest } from './exchange.ts'

/** How often a request that lost to a faster one is tried again. After that its caller is told to try later. */
export const MAX_ATTEMPTS = 5

/**
 * Returns the exchange of one attempt. `before` is that of the attempt that lost: what it paid and recorded must not be
 * paid or recorded twice. `handedBy` is the secondary that sent the request.
 */
export function newExchange(
  { id, trace }: Pick<ObservedRequest, 'id' | 'trace'>,
  request: WireRequest,
  before: Exchange | undefined,
  handedBy?: string,
): Exchange {
  return {
    id,
    request,
    trace,
    path: '',
    namespace: ROOT,
    unknownNamespace: request.headers.namespace || undefined,
    method: 'read',
    operation: 'read',
    mounted: undefined,
    endpoint: undefined,
    routeError: undefined,
    pathParameters: {},
    givenNames: undefined,
    spelling: undefined,
    token: undefined,
    chargedToken: before?.chargedToken,
    subject: undefined,
    policies: undefined,
    isMoved: false,
    acl: undefined,
    grantedBy: undefined,
    isDataJudged: false,
    wrapTtlSeconds: 0,
    wrapForm: 'plain',
    input: undefined,
    args: {},
    answer: undefined,
    wrappedTokenId: undefined,
    warnings: [],
    response: undefined,
    extraHeaders: before?.extraHeaders,
    isRetry: before !== undefined,
    isRateJudged: false,
    quota: undefined,
    isRateLimited: false,
    isRateLimitAudited: false,
    isForwarded: false,
    own: undefined,
    indexBefore: undefined,
    atPrimary: undefined,
    guardedName: undefined,
    handedBy,
    record: before?.record,
    error: undefined,
  }
}
