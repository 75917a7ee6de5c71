// The envelope that answers come in, and how its useful part is taken out.
import type { Auth } from './endpoints.ts'
import { memberOf } from './error-messages.ts'

/** What is given instead of an answer that was asked for wrapped. */
export type WrapInfo = {
  readonly token: string
  readonly accessor: string
  /** Seconds. */
  readonly ttl: number
  readonly creation_time: string
  readonly creation_path: string
  readonly wrapped_accessor?: string
}

export type Envelope<Data = unknown> = {
  readonly request_id: string
  readonly lease_id: string
  readonly renewable: boolean
  /** Seconds. */
  readonly lease_duration: number
  readonly data: Data
  readonly wrap_info: WrapInfo | null
  readonly warnings: readonly string[] | null
  readonly auth: Auth | null
}

export function isAnswerEnvelope(body: unknown): body is Envelope {
  return memberOf(body, 'request_id') !== undefined && Object.hasOwn(body as object, 'data')
}

/** The token of an answer that gives one, otherwise its data; a plain body is what it is. */
export function resultOf(body: unknown): unknown {
  if (!isAnswerEnvelope(body)) return body
  return body.wrap_info ?? body.auth ?? body.data ?? undefined
}

export function answerWarnings(body: unknown): readonly string[] {
  const warnings = memberOf(body, 'warnings')
  return Array.isArray(warnings) ? warnings.map(String) : []
}
