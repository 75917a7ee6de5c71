// How logins and calls to the cloud fail. A refusal names the constraint and what the caller itself presented. It never
// shows what is stored, nor the cloud's own words, which are in the log (threats V-07).
import { fail, type Refusal } from '../../api/errors.ts'

/** Returns a 403 that names the constraint and, where that helps, what was presented. */
export const loginRefused = (what: string, cause?: unknown): Refusal => fail('login_refused', [what], cause)

const MAX_SHOWN = 200

/** Quotes what a caller sent in a form that is safe to show: short and on one line. */
export function quotedInput(text: string): string {
  const plain = [...text.slice(0, MAX_SHOWN)].map((one) => (/[\p{L}\p{N}\p{P}\p{S} ]/u.test(one) ? one : '?')).join('')
  return `"${plain.replaceAll('"', "'")}${text.length > MAX_SHOWN ? '…' : ''}"`
}

/** Reports that the cloud did not answer, or answered with something unexpected. The caller may try again. */
export class CloudUnavailable extends Error {
  override name = 'CloudUnavailable'
  /** Shown to callers; the error's message is for the log. */
  readonly what: string
  constructor(what: string, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.what = what
  }
}

/** Reports that the cloud answered and refused. */
export class CloudRefusal extends Error {
  override name = 'CloudRefusal'
  readonly status: number
  /** The cloud's own code for the reason, letters and digits only; empty if it gave none. */
  readonly reason: string
  constructor(status: number, reason: string) {
    super(`The cloud answered ${status}${reason === '' ? '' : ` ${reason}`}`)
    this.status = status
    this.reason = reason
  }
}

/** Returns the refusal that a failure means to the caller. Other causes are defects and are returned as they are. */
export function asRefusal(cause: unknown): unknown {
  if (cause instanceof CloudUnavailable) return fail('cloud_unavailable', [cause.what], cause)
  if (cause instanceof CloudRefusal) return fail('cloud_unavailable', ['the cloud refused a call'], cause)
  return cause
}
