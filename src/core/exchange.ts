// One request on its way through the pipeline: what came in, what each step found out, what goes back.
import type { Endpoint } from '../api/endpoint.ts'
import type { Answer, ByteStream, ListenerSwitches, Operation } from '../api/request.ts'
import type { PlacedShape } from '../api/spelling.ts'
import type { AuditRecord } from '../audit/recorder.ts'
import type { Acl } from '../auth/acl.ts'
import type { WrapForm } from '../auth/kept-values.ts'
import type { Subject } from '../auth/subject.ts'
import type { LiveToken } from '../auth/token-store.ts'
import type { JsonObject } from '../lib/json.ts'
import type { RateQuota } from '../quotas/quota.ts'
import type { PassedOn } from '../telemetry/request-observer.ts'
import type { RequestTrace } from '../telemetry/request-trace.ts'
import type { Mounted } from './mount-table.ts'

/** A request as it left the socket: plain data, so that it can travel to another thread as it is. */
export type WireRequest = {
  readonly method: string
  /** The raw target before '?', still percent-encoded. */
  readonly rawPath: string
  /** The raw target behind '?', or empty. */
  readonly query: string
  readonly headers: WireHeaders
  readonly body: Uint8Array | undefined
  /** It was longer than a caller without a live token may send, and nothing of it was kept. */
  readonly isBodyCut?: true
  /** Instead of `body`, at endpoints with `takesStream`. */
  readonly stream?: ByteStream
  /** The client's, behind a proxy that is trusted too; empty on a Unix socket. */
  readonly remoteAddress: string
  /** By another thread of this server, where it has begun. */
  readonly passedOn?: Begun
  /** Where one of them is on. */
  readonly listener?: ListenerSwitches
}

/** A request has one id, and one first entry in the audit, through whichever threads it goes. */
export type Begun = PassedOn & {
  /** UUIDs of the audit devices that have its first entry. */
  readonly recordedBy: readonly string[]
}

/** The headers that mean something here; absent ones are undefined. */
export type WireHeaders = {
  readonly token: string | undefined
  readonly namespace: string | undefined
  readonly wrapTtl: string | undefined
  readonly wrapFormat?: string | undefined
  readonly contentType: string | undefined
  /** Of a browser: the page that asks, and in a preflight the method that it wants to use. */
  readonly origin?: string | undefined
  readonly pageAsksFor?: string | undefined
  /** That page is of the origin that the request goes to; there with `origin`. */
  readonly isSameOrigin?: boolean
  readonly traceparent?: string | undefined
  /** Those that audit records, by their names in lower case; absent where it records none. */
  readonly audited?: Readonly<Record<string, string>>
  /** Those that some mount passes on to its engine, in the same way. */
  readonly passed?: Readonly<Record<string, string>>
}

export type WireResponse = {
  readonly status: number
  /** JSON text, as bytes in UTF-8 where it is long; undefined: no body and no content type. */
  readonly body: string | Uint8Array | undefined
  /** Instead of `body`: bytes that are sent as they come. */
  readonly stream?: ByteStream
  readonly headers?: Readonly<Record<string, string>>
}

/** The body as a string; '' where there is none. */
export function bodyText({ body = '' }: WireResponse): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

export type Exchange = {
  readonly id: string
  readonly request: WireRequest
  /** Undefined where the request is not traced. */
  readonly trace: RequestTrace | undefined
  /** Canonical path behind /v1/: decoded once, without doubled slashes; once routed, its names as they are kept. */
  path: string
  /** What the method and `list` ask for; a write is decided to be create or update later. */
  method: 'read' | 'list' | 'update' | 'delete'
  operation: Operation
  /** Undefined where no mount serves the path. */
  mounted: Mounted | undefined
  /** Undefined where the mount has no such endpoint; `routeError` then says which kind of none. */
  endpoint: Endpoint | undefined
  routeError: 'no_route' | 'unsupported_path' | 'unsupported_operation' | undefined
  pathParameters: Readonly<Record<string, string>>
  /** The same as they came, where one of them is kept otherwise. */
  givenNames: Readonly<Record<string, string>> | undefined
  /** Where names in the path go by several spellings: rules about it are read so too. */
  spelling: PlacedShape | undefined
  token: LiveToken | undefined
  /** A limited token that gave a use for this request: it gives no other when the request is judged anew. */
  chargedToken: LiveToken | undefined
  /** Who is behind the token, where it belongs to an entity. */
  subject: Subject | undefined
  /** The rules that judged the request. */
  acl: Acl | undefined
  /** They say something of what was sent. */
  isDataJudged: boolean
  /** How long the answer is to be wrapped; 0: not at all. */
  wrapTtlSeconds: number
  /** What the token then looks like. */
  wrapForm: WrapForm
  /** The decoded body or query. */
  input: JsonObject | undefined
  args: Readonly<Record<string, unknown>>
  answer: Answer | undefined
  /** Of the token that was made for an answer which is wrapped now. */
  wrappedTokenId: string | undefined
  warnings: string[]
  /** Set by a step that has the whole response already: the rest is skipped. */
  response: WireResponse | undefined
  /** Go back with the response, whatever it is. */
  extraHeaders: Readonly<Record<string, string>> | undefined
  /** Another request was faster while it was judged before. */
  readonly isRetry: boolean
  /** Its quota was looked for. */
  isRateJudged: boolean
  /** Counts the request as soon as it is known who asks. */
  quota: RateQuota | undefined
  /** A quota refused it: it is counted, and no more unless a use was spent (Interface of sys/quotas/config). */
  isRateLimited: boolean
  /** And that is to be recorded. */
  isRateLimitAudited: boolean
  /** The response was made elsewhere. */
  isForwarded: boolean
  /** What audit recorded of it so far. */
  record: AuditRecord | undefined
  /** Why it was refused. */
  error: string | undefined
}
