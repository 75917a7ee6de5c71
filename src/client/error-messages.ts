// Reads the body of a refusal: `{"errors": [message, …]}` (src/core/response.ts).
import { asciiTrim } from '../lib/ascii.ts'

/** Returns the messages of an error body. Several causes in one text become a message each. */
export function messagesOf(body: unknown): string[] {
  const errors = memberOf(body, 'errors')
  if (!Array.isArray(errors)) return []
  return errors.filter((error) => typeof error === 'string').flatMap(splitCauses)
}

/** Returns an own member; undefined if there is none. Inherited names such as `constructor` are not members. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

/** Splits the list that the reference writes into a text: `2 errors occurred:\n\t* a\n\t* b\n\n` gives a and b. */
function splitCauses(text: string): string[] {
  const [head = '', ...rest] = text.split('\n')
  if (!head.endsWith(' occurred:')) return [asciiTrim(text)].filter((message) => message !== '')
  return rest
    .map((line) => asciiTrim(line))
    .map((line) => (line.startsWith('* ') ? line.slice(2) : line))
    .filter((line) => line !== '')
}

/** True if the server is sealed: trying again changes nothing until it is unsealed. */
export function isSealed(status: number, messages: readonly string[]): boolean {
  return status === 503 && messages.some((message) => message.includes('sealed'))
}

/** True if somebody has locked the namespace: trying again changes nothing until it is unlocked. */
export function isLocked(status: number, messages: readonly string[]): boolean {
  return status === 503 && messages.some((message) => message.includes('namespace has been locked'))
}

/** What the refusals say of a request that was carried out, or may have been (src/api/refusals). */
const IN_DOUBT = ['carried out is not known', 'This is stored here', 'The primary has stored this', 'so it is withheld']

/** True if the request was carried out, or may have been: sent again, it may be carried out twice. */
export function mayBeDone(status: number, messages: readonly string[]): boolean {
  return status >= 500 && messages.some((message) => IN_DOUBT.some((part) => message.includes(part)))
}

/** Returns undefined if the text is not JSON. */
export function parseAnswerBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
