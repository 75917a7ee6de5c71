// Text from a server on a terminal: control characters in it could move the cursor, rename the window or hide what
// stands beside them, so they are shown as escapes.

const DELETE = 0x7f
const LAST_C1 = 0x9f
/** Embedding, override and isolation marks of Unicode, which make a line read in another order than it is. */
const isOrderMark = (code: number): boolean => (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)

/** Line feeds and tabs stay; every other control character becomes `\u001b` and the like. */
export function printable(text: string): string {
  return escapeWhere(text, (code) => isControl(code) && code !== 0x0a && code !== 0x09)
}

/** Like printable, for what must stay in one line: line feeds and tabs are escaped too. */
export function printableLine(text: string): string {
  return escapeWhere(text, isControl)
}

/** For formatted JSON, which has escaped the lower control characters itself; the result is the same JSON value. */
export function printableJson(text: string): string {
  return escapeWhere(text, (code) => code >= DELETE && isControl(code))
}

function isControl(code: number): boolean {
  return code < 0x20 || (code >= DELETE && code <= LAST_C1) || isOrderMark(code)
}

function escapeWhere(text: string, unsafe: (code: number) => boolean): string {
  let safe = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (!unsafe(code)) continue
    safe += `${text.slice(from, at)}\\u${code.toString(16).padStart(4, '0')}`
    from = at + 1
  }
  return from === 0 ? text : safe + text.slice(from)
}
