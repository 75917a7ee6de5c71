// Writes JSON text in printable ASCII alone. A line stays one line in every editor and terminal. Its length in
// characters is its length in bytes, so it can be copied into a buffer without being encoded.

/** Matches text without anything to escape. */
const PLAIN = /^[ !#-[\]-~]*$/
/** The one ASCII control character that JSON leaves as it is; terminals do not. */
const DELETE = '\u007f'
const NOT_ASCII = /[^ -~]/g

/** Returns `text` as a JSON string; a lone surrogate becomes its escape. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text).replace(NOT_ASCII, escaped)
}

/** Returns `value` as JSON in the same characters; 'null' for a value that JSON does not have. */
export function asciiJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  const isAscii = Buffer.byteLength(text) === text.length && !text.includes(DELETE)
  return isAscii ? text : text.replace(NOT_ASCII, escaped)
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Returns a JSON list of texts that are no secrets. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(',')}]`
}
