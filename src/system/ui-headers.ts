// Headers of the answers outside the API, as they are stored and sent.
/** By name; the values of one name. */
export type UiHeaders = { readonly headers: Readonly<Record<string, readonly string[]>> }

export const NO_UI_HEADERS: UiHeaders = { headers: {} }

/** As answers carry them. */
export const uiHeaderTexts = ({ headers }: UiHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.join(', ')]))
