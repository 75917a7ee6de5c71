// Response wrapping: the caller asks for its answer to be kept, and gets a token that opens it once. Any answer can be
// wrapped, so it is done here and no endpoint knows of it.
import { fail } from '../api/errors.ts'
import { pathWithin } from '../api/namespace.ts'
import type { Answer } from '../api/request.ts'
import type { WrapForm } from '../auth/kept-values.ts'
import type { TokenStore } from '../auth/token-store.ts'
import { DurationError, parseLifetimeSeconds } from '../lib/duration.ts'
import { bodyText, type Exchange } from './exchange.ts'
import { SINGLETONS } from './mount-entries.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { successResponse } from './response.ts'

const HEADER = 'error parsing X-Vault-Wrap-TTL header' // Wire text.

/** Step: reads the two headers that ask for wrapping. @throws Refusal `wrapping_refused` */
export const readWrapping = (exchange: Exchange): void => {
  exchange.wrapForm = formOf(exchange.request.headers.wrapFormat)
  const text = exchange.request.headers.wrapTtl
  if (text === undefined || text === '') return
  const seconds = parsed(text)
  if (seconds < 0) throw fail('wrapping_refused', [`${HEADER}: requested wrap ttl cannot be negative`])
  exchange.wrapTtlSeconds = seconds
}

function formOf(text = ''): WrapForm {
  if (text === 'jwt') return 'jwt'
  // Wire text: old clients ask for a UUID, which tokens once were, and get a plain token.
  if (text === '' || text === 'uuid') return 'plain'
  throw fail('wrapping_refused', ['X-Vault-Wrap-Format: must be jwt, or be left out'])
}

/**
 * Parses the lifetime, in seconds. A positive one never becomes 0: the caller would get in clear what it wants wrapped.
 */
function parsed(text: string): number {
  try {
    return parseLifetimeSeconds(text)
  } catch (cause) {
    if (!(cause instanceof DurationError)) throw cause
    throw fail('wrapping_refused', [`${HEADER}: ${cause.message}`], cause)
  }
}

/**
 * Step: refuses to wrap an answer that is not in the envelope, since it would reach the wrong reader. A read of a plain
 * answer is answered unwrapped instead, since clients that wrap everything ask for the state of the server too: such an
 * endpoint must not show secrets. An endpoint with `neverWrapped` is refused as well: its answer could be lost on its
 * way under a token.
 */
export const limitWrapping = (exchange: Exchange): void => {
  const { endpoint, method } = exchange
  if (exchange.wrapTtlSeconds === 0 || endpoint === undefined) return
  if (endpoint.neverWrapped === true) throw cannotBeWrapped()
  if (endpoint.body !== 'plain' && endpoint.givesStream !== true) return
  if (method !== 'read' || endpoint.givesStream === true) throw cannotBeWrapped()
  exchange.wrapTtlSeconds = 0
}

const cannotBeWrapped = () =>
  fail('wrapping_refused', ['X-Vault-Wrap-TTL: the answer of this endpoint cannot be wrapped'])

/**
 * Step: wrapping stores the answer. Without a token only the answer to a login is wrapped, or anyone could fill the
 * disk with what everyone may read (threats P-41).
 */
export const refuseToKeep = ({ wrapTtlSeconds, token, mounted }: Exchange): void => {
  if (wrapTtlSeconds === 0 || token !== undefined || mounted?.entry.kind === 'auth') return
  throw fail('wrapping_refused', ['X-Vault-Wrap-TTL: without a token only the answer to a login is wrapped'])
}

/**
 * Step: stores the answer and replaces it by its wrapping token. Refusals and answers without content are not wrapped.
 * An answer may ask for wrapping itself (`wrapAs`); the request then has no say in it.
 */
export const wrapAnswer = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const { answer, wrapTtlSeconds, namespace, operation } = exchange
  const path = pathWithin(namespace, exchange.path)
  const ttlSeconds = answer?.wrapAs?.ttlSeconds ?? wrapTtlSeconds
  if (ttlSeconds === 0 || answer === undefined || answer.wrapInfo !== undefined) return
  const response = successResponse(answer.wrapAs === undefined ? exchange : withoutWarnings(exchange, answer))
  if (response.body === undefined) return
  const body = bodyText(response)
  const accessor = answer.auth?.accessor ?? answer.credentialAccessor
  const creationPath = operation === 'list' && !path.endsWith('/') ? `${path}/` : path
  const wrapped = accessor === undefined ? {} : { wrappedAccessor: accessor }
  const form = formFor(exchange, answer)
  const [namespaceId, mountUuid] = [namespace.id, answeringMount(exchange)]
  const wrapping = services.wrapping.wrap({ body, ttlSeconds, namespaceId, creationPath, mountUuid, form, ...wrapped })
  return wrapping.then(
    (wrapInfo) => {
      exchange.wrappedTokenId = idOfNew(answer, services.tokens)
      exchange.answer = { wrapInfo, ...outside(answer) }
      if (answer.wrapAs === undefined) exchange.warnings = []
    },
    (cause: unknown) => takeBack(answer, services).then(() => Promise.reject(cause)),
  )
}

/** The UUID of the mount that answers; of none that every server has, since that goes only with its namespace. */
function answeringMount({ mounted }: Exchange): string | undefined {
  return mounted === undefined || SINGLETONS.has(mounted.entry.type) ? undefined : mounted.entry.uuid
}

/** The form of the token. Data chosen by the caller never go under our signature, so a JWT is not made for them. */
function formFor({ endpoint, wrapForm }: Exchange, { wrapAs }: Answer): WrapForm {
  return endpoint?.takesAnyFields === true ? 'plain' : (wrapAs?.form ?? wrapForm)
}

const withoutWarnings = (exchange: Exchange, { warnings: _, ...answer }: Answer): Exchange => ({
  ...exchange,
  answer,
  warnings: [],
})

/** What of a wrapped answer is not wrapped. */
const outside = ({ isOnlyCopy, wrapAs, warnings }: Answer): Answer => ({
  ...(isOnlyCopy === undefined ? {} : { isOnlyCopy }),
  ...(wrapAs === undefined || warnings === undefined ? {} : { warnings }),
})

/** Revokes the token of an answer that could not be wrapped, and so reaches no one (threats T-10). */
async function takeBack(answer: Answer, { tokens }: PipelineServices): Promise<void> {
  const id = idOfNew(answer, tokens)
  if (id === undefined) return
  try {
    await tokens.revoke(id)
  } catch {
    // Storage fails here too. The token lives to its end, but its text is known to no one. The first failure is thrown.
  }
}

/** Returns the id of the token made for the answer; undefined if there is none that can be revoked. */
export function idOfNew(answer: Answer | undefined, tokens: TokenStore): string | undefined {
  const isNew = answer?.isNewToken === true && answer.auth?.token_type === 'service'
  return isNew ? tokens.idOf(answer.auth.client_token) : undefined
}
