// The errors of the library.
import type { Method } from './wire.ts'

/** The request that an error is about. */
export type Asked = {
  readonly method: Method
  /** The path below /v1. */
  readonly path: string
  /** The URL without its query, which may hold secrets of the caller. */
  readonly url: string
}

/** The class of everything that a request rejects with, but for the reason of an AbortSignal. */
export class KeywrightError extends Error {
  override name = 'KeywrightError'
  readonly request: Asked
  constructor(message: string, request: Asked, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.request = request
  }
}

/** The server answered with an error. Repetition is over: what may pass was tried again before. */
export class ApiError extends KeywrightError {
  override name = 'ApiError'
  /** The status of HTTP. */
  readonly status: number
  /** The messages of the server; empty for a 404 that only says that nothing is there. */
  readonly messages: readonly string[]
  /** The results that an error has all the same: `data`, as of a batch with failed items, or a plain body. */
  readonly data: unknown
  constructor(request: Asked, status: number, messages: readonly string[], data: unknown) {
    const said = messages.length === 0 ? '' : `: ${messages.join('; ')}`
    super(`${request.method} ${request.path} was answered with ${status}${said}`, request)
    this.status = status
    this.messages = messages
    this.data = data
  }

  /** True if the path is valid, and nothing is stored there. */
  get nothingThere(): boolean {
    return this.status === 404 && this.messages.length === 0
  }
}

/** No answer came, or one that is not of this API. `cause` is the error of `fetch`, if it is one. */
export class ConnectionError extends KeywrightError {
  override name = 'ConnectionError'
  /** True if the attempt took longer than `timeoutMs`. The server may have done what was asked. */
  readonly timedOut: boolean
  constructor(request: Asked, why: string, cause?: unknown, timedOut = false) {
    super(`${request.method} ${request.url}: ${why}`, request, cause)
    this.timedOut = timedOut
  }
}
