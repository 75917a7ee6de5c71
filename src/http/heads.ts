// What the head of a request says of itself, whoever sends it.
import type { IncomingMessage } from 'node:http'
import { fail, type Refusal } from '../api/errors.ts'
import type { ListenerLimits } from './limits.ts'

export function isTooLarge(incoming: IncomingMessage, { maxRequestBytes }: ListenerLimits): boolean {
  const declared = incoming.headers['content-length']
  return declared !== undefined && Number(declared) > maxRequestBytes
}

/** RFC 9112 section 6.1: what is compressed inside its chunks would be taken for what it is not. */
export function hasUnknownCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return coding !== undefined && coding.trim().toLowerCase() !== 'chunked'
}

/** RFC 9112 section 3.2: one Host, since who stands before us may have gone by another. HTTP/1.0 knows none. */
function hasOneHost({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersionMinor === 0
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1
}

/** RFC 9110 section 8.4: what is compressed would be taken for what it is not. */
export function hasContentCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['content-encoding']
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return hasBody && coding !== undefined && coding.trim().toLowerCase() !== 'identity'
}

/** What is wrong with its head, whoever sends it. */
export function faultOf(incoming: IncomingMessage): Refusal | undefined {
  if (!hasOneHost(incoming)) return fail('malformed_http', [])
  if (hasUnknownCoding(incoming)) return fail('coding_unknown', [])
  return hasContentCoding(incoming) ? fail('content_coding', []) : undefined
}

/** RFC 9110 section 7.8: other protocols are asked for so, and none is offered. */
export function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && headers.connection?.toLowerCase().includes('upgrade') === true
}
