// What tokens and accessors look like.
import { fail } from '../api/errors.ts'
import { randomBase62 } from '../lib/base62.ts'
import type { Random } from '../lib/world.ts'

const SERVICE_PREFIX = 'hvs.'
export const BATCH_PREFIX = 'hvb.'
/** Also of older and other kinds: a text that begins so is taken for one of them. */
const GENERATED_PREFIXES = [SERVICE_PREFIX, BATCH_PREFIX, 'hvr.', 's.', 'b.', 'r.']
const RANDOM_LENGTH = 24
/** Of the service tokens made here, prefix included. */
export const NEW_TOKEN_LENGTH = SERVICE_PREFIX.length + RANDOM_LENGTH
const OWN_TEXT_MAX = 512

export const newTokenText = (random: Random): string => SERVICE_PREFIX + randomBase62(RANDOM_LENGTH, random.bytes)

export const newAccessorText = (random: Random): string => randomBase62(RANDOM_LENGTH, random.bytes)

/** A token of the caller's own making: short enough for a header, and never like one of ours. */
export function checkTokenText(text: string): void {
  const printable = [...text].every((character) => character > ' ' && character <= '~')
  if (text === '' || text.length > OWN_TEXT_MAX || !printable)
    throw fail('field_invalid', ['id', `must be 1 to ${OWN_TEXT_MAX} printable ASCII characters`])
  if (text.includes('.') || GENERATED_PREFIXES.some((prefix) => text.startsWith(prefix))) {
    throw fail('field_invalid', ['id', "must not contain '.' nor begin like a generated token"])
  }
}
