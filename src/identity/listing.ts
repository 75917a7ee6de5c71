// Lists of ids with a few facts about each thing, page by page.
import { int, string } from '../api/fields.ts'
import { anything, group, LISTED, mapOf, OTHERS, type Shapes } from '../api/shape.ts'
import { dictionary } from '../lib/own.ts'

/** Fields of such a list. They mean what PAGE_FIELDS mean, in words that fit ids. */
export const pageFields = {
  after: string('Returns only entries that sort after this one', { default: '' }),
  limit: int('Maximum number of entries to return; 0: all', { default: 0 }),
}

/** A list of ids, with a summary of each. */
export const LISTED_WITH_INFO: Shapes = {
  ...LISTED,
  key_info: mapOf(
    group({ [OTHERS]: anything('Member of the entry, as its own endpoint shows it') }, 'Summary of one entry'),
    'Summaries, by ID',
  ),
}

/** Answers a list of ids with facts about each. A thing that is removed meanwhile is left out. */
export async function withInfo(
  ids: readonly string[],
  infoOf: (id: string) => Promise<Record<string, unknown> | undefined>,
): Promise<{ readonly keys: readonly string[]; readonly key_info: Readonly<Record<string, unknown>> }> {
  const info = dictionary<unknown>()
  for (const id of ids) {
    const found = await infoOf(id)
    if (found !== undefined) info[id] = found
  }
  return { keys: Object.keys(info), key_info: info }
}
