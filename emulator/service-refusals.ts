// The form in which each service refuses, for faults that only name a status.
import { directoryErrorBody } from './directory-errors.ts'
import type { CloudAnswer, Service } from './exchange.ts'
import { graphErrorBody } from './graph-errors.ts'

/** Codes of the resource manager and of graph. */
const CODES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'InvalidAuthenticationToken',
  403: 'AuthorizationFailed',
  404: 'ResourceNotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
}
const GRAPH_CODES: Readonly<Record<number, string>> = {
  403: 'Authorization_RequestDenied',
  404: 'Request_ResourceNotFound',
}
/** Numbers behind AADSTS: too many requests in a loop, and a directory that is not available. */
const THROTTLED = 50196
const UNAVAILABLE = 90033

/** Returns a refusal of a service with this status. */
export function serviceRefusal(service: Service, status: number): CloudAnswer {
  const code = CODES[status] ?? 'Error'
  const text = `The emulator was told to answer ${status}.`
  if (service === 'authority') {
    const number = status === 429 ? THROTTLED : UNAVAILABLE
    const name = status === 429 || status >= 500 ? 'temporarily_unavailable' : 'invalid_request'
    return { status, body: directoryErrorBody(name, number, text) }
  }
  if (service === 'graph') return { status, body: graphErrorBody(GRAPH_CODES[status] ?? code, text) }
  if (service === 'resourceManager') return { status, body: { error: { code, message: text } } }
  return { status, body: { error: code, error_description: text } }
}
