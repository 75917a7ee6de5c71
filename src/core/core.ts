// Runs a request through the steps and turns its outcome, an error of a step included, into a response.

import { ERRORS, fail } from '../api/errors.ts'
import { mayChange } from '../api/node-role.ts'
import { DecisionOutdated } from '../api/request.ts'
import { NotRecorded } from '../audit/recorder.ts'
import type { LiveToken } from '../auth/token-store.ts'
import type { Log } from '../lib/log.ts'
import { StorageReadOnly, WriteNotAllowed } from '../storage/errors.ts'
import type { ObservedRequest, RequestObserver } from '../telemetry/request-observer.ts'
import { isKnown } from './access.ts'
import { withExtraHeaders } from './browser-steps.ts'
import { withIndex } from './consistency-steps.ts'
import { describeCause } from './describe-cause.ts'
import type { Exchange, WireHeaders, WireRequest, WireResponse } from './exchange.ts'
import { forward } from './forward.ts'
import { handOver, isHandedLate } from './hand-over.ts'
import type { Secondary, ToPrimary } from './handed.ts'
import { HandedRequests } from './handed-requests.ts'
import { MAX_ATTEMPTS, newExchange } from './new-exchange.ts'
import { STEPS, type Step, stepsBetween } from './pipeline.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { limitRateOfRefused } from './rate-steps.ts'
import { recordEnd, unrecorded } from './record-end.ts'
import { refusalOf, refusalResponse } from './response.ts'
import { heldBack, logBefore } from './synchronous-steps.ts'
import { runTraced } from './traced-steps.ts'

const AFTER_HANDLING = stepsBetween('issue the token of a login', 'write the response')

/**
 * The request handler of one thread. Listeners call it, and so does the link from other threads where writes are made.
 */
export class Core {
  readonly #services: PipelineServices
  readonly #watch: RequestObserver
  readonly #log: Log
  /** Brings this thread's caches up to the last commit of another thread; returns undefined if they are up to date. */
  readonly #catchUp: () => Promise<void> | undefined

  constructor(services: PipelineServices, watch: RequestObserver, log: Log, catchUp: () => Promise<void> | undefined) {
    this.#services = services
    this.#watch = watch
    this.#log = log
    this.#catchUp = catchUp
  }

  /** Answers a request. An unexpected error is logged and answered with status 500. */
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

