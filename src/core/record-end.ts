// The one place that records how a request ended, refused or not, before its answer leaves.
import { fail } from '../api/errors.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Log } from '../lib/log.ts'
import { describeCause } from './describe-cause.ts'
import type { Exchange, WireResponse } from './exchange.ts'
import { isAdopted, isRecorded } from './pipeline.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { refusalResponse } from './response.ts'
import { idOfNew } from './wrap-steps.ts'

/**
 * Writes the second audit entry. Returns undefined if there is nothing to record or to wait for.
 * @throws what kept every audit device from recording it
 */
export function recordEnd(exchange: Exchange, { audit }: PipelineServices): Promise<void> | undefined {
  if (exchange.isForwarded) {
    // The writing thread carried it out and recorded it.
    audit.drop(exchange)
    return undefined
  }
  if (exchange.record === undefined) {
    // The reference product does not record refusals by quota either, unless told to: recording each would cost what
    // the quota saves. A refusal that spent a use of a token has changed something, so it is recorded.
    if (exchange.isRateLimited && !exchange.isRateLimitAudited && exchange.chargedToken === undefined) return undefined
    // A sealed server records nothing, nor are requests for the state of the server recorded.
    if (!audit.isOpen || !isRecorded(exchange)) return undefined
    const ready = audit.ready()
    if (ready !== undefined) return ready.then(() => finish(exchange, audit))
  }
  return finish(exchange, audit)
}

function finish(exchange: Exchange, audit: PipelineServices['audit']): Promise<void> | undefined {
  const { error, warnings } = exchange
  if (exchange.record === undefined) isAdopted(exchange, audit)
  // If a step after the handler refused, the caller never gets the handler's answer: it is not recorded as given.
  return audit.finish(exchange, error === undefined ? exchange : { answer: undefined, warnings, error })
}

/**
 * Returns the response to send when the answer could not be recorded. Such an answer is withheld, and a token that it
 * would have given is revoked; what the handler stored stays. The exception is an answer that is the only copy of what
 * is already in force, such as new unseal shares: withheld, it would be lost for good. Its request is recorded, and the
 * log says the rest.
 */
export async function unrecorded(
  exchange: Exchange,
  response: WireResponse,
  cause: unknown,
  { tokens, noteUnrecorded }: PipelineServices,
  log: Log,
): Promise<WireResponse> {
  noteUnrecorded('response')
  const { id, endpoint, error, answer } = exchange
  const facts = { request: id, endpoint: endpoint?.id ?? '', cause: describeCause(cause) }
  if (error === undefined && answer?.isOnlyCopy === true) {
    log('error', 'An answer could not be recorded, and is given all the same: it is the only copy', facts)
    return response
  }
  log('error', 'An answer is withheld: it could not be recorded', facts)
  response.stream?.cancel().catch(() => {})
  for (const find of tokensOf(exchange, tokens)) {
    try {
      const id = await find()
      if (id !== undefined) await tokens.revoke(id)
    } catch (failed) {
      log('warn', 'The token of a withheld answer could not be removed', { cause: describeCause(failed) })
    }
  }
  // A 5xx status tells nothing that needs a record, so it is kept.
  return response.status >= 500 ? response : refusalResponse(fail('audit_response_failed', []))
}

/** Look-ups of the tokens made for the answer. A wrapping token may have any form, so it is found by its accessor. */
function tokensOf({ answer, wrappedTokenId }: Exchange, tokens: TokenStore): (() => Promise<string | undefined>)[] {
  const newTokenId = wrappedTokenId ?? idOfNew(answer, tokens)
  const accessor = answer?.wrapInfo?.accessor
  return [
    ...(newTokenId === undefined ? [] : [async () => newTokenId]),
    ...(accessor === undefined ? [] : [async () => (await tokens.findByAccessor(accessor))?.id]),
  ]
}
