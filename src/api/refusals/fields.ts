// Refusals of what a request says in its fields, whatever it is about.
import type { RefusalRows } from './row.ts'

/** Wire text: clients match it. */
const fieldSentence = (name: string, why: string): string =>
  `Field validation failed: error converting input for field "${name}": ${why}`

export const FIELD_REFUSALS = {
  field_missing: {
    status: 400,
    /** `sentence`: the one that clients know for this field. */
    message: (name: string, sentence = `Missing required field "${name}"`) => sentence,
    remedy: 'Send the field; docs/api names the fields of each endpoint.',
  },
  field_invalid: {
    status: 400,
    message: fieldSentence,
    remedy: 'Send a value of the kind that the endpoint takes; docs/api names it.',
  },
} as const satisfies RefusalRows
