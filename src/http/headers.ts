// Picks the request headers that mean something to the API.
import type { WireHeaders } from '../core/exchange.ts'
import { dictionary, own } from '../lib/own.ts'

/** Headers as node:http has them: names in lower case, a list for some repeated ones. */
export type HeaderSource = Readonly<Record<string, string | string[] | undefined>>

/**
 * Returns the headers that the pipeline works with. `audited` and `passed` name, in lower case, further headers: those
 * that are recorded, and those that mounts pass on. A token is taken from X-Vault-Token, else from a bearer credential.
 */
export function wireHeaders(
  headers: HeaderSource,
  audited: readonly string[] = NONE,
  passed: readonly string[] = NONE,
): WireHeaders {
  const one = (name: string): string | undefined => {
    const value = own(headers, name)
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
    ...(asksForState(headers) ? { index: one('x-vault-index'), inconsistent: one('x-vault-inconsistent') } : NOTHING),
    ...(audited.length === 0 ? NOTHING : { audited: named(headers, audited) }),
    ...(passed.length === 0 ? NOTHING : { passed: named(headers, passed) }),
  }
}

/** Few requests do. Repeated headers of these names come as one list. */
const asksForState = (headers: HeaderSource): boolean =>
  own(headers, 'x-vault-index') !== undefined || own(headers, 'x-vault-inconsistent') !== undefined

const NONE: readonly string[] = []
const NOTHING = {}

function named(headers: HeaderSource, names: readonly string[]): Record<string, string> {
  const found = dictionary<string>()
  for (const name of names) {
    const value = own(headers, name)
    if (value !== undefined) found[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return found
}

const BEARER = 'Bearer '

function bearer(authorization: string | undefined): string | undefined {
  return authorization?.startsWith(BEARER) === true ? authorization.slice(BEARER.length) : undefined
}
