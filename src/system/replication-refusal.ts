// Refusals of operations on a set, as callers get them.
import { fail, type Refusal } from '../api/errors.ts'
import type { SetRefused } from '../replication/set/records.ts'

const CODES = { 400: 'replication_refused', 404: 'no_such_secondary', 503: 'replication_not_now' } as const

/** The refusal with the same status and sentence. Operations give it what the rules of a set throw. */
export function refusalOfSet(refused: Pick<SetRefused, 'status' | 'message'>): Refusal {
  return fail(CODES[refused.status], [refused.message], refused)
}
