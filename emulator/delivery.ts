// Sends answers: whole and at once, or as faults want it.
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../src/lib/json.ts'
import type { Clock, Timers } from '../src/lib/world.ts'
import type { CloudAnswer, CloudRequest } from './exchange.ts'
import type { FaultAction } from './faults.ts'
import { serviceRefusal } from './service-refusals.ts'

/** The answer about to be sent; faults change it. */
type Delivery = {
  status: number
  headers: Record<string, string>
  body: Buffer | undefined
  delayMs: number
  trickle?: { readonly bytes: number; readonly everyMs: number }
  /** Bytes of the body before the connection is reset. */
  resetAfter?: number
  hangs: boolean
}

type Context = { readonly request: CloudRequest; readonly passes: (action: Throttle) => boolean }
type Throttle = Extract<FaultAction, { kind: 'throttle' }>
type Change<Kind extends FaultAction['kind']> = (
  delivery: Delivery,
  action: Extract<FaultAction, { kind: Kind }>,
  context: Context,
) => void

/** Sends the answers of one emulator. It keeps the state of throttles. */
export class Deliveries {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #buckets = new WeakMap<Throttle, { tokens: number; atMs: number }>()

  constructor(clock: Clock, timers: Timers) {
    this.#clock = clock
    this.#timers = timers
  }

  /** Returns the answer that a fault puts in the place of the service's; undefined if the service is to be asked. */
  insteadOf(request: CloudRequest, actions: readonly FaultAction[]): CloudAnswer | undefined {
    const replaces = actions.some(
      (action) =>
        ['status', 'redirect', 'hang', 'html'].includes(action.kind) ||
        (action.kind === 'reset' && action.afterBytes === undefined) ||
        (action.kind === 'throttle' && action.perSecond === undefined),
    )
    return replaces ? serviceRefusal(request.service, 503) : undefined
  }

  /** Sends an answer. Resolves with the status that was sent; undefined if none was. */
  async send(
    outgoing: ServerResponse,
    request: CloudRequest,
    answer: CloudAnswer,
    actions: readonly FaultAction[],
  ): Promise<number | undefined> {
    const delivery = deliveryOf(answer)
    const context = { request, passes: (action: Throttle): boolean => this.#passes(action) }
    for (const action of actions) change(delivery, action, context)
    if (delivery.hangs) return undefined
    if (delivery.delayMs > 0) await this.#timers.sleep(delivery.delayMs)
    return this.#write(outgoing, delivery)
  }

  async #write(outgoing: ServerResponse, delivery: Delivery): Promise<number | undefined> {
    const { status, headers, body = Buffer.alloc(0), resetAfter, trickle } = delivery
    if (resetAfter === 0) {
      outgoing.socket?.resetAndDestroy()
      return undefined
    }
    outgoing.writeHead(status, { ...headers, 'Content-Length': String(body.length) })
    if (resetAfter !== undefined) {
      outgoing.write(body.subarray(0, resetAfter), () => outgoing.socket?.resetAndDestroy())
      return status
    }
    for (let sent = 0; trickle !== undefined && sent < body.length && !outgoing.destroyed; sent += trickle.bytes) {
      outgoing.write(body.subarray(sent, sent + trickle.bytes))
      await this.#timers.sleep(trickle.everyMs)
    }
    outgoing.end(trickle === undefined ? body : undefined)
    return status
  }

  /** True if a request passes a throttle: a token bucket for each rule, filled at its rate. */
  #passes(action: Throttle): boolean {
    if (action.perSecond === undefined) return false
    const burst = action.burst ?? action.perSecond
    const now = this.#clock.monotonicMs()
    const bucket = this.#buckets.get(action) ?? { tokens: burst, atMs: now }
    const tokens = Math.min(burst, bucket.tokens + ((now - bucket.atMs) / 1000) * action.perSecond)
    this.#buckets.set(action, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: now })
    return tokens >= 1
  }
}

