// Pages of other origins (WHATWG Fetch, "CORS protocol"): which may read answers, and what a browser asks before.
import { flag, type GroupOf, texts } from '../lib/member-kinds.ts'
import { fail } from './errors.ts'

/** What is stored of it. */
export const CORS_MEMBERS = {
  enabled: flag,
  /** Origins as browsers send them, or '*' alone for every one. */
  origins: texts,
  /** Request headers besides CORS_HEADERS. */
  headers: texts,
  /** Cookies and the like may be sent along; never with '*'. */
  credentials: flag,
}
export type CorsSettings = GroupOf<typeof CORS_MEMBERS>

export const CORS_OFF: CorsSettings = { enabled: false, origins: [], headers: [], credentials: false }

/** Request headers that a page may always send. */
export const CORS_HEADERS = [
  'Content-Type',
  'X-Requested-With',
  'Authorization',
  'X-Vault-AWS-IAM-Server-ID',
  'X-Vault-MFA',
  'X-Vault-Namespace',
  'X-Vault-No-Request-Forwarding',
  'X-Vault-Policy-Override',
  'X-Vault-Token',
  'X-Vault-Wrap-Format',
  'X-Vault-Wrap-TTL',
]
const CORS_METHODS = ['DELETE', 'GET', 'OPTIONS', 'POST', 'PUT', 'LIST']
const PREFLIGHT_SECONDS = 300

export type PageRequest = {
  readonly method: string
  /** The header Origin. */
  readonly origin: string
  /** Of the origin that it asks: no matter of CORS. */
  readonly isSameOrigin: boolean
  /** The header Access-Control-Request-Method: there in a preflight. */
  readonly asksFor: string | undefined
}

export type PageAnswer = {
  /** For the answer, whatever it is. */
  readonly headers: Readonly<Record<string, string>>
  /** The request was only the question whether another may be sent: there is nothing else to do. */
  readonly isPreflight: boolean
}

/**
 * What a request of a page gets; undefined where CORS is off, and for a page of the same origin that is not named.
 * @throws Refusal for an origin that is not allowed, and for a preflight with a method that is not offered
 */
export function answerPage(settings: CorsSettings, request: PageRequest): PageAnswer | undefined {
  const { method, origin, asksFor } = request
  if (!settings.enabled) return undefined
  const isForAll = settings.origins.includes('*')
  const isPreflight = method === 'OPTIONS' && asksFor !== undefined
  if (!isForAll && !settings.origins.includes(origin)) {
    // No browser asks before it asks its own origin: that would be a page of another scheme, behind a proxy.
    if (request.isSameOrigin && !isPreflight) return undefined
    throw fail('origin_refused', [])
  }
  const headers = {
    'Access-Control-Allow-Origin': isForAll ? '*' : origin,
    Vary: 'Origin',
    ...(settings.credentials ? { 'Access-Control-Allow-Credentials': 'true' } : {}),
  }
  if (!isPreflight) return { headers, isPreflight: false }
  if (!CORS_METHODS.includes(asksFor)) throw fail('method_not_allowed', [])
  return {
    isPreflight: true,
    headers: {
      ...headers,
      'Access-Control-Allow-Methods': CORS_METHODS.join(', '),
      'Access-Control-Allow-Headers': [...CORS_HEADERS, ...settings.headers].join(', '),
      'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
    },
  }
}
