// Calls to the cloud. Addresses are put together here, redirects are not followed, and answers are bounded and must be
// of the expected kind (threats L-04, L-11). Repetitions share the deadline of the login.
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../../lib/json.ts'
import type { OutboundResponse } from '../../lib/outbound.ts'
import type { World } from '../../lib/world.ts'
import type { HostQueue } from './call-gate.ts'
import type { LoginDeadline } from './deadline.ts'
import { CloudRefusal, CloudUnavailable } from './refusals.ts'
import type { CloudSettings } from './settings.ts'

/** One call, before a token or retries are added. */
export type CloudCall = {
  /** The service in messages, such as `identity provider`. */
  readonly service: string
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: { readonly type: string; readonly text: string }
  readonly maxBytes?: number
  /** True if the call must not be repeated after an attempt that may have arrived, because it would be done twice. */
  readonly onlyOnce?: boolean
}

/** Time for one attempt; a deadline leaves room for three. */
const TRY_MS = 3_000
/** With less time left an attempt is not made. */
const WORTH_TRYING_MS = 50
const MAX_ANSWER_BYTES = 1 << 20
/** What an answer may cost to parse. */
const JSON_LIMITS = { depth: 32, containers: 50_000, members: 200_000 }
/** Statuses after which another attempt may succeed. */
const TRANSIENT_STATUSES = [408, 429, 500, 502, 503, 504]
/** The form of the cloud's codes; anything else is not repeated, even in the log. */
const REASON = /^[A-Za-z0-9_.-]{1,80}$/

/** The calls of one mount to one service, through its lane. */
export class Upstream {
  readonly #world: World
  readonly #lane: HostQueue
  readonly #retries: CloudSettings['retries']

  constructor(world: World, lane: HostQueue, retries: CloudSettings['retries']) {
    this.#world = world
    this.#lane = lane
    this.#retries = retries
  }

