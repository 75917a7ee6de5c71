// What a handler is told about the request it serves, and what it answers. Nothing here can reach policy, audit,
// forwarding or the socket: those belong to the pipeline.
import type { JsonObject } from '../lib/json.ts'
import { fail } from './errors.ts'
import type { Login } from './login.ts'
import type { PassedHeaders } from './passed-headers.ts'
import { anything, flag, integer, listOf, mapOf, nullable, optional, type Shapes, text } from './shape.ts'

/** What the caller wants; for a write, `create` or `update` is decided by whether the thing exists. */
export type Operation = 'create' | 'read' | 'update' | 'delete' | 'list'

/** The token behind a request, as far as handlers may know it. */
export type Caller = {
  /** The token as presented. Only look-up of the caller itself repeats it; it is never logged or stored. */
  readonly token: string
  /** Its name in storage (a keyed hash of the token). */
  readonly tokenId: string
  readonly policies: readonly string[]
  /** The token's entry as it was when this request was admitted; only the token endpoints know its form. */
  readonly entry: object
  /**
   * Whether a rule about this path inside the mount refuses the request, or another operation there: for what is found
   * to be named only by reading what was sent. Fields that name are declared instead (`Endpoint.alsoNames`).
   */
  isRefusedAt(path: string, operation?: 'read' | 'update'): boolean
  /** Whether the caller's policies grant `sudo` on the path of this request. */
  hasSudo(): boolean
}

/** What the listener that a request came to says of it; a request from elsewhere has none. */
export type ListenerSwitches = {
  /** Endpoints that shares alone open, and that ask for a token with sudo as well (threats S-02). */
  readonly tokenAskedFor: { readonly generateRoot: boolean; readonly rekey: boolean }
  /** Whether these are there for whoever has no token. */
  readonly unauthenticatedMetrics: boolean
  readonly unauthenticatedProfiling: boolean
  readonly unauthenticatedInFlight: boolean
  /** What endpoints that need no token leave empty. */
  readonly redacts: { readonly addresses: boolean; readonly version: boolean; readonly clusterName: boolean }
}

export type RequestInfo = {
  readonly id: string
  readonly operation: Operation
  /** Path of the mount, ending in '/'. */
  readonly mountPath: string
  /** Names in the path as they came, where one of them is kept otherwise. */
  readonly givenNames?: Readonly<Record<string, string>> | undefined
  readonly remoteAddress: string
  /** Those that the mount passes on (`passthrough_request_headers`), by names in lower case; never one with a token. */
  readonly headers: PassedHeaders
  readonly listener?: ListenerSwitches | undefined
  /** Undefined at endpoints that need no token and got none. */
  readonly caller: Caller | undefined
  /** How long the answer is to be wrapped; 0: it goes to the caller itself. */
  readonly wrapTtlSeconds: number
  /** What the caller sent, at endpoints with `takesAnyFields`. */
  readonly input: JsonObject | undefined
  /** The body, at endpoints with `takesStream`; it is read once. */
  readonly stream?: ByteStream | undefined
}

/** At endpoints that need a token. */
export function callerOf({ caller }: RequestInfo): Caller {
  if (caller === undefined) throw fail('permission_denied', [])
  return caller
}

/** Bytes of any number. It can travel to another thread, which then is the only one that reads it. */
export type ByteStream = ReadableStream<Uint8Array>

/** The `auth` part of the envelope: a token that was made or renewed. */
export type AuthBlock = {
  readonly client_token: string
  readonly accessor: string
  readonly policies: readonly string[]
  readonly token_policies: readonly string[]
  /** Those that come from its entity and groups; absent where there are none. */
  readonly identity_policies?: readonly string[]
  readonly metadata: Readonly<Record<string, string>> | null
  readonly lease_duration: number
  readonly renewable: boolean
  readonly entity_id: string
  readonly token_type: 'service' | 'batch'
  readonly orphan: boolean
  readonly mfa_requirement: null
  readonly num_uses: number
}

/** The same as a shape. */
export const AUTH_BLOCK: Shapes = {
  client_token: text('The token'),
  accessor: text('Names the token without giving access'),
  policies: listOf(text('Policy'), 'All policies of the token'),
  token_policies: listOf(text('Policy'), 'Those that the token itself carries'),
  identity_policies: optional(listOf(text('Policy'), 'Those of its entity and groups')),
  metadata: nullable(mapOf(text('Text'), 'Names and texts kept with the token')),
  lease_duration: integer('Seconds left; 0: no end'),
  renewable: flag('Can be renewed'),
  entity_id: text('Identity; empty without one'),
  token_type: text('service or batch'),
  orphan: flag('Has no parent'),
  mfa_requirement: nullable(anything('null: nothing else is asked for')),
  num_uses: integer('Requests left; 0: unlimited'),
}

export type Answer = {
  /** Default: 200 with a body, 204 without. */
  readonly status?: number
  readonly data?: object
  /** Instead of all else: the body, as it is, at endpoints with `givesStream`. */
  readonly stream?: ByteStream
  readonly auth?: AuthBlock
  /** Accessor of the credential in `data`: who gets the answer wrapped can name what is in it, and end it. */
  readonly credentialAccessor?: string
  /** The token in `auth` was made for this answer: where nobody gets the answer, nobody may have the token. */
  readonly isNewToken?: true
  /** What the answer is leased under: fields of the envelope itself. */
  readonly lease?: { readonly id: string; readonly renewable: boolean; readonly durationSeconds: number }
  /** Of an endpoint that logs in: the pipeline makes the token and with it the `auth` part. */
  readonly login?: Login
  /** The answer is under this token, and nothing else is said. */
  readonly wrapInfo?: WrapInfo
  /** Instead of all else: a whole body that was made before. */
  readonly body?: string
  /** What it says is in force and stands nowhere else: it goes to the caller, whatever fails behind its handler. */
  readonly isOnlyCopy?: true
  /** Others may keep an answer of an endpoint without envelope for so long; missing: nobody may keep it. */
  readonly maxAgeSeconds?: number
  /** Of that body; missing: JSON. */
  readonly contentType?: string
  /** Headers; those that the mount allows (`allowed_response_headers`) go out. */
  readonly headers?: PassedHeaders
  readonly warnings?: readonly string[]
}

/** The `wrap_info` part of the envelope: who has the token gets the answer, once. */
export type WrapInfo = {
  readonly token: string
  readonly accessor: string
  /** Seconds. */
  readonly ttl: number
  /** RFC 3339. */
  readonly creation_time: string
  /** Path of the request whose answer it is. */
  readonly creation_path: string
  /** Of the token, or other credential, in the answer, where one is. */
  readonly wrapped_accessor?: string
}

/**
 * Thrown by a handler that finds the thing there which the request was allowed to create, or gone which it was allowed
 * to update: another request was faster. The pipeline judges the request anew; nothing was changed by it.
 */
export class DecisionOutdated extends Error {
  override name = 'DecisionOutdated'
}

/** Success without a body: 204. */
export const DONE: Answer = {}
