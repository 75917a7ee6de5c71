// The beginning of every line (docs/audit-format.md), where its place in a chain stands. What is written and what
// reads it agree on this one expression.

export type LineHead = {
  readonly time: string
  readonly stream: string
  readonly seq: number
  readonly prev: string
  readonly type: string
}

/** Where what is hashed begins: before it there may be a prefix, or what a syslog server put there. */
const BEGINNING = '{"time":"'
const HEAD =
  /^\{"time":"([0-9T:.Z-]{20,30})","chain":\{"stream":"([0-9A-Za-z]{16})","seq":(\d{1,15}),"prev":"([\w-]{43}|)"\},"type":"(request|response|chain)",/
/** A head is shorter than this. */
export const MOST_HEAD_CHARACTERS = 256

/** Where the hashed part of a line begins; -1 where it is no line of a chain. */
export function lineStart(line: string, from = 0): number {
  return line.indexOf(BEGINNING, from)
}

/** Undefined where `text`, from its first character on, is not the beginning of a line. */
export function readHead(text: string): LineHead | undefined {
  const found = HEAD.exec(text.slice(0, MOST_HEAD_CHARACTERS))
  if (found === null) return undefined
  const [, time = '', stream = '', seq = '', prev = '', type = ''] = found
  return { time, stream, seq: Number(seq), prev, type }
}
