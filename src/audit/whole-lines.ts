// Splits a line of a log file into whole lines. Several threads append to one file. If a full disk cut a write, a line
// of the file may hold a piece of one line and another line as a whole. A line may also lack only its newline.
import { isJsonObject, JsonError, type JsonObject, parseStoredJson } from '../lib/json.ts'
import { type LineHead, lineStart, readLineHead } from './line-head.ts'

/** A whole line, and what stands before it. */
export type WholeLine = {
  /** Text between the previous whole line and this one: a prefix, or a piece. */
  readonly before: string
  /** The hashed part. */
  readonly text: string
  readonly head: LineHead
  readonly members: JsonObject
}

/** Most beginnings that are tried: no server joins more lines, and each costs a parse of the rest. */
const MOST_BEGINNINGS = 32

/**
 * Returns the whole lines of one line of a file, in order; nearly always one. None means that all of
 * it is a piece. `text` is latin1.
 */
export function wholeLines(text: string): readonly WholeLine[] {
  let beginnings = 0
  for (let start = lineStart(text); start !== -1; start = lineStart(text, start + 1)) {
    const hashed = text.slice(start)
    const head = readLineHead(hashed)
    if (head === undefined) continue
    if (++beginnings > MOST_BEGINNINGS) return []
    const members = membersOf(hashed)
    if (members === undefined) continue
    const before = text.slice(0, start)
    const earlier = wholeLines(before)
    const taken = earlier.reduce((length, line) => length + line.before.length + line.text.length, 0)
    return [...earlier, { before: before.slice(taken), text: hashed, head, members }]
  }
  return []
}

function membersOf(text: string): JsonObject | undefined {
  try {
    const value = parseStoredJson(Buffer.from(text, 'latin1'))
    return isJsonObject(value) ? value : undefined
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}
