// JSON whose numbers stay as they were written: a counter above 2^53 is not rounded on its way to the reader.

/** A number that a JavaScript number would change, in the letters of its source. */
export interface ExactNumber {
  readonly rawJSON: string
}
export type Json = null | boolean | number | string | ExactNumber | readonly Json[] | JsonMembers
export type JsonMembers = { readonly [name: string]: Json }

/** The source of a value and JSON.rawJSON: part of the language, not yet of the compiler's library. */
type SourceReviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown
const json = JSON as unknown as {
  parse(text: string, reviver: SourceReviver): Json
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): boolean
}

/** Undefined where the text is not JSON; why is not told, since the parser's own messages quote the text. */
export function parseExactText(text: string): Json | undefined {
  try {
    return json.parse(text, (_, value, { source }) =>
      typeof value === 'number' && source !== undefined && source !== String(value) ? json.rawJSON(source) : value,
    )
  } catch {
    return undefined
  }
}

export function isExactNumber(value: Json): value is ExactNumber {
  return json.isRawJSON(value)
}

/** An object, which an exact number is not. */
export function isMembers(value: Json | undefined): value is JsonMembers {
  return typeof value === 'object' && value !== null && !isList(value) && !isExactNumber(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** A member of the object itself: names come from the server, and `constructor` is one too. */
export function exactMember(value: Json | undefined, name: string): Json | undefined {
  return isMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** A text as it is, everything else as JSON in one line. */
export function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
