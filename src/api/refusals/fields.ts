// Refusals of what a request says in its fields.
import type { RefusalRows } from './row.ts'

/** Wire text: clients match it. */
const fieldSentence = (name: string, why: string): string =>
  `Field validation failed: error converting input for field "${name}": ${why}`

/** Returns the usual sentence about a field, or instead the sentence that clients know. */
const fieldOr = (nameOrSentence: string, why?: string): string =>
  why === undefined ? nameOrSentence : fieldSentence(nameOrSentence, why)

/** Most sentences begin as clients match them; for some fields clients know another one. */
export const FIELD_REFUSALS = {
  field_missing: {
    status: 400,
    /** `sentence` replaces the usual one, if clients know another for this field. */
    message: (name: string, sentence = `Missing required field "${name}"`) => sentence,
    remedy: 'Send the field; docs/api names the fields of each endpoint.',
  },
  field_invalid: {
    status: 400,
    message: fieldSentence,
    remedy: 'Send a value of the kind that the endpoint takes; docs/api names it.',
  },
  base64_invalid: {
    status: 400,
    message: fieldOr,
    remedy:
      'Bytes travel as standard base64 with padding (RFC 4648 section 4), URL-safe characters are not taken: ' +
      'base64 -w0 writes it.',
  },
  name_invalid: {
    status: 400,
    message: fieldOr,
    remedy: 'The name is too long, or has characters that such names do not have: the sentence says which they have.',
  },
  choice_unknown: {
    status: 400,
    message: fieldOr,
    remedy: 'The field takes one of a few words, which the sentence lists: send one of them, spelled so.',
  },
  out_of_range: {
    status: 400,
    message: fieldOr,
    remedy: 'The number, the duration or the length is too small or too large: the sentence has the bounds.',
  },
  fields_conflict: {
    status: 400,
    message: fieldOr,
    remedy:
      'Fields that exclude each other were sent together, or one without the other that it needs. What is stored ' +
      'counts too: clear one, or send both.',
  },
  field_not_applicable: {
    status: 400,
    message: fieldOr,
    remedy: 'The field says nothing about a thing of this type, or promises what is not offered: leave it out.',
  },
} as const satisfies RefusalRows