  /**
   * Returns the JSON object of a 2xx answer; empty if it has no body.
   * @throws CloudRefusal for a 4xx that a repetition would not change, CloudUnavailable for everything else.
   */
  async call(call: CloudCall, deadline: LoginDeadline): Promise<JsonObject> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(call, deadline)
      if (!(outcome instanceof TransientFailure)) return outcome
      const waitMs = this.#waitMs(outcome, attempt, deadline)
      if (waitMs === undefined || (call.onlyOnce === true && outcome.mayBeHeard))
        throw unavailable(call, outcome.detail)
      await this.#world.timers.sleep(waitMs)
    }
  }

  async #attempt(call: CloudCall, deadline: LoginDeadline): Promise<JsonObject | TransientFailure> {
    if (deadline.leftMs < WORTH_TRYING_MS) throw unavailable(call, 'no time was left')
    const leave = await this.#enter(deadline)
    if (leave === undefined) throw unavailable(call, 'too many calls wait already')
    try {
      return this.#read(call, await this.#send(call, deadline))
    } catch (cause) {
      if (cause instanceof CloudRefusal || cause instanceof CloudUnavailable) throw cause
      return new TransientFailure(
        `${(cause as NodeJS.ErrnoException).code ?? ''} ${(cause as Error).message}`.trim(),
        true,
      )
    } finally {
      leave()
    }
  }

  /**
   * Waits for admission and returns the function that ends it; undefined if too many wait. A call that stops waiting
   * leaves the queue.
   */
  async #enter(deadline: LoginDeadline): Promise<(() => void) | undefined> {
    const admission = this.#lane.enter()
    if (admission === undefined) return undefined
    try {
      await deadline.within(admission.admitted)
      return admission.leave
    } catch (cause) {
      admission.leave()
      throw cause
    }
  }

  #send({ method, url, headers = {}, body, maxBytes }: CloudCall, deadline: LoginDeadline): Promise<OutboundResponse> {
    return this.#world.outbound.request({
      method,
      url,
      headers: {
        Accept: 'application/json',
        'User-Agent': 'keywright',
        ...headers,
        ...(body === undefined ? {} : { 'Content-Type': body.type }),
      },
      ...(body === undefined ? {} : { body: Buffer.from(body.text) }),
      timeoutMs: Math.min(TRY_MS, deadline.leftMs),
      maxAnswerBytes: maxBytes ?? MAX_ANSWER_BYTES,
      keepsConnection: true,
    })
  }

  #read(call: CloudCall, { status, headers, body }: OutboundResponse): JsonObject | TransientFailure {
    if (TRANSIENT_STATUSES.includes(status))
      return new TransientFailure(`status ${status}`, status !== 429, headers.get('retry-after'))
    if (status >= 300 && status < 400) throw unavailable(call, `status ${status}: redirects are not followed`)
    if (status >= 400) throw new CloudRefusal(status, reasonIn(body))
    if (status < 200) throw unavailable(call, `status ${status}`)
    if (body.length === 0 && status !== 200) return {}
    const type = headers.get('content-type') ?? ''
    const encoding = headers.get('content-encoding') ?? 'identity'
    if (!/^application\/json(?:\s*;|$)/i.test(type)) throw unavailable(call, 'the answer is no JSON by its type')
    if (encoding !== 'identity') throw unavailable(call, 'the answer is compressed, which was not asked for')
    const value = jsonIn(body)
    if (value === undefined) throw unavailable(call, 'the answer is no JSON object')
    return value
  }

  /**
   * Returns the pause before the next attempt; undefined if none is worth making. Our own pause is cut to fit the time
   * left; one that the cloud asks for is not.
   */
  #waitMs({ retryAfter }: TransientFailure, attempt: number, deadline: LoginDeadline): number | undefined {
    const { most, delayMs, maxDelayMs } = this.#retries
    if (attempt > most) return undefined
    const leftMs = deadline.leftMs
    if (retryAfter !== undefined) {
      const askedMs = retryAfterMs(retryAfter, this.#world.clock.nowMs())
      if (askedMs !== undefined) return askedMs + WORTH_TRYING_MS > leftMs ? undefined : askedMs
    }
    const jitter = 0.8 + (this.#world.random.bytes(1)[0] ?? 0) / 512
    const backOffMs = Math.min(maxDelayMs, (2 ** attempt - 1) * delayMs * jitter)
    return Math.min(backOffMs, leftMs / 4)
  }
}

/** An attempt that failed for a reason that may pass. */
class TransientFailure {
  readonly detail: string
  /** True if the other side may have done what it was asked. */
  readonly mayBeHeard: boolean
  readonly retryAfter: string | undefined
  constructor(detail: string, mayBeHeard: boolean, retryAfter?: string) {
    this.detail = detail
    this.mayBeHeard = mayBeHeard
    this.retryAfter = retryAfter
  }
}

const unavailable = ({ service, method, url }: CloudCall, detail: string): CloudUnavailable =>
  new CloudUnavailable(`${service} unavailable`, `${method} ${new URL(url).origin}: ${detail}`)

/** Returns the pause that the cloud asks for, in seconds or as a date (RFC 9110 section 10.2.3). */
function retryAfterMs(text: string, nowMs: number): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const atMs = text.length > 40 ? Number.NaN : Date.parse(text)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}

function jsonIn(body: Buffer): JsonObject | undefined {
  try {
    const value = parseJson(body, JSON_LIMITS)
    return isJsonObject(value) ? value : undefined
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}

/**
 * Reads the code of a refusal: `{"error": {"code": …}}` of the resource manager, `{"error": …, "error_codes": […]}` of
 * the identity provider.
 */
function reasonIn(body: Buffer): string {
  const { error, error_codes: codes } = jsonIn(body) ?? {}
  const named = isJsonObject(error) ? error.code : error
  const number = Array.isArray(codes) && typeof codes[0] === 'number' ? ` ${codes[0]}` : ''
  return typeof named === 'string' && REASON.test(named) ? named + number : ''
}
