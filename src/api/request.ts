// The request as its handler sees it, and the handler's answer. Nothing here can reach policy, audit, forwarding or the
// socket: those belong to the pipeline.
import type { JsonObject } from '../lib/json.ts'
import { fail } from './errors.ts'
import type { Login } from './login.ts'
import type { Namespace } from './namespace.ts'
import type { Sight } from './node-role.ts'
import type { PassedHeaders } from './passed-headers.ts'
import { anything, flag, integer, listOf, mapOf, nullable, optional, type Shapes, text } from './shape.ts'

/** The caller's intent. For a write, `create` or `update` follows from whether the thing exists. */
export type Operation = 'create' | 'read' | 'update' | 'patch' | 'delete' | 'list' | 'scan'

/** The caller's token, as far as handlers may know it. */
export type Caller = {
  /** The token as presented. Only the lookup of the caller itself repeats it; it is never logged or stored. */
  readonly token: string
  /** Its name in storage (a keyed hash of the token). */
  readonly tokenId: string
  readonly policies: readonly string[]
  /** The token's entry as it was when this request was admitted; only the token endpoints know its form. */
  readonly entry: object
  /** Id of the namespace that the token is of. */
  readonly namespaceId: string
  /**
   * True if a rule about this path inside the mount denies the request, or `operation` there. It is for names that are
   * only found by reading data. Fields that name are declared instead (`Endpoint.alsoNames`).
   */
  isRefusedAt(path: string, operation?: 'read' | 'update'): boolean
  /** True if the caller's policies grant `sudo` on the path of this request. */
  hasSudo(): boolean
}

/** Switches of the listener that a request came by. A request that came by no listener has none. */
export type ListenerSwitches = {
  /** Endpoints that are protected by shares alone, and that here also ask for a token with sudo (threats S-02). */
  readonly tokenAskedFor: { readonly generateRoot: boolean; readonly rekey: boolean }
  /** True if callers without a token may use the endpoint. */
  readonly unauthenticatedMetrics: boolean
  readonly unauthenticatedProfiling: boolean
  readonly unauthenticatedInFlight: boolean
  /** Facts that endpoints without a token leave empty. */
  readonly redacts: { readonly addresses: boolean; readonly version: boolean; readonly clusterName: boolean }
  /** True if the status of replication, which needs no token, is not shown. */
  readonly hidesReplicationStatus: boolean
}

/** The request as a handler sees it, besides its decoded fields. */
export type RequestInfo = {
  readonly id: string
  readonly operation: Operation
  /** The namespace of the mount that answers. */
  readonly namespace: Namespace
  /** Path of the mount within the namespace, ending in '/'. */
  readonly mountPath: string
  /** Names in the path as they were sent; undefined unless one of them has another canonical spelling. */
  readonly givenNames?: Readonly<Record<string, string>> | undefined
  readonly remoteAddress: string
  /**
   * Headers that the mount passes on (`passthrough_request_headers`), by names in lower case; never one with a token.
   */
  readonly headers: PassedHeaders
  readonly listener?: ListenerSwitches | undefined
  /** Undefined if the endpoint needs no token and got none. */
  readonly caller: Caller | undefined
  readonly sight: Sight
  /**
   * What was sent as `X-Vault-Token` to a secondary for disaster recovery, where no token is judged before the handler.
   * Never logged or stored.
   */
  readonly unjudgedToken?: string | undefined
  /** How long the answer is to stay wrapped; 0: it goes to the caller directly. */
  readonly wrapTtlSeconds: number
  /**
   * Runs an attempt to log in under a name, with the lock against guessing of the mount.
   * @throws Refusal if the name is locked, without trying; whatever `attempt` throws
   */
  readonly guardLogin: <T>(name: string, attempt: () => Promise<T>) => Promise<T>
  /** The body as it was sent, at endpoints with `takesAnyFields`, and where `unjudgedToken` may be set. */
  readonly input: JsonObject | undefined
  /** The body, at endpoints with `takesStream`; it can be read once. */
  readonly stream?: ByteStream | undefined
}

/** Returns the caller, at endpoints that need a token. @throws Refusal without one */
export function callerOf({ caller }: RequestInfo): Caller {
  if (caller === undefined) throw fail('permission_denied', [])
  return caller
}

/** A stream of bytes of any length. It can be transferred to another thread, which alone then reads it. */
export type ByteStream = ReadableStream<Uint8Array>

/** The `auth` part of the envelope: a token that was made or renewed. Names are those of the wire. */
export type AuthBlock = {
  readonly client_token: string
  readonly accessor: string
  readonly policies: readonly string[]
  readonly token_policies: readonly string[]
  /** Policies of its namespace that come from its entity and groups; absent if there are none. */
  readonly identity_policies?: readonly string[] | null
  /** Policies of other namespaces that come from its entity and groups, by the ids of those; absent likewise. */
  readonly external_namespace_policies?: Readonly<Record<string, readonly string[]>>
  readonly metadata: Readonly<Record<string, string>> | null
  readonly lease_duration: number
  readonly renewable: boolean
  readonly entity_id: string
  readonly token_type: 'service' | 'batch'
  readonly orphan: boolean
  readonly mfa_requirement: null
  readonly num_uses: number
}

