// What goes wrong, by rule: for which requests, how often, and what.
import type { JsonObject } from '../src/lib/json.ts'
import type { CloudRequest } from './exchange.ts'
import { fits, type RequestFilter } from './request-log.ts'

export type Fault = RequestFilter & {
  /** The first of the fitting requests that it hits; 1 by default. */
  readonly from?: number
  /** How many it hits from there on; all by default. */
  readonly times?: number
  /** Of those, the share that it hits, from 0 to 1, by `seed`. */
  readonly probability?: number
  readonly seed?: number
  readonly action: FaultAction
}

export type FaultAction =
  /** Answered so instead; without `body` in the form in which the service refuses. */
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Headers; readonly body?: JsonObject }
  /** 429; with `perSecond` only what comes faster than that, beyond a first `burst`. `retryAfter` is the header. */
  | {
      readonly kind: 'throttle'
      readonly retryAfter?: string
      readonly perSecond?: number
      readonly burst?: number
    }
  /** Before the first byte of the answer. */
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'trickle'; readonly bytes: number; readonly everyMs: number }
  /** No answer, until the client gives up. */
  | { readonly kind: 'hang' }
  /** The connection is reset: at once, or after so many bytes of the body. */
  | { readonly kind: 'reset'; readonly afterBytes?: number }
  /** Half of the body, as if it were all. */
  | { readonly kind: 'truncate' }
  /** A page of HTML, with 200. */
  | { readonly kind: 'html' }
  | { readonly kind: 'contentType'; readonly value: string }
  /** The same JSON, as large as this by a further member. */
  | { readonly kind: 'large'; readonly bytes: number }
  /** The same JSON, with so many arrays in one another as a further member. */
  | { readonly kind: 'deep'; readonly levels: number }
  | { readonly kind: 'byteOrderMark' }
  /** Gzip that becomes this large. */
  | { readonly kind: 'gzipBomb'; readonly bytes: number }
  /** To the same path at another origin. */
  | { readonly kind: 'redirect'; readonly status: 301 | 302 | 303 | 307 | 308; readonly to: string }
  /** RFC 7396 over the JSON of the answer. */
  | { readonly kind: 'merge'; readonly json: JsonObject }
  /** For tests that have the emulator as a library. */
  | { readonly kind: 'edit'; readonly edit: (body: JsonObject, request: CloudRequest) => JsonObject }

type Headers = Readonly<Record<string, string>>

type Rule = { readonly fault: Fault; fitting: number; readonly chance: () => number }

export class Faults {
  #rules: Rule[] = []

  /** Takes effect at once; several that fit one request all hit it, in this order. Call the answer to take it back. */
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

  /** What hits this request: each call counts as one request. */
  take(request: CloudRequest): FaultAction[] {
    return this.#rules.flatMap((rule) => {
      const { from = 1, times = Number.POSITIVE_INFINITY, probability = 1, action } = rule.fault
      if (!fits(rule.fault, request)) return []
      const number = ++rule.fitting
      return number >= from && number < from + times && rule.chance() < probability ? [action] : []
    })
  }
}

/** The same row for the same seed: mulberry32. */
function seededChance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
