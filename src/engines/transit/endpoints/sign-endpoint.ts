// sign/:name(/:hash_algorithm) (Interface 4.3): one message or a batch. The hash may be part of the path, so that
// policies can decide which tokens may use it.
import { endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { type Args, batch, type Item, int, string } from '../../../api/fields.ts'
import type { Answer } from '../../../api/request.ts'
import { integer, optional, text } from '../../../api/shape.ts'
import type { SignatureOptions } from '../../../crypto/key-types/key-type.ts'
import { whenDone } from '../../../lib/when-done.ts'
import { keyNameField, keyNotFound, singleOrBatch } from '../crypt-fields.ts'
import { type Signer, signAnywhere, withPaddingOf } from '../managed/managed-signing.ts'
import { runPatiently } from '../patient-batch.ts'
import type { WithKeys } from '../ring/keys.ts'
import { type LoadedRing, requireUsable } from '../ring/loaded-ring.ts'
import { readSignatureOptions, requireHashOrRaw, requireMessages, signatureFields } from '../signature-options.ts'
import { requireSigning, type Signed } from '../signing.ts'
import type { Timed } from '../time-slice.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find'> & Signer & Timed

const PUBLIC_KEY = optional(text('Public key for the context, base64; derived keys only'))
const SIGNATURE = text('Signature: vault:vN: followed by base64, or base64url with jws; N is the key version')
const SINGLE = {
  signature: SIGNATURE,
  key_version: integer('Key version that signed'),
  public_key: PUBLIC_KEY,
}
const ITEM = {
  signature: optional(SIGNATURE),
  key_version: integer('Key version that signed; 0 if the item failed'),
  // Wire name: without an underscore in items.
  publickey: PUBLIC_KEY,
}

const fields = {
  ...keyNameField,
  ...signatureFields,
  input: string('Data to sign, base64; empty if unset', { secret: true, default: '' }),
  key_version: int('Key version to sign with; 0 is the latest', { default: 0 }),
  batch_input: batch(
    'Items to sign in place of input and context',
    {
      fields: { input: 'string', context: 'string', reference: 'string' },
      required: 'input',
      lenient: true,
      nulls: 'empty',
    },
    { secret: true },
  ),
}
type SignArgs = Args<typeof fields>
type SignResult = {
  readonly signature?: string
  readonly key_version: number
  readonly publickey?: string | undefined
  readonly reference: string
  readonly error?: string
}

/** Signs. A batch answers 200 even if items failed. */
export const signEndpoint = endpoint({
  id: 'transit-sign',
  operation: 'update',
  path: 'sign/:name(/:hash_algorithm)',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Signs data with a named key',
  describe:
    'A policy can deny a hash algorithm by path, such as `sign/NAME/sha1`; it must then deny it as a parameter too, ' +
    'because hash_algorithm can be sent in the body. With hash_algorithm none, prehashed true and ' +
    'signature_algorithm pkcs1v15, the input is signed as is (RFC 8017 section 9.2, without the hash identifier). A ' +
    'batch answers 200 even if items fail; the result of a failed item has an error.',
  fields,
  response: singleOrBatch(SINGLE, ITEM),
  handler: (transit: Parts, args) => {
    const options = readSignatureOptions(args)
    return whenDone(transit.keys.find(args.name), (ring) => {
      if (ring === undefined) throw keyNotFound(args.name, 'signing key')
      return signWith(transit, ring, args, options)
    })
  },
})

function signWith(transit: Parts, ring: LoadedRing, args: SignArgs, asked: SignatureOptions): Answer | Promise<Answer> {
  requireUsable(ring)
  requireSigning(ring.type, 'signing')
  const options = withPaddingOf(ring, asked, args.signature_algorithm)
  requireHashOrRaw(options)
  requireMessages(ring.type, options)
  const { key_version: version, batch_input: items } = args
  if (items === undefined) {
    return whenDone(
      signAnywhere(transit, ring, args, version, options),
      ({ signature, version: number, publicKey }) => ({
        data: { signature, key_version: number, ...(publicKey === undefined ? {} : { public_key: publicKey }) },
      }),
    )
  }
  const run = runPatiently<SignResult>(
    items,
    (item, reference) =>
      whenDone(signAnywhere(transit, ring, requireInput(item), version, options), (signed) => shown(signed, reference)),
    (error, reference) => ({ key_version: 0, error, reference }),
    transit.world,
  )
  return whenDone(run, ({ results }) => ({ data: { batch_results: results } }))
}

function requireInput({ input, context }: Item): { readonly input: string; readonly context: string | undefined } {
  if (input === undefined) throw fail('field_missing', ['input', 'missing input'])
  return { input: String(input), context: context === undefined ? undefined : String(context) }
}

function shown({ signature, version, publicKey }: Signed, reference: string): SignResult {
  return {
    signature,
    key_version: version,
    ...(publicKey === undefined ? {} : { publickey: publicKey }),
    reference,
  }
}
