// The steps of a request that have to do with the state of other clusters. None costs anything without the headers, and
// while performance replication is off.
import { INDEX_HEADER } from './consistency.ts'
import type { Exchange, WireResponse } from './exchange.ts'
import type { PipelineServices } from './pipeline-services.ts'

/**
 * Step: waits for the state that the request names. It stands before namespaces and mounts are looked up: what they are
 * is part of that state. A thread that passed the request on has waited already.
 * @throws Refusal as `Consistency.states`
 */
export const awaitState = (
  { request }: Exchange,
  { consistency, sealed }: PipelineServices,
): Promise<void> | undefined => {
  if (sealed() || request.passedOn !== undefined) return undefined
  return consistency.states(request.headers)
}

/** Step: notes where the log stands before the request may write. Only the thread that writes knows it. */
export const noteBefore = (exchange: Exchange, { consistency, position, forward }: PipelineServices): void => {
  const writes = exchange.endpoint?.writes
  if (writes === undefined || writes === 'node' || forward !== undefined) return
  const { role } = consistency
  if (role === undefined) return
  exchange.indexBefore = position()?.index
  if (role === 'secondary') exchange.atPrimary = { index: 0, isLate: false }
}

/** Step: tells the caller that what the primary did for it may not be seen here yet. */
export const warnOfLate = (exchange: Exchange, { consistency }: PipelineServices): void => {
  const { answer, atPrimary } = exchange
  if (atPrimary?.isLate !== true || answer === undefined) return
  exchange.answer = { ...answer, warnings: [...(answer.warnings ?? []), consistency.lateWarning] }
}

/**
 * Returns the response with X-Vault-Index, if the request wrote something. What others wrote meanwhile counts as well:
 * a state that contains more is right, too. A batch that is answered with 400 for some items did the rest.
 */
export function withIndex(
  { indexBefore, atPrimary, answer }: Exchange,
  response: WireResponse,
  { consistency, position }: PipelineServices,
): WireResponse | Promise<WireResponse> {
  const isRefusal = response.status >= 400 && answer === undefined
  const now = indexBefore === undefined || isRefusal ? undefined : position()
  if (now === undefined || (now.index === indexBefore && (atPrimary?.index ?? 0) === 0)) return response
  const value = consistency.valueAt(now, atPrimary)
  const add = (found: string | undefined): WireResponse =>
    found === undefined ? response : { ...response, headers: { ...response.headers, [INDEX_HEADER]: found } }
  return value instanceof Promise ? value.then(add) : add(value)
}
