// Text from a server on a terminal. Control characters in it could move the cursor, rename the window or hide the text
// beside them, so they are shown as escapes.

const DELETE = 0x7f
/** The end of the C1 control characters, which some terminals obey like escape sequences. */
const LAST_C1 = 0x9f
/** True for embedding, override and isolation marks (Unicode UAX #9), which show a line in a false order. */
const isOrderMark = (code: number): boolean => (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)

/** Escapes every control character, as `\u001b`, but for line feeds and tabs. */
export function printable(text: string): string {
  return escapeWhere(text, (code) => isControl(code) && code !== 0x0a && code !== 0x09)
}

/** Escapes line feeds and tabs too, for text that must stay in one line. */
export function printableLine(text: string): string {
  return escapeWhere(text, isControl)
}

/** Escapes the rest in formatted JSON, which has escaped the lower ones itself. The JSON value stays the same. */
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
