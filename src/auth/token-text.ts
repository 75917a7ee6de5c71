// The texts of tokens and accessors. Outside the root namespace both end in the id of theirs. A token is found by the
// hash of its whole text, so without that end, or with another one, it is none.
import { fail } from '../api/errors.ts'
import { idEnding } from '../api/namespace.ts'
import { randomBase62 } from '../lib/base62.ts'
import type { Random } from '../lib/world.ts'

const SERVICE_PREFIX = 'hvs.'
/** Prefix of batch tokens, by which a token is recognised before anything is looked up. */
export const BATCH_PREFIX = 'hvb.'
/** Base62 characters, 143 bits. */
const RANDOM_LENGTH = 24
/** Characters of a generated service token of the root namespace, prefix included. */
export const NEW_TOKEN_LENGTH = SERVICE_PREFIX.length + RANDOM_LENGTH
/** Characters of a token that a caller chose. */
const OWN_TEXT_MAX = 512

/** Returns the text of a new service token. */
export const newTokenText = (random: Random, namespaceId: string): string =>
  SERVICE_PREFIX + newAccessorText(random, namespaceId)

/** Returns a new accessor, which has no prefix. */
export const newAccessorText = (random: Random, namespaceId: string): string =>
  randomBase62(RANDOM_LENGTH, random.bytes) + idEnding(namespaceId)

/**
 * Checks a token text that the caller chose: short enough for a header, and unlike a generated one.
 * @throws Refusal.
 */
export function checkTokenText(text: string): void {
  const printable = [...text].every((character) => character > ' ' && character <= '~')
  if (text === '' || text.length > OWN_TEXT_MAX || !printable)
    throw fail('field_invalid', ['id', `must be 1 to ${OWN_TEXT_MAX} printable ASCII characters`])
  // Prefixes of generated tokens end in a dot, those of older and other kinds too: hvr., s., b., r. Behind another one
  // stands a namespace.
  if (text.includes('.')) throw fail('field_invalid', ['id', "must not contain '.' nor begin like a generated token"])
}
