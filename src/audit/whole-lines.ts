// Which lines of a log are whole. Several threads append to one file: where a full disk cut a write, the piece of one
// and the line of another stand in one line of the file, and a line may lack its newline alone.
import { isJsonObject, JsonError, type JsonObject, parseStoredJson } from '../lib/json.ts'
import { type LineHead, lineStart, readLineHead } from './line-head.ts'

export type WholeLine = {
  /** What stands between it and the whole line before: a prefix, or a piece. */
  readonly before: string
  /** What is hashed. */
  readonly text: string
  readonly head: LineHead
  readonly members: JsonObject
}

/** So many beginnings are looked at: no server glues more together, and each costs a parse of what follows. */
const MOST_BEGINNINGS = 32

/** Of one line of a file, in their order: nearly always one. None: all of it is a piece. `text`: latin1 */
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
