// Faults by rule: which requests they hit, how often, and what happens to them.
import type { JsonObject } from '../src/lib/json.ts'
import type { CloudRequest } from './exchange.ts'
import { fits, type RequestFilter } from './request-log.ts'

/** A rule. Its filter names the requests that can be hit. */
export type Fault = RequestFilter & {
  /** The first of the fitting requests that it hits; 1 by default. */
  readonly from?: number
  /** How many it hits from there on; all by default. */
  readonly times?: number
  /** The share of those that it hits, from 0 to 1. The choice follows from `seed` and is the same in every run. */
  readonly probability?: number
  readonly seed?: number
  readonly action: FaultAction
}

/** The fate of a request that is hit. */
export type FaultAction =
  /** Answered with this status; without `body` in the form in which the service refuses. */
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Headers; readonly body?: JsonObject }
  /** 429; with `perSecond` only beyond that rate and a first `burst`. `retryAfter` is the header. */
  | {
      readonly kind: 'throttle'
      readonly retryAfter?: string
      readonly perSecond?: number
      readonly burst?: number
    }
  /** Time before the first byte of the answer. */
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'trickle'; readonly bytes: number; readonly everyMs: number }
  /** No answer, until the client gives up. */
  | { readonly kind: 'hang' }
  /** The connection is reset: at once, or after so many bytes of the body. */
  | { readonly kind: 'reset'; readonly afterBytes?: number }
  /** Half of the body, sent as if it were all of it. */
  | { readonly kind: 'truncate' }
  /** A page of HTML, with 200. */
  | { readonly kind: 'html' }
  | { readonly kind: 'contentType'; readonly value: string }
  /** Fills the JSON to this size, by a further member. */
  | { readonly kind: 'large'; readonly bytes: number }
  /** Adds a member of so many nested arrays to the JSON. */
  | { readonly kind: 'deep'; readonly levels: number }
  | { readonly kind: 'byteOrderMark' }
  /** Gzip that unpacks to this size. */
  | { readonly kind: 'gzipBomb'; readonly bytes: number }
  /** Points to the same path at another origin. */
  | { readonly kind: 'redirect'; readonly status: 301 | 302 | 303 | 307 | 308; readonly to: string }
  /** Lays a merge patch (RFC 7396) over the JSON of the answer. */
  | { readonly kind: 'merge'; readonly json: JsonObject }
  /** Any change, for tests in the same process: HTTP cannot carry a function. */
  | { readonly kind: 'edit'; readonly edit: (body: JsonObject, request: CloudRequest) => JsonObject }

type Headers = Readonly<Record<string, string>>

type Rule = { readonly fault: Fault; fitting: number; readonly chance: () => number }

/** The rules in force. */
export class Faults {
  #rules: Rule[] = []

  /** Adds a rule, in force at once; returns a function that removes it. All rules that fit hit a request, in order. */
  add(fault: Fault): () => void {
    const rule = { fault, fitting: 0, chance: seededChance(fault.seed ?? 1) }
    this.#rules.push(rule)
    return () => {
      this.#rules = this.#rules.filter((each) => each !== rule)
    }
  }

  clear(): void {
    this.#rules = []
  }

  /** Returns what hits a request. Each call counts as one request. */
  take(request: CloudRequest): FaultAction[] {
    return this.#rules.flatMap((rule) => {
      const { from = 1, times = Number.POSITIVE_INFINITY, probability = 1, action } = rule.fault
      if (!fits(rule.fault, request)) return []
      const number = ++rule.fitting
      return number >= from && number < from + times && rule.chance() < probability ? [action] : []
    })
  }
}

/** Returns a generator of numbers from 0 to 1, the same for the same seed: mulberry32. */
function seededChance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
