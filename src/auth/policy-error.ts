/** Reports a policy, or the name of one, that cannot be accepted. The message says what is wrong and where. */
export class PolicyError extends Error {
  override name = 'PolicyError'
}

const SHOWN_CHARACTERS = 80

/** Quotes text from a policy for a message: cut to 80 characters, and everything but visible ASCII replaced. */
export function quoteForMessage(text: string): string {
  let shown = ''
  for (const character of text.slice(0, SHOWN_CHARACTERS)) {
    shown += character >= ' ' && character <= '~' ? character : '?'
  }
  return text.length > SHOWN_CHARACTERS ? `"${shown}…"` : `"${shown}"`
}
