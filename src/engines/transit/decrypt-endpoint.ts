// decrypt/:name (Interface 4.3).
import { endpoint } from '../../api/endpoint.ts'
import { type Args, batch, type Item, string } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import { text } from '../../api/shape.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import { type BatchRun, batchAnswer, runBatch } from './batch.ts'
import { type CryptOptions, decrypt } from './crypt.ts'
import {
  isGiven,
  keyNotFound,
  NONCE_UNUSED,
  nameField,
  optionFields,
  optionItems,
  partialFailureField,
  singleOrBatch,
} from './crypt-fields.ts'
import { LoadedRing } from './loaded-ring.ts'
import type { Transit } from './transit.ts'

const PLAINTEXT = { plaintext: text('Base64; empty for an empty message, and in an item that failed') }

const fields = {
  ...nameField,
  ciphertext: string('What encrypt gave', { secret: true }),
  ...optionFields,
  batch_input: batch(
    'Items to decrypt instead of ciphertext, each with its own options',
    { fields: { ciphertext: 'string', ...optionItems }, required: 'ciphertext' },
    { secret: true },
  ),
  ...partialFailureField,
}
type DecryptArgs = Args<typeof fields>
type DecryptInput = CryptOptions & { readonly ciphertext?: string | undefined }
type DecryptResult = { readonly plaintext: string; readonly reference: string; readonly error?: string }

export const decryptEndpoint = endpoint({
  id: 'transit-decrypt',
  operation: 'update',
  path: 'decrypt/:name',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Decrypts what a named key encrypted',
  fields,
  response: singleOrBatch(PLAINTEXT, PLAINTEXT),
  handler: (transit: Transit, args) => {
    const ring = transit.keys.find(args.name)
    if (ring instanceof LoadedRing) return decryptWith(ring, args)
    return ring.then((found) => decryptWith(found, args))
  },
})

function decryptWith(ring: LoadedRing | undefined, args: DecryptArgs): Answer {
  if (ring === undefined) throw keyNotFound(args.name)
  if (args.batch_input !== undefined) {
    return batchAnswer(decryptBatch(ring, args.batch_input), args.partial_failure_response_code)
  }
  const data = { plaintext: decryptText(ring, args) }
  return isGiven(args.nonce) ? { data, warnings: [NONCE_UNUSED] } : { data }
}

function decryptBatch(ring: LoadedRing, items: readonly Item[]): BatchRun<DecryptResult> {
  return runBatch<DecryptResult>(
    items,
    (item, reference) => ({ plaintext: decryptText(ring, item as DecryptInput), reference }),
    (error, reference) => ({ plaintext: '', error, reference }),
  )
}

function decryptText(ring: LoadedRing, input: DecryptInput): string {
  return encodeBase64(decrypt(ring, input.ciphertext, input))
}
