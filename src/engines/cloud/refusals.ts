// How logins and calls to the cloud fail. A refusal names the constraint and what the caller itself presented; never
// what is stored, and never the cloud's own words, which are in the log.
import { fail, type Refusal } from '../../api/errors.ts'

/** 403: the constraint, and where it helps what was presented. */
export const loginRefused = (what: string, cause?: unknown): Refusal => fail('login_refused', [what], cause)

const MAX_SHOWN = 200

/** What a caller sent, in a form that is safe to show: short, on one line, in quotes. */
export function quotedInput(text: string): string {
  const plain = [...text.slice(0, MAX_SHOWN)].map((one) => (/[\p{L}\p{N}\p{P}\p{S} ]/u.test(one) ? one : '?')).join('')
  return `"${plain.replaceAll('"', "'")}${text.length > MAX_SHOWN ? '…' : ''}"`
}

/** The cloud did not answer, or not with what it should: whoever asks may come again. */
export class CloudUnavailable extends Error {
  override name = 'CloudUnavailable'
  /** For callers; the message is for the log. */
  readonly what: string
  constructor(what: string, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.what = what
  }
}

/** The cloud answered, and the answer is no. */
export class CloudRefusal extends Error {
  override name = 'CloudRefusal'
  readonly status: number
  /** Its own name of the reason, in letters and digits; '' where it gave none. */
  readonly reason: string
  constructor(status: number, reason: string) {
    super(`The cloud answered ${status}${reason === '' ? '' : ` ${reason}`}`)
    this.status = status
    this.reason = reason
  }
}

/** What a failure is to whoever called; other causes are defects and stay as they are. */
export function asRefusal(cause: unknown): unknown {
  if (cause instanceof CloudUnavailable) return fail('cloud_unavailable', [cause.what], cause)
  if (cause instanceof CloudRefusal) return fail('cloud_unavailable', ['the cloud refused a call'], cause)
  return cause
}
