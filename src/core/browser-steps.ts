// Headers for browsers: which pages of other origins may read an answer, and the headers of answers outside the API.
import { answerPage, type CorsSettings } from '../api/cors.ts'
import type { Exchange, WireResponse } from './exchange.ts'
import type { PipelineServices } from './pipeline-services.ts'

/**
 * Step: adds CORS headers, answers preflights, and refuses pages of origins that are not allowed. Costs nothing for an
 * API request without an Origin header.
 */
export const tellBrowsers = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const { headers, rawPath } = exchange.request
  // The settings are encrypted in storage, so a sealed server cannot read them.
  if (services.sealed()) return
  if (!rawPath.startsWith('/v1/')) return takeUiHeaders(exchange, services)
  if (headers.origin === undefined) return
  const settings = services.browsers.cors()
  return settings instanceof Promise
    ? settings.then((found) => judgePage(exchange, found))
    : judgePage(exchange, settings)
}

/**
 * Sets the CORS headers, and the whole response if the request is a preflight.
 * @throws Refusal for a page not allowed
 */
function judgePage(exchange: Exchange, settings: CorsSettings): void {
  const { method, headers } = exchange.request
  const answer = answerPage(settings, {
    method,
    origin: headers.origin ?? '',
    isSameOrigin: headers.isSameOrigin === true,
    asksFor: headers.pageAsksFor,
  })
  if (answer === undefined) return
  exchange.extraHeaders = answer.headers
  if (answer.isPreflight) exchange.response = { status: 200, body: undefined }
}

/** Sets the headers that the operator configured for answers outside the API (sys/config/ui). */
function takeUiHeaders(exchange: Exchange, services: PipelineServices): void | Promise<void> {
  const headers = services.browsers.uiHeaders()
  const take = (found: Readonly<Record<string, string>>): void => {
    exchange.extraHeaders = found
  }
  return headers instanceof Promise ? headers.then(take) : take(headers)
}

/**
 * Returns the response with the headers that steps collected. Refusals bear them too: a page cannot read one without
 * CORS.
 */
export const withExtraHeaders = (exchange: Exchange, response: WireResponse): WireResponse =>
  exchange.extraHeaders === undefined
    ? response
    : { ...response, headers: { ...response.headers, ...exchange.extraHeaders } }
