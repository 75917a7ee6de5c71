// How a request of the library ends when it does not end well.
import type { Method } from './wire.ts'

/** What was asked. */
export type Asked = {
  readonly method: Method
  /** Below /v1. */
  readonly path: string
  /** Without the query, which may hold what the caller sent. */
  readonly url: string
}

/** Of everything that a request rejects with, but for the reason of an AbortSignal. */
export class KeywrightError extends Error {
  override name = 'KeywrightError'
  readonly request: Asked
  constructor(message: string, request: Asked, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.request = request
  }
}

/** The server answered, and refused. */
export class ApiError extends KeywrightError {
  override name = 'ApiError'
  /** Of HTTP. */
  readonly status: number
  /** What the server said; empty where it said nothing, as with 404. */
  readonly messages: readonly string[]
  /** What the answer has all the same: `data`, as that to a batch of which some items failed, or a plain body. */
  readonly data: unknown
  constructor(request: Asked, status: number, messages: readonly string[], data: unknown) {
    const said = messages.length === 0 ? '' : `: ${messages.join('; ')}`
    super(`${request.method} ${request.path} was answered with ${status}${said}`, request)
    this.status = status
    this.messages = messages
    this.data = data
  }

  /** The path is one, and nothing is stored there. */
  get nothingThere(): boolean {
    return this.status === 404 && this.messages.length === 0
  }
}

/** No answer came, or one that is not of this API; `cause` says why where that is known. */
export class ConnectionError extends KeywrightError {
  override name = 'ConnectionError'
  readonly timedOut: boolean
  constructor(request: Asked, why: string, cause?: unknown, timedOut = false) {
    super(`${request.method} ${request.url}: ${why}`, request, cause)
    this.timedOut = timedOut
  }
}
