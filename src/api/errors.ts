// Every refusal the service gives: code, status, public sentence, and what to do about it, in one table that is put
// together from groups (src/api/refusals). docs/errors.md is generated from them.
//
// The code is for us (calls between threads, tests); the wire carries `{"errors": [sentence]}` and the status. What is
// thrown without `fail` is our bug and becomes `internal`. No status is ever chosen by reading a message.
import { ACCESS_REFUSALS } from './refusals/access.ts'
import { FIELD_REFUSALS } from './refusals/fields.ts'
import { KEY_REFUSALS } from './refusals/keys.ts'
import { REQUEST_REFUSALS } from './refusals/requests.ts'
import type { RefusalRows } from './refusals/row.ts'
import { SERVER_REFUSALS } from './refusals/server.ts'

export const ERRORS = {
  ...REQUEST_REFUSALS,
  ...FIELD_REFUSALS,
  ...KEY_REFUSALS,
  ...ACCESS_REFUSALS,
  ...SERVER_REFUSALS,
} as const

/** The groups of the table, as docs/errors.md shows them. */
export const REFUSAL_GROUPS: readonly { readonly title: string; readonly rows: RefusalRows }[] = [
  { title: 'The request', rows: REQUEST_REFUSALS },
  { title: 'Its fields', rows: FIELD_REFUSALS },
  { title: 'Keys', rows: KEY_REFUSALS },
  { title: 'Who asks', rows: ACCESS_REFUSALS },
  { title: 'The server', rows: SERVER_REFUSALS },
]

export type ErrorCode = keyof typeof ERRORS
type MessageArgs<C extends ErrorCode> = Parameters<(typeof ERRORS)[C]['message']>

/** A refusal as thrown by `fail`; `cause` stays inside. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: ErrorCode
  readonly status: number
  /** A second sentence for this caller alone; empty without one. */
  readonly hint: string
  constructor(code: ErrorCode, status: number, message: string, cause?: unknown, hint = '') {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.hint = hint
  }
}

/** A refusal that holds for a time only: the answer has it in Retry-After. */
export class RefusalForNow extends Refusal {
  readonly retryAfterSeconds: number
  constructor({ code, status, message }: Refusal, retryAfterSeconds: number) {
    super(code, status, message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** As `fail`, with the time after which it is worth to come back. */
export function failFor<C extends ErrorCode>(seconds: number, code: C, args: MessageArgs<C>): RefusalForNow {
  return new RefusalForNow(fail(code, args), seconds)
}

/** A request that the policies of a valid token do not allow; `hint` says what they lack, '' where nothing is told. */
export function permissionDenied(hint: string): Refusal {
  const row = ERRORS.permission_denied
  return new Refusal('permission_denied', row.status, row.message(), undefined, hint)
}

/** A path has half of that. What a caller sent is repeated in sentences, and those stand in clear in the audit. */
const MAX_MESSAGE_CHARACTERS = 8_192

const bounded = (message: string): string =>
  message.length <= MAX_MESSAGE_CHARACTERS ? message : `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…`

/** The refusal of a row, to be thrown: `throw fail('field_missing', ['name'])`. */
export function fail<C extends ErrorCode>(code: C, args: MessageArgs<C>, cause?: unknown): Refusal {
  const row = ERRORS[code] as { status: number; message: (...args: unknown[]) => string }
  return new Refusal(code, row.status, bounded(row.message(...args)), cause)
}

/** The same refusal with one more sentence. */
export function refusalWith(refusal: Refusal, sentence: string): Refusal {
  const { code, status, message, cause, hint } = refusal
  return new Refusal(code, status, bounded(`${message}. ${sentence}`), cause, hint)
}
