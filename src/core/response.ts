// Responses: the envelope, the bare forms of some endpoints, and refusals.
import { type ErrorCode, fail, Refusal, RefusalForNow } from '../api/errors.ts'
import { type Answer, DecisionOutdated } from '../api/request.ts'
import { NotRecorded } from '../audit/recorder.ts'
import { LongText } from '../lib/long-text.ts'
import { JobForgotten, Overloaded } from '../lib/slow-work.ts'
import {
  DataKeyUsedUp,
  Sealed,
  StorageClosed,
  StorageConflict,
  StorageFailed,
  StorageFull,
  StorageTooLarge,
  WriteNotAllowed,
} from '../storage/errors.ts'
import type { Exchange, WireResponse } from './exchange.ts'

/**
 * Returns the response for an answer: the envelope unless the endpoint has a form of its own; 204 if there is nothing
 * to say. The envelope always has all its members: strict clients expect each of them.
 */
export function successResponse(exchange: Exchange): WireResponse {
  const { answer, endpoint, warnings } = exchange
  if (answer === undefined || endpoint === undefined)
    throw new Error('A request without an answer reached its response')
  const { data, auth, wrapInfo, status, stream, body, contentType, maxAgeSeconds } = answer
  if (stream !== undefined) return { status: 200, body: undefined, stream }
  if (body !== undefined)
    return { status: 200, body, ...(contentType === undefined ? {} : { headers: { 'Content-Type': contentType } }) }
  if (endpoint.body === 'plain')
    return {
      status: status ?? (data === undefined ? 204 : 200),
      body: data === undefined ? undefined : `${JSON.stringify(data)}\n`,
      ...(maxAgeSeconds === undefined ? {} : { headers: { 'Cache-Control': `public, max-age=${maxAgeSeconds}` } }),
    }
  const isEmpty = data === undefined && auth === undefined && wrapInfo === undefined
  if (isEmpty && (answer.warnings === undefined || answer.warnings.length === 0)) {
    return { status: status ?? 204, body: undefined }
  }
  const all = answer.warnings === undefined ? warnings : [...warnings, ...answer.warnings]
  return {
    status: status ?? 200,
    body: envelope(exchange, answer, endpoint.body === 'both' ? data : undefined, all),
  }
}

/**
 * The envelope is assembled from text, since most of it never differs; `JSON.stringify` writes only what can. An
 * envelope with a long text is returned as bytes: a string would be copied twice on its way to the socket, each time
 * into memory that the system has to hand out first.
 */
function envelope(
  exchange: Exchange,
  { data, auth, wrapInfo, lease = NO_LEASE }: Answer,
  copied: object | undefined,
  warnings: readonly string[],
): string | Buffer {
  const written = data === undefined ? 'null' : hasLongText(data) ? memberPieces(data) : JSON.stringify(data)
  const authText = auth === undefined ? 'null' : JSON.stringify(auth)
  const wrapText = wrapInfo === undefined ? 'null' : JSON.stringify(wrapInfo)
  const warningsText = warnings.length === 0 ? 'null' : JSON.stringify(warnings)
  const type = exchange.mounted?.entry.type ?? ''
  const leased = lease === NO_LEASE ? NO_LEASE_TEXT : leaseText(lease)
  const head = `{${copiedMembers(copied)}"request_id":"${exchange.id}",${leased},"data":`
  const tail = `,"wrap_info":${wrapText},"warnings":${warningsText},"auth":${authText},"mount_type":"${type}"}\n`
  return typeof written === 'string' ? head + written + tail : bytesOf([head, ...written, tail])
}

function hasLongText(data: object): boolean {
  for (const name in data) if ((data as Record<string, unknown>)[name] instanceof LongText) return true
  return false
}

/** The text that `JSON.stringify` would give, in pieces. Long texts are passed through without being scanned. */
function memberPieces(data: object): (string | Buffer)[] {
  const pieces: (string | Buffer)[] = []
  for (const [name, value] of Object.entries<unknown>(data as Record<string, unknown>)) {
    const isLong = value instanceof LongText
    const written = isLong ? '' : JSON.stringify(value)
    // JSON leaves out a member whose value is undefined, and so does this.
    if (written === undefined) continue
    const before = `${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`
    if (isLong) pieces.push(`${before}"`, value.bytes, '"')
    else pieces.push(before + written)
  }
  return [...pieces, '}']
}

