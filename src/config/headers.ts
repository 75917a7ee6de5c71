// The stanza custom_response_headers of a listener: headers for every answer, by status.
//
//   custom_response_headers {
//     "default" = { "Content-Security-Policy" = ["default-src 'none'"] }
//     "4xx"     = { "X-Contact" = ["keys@example.org"] }
//   }

import type { CustomHeaders } from '../http/response-headers.ts'
import { hclStrings } from '../lib/hcl.ts'
import type { HclItem, HclObject } from '../lib/hcl-tree.ts'
import { dictionary } from '../lib/own.ts'
import { ConfigError, only } from './values.ts'

/** Headers that the server sets itself, about the connection or the body: two values would contradict each other. */
const OWN_HEADERS = [
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'retry-after',
  'transfer-encoding',
  'upgrade',
]
const OWN_PREFIX = 'x-vault-'

/** Returns headers by status; names keep their case, values are joined by commas. @throws ConfigError */
export function customHeadersOf(body: HclObject): CustomHeaders {
  const block = only(body, 'custom_response_headers', 0)
  if (block === undefined) return {}
  const custom = dictionary<Record<string, string>>()
  for (const item of block.body.items) {
    if (!isStatus(item.key))
      throw new ConfigError(`line ${item.line}: "${item.key}" is not a status such as "404", "4xx" or "default"`)
    if (Object.hasOwn(custom, item.key)) throw new ConfigError(`line ${item.line}: "${item.key}" stands twice`)
    if (item.value.kind !== 'object') throw new ConfigError(`line ${item.line}: "${item.key}" must hold headers`)
    custom[item.key] = Object.fromEntries(item.value.items.map(headerOf))
  }
  return { ...custom }
}

/** True for `default`, a class such as `4xx`, or a status. The most exact one counts (src/http/response-headers.ts). */
function isStatus(text: string): boolean {
  if (text === 'default') return true
  return /^[1-5](?:xx|\d\d)$/.test(text)
}

function headerOf({ key, value, line }: HclItem): readonly [string, string] {
  // RFC 9110 section 5.6.2: the characters of a token.
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(key)) throw new ConfigError(`line ${line}: "${key}" is no name of a header`)
  const name = key.toLowerCase()
  if (OWN_HEADERS.includes(name) || name.startsWith(OWN_PREFIX))
    throw new ConfigError(`line ${line}: the header "${key}" is the server's own`)
  const texts = value.kind === 'string' ? [value.value] : hclStrings(value)
  if (texts === undefined) throw new ConfigError(`line ${line}: "${key}" must be a text, or a list of texts`)
  const text = texts.join(', ')
  // A line break in a value would begin another header.
  if (!/^[\t\x20-\x7e]*$/.test(text)) throw new ConfigError(`line ${line}: "${key}" must be visible ASCII characters`)
  return [key, text]
}
