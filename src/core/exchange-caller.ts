// The caller as a handler sees it. A class, not an object with a closure: a closure for each request kept the young
// objects of requests alive through garbage collections, and other callers wait out those pauses.
import type { Caller, Operation } from '../api/request.ts'
import type { LiveToken } from '../auth/token-store.ts'
import type { Exchange } from './exchange.ts'

/** Answers questions about the caller from the exchange as it stands at the time of the call. */
export class ExchangeCaller implements Caller {
  readonly tokenId: string
  readonly policies: readonly string[]
  readonly entry: object
  readonly namespaceId: string
  readonly #exchange: Exchange

  constructor(exchange: Exchange, token: LiveToken) {
    this.#exchange = exchange
    this.tokenId = token.id
    this.policies = token.entry.policies
    this.entry = token.entry
    this.namespaceId = token.entry.namespace
  }

  get token(): string {
    return this.#exchange.request.headers.token ?? ''
  }

  /** True if the policies refuse `operation` at `named`, a path within the same mount. */
  isRefusedAt(named: string, operation: Operation = this.#exchange.operation): boolean {
    const { acl, endpoint, mounted, path, input: parameters, wrapTtlSeconds } = this.#exchange
    const request = {
      operation,
      path: `${mounted?.path ?? ''}${named}`,
      parameters,
      declared: endpoint,
      wrapTtlSeconds,
    }
    return acl?.refusalBeside(request, path) !== undefined
  }

  /** True if the policies grant `sudo` on the path of this request (Interface 5). */
  hasSudo(): boolean {
    const { acl, endpoint, operation, path, spelling, input: parameters, wrapTtlSeconds } = this.#exchange
    const request = { operation, path, spelling, parameters, declared: endpoint, sudoRequired: true, wrapTtlSeconds }
    return acl?.check(request).allowed === true
  }
}