function bytesOf(pieces: readonly (string | Buffer)[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  // Not from the runtime's shared pool: when sent to another thread the whole pool, with the data of others, would go.
  const bytes = Buffer.alloc(length)
  let at = 0
  for (const piece of pieces) at += typeof piece === 'string' ? bytes.write(piece, at) : piece.copy(bytes, at)
  return bytes
}

const NO_LEASE = { id: '', renewable: false, durationSeconds: 0 }
const leaseText = ({ id, renewable, durationSeconds }: NonNullable<Answer['lease']>): string =>
  `"lease_id":${JSON.stringify(id)},"renewable":${renewable},"lease_duration":${durationSeconds}`
const NO_LEASE_TEXT = leaseText(NO_LEASE)

/** The members of the envelope: a copied member with one of these names would replace it. */
const ENVELOPE_NAMES = [
  'request_id',
  'lease_id',
  'renewable',
  'lease_duration',
  'data',
  'wrap_info',
  'warnings',
  'auth',
  'mount_type',
]

/**
 * The members of `data` for the top level as well, where old clients look for them; none that has a name of the
 * envelope.
 */
function copiedMembers(data: object | undefined): string {
  if (data === undefined) return ''
  const members = Object.entries(data).filter(([name, value]) => !ENVELOPE_NAMES.includes(name) && value !== undefined)
  return members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`).join('')
}

/** Returns the response for a refusal. Its form is that of the recorded exchanges, as Interface 7.17 leaves open. */
export function refusalResponse(refusal: Refusal): WireResponse {
  // Clients show the first error only, so the hint comes second.
  const errors = [refusal.message, refusal.hint].filter((text) => text !== '')
  const retryAfter = refusal instanceof RefusalForNow ? refusal.retryAfterSeconds : RETRY_AFTER_SECONDS[refusal.code]
  return {
    status: refusal.status,
    body: `${JSON.stringify({ errors })}
`,
    ...(retryAfter === undefined ? {} : { headers: { 'Retry-After': String(retryAfter) } }),
  }
}

/** How long to wait after refusals that soon pass by themselves (threats P-45). */
const RETRY_AFTER_SECONDS: Readonly<Partial<Record<ErrorCode, number>>> = {
  overloaded: 1,
  body_memory_full: 1,
  body_share_full: 1,
  not_primary: 5,
  primary_unreachable: 5,
  primary_leaves: 5,
  primary_busy: 5,
  primary_silent: 5,
}

/**
 * Returns the refusal for an error of the rooms below; undefined if the error is a defect. The one place for this.
 * `primaryAddress` is where what this node must not write is written; '': not known.
 */
export function refusalOf(cause: unknown, primaryAddress = ''): Refusal | undefined {
  if (cause instanceof Refusal) return cause
  if (cause instanceof DecisionOutdated) return fail('busy', [], cause)
  if (cause instanceof NotRecorded) return fail('audit_request_failed', [], cause)
  if (cause instanceof Sealed) return fail('sealed', [], cause)
  // Storage is closed only while it is replaced and at the end of the process: nothing can be read then.
  if (cause instanceof StorageClosed) return fail('sealed', [], cause)
  if (cause instanceof JobForgotten) return fail('sealed', [], cause)
  if (cause instanceof Overloaded) return fail('overloaded', [], cause)
  if (cause instanceof WriteNotAllowed)
    return fail('not_primary', [cause.storageClass === 'replicated', primaryAddress], cause)
  if (cause instanceof DataKeyUsedUp) return fail('data_key_used_up', [primaryAddress], cause)
  if (cause instanceof StorageConflict) return fail('busy', [], cause)
  if (cause instanceof StorageTooLarge) return fail('value_too_large', [cause.limitBytes], cause)
  if (cause instanceof StorageFull) return fail('storage_full', [], cause)
  if (cause instanceof StorageFailed) return fail('storage_failed', [], cause)
  return undefined
}
