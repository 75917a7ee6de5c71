// The answer to a call from another cluster, or what it threw in its place.
import { type ErrorCode, Refusal } from '../api/errors.ts'
import type { JsonValue } from '../lib/json.ts'
import { checked, count, group, integer, type Kind, Misfit, orUndefined, text } from '../lib/member-kinds.ts'
import { CallFailed } from './errors.ts'
import { receivedRefusal, type SentRefusal, sentRefusal } from './frames.ts'
import { PackedError, packed, unpacked } from './packed.ts'

/**
 * A code that only another version has is carried as it is: status and sentence say the rest. Codes are looked up in
 * tables, which answer to names that all objects have.
 */
const CODE = checked(
  text,
  (code) => /^[a-z]\w{0,63}$/.test(code) && !Object.hasOwn(Object.prototype, code),
) as Kind<ErrorCode>
/** Sentences have half of it at most. */
const MAX_SENTENCE_CHARACTERS = 16_384
const SENTENCE = checked(text, ({ length }) => length <= MAX_SENTENCE_CHARACTERS)
const REFUSAL: Kind<SentRefusal> = group(
  {
    code: CODE,
    status: integer({ min: 400, max: 599 }),
    message: SENTENCE,
    hint: SENTENCE,
    retryAfterSeconds: orUndefined(count),
  },
  'dropped',
)

/** Does the work, and returns what came of it. A defect is told to `onFault` here, and only its name is sent. */
export async function packedAnswer(work: () => Promise<unknown>, onFault: (cause: unknown) => void): Promise<Buffer> {
  try {
    return packed({ answer: await work() })
  } catch (cause) {
    if (cause instanceof Refusal) return packed({ refusal: sentRefusal(cause) })
    onFault(cause)
    return packed({ failure: cause instanceof Error ? cause.name : typeof cause })
  }
}

/**
 * Returns the answer to the call of this name.
 * @throws Refusal as it was thrown there; CallFailed for a defect; PackedError if it is none of these
 */
export function unpackedAnswer(call: string, input: Buffer): unknown {
  const outcome = unpacked(input)
  if (typeof outcome === 'object' && outcome !== null) {
    if ('answer' in outcome) return outcome.answer
    if ('refusal' in outcome) throw receivedRefusal(readRefusal(outcome.refusal))
    if ('failure' in outcome && typeof outcome.failure === 'string') throw new CallFailed(call, outcome.failure)
  }
  throw new PackedError('It is neither an answer nor a refusal')
}

function readRefusal(sent: unknown): SentRefusal {
  try {
    return REFUSAL.read(sent as JsonValue)
  } catch (cause) {
    if (cause instanceof Misfit) throw new PackedError(`Of a refusal, ${cause.message}`)
    throw cause
  }
}
