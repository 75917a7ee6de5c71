// rewrap/:name (Interface 4.3): decrypts and encrypts again, without showing the plaintext to the caller.
import { endpoint } from '../../../api/endpoint.ts'
import { type Args, batch, type Item, string } from '../../../api/fields.ts'
import type { Answer } from '../../../api/request.ts'
import { whenDone } from '../../../lib/when-done.ts'
import { type BatchRun, batchAnswer, requireItems } from '../batch.ts'
import { type CountedKeys, counted, requireBudget } from '../budget/counted-work.ts'
import type { Encrypted, EncryptOptions } from '../crypt.ts'
import {
  cryptOptionFields,
  cryptWarnings,
  ENCRYPTED_OR_BATCH,
  isGiven,
  keyNameField,
  keyNotFound,
  optionItems,
  paddingFields,
  partialFailureField,
  versionField,
  withWarnings,
} from '../crypt-fields.ts'
import { decryptAnywhere, encryptWithRing, type Opener, type Sealer } from '../managed/managed-crypt.ts'
import { runPatiently } from '../patient-batch.ts'
import type { WithKeys } from '../ring/keys.ts'
import { LoadedRing } from '../ring/loaded-ring.ts'
import { thenWipe } from '../then-wipe.ts'
import type { Timed } from '../time-slice.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find'> & CountedKeys & Sealer & Opener & Timed

const fields = {
  ...keyNameField,
  ciphertext: string('Ciphertext, as returned by encrypt', { secret: true }),
  ...cryptOptionFields,
  ...paddingFields,
  ...versionField,
  batch_input: batch(
    'Items to rewrap in place of ciphertext, each with its own options',
    {
      fields: {
        ciphertext: 'string',
        ...optionItems,
        key_version: 'int',
        decrypt_padding_scheme: 'string',
        encrypt_padding_scheme: 'string',
      },
      required: 'ciphertext',
      lenient: true,
    },
    { secret: true },
  ),
  ...partialFailureField,
}
type RewrapArgs = Args<typeof fields>
type RewrapInput = Omit<EncryptOptions, 'padding_scheme'> & {
  readonly ciphertext?: string | undefined
  readonly decrypt_padding_scheme?: string | undefined
  readonly encrypt_padding_scheme?: string | undefined
}
type Run = BatchRun<RewrapResult>
type RewrapResult = Partial<Encrypted> & { readonly reference: string; readonly error?: string }

/** Batches are not split over threads. A plaintext is wiped as soon as it is encrypted. */
export const rewrapEndpoint = endpoint({
  id: 'transit-rewrap',
  operation: 'update',
  path: 'rewrap/:name',
  capability: 'update',
  runsOn: 'any-node',
  writes: 'mount',
  summary: 'Re-encrypts a ciphertext with the latest version of its key, or with key_version',
  describe: 'The plaintext is not returned. The new ciphertext has the same associated data.',
  fields,
  response: ENCRYPTED_OR_BATCH,
  handler: (transit: Parts, args) =>
    counted(transit, args.batch_input?.length ?? 1, () => {
      const ring = transit.keys.find(args.name)
      if (ring instanceof LoadedRing) return rewrapWith(transit, ring, args)
      return ring.then((found) => rewrapWith(transit, found, args))
    }),
})

function rewrapWith(transit: Parts, ring: LoadedRing | undefined, args: RewrapArgs): Answer | Promise<Answer> {
  if (ring === undefined) throw keyNotFound(args.name)
  if (args.batch_input !== undefined) {
    return whenDone(rewrapBatch(transit, ring, args.batch_input), (run) =>
      batchAnswer(withWarnings(ring, run, true), args.partial_failure_response_code),
    )
  }
  return whenDone(rewrap(transit, ring, args), (data) => ({
    data,
    warnings: cryptWarnings(ring, isGiven(args.nonce), data.key_version),
  }))
}

function rewrapBatch(transit: Parts, ring: LoadedRing, items: readonly Item[]): Run | Promise<Run> {
  requireItems(items)
  requireBudget(ring, items)
  const failed = (error: string, reference: string): RewrapResult => ({ error, reference })
  const work = (item: Item, reference: string) =>
    whenDone(rewrap(transit, ring, item as RewrapInput), (done) => ({ ...done, reference }))
  return runPatiently<RewrapResult>(items, work, failed, transit.world)
}

function rewrap(transit: Parts, ring: LoadedRing, input: RewrapInput): Encrypted | Promise<Encrypted> {
  const { decrypt_padding_scheme, encrypt_padding_scheme } = input
  const options = { ...input, padding_scheme: decrypt_padding_scheme }
  return whenDone(decryptAnywhere(transit, ring, input.ciphertext, options), (plaintext) => {
    const encryptOptions = { ...input, padding_scheme: encrypt_padding_scheme }
    return thenWipe(plaintext, () => encryptWithRing(transit, ring, plaintext, encryptOptions))
  })
}
