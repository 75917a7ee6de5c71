// The request headers that mean something to the API.
import type { WireHeaders } from '../core/exchange.ts'

export type HeaderSource = Readonly<Record<string, string | string[] | undefined>>

export function wireHeaders(headers: HeaderSource): WireHeaders {
  const one = (name: string): string | undefined => {
    const value = headers[name]
    return Array.isArray(value) ? value[0] : value
  }
  const token = one('x-vault-token')
  return {
    token: token === undefined || token === '' ? bearer(one('authorization')) : token,
    namespace: one('x-vault-namespace'),
    wrapTtl: one('x-vault-wrap-ttl'),
    wrapFormat: one('x-vault-wrap-format'),
    contentType: one('content-type'),
    origin: one('origin'),
    pageAsksFor: one('access-control-request-method'),
    traceparent: one('traceparent'),
  }
}

const BEARER = 'Bearer '

function bearer(authorization: string | undefined): string | undefined {
  return authorization?.startsWith(BEARER) === true ? authorization.slice(BEARER.length) : undefined
}
