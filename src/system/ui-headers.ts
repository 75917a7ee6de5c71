// Headers that an operator adds to answers outside /v1/, as they are stored and sent.
import { mapOf, texts } from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/** The setting behind sys/config/ui/headers: a list of values by header name. */
export const UI_HEADERS_SETTING = storedRecord('The setting ui-headers', { headers: mapOf(texts) })
/** The headers that operators set for answers outside /v1/. */
export type UiHeaders = RecordOf<typeof UI_HEADERS_SETTING>

/** The value while nothing is stored. */
export const NO_UI_HEADERS: UiHeaders = { headers: {} }

/** One text per header, several values joined by commas (RFC 9110 section 5.3). */
export const uiHeaderTexts = ({ headers }: UiHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.join(', ')]))
