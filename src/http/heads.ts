// Checks the head of a request, before its token is looked up.
import type { IncomingMessage } from 'node:http'
import { fail, type Refusal } from '../api/errors.ts'
import { own } from '../lib/own.ts'
import type { ListenerLimits } from './limits.ts'

/** True if the declared length exceeds the limit. A body in chunks declares none and is bounded while it is read. */
export function isTooLarge(incoming: IncomingMessage, { maxRequestBytes }: ListenerLimits): boolean {
  const declared = incoming.headers['content-length']
  return declared !== undefined && Number(declared) > maxRequestBytes
}

/** True if the transfer coding is not plain chunking (RFC 9112 section 6.1): a compressed body would be misread. */
export function hasUnknownCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return coding !== undefined && coding.trim().toLowerCase() !== 'chunked'
}

/**
 * True if there is exactly one Host (RFC 9112 section 3.2), since a proxy before us may have routed by another one.
 * HTTP/1.0 has none.
 */
function hasOneHost({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  return headers.host === undefined ? httpVersionMinor === 0 : linesOf('host', rawHeaders) === 1
}

/** In how many lines a header stands; `header` is in lower case. */
function linesOf(header: string, rawHeaders: readonly string[]): number {
  let lines = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === header.length && name.toLowerCase() === header) lines++
  }
  return lines
}

/** Headers of which a request has one at most: two readers could pick different ones. */
const SINGLE = ['x-vault-token', 'x-vault-namespace', 'x-vault-wrap-ttl']

/** True if one of them stands there twice. node:http joins such lines with ', ', so others need not be counted. */
function repeatsSingle({ headers, rawHeaders }: IncomingMessage): boolean {
  return SINGLE.some((name) => own(headers, name)?.includes(', ') === true && linesOf(name, rawHeaders) > 1)
}

/** True if the body is compressed (RFC 9110 section 8.4), which would be misread. */
export function hasContentCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['content-encoding']
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return hasBody && coding !== undefined && coding.trim().toLowerCase() !== 'identity'
}

/** Returns what is wrong with the head, or undefined. */
export function faultOf(incoming: IncomingMessage): Refusal | undefined {
  if (!hasOneHost(incoming) || repeatsSingle(incoming)) return fail('malformed_http', [])
  if (hasUnknownCoding(incoming)) return fail('coding_unknown', [])
  return hasContentCoding(incoming) ? fail('content_coding', []) : undefined
}

/** True if the client asks for another protocol (RFC 9110 section 7.8); none is offered. */
export function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && headers.connection?.toLowerCase().includes('upgrade') === true
}
