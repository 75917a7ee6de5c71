// JSON whose numbers stay as they were written: a counter above 2^53 is not rounded on its way to the reader.

/** A number that a JavaScript number would change, as its source text. JSON.stringify writes it back digit by digit. */
export interface ExactNumber {
  readonly rawJSON: string
}
/** A parsed value. Numbers are plain where nothing is lost by it. */
export type Json = null | boolean | number | string | ExactNumber | readonly Json[] | JsonMembers
/** An object. Its names may come from the server: read members with `exactMember`. */
export type JsonMembers = { readonly [name: string]: Json }

/** The source of a value in revivers, and JSON.rawJSON: in the language, not yet in the compiler's library. */
type SourceReviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown
const json = JSON as unknown as {
  parse(text: string, reviver: SourceReviver): Json
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): boolean
}

/** Returns undefined if the text is not JSON. The reason is dropped: the parser's messages quote the text. */
export function parseExactText(text: string): Json | undefined {
  try {
    return json.parse(text, (_, value, { source }) =>
      typeof value === 'number' && source !== undefined && source !== String(value) ? json.rawJSON(source) : value,
    )
  } catch {
    return undefined
  }
}

/** True for a number that is kept as text. */
export function isExactNumber(value: Json): value is ExactNumber {
  return json.isRawJSON(value)
}

/** True for an object of members. An exact number is an object for JavaScript, and none here. */
export function isMembers(value: Json | undefined): value is JsonMembers {
  return typeof value === 'object' && value !== null && !isList(value) && !isExactNumber(value)
}

/** True for a list. It is Array.isArray with the narrower type. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** Returns an own member; undefined if there is none. Inherited names such as `constructor` are not members. */
export function exactMember(value: Json | undefined, name: string): Json | undefined {
  return isMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Returns a text as it is, and everything else as JSON in one line. */
export function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
