// Headers of the answers outside the API, as they are stored and sent.
import { mapOf, texts } from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/** By name; the values of one name. */
export const UI_HEADERS_SETTING = storedRecord('The setting ui-headers', { headers: mapOf(texts) })
export type UiHeaders = RecordOf<typeof UI_HEADERS_SETTING>

export const NO_UI_HEADERS: UiHeaders = { headers: {} }

/** As answers carry them. */
export const uiHeaderTexts = ({ headers }: UiHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.join(', ')]))
