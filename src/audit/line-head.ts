// Reads the beginning of every line (docs/audit-format.md), which has its position in a chain. Writer and
// readers agree on these expressions.

/** The head of a line. `prev` is the hash of the line before it, '' in the first. */
export type LineHead = {
  readonly time: string
  readonly stream: string
  readonly seq: number
  readonly prev: string
  readonly type: string
}

/** How the hashed part of a line begins; before it may stand a prefix, or text of a syslog server. */
const BEGINNING = '{"time":"'
const HEAD_TIME = /^\{"time":"([0-9T:.Z-]{20,30})","chain":\{/
const HEAD_POSITION = /^"stream":"([0-9A-Za-z]{16})","seq":(\d{1,15}),"prev":"([\w-]{43}|)"\}/
const HEAD_TYPE = /^,"type":"(request|response|chain)",/
/** No head is longer, so a reader need look no further. */
export const MOST_HEAD_CHARACTERS = 256

/** Returns where the hashed part of a line begins; -1 if it is no line of a chain. */
export function lineStart(line: string, from = 0): number {
  return line.indexOf(BEGINNING, from)
}

/** Reads the head; returns undefined unless `text` begins with one. */
export function readLineHead(text: string): LineHead | undefined {
  const position = readLinePosition(text)
  if (position === undefined) return undefined
  const found = HEAD_TYPE.exec(text.slice(position.length, position.length + MOST_HEAD_CHARACTERS))
  return found === null ? undefined : { ...position, type: found[1] ?? '' }
}

/** Reads the position from a line that may be cut behind it; `length` is that of the part read. */
export function readLinePosition(text: string): (Omit<LineHead, 'type'> & { readonly length: number }) | undefined {
  const begun = HEAD_TIME.exec(text.slice(0, MOST_HEAD_CHARACTERS))
  if (begun === null) return undefined
  const from = begun[0].length
  const found = HEAD_POSITION.exec(text.slice(from, from + MOST_HEAD_CHARACTERS))
  if (found === null) return undefined
  const [all, stream = '', seq = '', prev = ''] = found
  return { time: begun[1] ?? '', stream, seq: Number(seq), prev, length: from + all.length }
}
