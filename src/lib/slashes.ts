// Slashes at the ends of a path that a caller gave. Not by a regular expression: `/\/+$/` begins anew at each slash, so
// a text of 100,000 slashes and a letter would hold up its thread for half a minute.

const SLASH = '/'

/** Returns the text without the slashes that it ends with. */
export function withoutLastSlashes(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === SLASH) end--
  return text.slice(0, end)
}

/** Returns the text without the slashes that it begins and ends with. */
export function withoutOuterSlashes(text: string): string {
  let start = 0
  while (text[start] === SLASH) start++
  return withoutLastSlashes(text.slice(start))
}
