// What browsers are told: which pages of other origins may read an answer, and headers of the answers outside the API.
import { answerPage, type CorsSettings } from '../api/cors.ts'
import type { Exchange, WireResponse } from './exchange.ts'
import type { PipelineServices } from './pipeline-services.ts'

/** Only requests of browsers, and requests for nothing of the API, cost anything here. */
export const tellBrowsers = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const { headers, rawPath } = exchange.request
  // The settings lie behind the barrier.
  if (services.sealed()) return
  if (!rawPath.startsWith('/v1/')) return takeUiHeaders(exchange, services)
  if (headers.origin === undefined) return
  const settings = services.browsers.cors()
  return settings instanceof Promise
    ? settings.then((found) => judgePage(exchange, found))
    : judgePage(exchange, settings)
}

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

function takeUiHeaders(exchange: Exchange, services: PipelineServices): void | Promise<void> {
  const headers = services.browsers.uiHeaders()
  const take = (found: Readonly<Record<string, string>>): void => {
    exchange.extraHeaders = found
  }
  return headers instanceof Promise ? headers.then(take) : take(headers)
}

/** The response as it goes back, whatever became of the request. */
export const withExtraHeaders = (exchange: Exchange, response: WireResponse): WireResponse =>
  exchange.extraHeaders === undefined
    ? response
    : { ...response, headers: { ...response.headers, ...exchange.extraHeaders } }
