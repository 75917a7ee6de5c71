// Members of answers, as pictures show them: safe for a line of a terminal, and missing ones without a fuss.
import { exactMember, isList, isMembers, type Json, plainText } from './exact-json.ts'
import { printableLine } from './terminal-text.ts'

/** Returns a text or a number for a line, digit by digit; the empty text for anything else, and for no member. */
export function lineIn(from: Json | undefined, name: string): string {
  const value = exactMember(from, name) ?? null
  return value === null || isList(value) || isMembers(value) ? '' : printableLine(plainText(value))
}

/** Returns a number, or one that came as text; undefined if there is none. Beyond 2^53 it is rounded. */
export function countIn(from: Json | undefined, name: string): number | undefined {
  const text = lineIn(from, name)
  const value = Number(text)
  return text === '' || !Number.isFinite(value) ? undefined : value
}

/** Returns the items of a list; none if there is no list. */
export function itemsIn(from: Json | undefined, name: string): readonly Json[] {
  const value = exactMember(from, name)
  return isList(value) ? value : []
}

/** Returns the items of a list of texts, each for a line. */
export function linesIn(from: Json | undefined, name: string): string[] {
  return itemsIn(from, name).map((item) => printableLine(plainText(item)))
}
