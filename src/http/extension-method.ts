// Reads a LIST, SCAN or HELP request, which the parser of node:http does not know. It accepts a strict subset of RFC
// 9112: every line ends in CRLF; no folding, no repeated header that matters, no extensions and trailers of chunks, and
// nothing after the request. Everything else is refused: a reader that is more lenient than the proxy before it could
// be led to see another request. A body is read and ignored, as with GET: clients behind a proxy send an empty one in
// chunks.
import { fail } from '../api/errors.ts'
import type { WireRequest } from '../core/exchange.ts'
import type { HeaderSource } from './headers.ts'
import type { RequestOrigin } from './requests.ts'

/** Limit of the request line and headers, the same that node:http has. */
export const MAX_HEAD_BYTES = 16_384
/** Limit of the body as it is sent, framing of chunks included. */
export const MAX_BODY_BYTES = 16_384
const MAX_HEADERS = 200
const END = '\r\n\r\n'
/** Headers that must not be repeated: two readers could pick different ones. */
const UNIQUE = [
  'x-vault-token',
  'x-vault-namespace',
  'x-vault-wrap-ttl',
  'authorization',
  'host',
  'content-length',
  'transfer-encoding',
  'content-type',
  'origin',
]

/** Several lines of each of these form one list, in their order (RFC 9110 section 5.3). */
const LIST_HEADERS = ['x-forwarded-for', 'x-vault-index', 'x-vault-inconsistent']

/** How many characters of each the parser accepts before it fails: they begin like LINK, HEAD and SEARCH. */
const KNOWN_CHARACTERS: ReadonlyMap<string, number> = new Map([
  ['LIST', 2],
  ['HELP', 2],
  ['SCAN', 1],
])

/**
 * Returns the part of `packet` that begins with LIST, SCAN or HELP. The parser stopped at `bytesParsed`, since it does
 * not know the method. Undefined for another method, and if its name began in an earlier packet.
 */
export function findHead(packet: Buffer, bytesParsed: number): Buffer | undefined {
  for (const [method, known] of KNOWN_CHARACTERS) {
    const start = bytesParsed - known
    if (start >= 0 && packet.indexOf(`${method} `, start) === start) return packet.subarray(start)
  }
  return undefined
}

const LONGEST_METHOD = 20

/** True if the parser stopped inside a word that a path follows, so an unknown method and not a malformed request. */
export function beginsUnknownMethod(packet: Buffer, bytesParsed: number): boolean {
  const end = packet.indexOf(' ', bytesParsed)
  if (end === -1 || end - bytesParsed > LONGEST_METHOD || packet.indexOf('/', end) !== end + 1) return false
  return isToken(packet.toString('latin1', bytesParsed, end).toLowerCase())
}

/** One LIST, SCAN or HELP request, collected from its first byte on. */
export class ExtensionMessage {
  #bytes: Buffer = Buffer.alloc(0)
  #head: Head | undefined
  /** Position in the body up to which its chunks were checked. */
  #at = 0

