// What is kept under names, as every mount offers it: the list of the names, and one of them that may not be there.
import { fail } from './errors.ts'
import type { Answer } from './request.ts'
import { LISTED } from './shape.ts'

/** The endpoint that lists them, but for its id, path, summary and handler. */
export const LIST_OF_NAMES = {
  operation: 'list',
  capability: 'list',
  runsOn: 'any-node',
  fields: {},
  response: LISTED,
} as const

/** @throws Refusal `not_found` where there is no name */
export function namesAnswer(keys: readonly string[]): Answer {
  if (keys.length === 0) throw fail('not_found', [])
  return { data: { keys } }
}

/** @throws Refusal `not_found` for what is undefined */
export function orNotFound<T>(thing: T | undefined): T {
  if (thing === undefined) throw fail('not_found', [])
  return thing
}
