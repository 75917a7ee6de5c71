// Requests with many items (Interface 2.3 and 7.1): results in the order of the items, a wrong item fails alone, and
// the status says whether any did.
import { fail, Refusal } from '../../api/errors.ts'
import type { Item } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import { isGiven, NONCE_UNUSED } from './crypt-fields.ts'

const LOWEST_CODE = 200
const HIGHEST_CODE = 599
const NO_CONTENT = 204
// The beginning is wire text.
const CODE_IGNORED =
  'invalid HTTP response code override from partial_failure_response_code, reverting to 400: ' +
  `it takes ${LOWEST_CODE} to ${HIGHEST_CODE}`

export type BatchRun<R> = {
  readonly results: readonly R[]
  readonly succeeded: number
  readonly warnings: readonly string[]
}

type Work<R> = (item: Item, reference: string) => R
type Failed<R> = (error: string, reference: string) => R

/**
 * Runs `work` for each item. A refusal becomes the result that `failed` makes of its sentence; whatever else is thrown
 * is no mistake of the caller and fails the request.
 * @throws Refusal for no items at all, and where only some have a context
 */
export function runBatch<R>(items: readonly Item[], work: Work<R>, failed: Failed<R>): BatchRun<R> {
  requireItems(items)
  const tally = new Tally()
  const results = items.map((item) => {
    const reference = referenceOf(item)
    try {
      const result = work(item, reference)
      tally.succeeded(item)
      return result
    } catch (cause) {
      return failed(sentenceOf(cause), reference)
    }
  })
  return tally.run(results)
}

/** Enough to keep a pool busy; a few such batches do not fill it. */
const AT_ONCE = 32

/** The same for work that is done elsewhere: some items at once, so that a batch does not take all there is. */
export async function runSlowBatch<R>(
  items: readonly Item[],
  work: Work<R | Promise<R>>,
  failed: Failed<R>,
): Promise<BatchRun<R>> {
  requireItems(items)
  const tally = new Tally()
  const one = async (item: Item): Promise<R> => {
    const reference = referenceOf(item)
    try {
      const result = await work(item, reference)
      tally.succeeded(item)
      return result
    } catch (cause) {
      return failed(sentenceOf(cause), reference)
    }
  }
  const results: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(one))))
  }
  return tally.run(results)
}

/** What is said of a run besides its results. */
class Tally {
  #succeeded = 0
  #isNonceUnused = false

  succeeded({ nonce }: Item): void {
    this.#succeeded += 1
    this.#isNonceUnused ||= isGiven(nonce)
  }

  run<R>(results: readonly R[]): BatchRun<R> {
    return { results, succeeded: this.#succeeded, warnings: this.#isNonceUnused ? [NONCE_UNUSED] : [] }
  }
}

const referenceOf = ({ reference }: Item): string => (typeof reference === 'string' ? reference : '')

function sentenceOf(cause: unknown): string {
  if (cause instanceof Refusal) return cause.message
  throw cause
}

function requireItems(items: readonly Item[]): void {
  if (items.length === 0) throw fail('bad_request', ['missing batch input to process: "batch_input" has no items'])
  requireContexts(items)
}

function requireContexts(items: readonly Item[]): void {
  const count = items.reduce((sum, { context }) => sum + (isGiven(context) ? 1 : 0), 0)
  if (count !== 0 && count !== items.length) {
    throw fail('bad_request', ['context should be set either in all the request blocks or in none'])
  }
}

/** Interface 7.1: 400 or the code that the caller asked for where some items failed, 400 where all did. */
export function batchAnswer<R>({ results, succeeded, warnings }: BatchRun<R>, code: number | undefined): Answer {
  const data = { batch_results: results }
  if (succeeded === results.length) return { data, warnings }
  if (code === undefined || succeeded === 0) return { status: 400, data, warnings }
  if (code === NO_CONTENT) return { status: code }
  if (code >= LOWEST_CODE && code <= HIGHEST_CODE) return { status: code, data, warnings }
  return { status: 400, data, warnings: [...warnings, CODE_IGNORED] }
}