  /** Adds bytes; true when the request is complete. @throws Refusal if it is malformed or too long */
  add(packet: Buffer): boolean {
    this.#bytes = Buffer.concat([this.#bytes, packet])
    const head = this.#head ?? this.#readHead()
    if (head === undefined) return false
    // The client waits for 100 (RFC 9110 section 10.1.1), and is not asked for a body that would be ignored.
    if (head.expectsContinue && this.#bytes.length === this.#at) return true
    const end = head.body === 'chunked' ? this.#endOfChunks(head.length) : head.length + head.body
    if (end !== undefined && this.#bytes.length > end) throw fail('malformed_http', [])
    if (this.#bytes.length - head.length > MAX_BODY_BYTES) throw fail('body_too_large', [MAX_BODY_BYTES])
    return this.#bytes.length === end
  }

  /** Returns the complete request. @throws whatever `originOf` throws */
  request(originOf: (headers: HeaderSource) => RequestOrigin): WireRequest {
    const { method, target, headers } = this.#head as Head
    const question = target.indexOf('?')
    return {
      method,
      rawPath: question === -1 ? target : target.slice(0, question),
      query: question === -1 ? '' : target.slice(question + 1),
      ...originOf(headers),
      body: undefined,
    }
  }

  #readHead(): Head | undefined {
    const end = this.#bytes.indexOf(END)
    const length = end === -1 ? this.#bytes.length : end + END.length
    if (length > MAX_HEAD_BYTES) throw fail('malformed_http', [])
    if (end === -1) return undefined
    const head = readHead(this.#bytes.toString('latin1', 0, end), length)
    this.#head = head
    this.#at = length
    return head
  }

  /** Returns the end of the body; undefined until the last chunk has arrived. */
  #endOfChunks(start: number): number | undefined {
    const bytes = this.#bytes
    for (;;) {
      const lineEnd = bytes.indexOf('\r\n', this.#at)
      const line = bytes.toString('latin1', this.#at, lineEnd === -1 ? bytes.length : lineEnd)
      if (lineEnd === -1) {
        if (!isSizeBegun(line)) throw fail('malformed_http', [])
        return undefined
      }
      if (!isSize(line)) throw fail('malformed_http', [])
      const size = Number.parseInt(line, 16)
      const next = lineEnd + 2 + size + 2
      if (next - start > MAX_BODY_BYTES) throw fail('body_too_large', [MAX_BODY_BYTES])
      const behind = bytes.toString('latin1', next - 2, next)
      if (!'\r\n'.startsWith(behind)) throw fail('malformed_http', [])
      if (bytes.length < next) return undefined
      if (size === 0) return next
      this.#at = next
    }
  }
}

type Head = {
  readonly method: string
  readonly target: string
  readonly headers: Record<string, string>
  /** Length in bytes, the empty line included. */
  readonly length: number
  readonly body: number | 'chunked'
  readonly expectsContinue: boolean
}

/** Parses a head; `text` excludes the empty line. @throws Refusal */
function readHead(text: string, length: number): Head {
  const [requestLine, ...lines] = text.split('\r\n')
  const [method, target, version, ...rest] = (requestLine ?? '').split(' ')
  const isRequest = method !== undefined && KNOWN_CHARACTERS.has(method) && version === 'HTTP/1.1' && rest.length === 0
  const headers = readHeaders(lines)
  if (
    !isRequest ||
    target === undefined ||
    !target.startsWith('/') ||
    !isVisible(target) ||
    headers?.host === undefined
  )
    throw fail('malformed_http', [])
  const expectsContinue = headers.expect?.toLowerCase() === '100-continue'
  return { method, target, headers, length, body: bodyOf(headers), expectsContinue }
}

/** RFC 9112 section 6.3, and stricter wherever another reader could read the same bytes differently. @throws Refusal */
function bodyOf(headers: Readonly<Record<string, string>>): Head['body'] {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (coding !== undefined) {
    if (length !== undefined) throw fail('malformed_http', [])
    if (coding.toLowerCase() !== 'chunked') throw fail('coding_unknown', [])
    return 'chunked'
  }
  if (length === undefined) return 0
  if (!isLength(length)) throw fail('malformed_http', [])
  const bytes = Number(length)
  if (bytes > MAX_BODY_BYTES) throw fail('body_too_large', [MAX_BODY_BYTES])
  return bytes
}

const isLength = (text: string): boolean => /^(0|[1-9]\d{0,15})$/.test(text)
const isSize = (line: string): boolean => /^[0-9a-f]{1,8}$/i.test(line)
/** True if the line may still become a size: perhaps only its CR has arrived. */
const isSizeBegun = (line: string): boolean => /^([0-9a-f]{0,8}|[0-9a-f]{1,8}\r)$/i.test(line)

function readHeaders(lines: readonly string[]): Record<string, string> | undefined {
  if (lines.length > MAX_HEADERS) return undefined
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (!isToken(name) || !isFieldValue(value)) return undefined
    if (Object.hasOwn(headers, name) && UNIQUE.includes(name)) return undefined
    headers[name] = LIST_HEADERS.includes(name) && Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value
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
