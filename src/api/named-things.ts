// What is kept under names, as every mount offers it: the list of the names, and one of them that may not be there.
import { fail } from './errors.ts'
import { int, string } from './fields.ts'
import type { Answer } from './request.ts'
import { LISTED } from './shape.ts'

/** Every list has them: a policy that bounds a list sets the limit (core/access.ts). */
export const PAGE_FIELDS = {
  after: string('Only names that sort after this one', { default: '' }),
  limit: int('At most so many names; 0: all', { default: 0 }),
}
export type Page = { readonly after: string; readonly limit: number }

/** The endpoint that lists them, but for its id, path, summary and handler. */
export const LIST_OF_NAMES = {
  operation: 'list',
  capability: 'list',
  runsOn: 'any-node',
  fields: PAGE_FIELDS,
  response: LISTED,
} as const

/** Of names that were looked up page by page. @throws Refusal `not_found` where there is no name */
export function namesAnswer(keys: readonly string[]): Answer {
  if (keys.length === 0) throw fail('not_found', [])
  return { data: { keys } }
}

/** The names of one page out of all. @throws Refusal `not_found` for an empty page */
export function pageOf(sorted: readonly string[], { after, limit }: Page): string[] {
  const rest = sorted.filter((key) => key > after)
  if (rest.length === 0) throw fail('not_found', [])
  return limit > 0 ? rest.slice(0, limit) : rest
}

/** @throws Refusal `not_found` for what is undefined */
export function orNotFound<T>(thing: T | undefined): T {
  if (thing === undefined) throw fail('not_found', [])
  return thing
}
