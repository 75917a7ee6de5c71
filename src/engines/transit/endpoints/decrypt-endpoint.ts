// decrypt/:name (Interface 4.3): one ciphertext, or a batch.
import { endpoint } from '../../../api/endpoint.ts'
import { type Args, batch, type Item, string } from '../../../api/fields.ts'
import type { Answer } from '../../../api/request.ts'
import { text } from '../../../api/shape.ts'
import { OPEN_MANY } from '../../../crypto/batch-cipher.ts'
import { encodeBase64 } from '../../../lib/base64.ts'
import { base64Text } from '../../../lib/long-text.ts'
import { whenDone } from '../../../lib/when-done.ts'
import { type BatchRun, batchAnswer, runSlowBatch } from '../batch.ts'
import { type CryptOptions, prepareDecryption, unopened } from '../crypt.ts'
import {
  cryptOptionFields,
  cryptWarnings,
  isGiven,
  keyNameField,
  keyNotFound,
  optionItems,
  paddingField,
  partialFailureField,
  singleOrBatch,
  withWarnings,
} from '../crypt-fields.ts'
import { decryptAnywhere, type Opener, opensElsewhere } from '../managed/managed-crypt.ts'
import type { WithKeys } from '../ring/keys.ts'
import { LoadedRing } from '../ring/loaded-ring.ts'
import { runLargeBatch, type SplitParts } from '../split-batch.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find'> & Opener & SplitParts

const PLAINTEXT = { plaintext: text('Plaintext, base64; empty for an empty message and for a failed item') }

const fields = {
  ...keyNameField,
  ciphertext: string('Ciphertext, as returned by encrypt', { secret: true }),
  ...cryptOptionFields,
  ...paddingField,
  batch_input: batch(
    'Items to decrypt in place of ciphertext, each with its own options',
    { fields: { ciphertext: 'string', ...optionItems, padding_scheme: 'string' }, required: 'ciphertext' },
    { secret: true },
  ),
  ...partialFailureField,
}
type DecryptArgs = Args<typeof fields>
type DecryptInput = CryptOptions & { readonly ciphertext?: string | undefined }
type Run = BatchRun<DecryptResult>
type DecryptResult = { readonly plaintext: string; readonly reference: string; readonly error?: string }

/** Answers within the call if the ring is cached and the key is not slow: a turn of the event loop would cost more. */
export const decryptEndpoint = endpoint({
  id: 'transit-decrypt',
  operation: 'update',
  path: 'decrypt/:name',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Decrypts data with a named key',
  fields,
  response: singleOrBatch(PLAINTEXT, PLAINTEXT),
  handler: (transit: Parts, args) => {
    const ring = transit.keys.find(args.name)
    if (ring instanceof LoadedRing) return decryptWith(transit, ring, args)
    return ring.then((found) => decryptWith(transit, found, args))
  },
})

function decryptWith(transit: Parts, ring: LoadedRing | undefined, args: DecryptArgs): Answer | Promise<Answer> {
  if (ring === undefined) throw keyNotFound(args.name)
  if (args.batch_input !== undefined) {
    return whenDone(decryptBatch(transit, ring, args.batch_input), (run) =>
      batchAnswer(withWarnings(ring, run), args.partial_failure_response_code),
    )
  }
  return whenDone(decryptAnywhere(transit, ring, args.ciphertext, args), (plaintext) => {
    const data = { plaintext: base64Text(plaintext) }
    return { data, warnings: cryptWarnings(ring, isGiven(args.nonce)) }
  })
}

function decryptBatch(transit: Parts, ring: LoadedRing, items: readonly Item[]): Run | Promise<Run> {
  const { slow } = transit
  const failed = (error: string, reference: string): DecryptResult => ({ plaintext: '', error, reference })
  const shown = (opened: Buffer, reference: string): DecryptResult => ({ plaintext: encodeBase64(opened), reference })
  const open = (input: DecryptInput) => decryptAnywhere(transit, ring, input.ciphertext, input)
  if (opensElsewhere(ring)) {
    return runSlowBatch(items, async (item, reference) => shown(await open(item as DecryptInput), reference), failed)
  }
  return runLargeBatch(transit, ring, items, {
    whole: (item, reference) => shown(open(item as DecryptInput) as Buffer, reference),
    prepare: (item) => prepareDecryption(ring, (item as DecryptInput).ciphertext, item as DecryptInput),
    elsewhere: (input, moved) => slow.run(OPEN_MANY, input, moved),
    finish: (_prepared, opened, reference) => {
      if (opened === undefined) throw unopened()
      return shown(opened, reference)
    },
    failed,
  })
}
