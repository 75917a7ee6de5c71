// A request as an entry tells of it, as far as the pipeline has found out. The pipeline's own objects have these types,
// so nothing is copied for audit.
import type { Endpoint } from '../api/endpoint.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Namespace } from '../api/namespace.ts'
import type { Answer, Operation } from '../api/request.ts'

/** The token of a request, as entries show it. */
export type AuditedToken = {
  readonly accessor: string
  readonly policies: readonly string[]
  readonly displayName: string
  readonly meta: Readonly<Record<string, string>> | null
  readonly createdAtMs: number
  readonly creationTtlSeconds: number
  readonly numUses: number
  readonly usesGiven?: number
  readonly type: 'service' | 'batch'
  readonly entityId: string
}

/** The policies that the token has by its entity and groups. */
export type AuditedPolicies = {
  /** Those of its own namespace. */
  readonly identity: readonly string[]
  readonly external: readonly { readonly namespaceId: string; readonly names: readonly string[] }[]
}

/** A request on its way through the pipeline, as entries show it. Members are undefined until they are known. */
export type AuditedRequest = {
  readonly id: string
  /** Begins with the path of the namespace; '' if the target of the request is no path. */
  readonly path: string
  readonly namespace: Namespace
  /** What names a namespace that is not known, as it was sent. */
  readonly unknownNamespace: string | undefined
  readonly operation: Operation
  readonly request: {
    readonly rawPath: string
    readonly remoteAddress: string
    readonly headers: {
      readonly token: string | undefined
      /** Headers that are recorded, by names in lower case. */
      readonly audited?: Readonly<Record<string, string>>
    }
  }
  /** `path` is the full one. */
  readonly mounted: { readonly entry: MountEntry; readonly path: string } | undefined
  readonly endpoint: Endpoint | undefined
  readonly pathParameters: Readonly<Record<string, string>>
  readonly token: { readonly entry: AuditedToken } | undefined
  readonly policies: AuditedPolicies | undefined
  /** The policies that allowed the request, and the paths of their namespaces. */
  readonly grantedBy: readonly { readonly name: string; readonly namespace: string }[] | undefined
  readonly wrapTtlSeconds: number
  /** The secondary that handed the request over; undefined if a caller sent it here. */
  readonly handedBy: string | undefined
  readonly input: object | undefined
}

/** What the second entry of a request records. */
export type AuditedAnswer = {
  readonly answer: Answer | undefined
  readonly warnings: readonly string[]
  /**
   * The refusal's sentence, if the request was refused. It may repeat names and the path
   * of the request (entry-text.ts).
   */
  readonly error: string | undefined
}

/** The request headers that are recorded, by names in lower case, and whether as HMAC. */
export type AuditedHeaders = ReadonlyMap<string, { readonly hmac: boolean }>
