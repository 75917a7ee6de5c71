// The head of a LIST or HELP request, which the parser of node:http does not know. A strict subset of RFC 9112: no
// body, every line ends in CRLF, no folding, no doubled header that matters, nothing behind it. What does not fit is
// refused.
import type { WireRequest } from '../core/exchange.ts'
import { wireHeaders } from './headers.ts'

const METHODS = ['LIST', 'HELP']
export const MAX_HEAD_BYTES = 16_384
const MAX_HEADERS = 200
const END = '\r\n\r\n'
const UNIQUE = [
  'x-vault-token',
  'x-vault-namespace',
  'x-vault-wrap-ttl',
  'authorization',
  'host',
  'content-length',
  'content-type',
]

/** How much of LIST and HELP the parser takes for the beginning of a method that it knows (LINK, HEAD). */
const KNOWN_CHARACTERS = 2

/**
 * The part of `packet` from a LIST or HELP on, where the parser stopped at `bytesParsed` because it does not know the
 * method. Undefined where it is another method, or its name began in an earlier packet.
 */
export function findHead(packet: Buffer, bytesParsed: number): Buffer | undefined {
  const start = bytesParsed - KNOWN_CHARACTERS
  if (start < 0) return undefined
  const head = packet.subarray(start)
  return METHODS.some((method) => head.indexOf(`${method} `) === 0) ? head : undefined
}

export const isHeadComplete = (head: Buffer): boolean => head.includes(END)

const LONGEST_METHOD = 20

/** Whether the parser stopped inside a word that a path follows. */
export function beginsUnknownMethod(packet: Buffer, bytesParsed: number): boolean {
  const end = packet.indexOf(' ', bytesParsed)
  if (end === -1 || end - bytesParsed > LONGEST_METHOD || packet.indexOf('/', end) !== end + 1) return false
  return isToken(packet.toString('latin1', bytesParsed, end).toLowerCase())
}

/** Undefined where `head` is not exactly such a head. */
export function readHead(head: Buffer, remoteAddress: string, audited?: readonly string[]): WireRequest | undefined {
  if (head.length > MAX_HEAD_BYTES) return undefined
  const text = head.toString('latin1')
  if (text.indexOf(END) !== text.length - END.length) return undefined
  const [requestLine, ...lines] = text.slice(0, -END.length).split('\r\n')
  const [method, target, version, ...rest] = (requestLine ?? '').split(' ')
  if (method === undefined || target === undefined || rest.length > 0 || !METHODS.includes(method)) return undefined
  if (version !== 'HTTP/1.1' || !target.startsWith('/') || !isVisible(target)) return undefined
  const headers = readHeaders(lines)
  if (headers === undefined || headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
    return undefined
  const question = target.indexOf('?')
  return {
    method,
    rawPath: question === -1 ? target : target.slice(0, question),
    query: question === -1 ? '' : target.slice(question + 1),
    headers: wireHeaders(headers, audited),
    body: undefined,
    remoteAddress,
  }
}

function readHeaders(lines: readonly string[]): Record<string, string> | undefined {
  if (lines.length > MAX_HEADERS) return undefined
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (!isToken(name) || !isFieldValue(value)) return undefined
    if (Object.hasOwn(headers, name) && UNIQUE.includes(name)) return undefined
    headers[name] = value
  }
  return headers
}

/** RFC 9110 section 5.6.2. */
function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string
    const plain = (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z')
    if (!plain && !"!#$%&'*+-.^_`|~".includes(character)) return false
  }
  return text !== ''
}

function isFieldValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return false
  }
  return true
}

function isVisible(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x21 || code > 0x7e) return false
  }
  return true
}
