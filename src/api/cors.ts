// CORS (WHATWG Fetch, "CORS protocol"): which pages of other origins may read answers, and how preflights are answered.
import { flag, type GroupOf, texts } from '../lib/member-kinds.ts'
import { fail } from './errors.ts'

/** The stored settings. */
export const CORS_MEMBERS = {
  enabled: flag,
  /** Origins as browsers send them, or '*' alone for every one. */
  origins: texts,
  /** Request headers besides CORS_HEADERS. */
  headers: texts,
  /** True if cookies and the like may be sent along; never together with '*'. */
  credentials: flag,
}
/** The settings as the program has them. */
export type CorsSettings = GroupOf<typeof CORS_MEMBERS>

/** The settings before any were stored. */
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
const CORS_METHODS = ['DELETE', 'GET', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'LIST', 'SCAN']
/** How long a browser may keep the answer to a preflight. */
const PREFLIGHT_SECONDS = 300

/** A request with the header Origin, so from a page. */
export type PageRequest = {
  readonly method: string
  /** The header Origin. */
  readonly origin: string
  /** True if the page has the origin of this server, so CORS does not apply. */
  readonly isSameOrigin: boolean
  /** The header Access-Control-Request-Method, which marks a preflight. */
  readonly asksFor: string | undefined
}

/** The contribution of CORS to an answer. */
export type PageAnswer = {
  /** Headers for the answer, refusals included. */
  readonly headers: Readonly<Record<string, string>>
  /** True if the request only asked whether another may be sent: it is answered with the headers alone. */
  readonly isPreflight: boolean
}

/**
 * Answers a page's request. Returns undefined if CORS is off, and for a page of the same origin that is not listed.
 * @throws Refusal for an origin that is not allowed, and for a preflight with a method that is not offered
 */
export function answerPage(settings: CorsSettings, request: PageRequest): PageAnswer | undefined {
  const { method, origin, asksFor } = request
  if (!settings.enabled) return undefined
  const isForAll = settings.origins.includes('*')
  const isPreflight = method === 'OPTIONS' && asksFor !== undefined
  if (!isForAll && !settings.origins.includes(origin)) {
    // Browsers send no preflight to their own origin: this one comes from another scheme, behind a proxy.
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