function deliveryOf({ status, headers = {}, body }: CloudAnswer): Delivery {
  const json = body !== undefined && !Buffer.isBuffer(body)
  return {
    status,
    headers: { ...(json ? { 'Content-Type': 'application/json; charset=utf-8' } : {}), ...headers },
    body: json ? Buffer.from(JSON.stringify(body)) : body,
    delayMs: 0,
    hangs: false,
  }
}

function replace(delivery: Delivery, answer: CloudAnswer): void {
  const { status, headers, body } = deliveryOf(answer)
  Object.assign(delivery, { status, headers, body })
}

function change<Kind extends FaultAction['kind']>(
  delivery: Delivery,
  action: Extract<FaultAction, { kind: Kind }>,
  context: Context,
): void {
  const apply = CHANGES[action.kind] as Change<Kind>
  apply(delivery, action, context)
}

const CHANGES: { readonly [Kind in FaultAction['kind']]: Change<Kind> } = {
  status: (delivery, { status, headers = {}, body }, { request }) => {
    const refusal = serviceRefusal(request.service, status)
    replace(delivery, { status, headers: { ...refusal.headers, ...headers }, body: body ?? refusal.body ?? {} })
  },
  throttle: (delivery, action, { request, passes }) => {
    if (passes(action)) return
    const headers: Record<string, string> = action.retryAfter === undefined ? {} : { 'Retry-After': action.retryAfter }
    replace(delivery, { ...serviceRefusal(request.service, 429), headers })
  },
  delay: (delivery, { ms }) => {
    delivery.delayMs += ms
  },
  trickle: (delivery, { bytes, everyMs }) => {
    delivery.trickle = { bytes, everyMs }
  },
  hang: (delivery) => {
    delivery.hangs = true
  },
  reset: (delivery, { afterBytes = 0 }) => {
    delivery.resetAfter = afterBytes
  },
  truncate: (delivery) => {
    delivery.body = delivery.body?.subarray(0, delivery.body.length >> 1)
  },
  html: (delivery) => {
    const body = Buffer.from('<!DOCTYPE html><html><head><title>Sign in</title></head><body></body></html>')
    replace(delivery, { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body })
  },
  contentType: (delivery, { value }) => {
    delivery.headers['Content-Type'] = value
  },
  large: (delivery, { bytes }) => {
    editJson(delivery, (json) => ({ ...json, padding: 'x'.repeat(bytes) }))
  },
  deep: (delivery, { levels }) => {
    // Written by hand: JSON.stringify recurses for each level, and its stack ends before a parser's limit.
    const nested = Buffer.from(`,"nested":${'['.repeat(levels)}${']'.repeat(levels)}}`)
    editJson(delivery, (json) => ({ emulator: 'deep', ...json }))
    if (delivery.body !== undefined) delivery.body = Buffer.concat([delivery.body.subarray(0, -1), nested])
  },
  byteOrderMark: (delivery) => {
    delivery.body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), delivery.body ?? Buffer.alloc(0)])
  },
  gzipBomb: (delivery, { bytes }) => {
    delivery.headers['Content-Encoding'] = 'gzip'
    delivery.body = gzipSync(Buffer.alloc(bytes, ' '))
  },
  redirect: (delivery, { status, to }, { request }) => {
    const query = request.query.size === 0 ? '' : `?${request.query}`
    replace(delivery, { status, headers: { Location: `${to}${request.path}${query}` } })
  },
  merge: (delivery, { json }) => {
    editJson(delivery, (body) => mergePatch(body, json) as JsonObject)
  },
  edit: (delivery, { edit }, { request }) => {
    editJson(delivery, (body) => edit(body, request))
  },
}

/** Edits a JSON body; any other stays as it is. */
function editJson(delivery: Delivery, edit: (body: JsonObject) => JsonObject): void {
  if (delivery.body === undefined) return
  const body = parseJson(delivery.body)
  if (isJsonObject(body)) delivery.body = Buffer.from(JSON.stringify(edit(body)))
}

/** Applies a merge patch (RFC 7396): null removes a member. */
function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch
  const merged: JsonObject = isJsonObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = mergePatch(merged[name], value)
  }
  return merged
}
