// What it means that a request to the API of a primary failed before there was an answer. The text of an error is never
// passed on: it may hold what was sent. Each phrase continues a sentence that names the address.
import { OutboundError } from '../../lib/outbound.ts'

/** How the server was asked. */
export type AskedBy = {
  readonly isTls: boolean
  readonly host: string
  readonly timeoutMs: number
  /** Where the authorities come from that its certificate was judged by. */
  readonly trust: 'ca_file' | 'ca_path' | 'system'
}

const OTHER_ADDRESS = '"primary_api_addr" can give another address'

/** Verdicts of the TLS library on a chain that leads to no authority. */
const UNTRUSTED = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_REJECTED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
const DATES = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])
const NOT_REACHED = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
])
const NOT_RESOLVED = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME'])
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/** The phrase for an error of an Outbound. */
export function failurePhrase(cause: unknown, by: AskedBy): string {
  if (cause instanceof OutboundError) {
    if (cause.reason === 'time') return tooSlow(by)
    return cause.reason === 'size' ? 'answers with more than such a server does: check the address' : 'was not asked'
  }
  const { code = '', message } = cause as NodeJS.ErrnoException
  if (code === 'ETIMEDOUT') return tooSlow(by)
  if (code === 'ECONNREFUSED') return `refuses connections: nothing listens there; ${OTHER_ADDRESS}`
  if (NOT_RESOLVED.has(code)) return `cannot be found: the name of its host leads nowhere; ${OTHER_ADDRESS}`
  if (NOT_REACHED.has(code)) return `cannot be reached from here (${code}); ${OTHER_ADDRESS}`
  if (CLOSED.has(code)) return `closed the connection without an answer${by.isTls ? '' : ': perhaps it speaks https'}`
  if (code.startsWith('HPE_')) return 'answers something else than HTTP: check the address'
  return by.isTls ? tlsPhrase(code, message, by) : otherPhrase(code)
}

const tooSlow = ({ timeoutMs }: AskedBy): string => `did not answer within ${timeoutMs / 1000} s; ${OTHER_ADDRESS}`

function tlsPhrase(code: string, message: string, { host, trust }: AskedBy): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `shows a certificate that is not for ${host}: give an address with a name of it in "primary_api_addr"`
  if (DATES.has(code))
    return 'shows a certificate that has expired or is not valid yet: renew it, or set the clock of this server'
  if (UNTRUSTED.has(code)) {
    return trust === 'system'
      ? 'shows a certificate of no authority that this server trusts: name its authority in "ca_file" or "ca_path"'
      : `shows a certificate that no authority in "${trust}" has issued: name its authority there`
  }
  // The one trace that a server without TLS leaves: what it sent begins as no TLS record does.
  if (message.includes('wrong version number'))
    return 'answers without TLS: perhaps it speaks http, which is for networks that are trusted'
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return 'ended the TLS handshake: it may ask for a client certificate, which this server cannot show'
  return otherPhrase(code)
}

/** A code is a name of the runtime's own, and tells nothing that was sent. */
const otherPhrase = (code: string): string => `cannot be asked (${/^[A-Z0-9_]{1,64}$/.test(code) ? code : 'unknown'})`
