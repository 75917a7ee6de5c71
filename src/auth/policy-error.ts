/** A policy, or the name of one, that cannot be accepted: the message says what is wrong and where. */
export class PolicyError extends Error {
  override name = 'PolicyError'
}

const SHOWN_CHARACTERS = 80

/** Text from a policy, in quotes, for a message: cut to a length, and with visible ASCII only. */
export function quoteForMessage(text: string): string {
  let shown = ''
  for (const character of text.slice(0, SHOWN_CHARACTERS)) {
    shown += character >= ' ' && character <= '~' ? character : '?'
  }
  return text.length > SHOWN_CHARACTERS ? `"${shown}…"` : `"${shown}"`
}
