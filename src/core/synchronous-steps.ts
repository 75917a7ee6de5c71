// What has a write wait until secondaries have it, behind its handler and before its answer is recorded. No step of the
// pipeline holds anything meanwhile. Nothing of it costs anything where no secondary is waited for.
import { fail, Refusal } from '../api/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RequestMark } from '../replication/synchronous/synchronous-writes.ts'
import type { Exchange, WireResponse } from './exchange.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { refusalResponse, successResponse } from './response.ts'

type Services = Pick<PipelineServices, 'synchronous'>

/** What `confirmedSince` is told of the work. */
type Confirming = { readonly rests?: boolean; readonly sinceMs?: number | undefined; readonly isHanded?: boolean }

/** Where log, seal and clock stand before work that may write; undefined where no write waits. */
export const logBefore = ({ synchronous }: Services): RequestMark | undefined => synchronous?.mark()

/**
 * Waits until secondaries have what the work wrote. What others wrote meanwhile counts as well. Undefined: there is
 * nothing to wait for. `rests`: the work may rest on an earlier write that was not confirmed, as where the same is
 * sent again. `sinceMs`: when the request came, if the primary of a region took a part of its time. `isHanded`: another
 * cluster asked, and tells its client what is thrown.
 * @throws Refusal if it is not known whether they have it
 */
export function confirmedSince(
  before: RequestMark | undefined,
  { synchronous }: Services,
  { rests = false, sinceMs, isHanded = false }: Confirming = {},
): Promise<void> | undefined {
  const now = before === undefined ? undefined : synchronous?.mark()
  if (before === undefined || now === undefined) return undefined
  const isRekeyed = now.sealId !== before.sealId
  if (now.index === before.index && !isRekeyed && !rests) return undefined
  return synchronous?.confirmed(now.index, isRekeyed, sinceMs)?.then((isConfirmed) => {
    if (!isConfirmed) throw unconfirmed(synchronous.ids, !isHanded)
  })
}

/** Returns the response that is given once secondaries have what the request wrote; undefined: this one, at once. */
export function heldBack(
  exchange: Exchange,
  response: WireResponse,
  before: RequestMark | undefined,
  services: Services,
  log: Log,
): Promise<WireResponse> | undefined {
  if (before === undefined || isRefusal(exchange, response) || !mayWrite(exchange)) return undefined
  const sinceMs = askedPrimary(exchange) ? before.atMs : undefined
  const waiting = confirmedSince(before, services, { rests: mayRest(exchange), sinceMs })
  return waiting?.then(
    () => response,
    (refusal: Refusal) => refused(exchange, response, refusal, log),
  )
}

/** True if the work may rest on an earlier write that was not confirmed (`confirmedSince`). */
export const mayRest = (exchange: Exchange): boolean => exchange.endpoint?.runsOn === 'writer' && changesData(exchange)

/** True if the primary did something for the request, and may have waited for secondaries of its own. */
const askedPrimary = ({ atPrimary }: Exchange): boolean => (atPrimary?.index ?? 0) > 0

/** A batch of which some items are refused is answered with 400, and did the rest. */
const isRefusal = ({ answer }: Exchange, { status }: WireResponse): boolean => status >= 400 && answer === undefined

/**
 * False for what has no part in the data that clients rely on: the state of the server must be told, and changed, while
 * a secondary is away.
 */
function mayWrite(exchange: Exchange): boolean {
  const { endpoint, chargedToken, wrapTtlSeconds } = exchange
  if (endpoint === undefined || endpoint.whileSealed === true) return false
  return changesData(exchange) || chargedToken !== undefined || wrapTtlSeconds > 0
}

function changesData({ endpoint, answer }: Exchange): boolean {
  if (answer?.storedNothing === true) return false
  const { writes, standInRelies } = endpoint ?? {}
  return (writes !== undefined && writes !== 'node') || standInRelies === true
}

function refused(exchange: Exchange, response: WireResponse, refusal: Refusal, log: Log): WireResponse {
  if (isKept(exchange, refusal, log)) {
    const { headers } = response
    return { ...successResponse(exchange), ...(headers === undefined ? {} : { headers }) }
  }
  response.stream?.cancel().catch(() => {})
  exchange.error = refusal.message
  return refusalResponse(refusal)
}

/**
 * True for an answer that is given although nobody confirmed what it tells of: it is the only copy of what is in force
 * already, and would be lost for good. It has a warning then.
 */
export function isKept(exchange: Exchange, cause: unknown, log: Log): boolean {
  const { answer } = exchange
  const isUnconfirmed = cause instanceof Refusal && cause.code === 'unconfirmed'
  if (!isUnconfirmed || answer?.isOnlyCopy !== true) return false
  const facts = { request: exchange.id, endpoint: exchange.endpoint?.id ?? '' }
  log('error', 'An answer is given though no secondary confirmed it: it is the only copy', facts)
  exchange.answer = { ...answer, warnings: [...(answer.warnings ?? []), cause.message] }
  return true
}

const unconfirmed = (ids: readonly string[], isHere: boolean): Refusal => fail('unconfirmed', [ids.join(', '), isHere])
