// Batches: one request with many items (Interface 2.3). Results stand in the order of the items, and a wrong item fails
// alone. For encrypt, decrypt and rewrap the status says whether any item failed (Interface 7.1).
import { fail, Refusal } from '../../api/errors.ts'
import type { Item } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import { isGiven, NONCE_UNUSED } from './crypt-fields.ts'

const LOWEST_CODE = 200
const HIGHEST_CODE = 599
const NO_CONTENT = 204
/** Statuses whose answers have no body (RFC 9110): the caller could not learn which items failed. */
const WITHOUT_BODY: readonly number[] = [205, 304]
// Wire text up to the colon.
const CODE_IGNORED =
  'invalid HTTP response code override from partial_failure_response_code, reverting to 400: ' +
  `it takes ${LOWEST_CODE} to ${HIGHEST_CODE}, but not ${WITHOUT_BODY.join(' or ')}`

/** The outcome of a batch: results in the order of the items, how many items succeeded, warnings for the answer. */
export type BatchRun<R> = {
  readonly results: readonly R[]
  readonly succeeded: number
  readonly warnings: readonly string[]
}

/**
 * Makes the result of one item. `reference` is the item's own, or '', and is repeated in the result.
 * @throws Refusal for a fault of the item, which fails that item alone; any other error fails the request
 */
export type Work<R> = (item: Item, reference: string) => R
/** Makes the result of a refused item; `error` is the sentence of the refusal. */
export type Failed<R> = (error: string, reference: string) => R

/**
 * Runs `work` for each item, one after the other, without letting other requests in.
 * @throws Refusal for an empty batch, and if some items have a context and others have none
 */
export function runBatch<R>(items: readonly Item[], work: Work<R>, failed: Failed<R>): BatchRun<R> {
  requireItems(items)
  const tally = new Tally(failed)
  return tally.run(items.map((item) => tally.result(item, (reference) => work(item, reference))))
}

/** Items under way at once in one batch: enough to keep a pool busy, while a few such batches do not fill it. */
export const AT_ONCE = 32

/**
 * Runs `work` that is done elsewhere, AT_ONCE items at a time, so that one batch does not take the whole pool.
 * @throws Refusal as `runBatch` does
 */
export async function runSlowBatch<R>(
  items: readonly Item[],
  work: Work<Promise<R>>,
  failed: Failed<R>,
): Promise<BatchRun<R>> {
  requireItems(items)
  const tally = new Tally(failed)
  const results: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const some = items.slice(at, at + AT_ONCE).map((item) => tally.resultLater(item, (name) => work(item, name)))
    results.push(...(await Promise.all(some)))
  }
  return tally.run(results)
}

type Attempt<T, R> = { readonly isRefused: false; readonly value: T } | { readonly isRefused: true; readonly result: R }

/** Turns the work of items into their results, and counts what the answer says of the batch as a whole. */
export class Tally<R> {
  readonly #failed: Failed<R>
  #succeeded = 0
  #isNonceUnused = false

  constructor(failed: Failed<R>) {
    this.#failed = failed
  }

  /** Runs `work` now. A refusal becomes the result of the item. */
  result(item: Item, work: (reference: string) => R): R {
    const reference = referenceOf(item)
    try {
      const result = work(reference)
      this.#count(item)
      return result
    } catch (cause) {
      return this.#refused(cause, reference)
    }
  }

  /** Accepts work that is done here for some items and elsewhere for others. */
  resultWhenDone(item: Item, work: (reference: string) => R | Promise<R>): R | Promise<R> {
    const reference = referenceOf(item)
    try {
      const result = work(reference)
      if (result instanceof Promise) return this.resultLater(item, () => result)
      this.#count(item)
      return result
    } catch (cause) {
      return this.#refused(cause, reference)
    }
  }

  /** Waits for work that is done elsewhere. */
  async resultLater(item: Item, work: (reference: string) => Promise<R>): Promise<R> {
    const reference = referenceOf(item)
    try {
      const result = await work(reference)
      this.#count(item)
      return result
    } catch (cause) {
      return this.#refused(cause, reference)
    }
  }

  /** Runs one step of the work. A refusal is the item's result; success is not counted yet, as more steps follow. */
  attempt<T>(item: Item, step: () => T): Attempt<T, R> {
    try {
      return { isRefused: false, value: step() }
    } catch (cause) {
      return { isRefused: true, result: this.#refused(cause, referenceOf(item)) }
    }
  }

  /** Returns the outcome; every item must have its result by then. */
  run(results: readonly R[]): BatchRun<R> {
    return { results, succeeded: this.#succeeded, warnings: this.#isNonceUnused ? [NONCE_UNUSED] : [] }
  }

  #count({ nonce }: Item): void {
    this.#succeeded += 1
    this.#isNonceUnused ||= isGiven(nonce)
  }

  #refused(cause: unknown, reference: string): R {
    if (cause instanceof Refusal) return this.#failed(cause.message, reference)
    throw cause
  }
}

const referenceOf = ({ reference }: Item): string => (typeof reference === 'string' ? reference : '')

/** Checks that there are items, and that all of them or none have a context. @throws Refusal */
export function requireItems(items: readonly Item[]): void {
  requireSome(items)
  requireContexts(items)
}

/** Checks only that there are items: in some batches each item may have a context or none. @throws Refusal */
export function requireSome(items: readonly Item[]): void {
  if (items.length === 0) throw fail('batch_invalid', ['missing batch input to process: "batch_input" has no items'])
}

function requireContexts(items: readonly Item[]): void {
  const count = items.reduce((sum, { context }) => sum + (isGiven(context) ? 1 : 0), 0)
  if (count !== 0 && count !== items.length) {
    throw fail('batch_invalid', ['context should be set either in all the request blocks or in none'])
  }
}

/**
 * Returns the answer of a batch (Interface 7.1). If some items failed, the status is the code that the caller asked
 * for, else 400; if all failed, it is 400. A code that cannot be used gives 400 and a warning.
 */
export function batchAnswer<R>({ results, succeeded, warnings }: BatchRun<R>, code: number | undefined): Answer {
  const data = { batch_results: results }
  if (succeeded === results.length) return { data, warnings }
  if (code === undefined || succeeded === 0) return { status: 400, data, warnings }
  if (code === NO_CONTENT) return { status: code }
  if (code >= LOWEST_CODE && code <= HIGHEST_CODE && !WITHOUT_BODY.includes(code))
    return { status: code, data, warnings }
  return { status: 400, data, warnings: [...warnings, CODE_IGNORED] }
}
