// What the body of a refusal says.
import { asciiTrim } from '../lib/ascii.ts'

/** The messages of an error body; several causes that the server wrote into one text are told apart. */
export function messagesOf(body: unknown): string[] {
  const errors = memberOf(body, 'errors')
  if (!Array.isArray(errors)) return []
  return errors.filter((error) => typeof error === 'string').flatMap(splitCauses)
}

/** A member of the object itself: names come from the server, and `constructor` is one too. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

/** `2 errors occurred:\n\t* a\n\t* b\n\n` gives a and b. */
function splitCauses(text: string): string[] {
  const [head = '', ...rest] = text.split('\n')
  if (!head.endsWith(' occurred:')) return [asciiTrim(text)].filter((message) => message !== '')
  return rest
    .map((line) => asciiTrim(line))
    .map((line) => (line.startsWith('* ') ? line.slice(2) : line))
    .filter((line) => line !== '')
}

/** Whether trying again changes nothing until somebody unseals the server. */
export function isSealed(status: number, messages: readonly string[]): boolean {
  return status === 503 && messages.some((message) => message.includes('sealed'))
}

/** Undefined where the text is not JSON. */
export function parseAnswerBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
