// Requests with many items (Interface 2.3 and 7.1): results in the order of the items, a wrong item fails alone, and
// the status says whether any did.
import { fail, Refusal } from '../../api/errors.ts'
import type { Item } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import { isGiven, NONCE_UNUSED } from './crypt-fields.ts'

const LOWEST_CODE = 200
const HIGHEST_CODE = 599
const NO_CONTENT = 204
/** What they answer has no body (RFC 9110), so nobody would learn which items failed. */
const WITHOUT_BODY: readonly number[] = [205, 304]
// The beginning is wire text.
const CODE_IGNORED =
  'invalid HTTP response code override from partial_failure_response_code, reverting to 400: ' +
  `it takes ${LOWEST_CODE} to ${HIGHEST_CODE}, but not ${WITHOUT_BODY.join(' or ')}`

export type BatchRun<R> = {
  readonly results: readonly R[]
  readonly succeeded: number
  readonly warnings: readonly string[]
}

/** @throws Refusal for what is wrong with the item; whatever else is thrown fails the request */
export type Work<R> = (item: Item, reference: string) => R
/** The result of an item that was refused, with the sentence. */
export type Failed<R> = (error: string, reference: string) => R

/**
 * Runs `work` for each item.
 * @throws Refusal for no items at all, and where only some have a context
 */
export function runBatch<R>(items: readonly Item[], work: Work<R>, failed: Failed<R>): BatchRun<R> {
  requireItems(items)
  const tally = new Tally(failed)
  return tally.run(items.map((item) => tally.result(item, (reference) => work(item, reference))))
}

/** Enough to keep a pool busy; a few such batches do not fill it. */
export const AT_ONCE = 32

/** The same for work that is done elsewhere: some items at once, so that a batch does not take all there is. */
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

/** Makes results of items, and keeps what is said of the batch besides them. */
export class Tally<R> {
  readonly #failed: Failed<R>
  #succeeded = 0
  #isNonceUnused = false

  constructor(failed: Failed<R>) {
    this.#failed = failed
  }

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

  /** Where some work is done here and some elsewhere. */
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

  /** A step of the work: only where it is refused is this the result. */
  attempt<T>(item: Item, step: () => T): Attempt<T, R> {
    try {
      return { isRefused: false, value: step() }
    } catch (cause) {
      return { isRefused: true, result: this.#refused(cause, referenceOf(item)) }
    }
  }

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

/** @throws Refusal */
export function requireItems(items: readonly Item[]): void {
  requireSome(items)
  requireContexts(items)
}

/** Of batches in which each item may have a context or none. @throws Refusal */
export function requireSome(items: readonly Item[]): void {
  if (items.length === 0) throw fail('batch_invalid', ['missing batch input to process: "batch_input" has no items'])
}

function requireContexts(items: readonly Item[]): void {
  const count = items.reduce((sum, { context }) => sum + (isGiven(context) ? 1 : 0), 0)
  if (count !== 0 && count !== items.length) {
    throw fail('batch_invalid', ['context should be set either in all the request blocks or in none'])
  }
}

/** Interface 7.1: 400 or the code that the caller asked for where some items failed, 400 where all did. */
export function batchAnswer<R>({ results, succeeded, warnings }: BatchRun<R>, code: number | undefined): Answer {
  const data = { batch_results: results }
  if (succeeded === results.length) return { data, warnings }
  if (code === undefined || succeeded === 0) return { status: 400, data, warnings }
  if (code === NO_CONTENT) return { status: code }
  if (code >= LOWEST_CODE && code <= HIGHEST_CODE && !WITHOUT_BODY.includes(code))
    return { status: code, data, warnings }
  return { status: 400, data, warnings: [...warnings, CODE_IGNORED] }
}
