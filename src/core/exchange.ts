// One request on its way through the pipeline: what came in, what each step found out, and what goes back.
import type { Endpoint, EndpointOperation } from '../api/endpoint.ts'
import type { Namespace } from '../api/namespace.ts'
import type { Answer, ByteStream, ListenerSwitches, Operation } from '../api/request.ts'
import type { PlacedShape } from '../api/spelling.ts'
import type { AuditRecord } from '../audit/recorder.ts'
import type { Acl, AclDecision } from '../auth/acl.ts'
import type { WrapForm } from '../auth/kept-values.ts'
import type { PolicyNames } from '../auth/rights.ts'
import type { Subject } from '../auth/subject.ts'
import type { LiveToken } from '../auth/token-store.ts'
import type { JsonObject } from '../lib/json.ts'
import type { RateQuota } from '../quotas/quota.ts'
import type { OwnWrites } from '../storage/own-writes.ts'
import type { PassedOn } from '../telemetry/request-observer.ts'
import type { RequestTrace } from '../telemetry/request-trace.ts'
import type { Mounted } from './mount-table.ts'
import type { PrimaryWrites } from './primary-writes.ts'

/** A request as the listener read it. Plain data, so that it can be sent to another thread as it is. */
export type WireRequest = {
  readonly method: string
  /** The request target before "?", still percent-encoded. */
  readonly rawPath: string
  /** The request target after "?"; empty if there is none. */
  readonly query: string
  readonly headers: WireHeaders
  readonly body: Uint8Array | undefined
  /** The body was longer than a caller without a live token may send, and nothing of it was kept. */
  readonly isBodyCut?: true
  /** Takes the place of `body` at endpoints with `takesStream`. */
  readonly stream?: ByteStream
  /** The address of the client, also behind a trusted proxy; empty on a Unix socket. */
  readonly remoteAddress: string
  /** Present if another thread of this server began the request. */
  readonly passedOn?: Begun
  /** The switches of the listener that the request came by; missing if none is on. */
  readonly listener?: ListenerSwitches
}

/**
 * The result of the first thread's work on a request, sent along with it. Wherever a request goes it keeps one id and
 * one first audit entry.
 */
export type Begun = PassedOn & {
  /** UUIDs of the audit devices that have its first entry. */
  readonly recordedBy: readonly string[]
}

/** The request headers that mean something here; undefined if absent. Listeners drop all others. */
export type WireHeaders = {
  readonly token: string | undefined
  readonly namespace: string | undefined
  readonly wrapTtl: string | undefined
  readonly wrapFormat?: string | undefined
  readonly contentType: string | undefined
  /** X-Vault-Index: states that the answer must contain; X-Vault-Inconsistent: what is done where it would not. */
  readonly index?: string | undefined
  readonly inconsistent?: string | undefined
  /** Sent by browsers: the origin of the page that asks. */
  readonly origin?: string | undefined
  /** In a preflight, the method that the page wants to use. */
  readonly pageAsksFor?: string | undefined
  /** True if the request goes to the page's own origin; set along with `origin`. */
  readonly isSameOrigin?: boolean
  /** The caller's trace (W3C Trace Context). */
  readonly traceparent?: string | undefined
  /** The headers that audit records, by their names in lower case; absent if it records none. */
  readonly audited?: Readonly<Record<string, string>>
  /** The headers that some mount passes on to its engine, by their names in lower case. */
  readonly passed?: Readonly<Record<string, string>>
}

