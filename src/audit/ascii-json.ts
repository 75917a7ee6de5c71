// JSON text in printable ASCII alone: a line stays one line in every editor and every terminal, its length in
// characters is its length in bytes, and it is copied into a buffer without being encoded.

/** Nothing to escape. */
const PLAIN = /^[ !#-[\]-~]*$/
/** The one character of ASCII beyond blanks that JSON leaves as it is, and a terminal does not. */
const DELETE = '\u007f'
const NOT_ASCII = /[^ -~]/g

/** `text` as a JSON string; a lone surrogate becomes its escape. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text).replace(NOT_ASCII, escaped)
}

/** What JSON knows of `value`, in the same characters. */
export function asciiJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  const isAscii = Buffer.byteLength(text) === text.length && !text.includes(DELETE)
  return isAscii ? text : text.replace(NOT_ASCII, escaped)
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** A list of texts that are no secrets. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(',')}]`
}
