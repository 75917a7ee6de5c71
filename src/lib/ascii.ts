// Letters and blanks of ASCII, and no others. toLowerCase maps the Kelvin sign to k, and trim removes U+00A0 and
// U+FEFF: with them two different texts could become one name (threats N-17).

const UPPER_A = 0x41
const UPPER_Z = 0x5a
const BLANKS = ' \t\n\v\f\r'

/** Maps `A` to `Z` to `a` to `z`; every other character stays. */
export function asciiLowerCase(text: string): string {
  let lower = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < UPPER_A || code > UPPER_Z) continue
    lower += text.slice(from, at) + String.fromCharCode(code + 0x20)
    from = at + 1
  }
  return from === 0 ? text : lower + text.slice(from)
}

/** Removes spaces, tabs and line breaks at both ends. */
export function asciiTrim(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && BLANKS.includes(text.charAt(from))) from += 1
  while (to > from && BLANKS.includes(text.charAt(to - 1))) to -= 1
  return text.slice(from, to)
}

/** True for one of `0` to `9`. */
export function isDigit(character: string): boolean {
  return character >= '0' && character <= '9' && character.length === 1
}

/** True if all characters are visible ASCII or spaces. */
export function isPrintableAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}
