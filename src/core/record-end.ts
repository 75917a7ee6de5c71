// The one place where it is recorded how a request ended, refused or not, before its answer leaves.
import { fail } from '../api/errors.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Log } from '../lib/log.ts'
import { describeCause } from './describe-cause.ts'
import type { Exchange, WireResponse } from './exchange.ts'
import { isAdopted, isRecorded } from './pipeline.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { refusalResponse } from './response.ts'
import { idOfNew } from './wrap-steps.ts'

/** Resolves when it is recorded; undefined where there is nothing to record. @throws what kept all devices from it */
export function recordEnd(exchange: Exchange, { audit }: PipelineServices): Promise<void> | undefined {
  if (exchange.isForwarded) {
    // It was recorded where it was carried out.
    audit.drop(exchange)
    return undefined
  }
  if (exchange.record === undefined) {
    // The reference leaves them out too, unless it is told otherwise: to record each costs what the quota spares.
    // What spent a use of a token has changed something, so it is recorded.
    if (exchange.isRateLimited && !exchange.isRateLimitAudited && exchange.chargedToken === undefined) return undefined
    // Sealed, or for the state of the server alone.
    if (!audit.isOpen || !isRecorded(exchange)) return undefined
    const ready = audit.ready()
    if (ready !== undefined) return ready.then(() => finish(exchange, audit))
  }
  return finish(exchange, audit)
}

function finish(exchange: Exchange, audit: PipelineServices['audit']): Promise<void> | undefined {
  const { error, warnings } = exchange
  if (exchange.record === undefined) isAdopted(exchange, audit)
  // What a handler answered before a later step refused is not what the caller gets.
  return audit.finish(exchange, error === undefined ? exchange : { answer: undefined, warnings, error })
}

/**
 * Nobody learns an answer that is not recorded, and a token that came with it is of no use to anybody. But the only
 * copy of what is in force already, as the new unseal shares, would be lost to all: its request is recorded, and the
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
  // What it was refused with stays true, where it is no news to anybody.
  return response.status >= 500 ? response : refusalResponse(fail('audit_response_failed', []))
}

/** The ids of the tokens that were made for the answer. One that wraps may have any form: its accessor names it. */
function tokensOf({ answer, wrappedTokenId }: Exchange, tokens: TokenStore): (() => Promise<string | undefined>)[] {
  const newTokenId = wrappedTokenId ?? idOfNew(answer, tokens)
  const accessor = answer?.wrapInfo?.accessor
  return [
    ...(newTokenId === undefined ? [] : [async () => newTokenId]),
    ...(accessor === undefined ? [] : [async () => (await tokens.findByAccessor(accessor))?.id]),
  ]
}
