// What an entry tells of a request: as much of it as the pipeline has found out. The pipeline's own object fits here as
// it is, so that nothing is copied for the audit.
import type { Endpoint } from '../api/endpoint.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Answer, Operation } from '../api/request.ts'

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

export type AuditedRequest = {
  readonly id: string
  /** Empty where the target of the request is no path. */
  readonly path: string
  readonly operation: Operation
  readonly request: {
    readonly rawPath: string
    readonly remoteAddress: string
    readonly headers: {
      readonly token: string | undefined
      /** Those that the configuration asks for, by their names in lower case. */
      readonly audited?: Readonly<Record<string, string>>
    }
  }
  readonly mounted: { readonly entry: MountEntry } | undefined
  readonly endpoint: Endpoint | undefined
  readonly pathParameters: Readonly<Record<string, string>>
  readonly token: { readonly entry: AuditedToken } | undefined
  readonly subject: { readonly policies: readonly string[] } | undefined
  readonly wrapTtlSeconds: number
  readonly input: object | undefined
}

export type AuditedAnswer = {
  readonly answer: Answer | undefined
  readonly warnings: readonly string[]
  /** Why it was refused; a text that holds nothing of the request but names. */
  readonly error: string | undefined
}

/** Which request headers are recorded, by their names in lower case, and which of them as HMACs. */
export type AuditedHeaders = ReadonlyMap<string, { readonly hmac: boolean }>
