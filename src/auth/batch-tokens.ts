// Batch tokens are not stored: the text is the entry, sealed by the barrier. Any thread reads one without a write, and
// nothing can take one back before its end but the end of its parent.
//
//   hvb. | base64url of a barrier record, bound to a path at which nothing is ever stored
import { fail } from '../api/errors.ts'
import { Base64Error, decodeBase64Url, encodeBase64Url } from '../lib/base64.ts'
import { count, group, mapOf, oneOf, optional, text, texts, type ValueOf } from '../lib/member-kinds.ts'
import type { Barrier } from '../storage/barrier.ts'
import { ROOT_NAMESPACE, StorageCorrupt } from '../storage/contract.ts'
import { decodeStored, encodeStored } from '../storage/stored-record.ts'
import type { TokenEntry } from './token-entry.ts'
import { SYSTEM_FOLDER } from './token-keys.ts'
import { BATCH_PREFIX } from './token-text.ts'

/** Binds the seal to this use: no stored value opens as a token. */
const BOUND_TO = `${SYSTEM_FOLDER}token/batch`
/** A head has at most 16 KiB; other servers and proxies take 8 KiB. */
export const MAX_BATCH_TOKEN_LENGTH = 6_144

/** Short names, and nothing that is as it mostly is: every byte travels with every request. */
const BATCH_TOKEN = group(
  {
    /** Format. */
    f: oneOf(1),
    p: texts,
    /** Request path that made it. */
    a: text,
    c: count,
    /** When it expires. */
    x: count,
    t: count,
    n: optional(text),
    d: optional(text),
    m: optional(mapOf(text)),
    /** The parent. */
    u: optional(text),
    k: optional(count),
    e: optional(text),
    b: optional(texts),
    r: optional(text),
    /** UUID of the mount of a login. */
    l: optional(text),
  },
  'dropped',
)
type BatchToken = ValueOf<typeof BATCH_TOKEN>

export const isBatchText = (token: string): boolean => token.startsWith(BATCH_PREFIX)

/** @throws Refusal where it would not fit into the headers of a request, or cannot be of this kind */
export function sealBatchToken(barrier: Barrier, entry: TokenEntry): string {
  if (entry.numUses !== 0) throw fail('fields_conflict', ['batch tokens cannot have "num_uses" set'])
  if (entry.periodSeconds !== 0) throw fail('fields_conflict', ['batch tokens cannot have "period" set'])
  const token = BATCH_PREFIX + encodeBase64Url(barrier.seal(BOUND_TO, encodeStored(shortened(entry))))
  if (token.length <= MAX_BATCH_TOKEN_LENGTH) return token
  const sizes = `it would have ${token.length} characters, at most ${MAX_BATCH_TOKEN_LENGTH} are sent in a header`
  throw fail('out_of_range', [`a batch token carries its policies and metadata, ${sizes}: give it fewer`])
}

/** Undefined for a text that was not made by `sealBatchToken` of this cluster. @throws Sealed */
export function openBatchToken(barrier: Barrier, token: string): TokenEntry | undefined {
  if (token.length > MAX_BATCH_TOKEN_LENGTH) return undefined
  try {
    const record = decodeBase64Url(token.slice(BATCH_PREFIX.length))
    // One text for one token: others that decode alike are none.
    if (BATCH_PREFIX + encodeBase64Url(record) !== token) return undefined
    return restored(decodeStored('A batch token', BATCH_TOKEN, barrier.open(BOUND_TO, record)))
  } catch (cause) {
    if (cause instanceof Base64Error || cause instanceof StorageCorrupt) return undefined
    throw cause
  }
}

function shortened(entry: TokenEntry): BatchToken {
  const { expiry } = entry
  if (!('atMs' in expiry)) throw new Error('A batch token without an end')
  return {
    f: 1,
    p: [...entry.policies],
    a: entry.path,
    c: entry.createdAtMs,
    x: expiry.atMs,
    t: entry.creationTtlSeconds,
    ...(entry.namespace === ROOT_NAMESPACE ? {} : { n: entry.namespace }),
    ...(entry.displayName === '' ? {} : { d: entry.displayName }),
    ...(entry.meta === null ? {} : { m: { ...entry.meta } }),
    ...(entry.parent === '' ? {} : { u: entry.parent }),
    ...(entry.explicitMaxTtlSeconds === 0 ? {} : { k: entry.explicitMaxTtlSeconds }),
    ...(entry.entityId === '' ? {} : { e: entry.entityId }),
    ...(entry.boundCidrs.length === 0 ? {} : { b: [...entry.boundCidrs] }),
    ...(entry.role === '' ? {} : { r: entry.role }),
    // What renewal would ask the login method is left out: there is no renewal.
    ...(entry.login === null ? {} : { l: entry.login.mountUuid }),
  }
}

function restored(token: BatchToken): TokenEntry {
  return {
    format: 1,
    namespace: token.n ?? ROOT_NAMESPACE,
    accessor: '',
    policies: token.p,
    path: token.a,
    displayName: token.d ?? '',
    meta: token.m ?? null,
    parent: token.u ?? '',
    createdAtMs: token.c,
    creationTtlSeconds: token.t,
    explicitMaxTtlSeconds: token.k ?? 0,
    periodSeconds: 0,
    renewable: false,
    expiry: { atMs: token.x },
    lastRenewalAtMs: null,
    numUses: 0,
    type: 'batch',
    entityId: token.e ?? '',
    boundCidrs: token.b ?? [],
    role: token.r ?? '',
    login: token.l === undefined ? null : { mountUuid: token.l, renewal: {} },
  }
}
