// Batch tokens are not stored: the text itself is the entry, sealed by the barrier. Any thread reads one without a
// write. Nothing revokes one before its end, except the end of its parent.
//
//   hvb. | base64url of a barrier record, bound to a path at which nothing is ever stored | . and the namespace's id
//
// The last part is missing in the root namespace. It says the same as the entry, or the text is no token.
//
// Each cluster of a set opens what any of them sealed. None has the policy `root`: nobody makes such a one, and with
// the keys of a set alone it would be root everywhere, without an entry that could be revoked.
import { fail } from '../api/errors.ts'
import { idEnding } from '../api/namespace.ts'
import { Base64Error, decodeBase64Url, encodeBase64Url } from '../lib/base64.ts'
import { count, group, mapOf, oneOf, optional, text, texts, type ValueOf } from '../lib/member-kinds.ts'
import type { Barrier } from '../storage/barrier.ts'
import { ROOT_NAMESPACE } from '../storage/contract.ts'
import { StorageCorrupt } from '../storage/errors.ts'
import { decodeStored, encodeStored } from '../storage/stored-record.ts'
import type { TokenEntry } from './token-entry.ts'
import { SYSTEM_FOLDER } from './token-keys.ts'
import { BATCH_PREFIX } from './token-text.ts'

/** Binds the seal to this use, so that no stored value opens as a token. */
const BOUND_TO = `${SYSTEM_FOLDER}token/batch`
/**
 * Characters of the whole text. Our listener reads 16 KiB of headers, other servers and proxies often 8 KiB, so a token
 * must leave room beside it.
 */
export const MAX_BATCH_TOKEN_LENGTH = 6_144

/** The sealed form. Names are short and usual values are left out, because every byte travels with every request. */
const BATCH_TOKEN = group(
  {
    /** Format number. */
    f: oneOf(1),
    /** Policies. */
    p: texts,
    /** Path of the request that made it. */
    a: text,
    /** Creation time in ms. */
    c: count,
    /** Expiry time in ms. */
    x: count,
    /** TTL at creation in seconds. */
    t: count,
    /** Namespace, unless it is the root namespace. */
    n: optional(text),
    /** Display name. */
    d: optional(text),
    /** Metadata. */
    m: optional(mapOf(text)),
    /** Storage id of the parent. */
    u: optional(text),
    /** Explicit maximum TTL in seconds. */
    k: optional(count),
    /** Entity id. */
    e: optional(text),
    /** CIDR blocks it may be used from. */
    b: optional(texts),
    /** Token role. */
    r: optional(text),
    /** UUID of the mount that logged the caller in. */
    l: optional(text),
  },
  'dropped',
)
type BatchToken = ValueOf<typeof BATCH_TOKEN>

/** True if the text has the prefix of batch tokens. Says nothing about whether it opens. */
export const isBatchText = (token: string): boolean => token.startsWith(BATCH_PREFIX)

/**
 * Returns the token text. Batch tokens count no uses and are never renewed, so both settings are refused.
 * @throws Refusal if the entry has uses or a period, or if the text would not fit into the headers of a request.
 */
export function sealBatchToken(barrier: Barrier, entry: TokenEntry): string {
  if (entry.numUses !== 0) throw fail('fields_conflict', ['batch tokens cannot have "num_uses" set'])
  if (entry.periodSeconds !== 0) throw fail('fields_conflict', ['batch tokens cannot have "period" set'])
  const token = textOf(barrier.seal(BOUND_TO, encodeStored(shortened(entry))), entry)
  if (token.length <= MAX_BATCH_TOKEN_LENGTH) return token
  const sizes = `it would have ${token.length} characters, at most ${MAX_BATCH_TOKEN_LENGTH} are sent in a header`
  throw fail('out_of_range', [`a batch token carries its policies and metadata, ${sizes}: give it fewer`])
}

/**
 * Opens a token text. Returns undefined unless `sealBatchToken` of a cluster of the set made it; does not look at its
 * end.
 * @throws Sealed if the barrier is sealed.
 */
export function openBatchToken(barrier: Barrier, token: string): TokenEntry | undefined {
  if (token.length > MAX_BATCH_TOKEN_LENGTH) return undefined
  const [sealed = ''] = token.slice(BATCH_PREFIX.length).split('.', 1)
  try {
    const record = decodeBase64Url(sealed)
    const entry = restored(decodeStored('A batch token', BATCH_TOKEN, barrier.open(BOUND_TO, record)))
    // Several texts of base64url can stand for the same bytes. Only the canonical one is a token.
    return textOf(record, entry) === token && !entry.policies.includes('root') ? entry : undefined
  } catch (cause) {
    if (cause instanceof Base64Error || cause instanceof StorageCorrupt) return undefined
    throw cause
  }
}

const textOf = (record: Buffer, { namespace }: TokenEntry): string =>
  BATCH_PREFIX + encodeBase64Url(record) + idEnding(namespace)

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
    // The renewal data of a login is left out: a batch token is never renewed.
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
