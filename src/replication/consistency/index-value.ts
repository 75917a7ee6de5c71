// The value of the header X-Vault-Index: how far the logs were behind an answer. A client sends it along with later
// requests, to the same cluster or to another one of the set, and reads nothing older than it has seen. Every cluster
// of a set has the key, so none can be made up. Public clients parse and merge values of this form:
//
//   base64("v1:" cluster ":" local ":" replicated ":" hex(HMAC-SHA-256(key, what is before the last colon)))
import type { KeyObject } from 'node:crypto'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { hmacSha256 } from '../../crypto/primitives/digest.ts'

/** What a value says. */
export type IndexValue = {
  /** The id of the cluster that answered. */
  readonly cluster: string
  /** Its last change then, in its own log. */
  readonly local: number
  /** The last change then that all clusters of the set share, in the log of their primary. */
  readonly replicated: number
}

/** More characters than any value has. */
const MAX_TEXT = 512
const VERSION = 'v1'
/** Clients read 64 bits. What no log reaches is only waited for in vain. */
const MAX_INDEX = 2n ** 64n - 1n

/** Writes a value. */
export function encodeIndex(key: KeyObject, { cluster, local, replicated }: IndexValue): string {
  const stated = `${VERSION}:${cluster}:${local}:${replicated}`
  return Buffer.from(`${stated}:${macOf(key, stated).toString('hex')}`).toString('base64')
}

/** Reads a value; undefined if it has not this form, to the letter, or was not made with the key. */
export function decodeIndex(key: KeyObject, text: string): IndexValue | undefined {
  if (text.length > MAX_TEXT) return undefined
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) return undefined
  const whole = bytes.toString('latin1')
  const end = whole.lastIndexOf(':')
  const stated = whole.slice(0, Math.max(end, 0))
  const mac = whole.slice(end + 1)
  if (!/^[0-9a-f]{64}$/.test(mac)) return undefined
  if (!constantTimeEqual(Buffer.from(mac, 'hex'), macOf(key, stated))) return undefined
  return parsed(stated)
}

const macOf = (key: KeyObject, stated: string): Buffer => hmacSha256(key, Buffer.from(stated, 'latin1'))

function parsed(stated: string): IndexValue | undefined {
  const [version, cluster = '', local = '', replicated = '', ...rest] = stated.split(':')
  if (version !== VERSION || rest.length > 0 || cluster === '' || !isIndex(local) || !isIndex(replicated))
    return undefined
  return { cluster, local: Number(local), replicated: Number(replicated) }
}

const isIndex = (text: string): boolean => /^(0|[1-9]\d{0,19})$/.test(text) && BigInt(text) <= MAX_INDEX