/** AuthBlock as a shape. */
export const AUTH_BLOCK: Shapes = {
  client_token: text('The token'),
  accessor: text('Accessor: refers to the token without giving access'),
  policies: listOf(text('Policy'), 'All policies of the token'),
  token_policies: listOf(text('Policy'), 'Policies attached to the token itself'),
  identity_policies: optional(nullable(listOf(text('Policy'), 'Policies from its entity and groups'))),
  external_namespace_policies: optional(
    mapOf(
      listOf(text('Policy'), 'Policies'),
      'Policies of other namespaces from its entity and groups, by the IDs of those',
    ),
  ),
  metadata: nullable(mapOf(text('Value'), 'Metadata of the token, as key-value pairs')),
  lease_duration: integer('Remaining TTL in seconds; 0: never expires'),
  renewable: flag('The token can be renewed'),
  entity_id: text('ID of the entity; empty if there is none'),
  token_type: text('service or batch'),
  orphan: flag('The token has no parent'),
  mfa_requirement: nullable(anything('Always null: no MFA is required')),
  num_uses: integer('Remaining uses; 0: unlimited'),
}

/** The answer of a handler. The pipeline writes envelope, status and headers from it. */
export type Answer = {
  /** Status; by default 200 with a body, 204 without. */
  readonly status?: number
  readonly data?: object
  /** The body as bytes, at endpoints with `givesStream`; replaces everything else. */
  readonly stream?: ByteStream
  readonly auth?: AuthBlock
  /**
   * Accessor of the credential in `data`. If the answer is wrapped, its owner can name and revoke the credential by it.
   */
  readonly credentialAccessor?: string
  /** The token in `auth` was made for this answer: if the answer reaches no client, the token is revoked. */
  readonly isNewToken?: true
  /** The lease of the answer; becomes fields of the envelope itself. */
  readonly lease?: { readonly id: string; readonly renewable: boolean; readonly durationSeconds: number }
  /** The caller that a login recognised: the pipeline makes the token and the `auth` part from it. */
  readonly login?: Login
  /** The answer is wrapped under this token; nothing else is sent. */
  readonly wrapInfo?: WrapInfo
  /**
   * The answer is wrapped so, whatever the request asks for: its data are for another server. Its warnings are for the
   * caller, and are not wrapped.
   */
  readonly wrapAs?: { readonly ttlSeconds: number; readonly form: 'plain' | 'jwt' }
  /** A complete body that was made before; replaces everything else. */
  readonly body?: string
  /**
   * The answer is the only copy of something already in force, or the only word of it: the caller gets it even if it
   * cannot be recorded.
   */
  readonly isOnlyCopy?: true
  /**
   * The request stored nothing, although its endpoint may, and tells nothing that rests on what it stored before: the
   * answer waits for no secondary.
   */
  readonly storedNothing?: true
  /** How long caches may keep an answer without envelope; missing: not at all. */
  readonly maxAgeSeconds?: number
  /** Type of `body`; missing: JSON. */
  readonly contentType?: string
  /** Headers that the engine sets; only those that the mount allows (`allowed_response_headers`) are sent. */
  readonly headers?: PassedHeaders
  readonly warnings?: readonly string[]
}

/** The `wrap_info` part of the envelope: the holder of the token gets the answer, once. */
export type WrapInfo = {
  readonly token: string
  readonly accessor: string
  /** Seconds until the wrapped answer is gone. */
  readonly ttl: number
  /** RFC 3339. */
  readonly creation_time: string
  /** Path of the request that the wrapped answer belongs to. */
  readonly creation_path: string
  /** Accessor of the token or other credential in the answer, if there is one. */
  readonly wrapped_accessor?: string
}

/** WrapInfo as a shape. */
export const WRAP_INFO: Shapes = {
  token: text('The token that unwraps the answer'),
  accessor: text('Accessor: refers to the token without giving access'),
  ttl: integer('Seconds until the wrapped answer is gone'),
  creation_time: text('Time of creation, RFC 3339'),
  creation_path: text('Path of the request whose response is wrapped'),
  wrapped_accessor: optional(text('Accessor of the token or other credential in the answer')),
}

/**
 * Thrown by a handler if the decision between create and update is outdated: another request created or deleted the
 * thing meanwhile. Nothing was changed, and the pipeline judges the request again.
 */
export class DecisionOutdated extends Error {
  override name = 'DecisionOutdated'
}

/** Success without a body: 204. */
export const DONE: Answer = {}