  /**
   * Runs one attempt. `attempt` counts those before it, each lost to a faster request; `before` is what the last one
   * found.
   */
  async #process(
    watched: ObservedRequest,
    request: WireRequest,
    attempt: number,
    before?: Exchange,
    logBeforeIt = logBefore(this.#services),
  ): Promise<WireResponse> {
    const exchange = newExchange(watched, request, before)
    watched.routed = exchange
    let response = await this.#run(exchange).catch((cause: unknown) => this.#failed(exchange, cause, attempt))
    if (response === undefined) return this.#process(watched, request, attempt + 1, exchange, logBeforeIt)
    const held = heldBack(exchange, response, logBeforeIt, this.#services, this.#log)
    if (held !== undefined) response = await held
    const recording = recordEnd(exchange, this.#services)
    if (recording !== undefined) {
      try {
        await recording
      } catch (cause) {
        response = await unrecorded(exchange, response, cause, this.#services, this.#log)
      }
    }
    // A negative count marks the last use. The token goes only now, since the response above may still need it.
    if (exchange.token !== undefined && exchange.token.entry.numUses < 0) await this.#spend(exchange.token)
    if (exchange.endpoint?.changesSeal === true) this.#noteSeal(exchange, response.status)
    return withExtraHeaders(exchange, await withIndex(exchange, response, this.#services))
  }

  /** True if these headers would identify a caller now. Spends no use: listeners ask before they read a large body. */
  async hasLiveToken(headers: WireHeaders, remoteAddress: string): Promise<boolean> {
    const behind = this.#catchUp()
    if (behind !== undefined) await behind
    return isKnown(headers.token, remoteAddress, this.#services)
  }

  /** On a primary: what one of its secondaries may ask of it. */
  answersTo(secondary: Secondary): ToPrimary {
    return new HandedRequests(this.#services, secondary, this.#log)
  }

  async #run(exchange: Exchange, steps: readonly Step[] = STEPS): Promise<WireResponse> {
    const behind = this.#catchUp()
    if (behind !== undefined) await behind
    for (const step of steps) {
      const { trace } = exchange
      const waiting =
        trace === undefined ? step.run(exchange, this.#services) : runTraced(step, exchange, this.#services, trace)
      if (waiting !== undefined) await waiting
      if (exchange.response !== undefined) return exchange.response
    }
    throw new Error('The last step gave no response')
  }

  /**
   * Returns the response for an attempt that threw. Returns undefined if the request is to be judged again, because
   * another one changed what its decision rested on. An attempt to write on a thread that cannot has stored nothing, so
   * the request is forwarded and starts over on the writing thread.
   */
  async #failed(exchange: Exchange, cause: unknown, attempt: number): Promise<WireResponse | undefined> {
    if (cause instanceof DecisionOutdated && attempt < MAX_ATTEMPTS) return undefined
    // Refused before quotas were asked. It counts all the same, or a flood of bad requests would cost its sender
    // nothing.
    if (!exchange.isRateJudged) {
      try {
        await limitRateOfRefused(exchange, this.#services)
      } catch (failed) {
        return this.#refused(exchange, failed)
      }
      if (exchange.response !== undefined) return exchange.response
    }
    if (cause instanceof WriteNotAllowed) return this.#handLate(exchange, cause)
    const { forward: to } = this.#services
    if (!(cause instanceof StorageReadOnly) || to === undefined) return this.#refused(exchange, cause)
    try {
      await forward(exchange, to)
    } catch (failed) {
      return this.#refused(exchange, failed)
    }
    return exchange.response ?? refusalResponse(fail('internal', []))
  }

  /**
   * A handler came to a write that this node may not make. If that is data of the set, the primary carries the whole
   * request out: nothing of it was written here, since no endpoint writes data of the cluster first.
   */
  async #handLate(exchange: Exchange, cause: WriteNotAllowed): Promise<WireResponse> {
    const isOfSet = cause.storageClass === 'replicated' && mayChange(this.#services.nodeRole(), 'cluster')
    if (!isOfSet) return this.#refused(exchange, cause)
    if (exchange.own?.isWritten === true || !isHandedLate(exchange, this.#services)) {
      this.#log('error', 'A request came to a write that its endpoint does not announce', {
        request: exchange.id,
        endpoint: exchange.endpoint?.id ?? '',
      })
      return this.#refused(exchange, cause)
    }
    try {
      await handOver(exchange, this.#services)
      return await this.#run(exchange, AFTER_HANDLING)
    } catch (failed) {
      return this.#refused(exchange, failed)
    }
  }

  #refused(exchange: Exchange, cause: unknown): WireResponse {
    if (cause instanceof NotRecorded) this.#services.noteUnrecorded('request')
    const refusal = refusalOf(cause, this.#services.primaryAddress())
    exchange.error = refusal?.message ?? 'internal error'
    if (refusal !== undefined) return refusalResponse(refusal)
    this.#log('error', 'A request failed inside', {
      request: exchange.id,
      endpoint: exchange.endpoint?.id ?? '',
      cause: describeCause(cause),
    })
    return refusalResponse(fail('internal', []))
  }

  /** Logs the answer without its path, since some paths name tokens. */
  #noteAnswer({ id, isPassedOn, routed, remoteAddress }: ObservedRequest, status: number, seconds: number): void {
    if (isPassedOn) return
    this.#log('debug', 'A request was answered', {
      request: id,
      endpoint: routed?.endpoint?.id ?? '',
      mount: routed?.mounted?.path ?? '',
      address: remoteAddress,
      status,
      ms: Math.round(seconds * 1e6) / 1e3,
    })
  }

  /**
   * Logs who tried to initialise, unseal or seal the server, and the outcome (threats V-09). Logged once, on the thread
   * that decided.
   */
  #noteSeal({ id, endpoint, request, isForwarded }: Exchange, status: number): void {
    // Refusals of too many attempts are counted where they are made; logging each would let a caller fill the log.
    if (isForwarded || status === ERRORS.too_many_attempts.status) return
    this.#log('info', 'The seal was asked to change', {
      request: id,
      endpoint: endpoint?.id ?? '',
      address: request.remoteAddress,
      status,
    })
  }

  /** Revokes a limited token after its last request, refused or not, with everything it made. */
  async #spend(token: LiveToken): Promise<void> {
    try {
      await this.#services.tokens.revoke(token.id)
    } catch (cause) {
      // Its count of uses already stops it; what it left is removed along with its parent.
      this.#log('warn', 'A spent token could not be removed', { cause: describeCause(cause) })
    }
  }
}
