// The beginning of every line (docs/audit-format.md), where its place in a chain stands. What is written and what
// reads it agree on these expressions.

export type LineHead = {
  readonly time: string
  readonly stream: string
  readonly seq: number
  readonly prev: string
  readonly type: string
}

/** Where what is hashed begins: before it there may be a prefix, or what a syslog server put there. */
const BEGINNING = '{"time":"'
const HEAD_TIME = /^\{"time":"([0-9T:.Z-]{20,30})","chain":\{/
const HEAD_PLACE = /^"stream":"([0-9A-Za-z]{16})","seq":(\d{1,15}),"prev":"([\w-]{43}|)"\}/
const HEAD_TYPE = /^,"type":"(request|response|chain)",/
/** A head is shorter than this. */
export const MOST_HEAD_CHARACTERS = 256

/** Where the hashed part of a line begins; -1 where it is no line of a chain. */
export function lineStart(line: string, from = 0): number {
  return line.indexOf(BEGINNING, from)
}

/** Undefined where `text`, from its first character on, is not the beginning of a line. */
export function readLineHead(text: string): LineHead | undefined {
  const place = readLinePosition(text)
  if (place === undefined) return undefined
  const found = HEAD_TYPE.exec(text.slice(place.length, place.length + MOST_HEAD_CHARACTERS))
  return found === null ? undefined : { ...place, type: found[1] ?? '' }
}

/** The same of a line that was cut behind its place in the chain; `length`: up to there. */
export function readLinePosition(text: string): (Omit<LineHead, 'type'> & { readonly length: number }) | undefined {
  const begun = HEAD_TIME.exec(text.slice(0, MOST_HEAD_CHARACTERS))
  if (begun === null) return undefined
  const from = begun[0].length
  const found = HEAD_PLACE.exec(text.slice(from, from + MOST_HEAD_CHARACTERS))
  if (found === null) return undefined
  const [all, stream = '', seq = '', prev = ''] = found
  return { time: begun[1] ?? '', stream, seq: Number(seq), prev, length: from + all.length }
}
