// rewrap/:name (Interface 4.3): decrypts and encrypts anew, without showing the plaintext.
import { endpoint } from '../../api/endpoint.ts'
import { type Args, batch, string } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import { batchAnswer, runBatch } from './batch.ts'
import { decrypt, type Encrypted, type EncryptOptions, encrypt } from './crypt.ts'
import {
  ENCRYPTED_OR_BATCH,
  isGiven,
  keyNotFound,
  NONCE_UNUSED,
  nameField,
  optionFields,
  optionItems,
  partialFailureField,
  versionField,
} from './crypt-fields.ts'
import { LoadedRing } from './loaded-ring.ts'
import type { Transit } from './transit.ts'

const fields = {
  ...nameField,
  ciphertext: string('What encrypt gave', { secret: true }),
  ...optionFields,
  ...versionField,
  batch_input: batch(
    'Items to rewrap instead of ciphertext, each with its own options',
    { fields: { ciphertext: 'string', ...optionItems, key_version: 'int' }, required: 'ciphertext', lenient: true },
    { secret: true },
  ),
  ...partialFailureField,
}
type RewrapArgs = Args<typeof fields>
type RewrapInput = EncryptOptions & { readonly ciphertext?: string | undefined }
type RewrapResult = Partial<Encrypted> & { readonly reference: string; readonly error?: string }

export const rewrapEndpoint = endpoint({
  id: 'transit-rewrap',
  operation: 'update',
  path: 'rewrap/:name',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Encrypts what a named key encrypted anew, with its latest version',
  describe: 'The plaintext is not shown. Associated data stay the same.',
  fields,
  response: ENCRYPTED_OR_BATCH,
  handler: (transit: Transit, args) => {
    const ring = transit.keys.find(args.name)
    if (ring instanceof LoadedRing) return rewrapWith(transit, ring, args)
    return ring.then((found) => rewrapWith(transit, found, args))
  },
})

function rewrapWith(transit: Transit, ring: LoadedRing | undefined, args: RewrapArgs): Answer {
  if (ring === undefined) throw keyNotFound(args.name)
  if (args.batch_input === undefined) {
    const data = rewrap(transit, ring, args)
    return isGiven(args.nonce) ? { data, warnings: [NONCE_UNUSED] } : { data }
  }
  const run = runBatch<RewrapResult>(
    args.batch_input,
    (item, reference) => ({ ...rewrap(transit, ring, item as RewrapInput), reference }),
    (error, reference) => ({ error, reference }),
  )
  return batchAnswer(run, args.partial_failure_response_code)
}

function rewrap(transit: Transit, ring: LoadedRing, input: RewrapInput): Encrypted {
  const plaintext = decrypt(ring, input.ciphertext, input)
  try {
    return encrypt(ring, transit.nonces, plaintext, input)
  } finally {
    plaintext.fill(0)
  }
}
