// The envelope of answers, and the choice of its useful part. Names are those of the wire (src/core/response.ts).
import type { Auth } from './endpoints.ts'
import { memberOf } from './error-messages.ts'

/** The token that stands for a wrapped answer: `unwrap` gives the answer for it, once. */
export type WrapInfo = {
  readonly token: string
  readonly accessor: string
  /** Seconds until the token ends. */
  readonly ttl: number
  readonly creation_time: string
  /** The path whose answer was wrapped: a token that someone else wrapped has another one. */
  readonly creation_path: string
  /** Accessor of the token inside, if the answer has one. */
  readonly wrapped_accessor?: string
}

/** An answer in full. `send` and `unwrap` give it; the typed calls take `resultOf` it. */
export type Envelope<Data = unknown> = {
  readonly request_id: string
  readonly lease_id: string
  readonly renewable: boolean
  /** Seconds; 0 without a lease. */
  readonly lease_duration: number
  readonly data: Data
  readonly wrap_info: WrapInfo | null
  readonly warnings: readonly string[] | null
  readonly auth: Auth | null
}

/** Tells an envelope from a plain answer, such as that of sys/health. */
export function isAnswerEnvelope(body: unknown): body is Envelope {
  return memberOf(body, 'request_id') !== undefined && Object.hasOwn(body as object, 'data')
}

/** Returns the wrapping, the login or the data of an envelope, in this order; a plain body as it is. */
export function resultOf(body: unknown): unknown {
  if (!isAnswerEnvelope(body)) return body
  return body.wrap_info ?? body.auth ?? body.data ?? undefined
}

/** Returns the warnings of an answer; none for a plain body. */
export function answerWarnings(body: unknown): readonly string[] {
  const warnings = memberOf(body, 'warnings')
  return Array.isArray(warnings) ? warnings.map(String) : []
}