/** The response as the listener writes it. Plain data, like the request. */
export type WireResponse = {
  readonly status: number
  /** JSON text, as UTF-8 bytes if it is long; undefined: no body and no content type. */
  readonly body: string | Uint8Array | undefined
  /** Takes the place of `body`: bytes that are sent as they arrive. */
  readonly stream?: ByteStream
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the body as a string, '' if there is none. */
export function bodyText({ body = '' }: WireResponse): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

/**
 * The state of one attempt at a request. Each step reads what earlier steps found, and sets what it finds itself; the
 * members stand in about the order in which they are set.
 */
export type Exchange = {
  readonly id: string
  readonly request: WireRequest
  /** Undefined if the request is not traced. */
  readonly trace: RequestTrace | undefined
  /**
   * The path after /v1/ with that of the namespace before it: decoded once, without doubled slashes, empty until read.
   * Routing puts names in it as they are kept.
   */
  path: string
  /** The namespace that the request is about; the root until it is known, and where none is found. */
  namespace: Namespace
  /** What X-Vault-Namespace says, while it is not known to name a namespace; undefined if it says nothing. */
  unknownNamespace: string | undefined
  /**
   * The kind of request, from the HTTP method and `list`. Whether a write creates or updates is decided later, in
   * `operation`.
   */
  method: EndpointOperation
  operation: Operation
  /** Undefined if no mount serves the path. */
  mounted: Mounted | undefined
  /** Undefined if the mount has no such endpoint; `routeError` then says why. */
  endpoint: Endpoint | undefined
  routeError: 'no_route' | 'unsupported_path' | 'unsupported_operation' | undefined
  pathParameters: Readonly<Record<string, string>>
  /** The path parameters as the caller wrote them, if one is kept under another spelling. */
  givenNames: Readonly<Record<string, string>> | undefined
  /** Set where names in the path have several spellings, so that rules about the path match each of them. */
  spelling: PlacedShape | undefined
  token: LiveToken | undefined
  /** The use-limited token already charged for this request; a retry must not charge it again. */
  chargedToken: LiveToken | undefined
  /** The entity that the token belongs to, if it belongs to one. */
  subject: Subject | undefined
  /** The policies that count for the token; undefined without one. */
  policies: PolicyNames | undefined
  /** True once the request went to the namespace of what it names (`movesTo`), or stays where it is. */
  isMoved: boolean
  /** The rules that judged the request. */
  acl: Acl | undefined
  /** The policies that allowed the request to its path; undefined until then. */
  grantedBy: AclDecision['policies'] | undefined
  /** True if those rules say something about parameters. */
  isDataJudged: boolean
  /** How long the wrapped answer is to be kept; 0: it is not wrapped. */
  wrapTtlSeconds: number
  /** The form of the wrapping token. */
  wrapForm: WrapForm
  /** The members of the body, or of the query; undefined if there are none. */
  input: JsonObject | undefined
  /** The input and path parameters after decoding: what the handler gets. */
  args: Readonly<Record<string, unknown>>
  answer: Answer | undefined
  /** The id of the token made for an answer that is now wrapped. */
  wrappedTokenId: string | undefined
  warnings: string[]
  /** Set by a step that has the whole response; the remaining steps are skipped. */
  response: WireResponse | undefined
  /** Headers added to the response, whatever it is. */
  extraHeaders: Readonly<Record<string, string>> | undefined
  /** True if an earlier attempt at this request lost to a faster one. */
  readonly isRetry: boolean
  /** True once the quota that applies was looked for. */
  isRateJudged: boolean
  /** A quota that counts by entity, and so is charged only once the token is known. */
  quota: RateQuota | undefined
  /**
   * A quota refused the request. It is then counted and not recorded, unless a use of a token was spent or
   * sys/quotas/config asks for records of refusals.
   */
  isRateLimited: boolean
  /** The settings ask for such refusals to be recorded. */
  isRateLimitAudited: boolean
  /** Another thread made the response, and recorded it. */
  isForwarded: boolean
  /** What the handler wrote here so far; set only where it may have to be handed to the primary after all. */
  own: OwnWrites | undefined
  /** Index of the log before the handler; undefined where the answer does not tell that it wrote. */
  indexBefore: number | undefined
  /** What its primary wrote for it; set only on a performance secondary. */
  atPrimary: PrimaryWrites | undefined
  /** The name that a login was tried under, where its method locks names. */
  guardedName: string | undefined
  /** The secondary that handed the request over; undefined if a caller sent it here. */
  readonly handedBy: string | undefined
  /** The record of the request that audit has made so far. */
  record: AuditRecord | undefined
  /** Why the request was refused; undefined if it was not. */
  error: string | undefined
}
