// Runs a request through the steps, and turns whatever happens into a response: nothing escapes.

import { ERRORS, fail } from '../api/errors.ts'
import { DecisionOutdated } from '../api/request.ts'
import { NotRecorded } from '../audit/recorder.ts'
import type { LiveToken } from '../auth/token-store.ts'
import type { Log } from '../lib/log.ts'
import { StorageReadOnly } from '../storage/contract.ts'
import type { ObservedRequest, RequestObserver } from '../telemetry/request-observer.ts'
import { isKnown } from './access.ts'
import { withExtraHeaders } from './browser-steps.ts'
import { describeCause } from './describe-cause.ts'
import type { Exchange, WireHeaders, WireRequest, WireResponse } from './exchange.ts'
import { forward, STEPS } from './pipeline.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { limitRateOfRefused } from './rate-steps.ts'
import { recordEnd, unrecorded } from './record-end.ts'
import { refusalOf, refusalResponse } from './response.ts'
import { runTraced } from './traced-steps.ts'

/** Lost races after which the caller is told to come back. */
const MAX_ATTEMPTS = 5

export class Core {
  readonly #services: PipelineServices
  readonly #watch: RequestObserver
  readonly #log: Log
  /** Brings this thread's caches up to the last commit of another; undefined where there is nothing to do. */
  readonly #catchUp: () => Promise<void> | undefined

  constructor(services: PipelineServices, watch: RequestObserver, log: Log, catchUp: () => Promise<void> | undefined) {
    this.#services = services
    this.#watch = watch
    this.#log = log
    this.#catchUp = catchUp
  }

  async handle(request: WireRequest): Promise<WireResponse> {
    const watched = this.#watch.begin(request)
    let status = 500
    try {
      const response = await this.#process(watched, request, 0)
      status = response.status
      return response
    } finally {
      const seconds = this.#watch.end(watched, status)
      if (this.#log.isOn?.('debug') === true) this.#noteAnswer(watched, status, seconds)
    }
  }

  /** `turn`: how often it was judged before, because another was faster; `before`: what came of it the last time. */
  async #process(
    watched: ObservedRequest,
    request: WireRequest,
    turn: number,
    before?: Exchange,
  ): Promise<WireResponse> {
    const exchange = newExchange(watched, request, before)
    watched.routed = exchange
    let response = await this.#run(exchange).catch((cause: unknown) => this.#failed(exchange, cause, turn))
    if (response === undefined) return this.#process(watched, request, turn + 1, exchange)
    const recording = recordEnd(exchange, this.#services)
    if (recording !== undefined) {
      try {
        await recording
      } catch (cause) {
        response = await unrecorded(exchange, response, cause, this.#services, this.#log)
      }
    }
    if (exchange.token !== undefined && exchange.token.entry.numUses < 0) await this.#spend(exchange.token)
    if (exchange.endpoint?.changesSeal === true) this.#noteSeal(exchange, response.status)
    return withExtraHeaders(exchange, response)
  }

  /** Whether a caller would be known by these, if nothing changed in between; no use of the token is spent. */
  async hasLiveToken(headers: WireHeaders, remoteAddress: string): Promise<boolean> {
    const behind = this.#catchUp()
    if (behind !== undefined) await behind
    return isKnown(headers.token, remoteAddress, this.#services)
  }

  async #run(exchange: Exchange): Promise<WireResponse> {
    const behind = this.#catchUp()
    if (behind !== undefined) await behind
    for (const step of STEPS) {
      const { trace } = exchange
      const waiting =
        trace === undefined ? step.run(exchange, this.#services) : runTraced(step, exchange, this.#services, trace)
      if (waiting !== undefined) await waiting
      if (exchange.response !== undefined) return exchange.response
    }
    throw new Error('The last step gave no response')
  }

  /**
   * A write where none is possible has changed nothing: the request starts anew where writes are made. Undefined where
   * it is to be judged anew here.
   */
  async #failed(exchange: Exchange, cause: unknown, turn: number): Promise<WireResponse | undefined> {
    if (cause instanceof DecisionOutdated && turn < MAX_ATTEMPTS) return undefined
    if (!exchange.isRateJudged) {
      try {
        await limitRateOfRefused(exchange, this.#services)
      } catch (failed) {
        return this.#refused(exchange, failed)
      }
      if (exchange.response !== undefined) return exchange.response
    }
    const { forward: to } = this.#services
    if (!(cause instanceof StorageReadOnly) || to === undefined) return this.#refused(exchange, cause)
    try {
      await forward(exchange, to)
    } catch (failed) {
      return this.#refused(exchange, failed)
    }
    return exchange.response ?? refusalResponse(fail('internal', []))
  }

  #refused(exchange: Exchange, cause: unknown): WireResponse {
    if (cause instanceof NotRecorded) this.#services.noteUnrecorded('request')
    const refusal = refusalOf(cause)
    exchange.error = refusal?.message ?? 'internal error'
    if (refusal !== undefined) return refusalResponse(refusal)
    this.#log('error', 'A request failed inside', {
      request: exchange.id,
      endpoint: exchange.endpoint?.id ?? '',
      cause: describeCause(cause),
    })
    return refusalResponse(fail('internal', []))
  }

  /** No path: some name tokens. */
  #noteAnswer({ id, isPassedOn, routed, remoteAddress }: ObservedRequest, status: number, seconds: number): void {
    if (isPassedOn) return
    this.#log('debug', 'A request was answered', {
      request: id,
      endpoint: routed?.endpoint?.id ?? '',
      mount: routed?.mounted?.entry.path ?? '',
      address: remoteAddress,
      status,
      ms: Math.round(seconds * 1e6) / 1e3,
    })
  }

  /** Who tried to open, close or make the server, and how it went (threats V-09); once, where it is decided. */
  #noteSeal({ id, endpoint, request, isForwarded }: Exchange, status: number): void {
    // What is refused because there is too much of it must not fill the log: who refuses it counts.
    if (isForwarded || status === ERRORS.too_many_attempts.status) return
    this.#log('info', 'The seal was asked to change', {
      request: id,
      endpoint: endpoint?.id ?? '',
      address: request.remoteAddress,
      status,
    })
  }

  /** After its last request, refused or not, a limited token goes with all that it made. */
  async #spend(token: LiveToken): Promise<void> {
    try {
      await this.#services.tokens.revoke(token.id)
    } catch (cause) {
      // It cannot be used in any case; what stays behind is removed with its parent.
      this.#log('warn', 'A spent token could not be removed', { cause: describeCause(cause) })
    }
  }
}

function newExchange({ id, trace }: ObservedRequest, request: WireRequest, before: Exchange | undefined): Exchange {
  return {
    id,
    request,
    trace,
    path: '',
    method: 'read',
    operation: 'read',
    mounted: undefined,
    endpoint: undefined,
    routeError: undefined,
    pathParameters: {},
    givenNames: undefined,
    spelling: undefined,
    token: undefined,
    chargedToken: before?.chargedToken,
    subject: undefined,
    acl: undefined,
    isDataJudged: false,
    wrapTtlSeconds: 0,
    wrapForm: 'plain',
    input: undefined,
    args: {},
    answer: undefined,
    wrappedTokenId: undefined,
    warnings: [],
    response: undefined,
    extraHeaders: before?.extraHeaders,
    isRetry: before !== undefined,
    isRateJudged: false,
    quota: undefined,
    isRateLimited: false,
    isRateLimitAudited: false,
    isForwarded: false,
    record: before?.record,
    error: undefined,
  }
}
