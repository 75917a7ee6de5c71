// Every refusal of the service: code, status, public sentence and remedy, in one table put together from groups
// (src/api/refusals). docs/errors.md is generated from them.
//
// Only the program sees the code (calls between threads, tests); the wire carries `{"errors": [sentence]}` and the
// status. `refusalOf` (src/core/response.ts) makes refusals of those errors of other rooms that are no defects. Any
// other error is a defect of ours and becomes `internal`. No status is chosen by reading a message.
import { ACCESS_REFUSALS } from './refusals/access.ts'
import { FIELD_REFUSALS } from './refusals/fields.ts'
import { KEY_REFUSALS } from './refusals/keys.ts'
import { REQUEST_REFUSALS } from './refusals/requests.ts'
import type { RefusalRows } from './refusals/row.ts'
import { SERVER_REFUSALS } from './refusals/server.ts'

/** The whole table, by code. */
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
  { title: 'Request fields', rows: FIELD_REFUSALS },
  { title: 'Keys', rows: KEY_REFUSALS },
  { title: 'Tokens and access', rows: ACCESS_REFUSALS },
  { title: 'The server', rows: SERVER_REFUSALS },
]

/** Code of a refusal. */
export type ErrorCode = keyof typeof ERRORS
type MessageArgs<C extends ErrorCode> = Parameters<(typeof ERRORS)[C]['message']>

/** A refusal as made by `fail`. `message` goes to the client; `cause` is for the log alone. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: ErrorCode
  readonly status: number
  /** A second sentence for this caller; '' if there is none. */
  readonly hint: string
  constructor(code: ErrorCode, status: number, message: string, cause?: unknown, hint = '') {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.hint = hint
  }
}

/** A temporary refusal; the answer carries the time in Retry-After. */
export class RefusalForNow extends Refusal {
  readonly retryAfterSeconds: number
  constructor({ code, status, message }: Refusal, retryAfterSeconds: number) {
    super(code, status, message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Makes a temporary refusal; a client should come back after `seconds`. */
export function failFor<C extends ErrorCode>(seconds: number, code: C, args: MessageArgs<C>): RefusalForNow {
  return new RefusalForNow(fail(code, args), seconds)
}

/**
 * The refusal of a request that the policies of a valid token do not allow. `hint` tells what they lack; '' tells
 * nothing.
 */
export function permissionDenied(hint: string): Refusal {
  const row = ERRORS.permission_denied
  return new Refusal('permission_denied', row.status, row.message(), undefined, hint)
}

/** Twice the longest path. Sentences may repeat what a caller sent, and audit logs show them in clear. */
const MAX_MESSAGE_CHARACTERS = 8_192

const bounded = (message: string): string =>
  message.length <= MAX_MESSAGE_CHARACTERS ? message : `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…`

/** Makes the refusal of a row, to be thrown: `throw fail('field_missing', ['name'])`. */
export function fail<C extends ErrorCode>(code: C, args: MessageArgs<C>, cause?: unknown): Refusal {
  const row = ERRORS[code] as { status: number; message: (...args: unknown[]) => string }
  return new Refusal(code, row.status, bounded(row.message(...args)), cause)
}

/** Returns the refusal with one more sentence. */
export function refusalWith(refusal: Refusal, sentence: string): Refusal {
  const { code, status, message, cause, hint } = refusal
  return new Refusal(code, status, bounded(`${message}. ${sentence}`), cause, hint)
}
