// Runs a request through the steps, and turns whatever happens into a response: nothing escapes.

import { fail } from '../api/errors.ts'
import { Reconsider } from '../api/request.ts'
import type { LiveToken } from '../auth/token-store.ts'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { StorageReadOnly } from '../storage/contract.ts'
import { nameOf } from './cause-name.ts'
import type { Exchange, WireRequest, WireResponse } from './exchange.ts'
import { forward, STEPS } from './pipeline.ts'
import { recordEnd, withheld } from './record-end.ts'
import { refusalOf, refusalResponse } from './response.ts'
import type { Surroundings } from './surroundings.ts'

/** Lost races after which the caller is told to come back. */
const MAX_TURNS = 5

export class Core {
  readonly #around: Surroundings
  readonly #world: World
  readonly #log: Log
  /** Brings this thread's caches up to the last commit of another; undefined where there is nothing to do. */
  readonly #catchUp: () => Promise<void> | undefined

  constructor(around: Surroundings, world: World, log: Log, catchUp: () => Promise<void> | undefined) {
    this.#around = around
    this.#world = world
    this.#log = log
    this.#catchUp = catchUp
  }

  /** `turn`: how often the request was judged before, because another was faster; `before`: what came of that. */
  async handle(request: WireRequest, turn = 0, before?: Exchange): Promise<WireResponse> {
    const id = before?.id ?? request.begun?.id ?? this.#world.random.uuid()
    const exchange = newExchange(id, request, before)
    let response = await this.#run(exchange).catch((cause: unknown) => this.#failed(exchange, cause, turn))
    if (response === undefined) return this.handle(request, turn + 1, exchange)
    const recording = recordEnd(exchange, this.#around)
    if (recording !== undefined) {
      try {
        await recording
      } catch (cause) {
        response = await withheld(exchange, response, cause, this.#around, this.#log)
      }
    }
    if (exchange.token !== undefined && exchange.token.entry.numUses < 0) await this.#spend(exchange.token)
    if (exchange.endpoint?.changesSeal === true) this.#noteSeal(exchange, response.status)
    return response
  }

  async #run(exchange: Exchange): Promise<WireResponse> {
    const behind = this.#catchUp()
    if (behind !== undefined) await behind
    for (const step of STEPS) {
      const waiting = step.run(exchange, this.#around)
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
    if (cause instanceof Reconsider && turn < MAX_TURNS) return undefined
    const { forward: to } = this.#around
    if (!(cause instanceof StorageReadOnly) || to === undefined) return this.#refused(exchange, cause)
    try {
      await forward(exchange, to)
    } catch (failed) {
      return this.#refused(exchange, failed)
    }
    return exchange.response ?? refusalResponse(fail('internal', []))
  }

  #refused(exchange: Exchange, cause: unknown): WireResponse {
    const refusal = refusalOf(cause)
    exchange.error = refusal?.message ?? 'internal error'
    if (refusal !== undefined) return refusalResponse(refusal)
    this.#log('error', 'A request failed inside', {
      request: exchange.id,
      endpoint: exchange.endpoint?.id ?? '',
      cause: nameOf(cause),
    })
    return refusalResponse(fail('internal', []))
  }

  /** Who tried to open, close or make the server, and how it went (threats V-09); once, where it is decided. */
  #noteSeal({ endpoint, request, isForwarded }: Exchange, status: number): void {
    if (isForwarded) return
    this.#log('info', 'The seal was asked to change', {
      endpoint: endpoint?.id ?? '',
      address: request.remoteAddress,
      status,
    })
  }

  /** After its last request, refused or not, a limited token goes with all that it made. */
  async #spend(token: LiveToken): Promise<void> {
    try {
      await this.#around.tokens.revoke(token.id)
    } catch (cause) {
      // It cannot be used any more in any case; what stays behind is removed with its parent.
      this.#log('warn', 'A spent token could not be removed', { cause: nameOf(cause) })
    }
  }
}

function newExchange(id: string, request: WireRequest, before: Exchange | undefined): Exchange {
  return {
    id,
    request,
    path: '',
    method: 'read',
    operation: 'read',
    mounted: undefined,
    endpoint: undefined,
    routeError: undefined,
    pathParameters: {},
    token: undefined,
    paid: before?.paid,
    subject: undefined,
    acl: undefined,
    wrapTtlSeconds: 0,
    input: undefined,
    args: {},
    answer: undefined,
    warnings: [],
    response: undefined,
    isForwarded: false,
    record: before?.record,
    error: undefined,
  }
}
