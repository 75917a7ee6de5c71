// hmac/:name(/:algorithm) (Interface 4.3): HMACs, with a key of any type, since every version has a secret for them.
import { endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { type Args, batch, int, string } from '../../../api/fields.ts'
import type { Answer } from '../../../api/request.ts'
import { text } from '../../../api/shape.ts'
import { HMAC_HASH_NAMES } from '../../../crypto/primitives/named-hmac.ts'
import { whenDone } from '../../../lib/when-done.ts'
import { allOptional, keyNameField, keyNotFound, singleOrBatch } from '../crypt-fields.ts'
import { hmacWith, makeMac } from '../mac.ts'
import { runPatiently } from '../patient-batch.ts'
import type { WithKeys } from '../ring/keys.ts'
import { type LoadedRing, requireUsable } from '../ring/loaded-ring.ts'
import { encryptionVersion } from '../ring/versions.ts'
import type { Timed } from '../time-slice.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find'> & Timed

const HMAC = { hmac: text('HMAC in full length: vault:vN: followed by base64; N is the key version') }

const fields = {
  ...keyNameField,
  algorithm: string(`Hash algorithm: ${HMAC_HASH_NAMES.join(', ')}`, { default: 'sha2-256' }),
  input: string('Data to authenticate, base64; may be empty', { secret: true }),
  key_version: int('Key version that computes the HMAC; 0 is the latest', { default: 0 }),
  batch_input: batch(
    'Items to authenticate in place of input',
    { fields: { input: 'string', reference: 'string' }, required: 'input', lenient: true, nulls: 'empty' },
    { secret: true },
  ),
}

type HmacResult = { readonly hmac?: string; readonly reference: string; readonly error?: string }

/** Makes HMACs. A batch answers 200 even if items failed. */
export const hmacEndpoint = endpoint({
  id: 'transit-hmac',
  operation: 'update',
  path: 'hmac/:name(/:algorithm)',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Computes an HMAC with a named key',
  describe:
    'Works with keys of any type: each key version has its own HMAC secret, which for type hmac is the key itself. ' +
    'A batch answers 200 even if items fail; the result of a failed item has an error.',
  fields,
  response: singleOrBatch(HMAC, allOptional(HMAC)),
  handler: (transit: Parts, args) =>
    whenDone(transit.keys.find(args.name), (ring) => {
      if (ring === undefined) throw keyNotFound(args.name)
      return authenticate(transit, ring, args)
    }),
})

function authenticate(transit: Parts, ring: LoadedRing, args: Args<typeof fields>): Answer | Promise<Answer> {
  requireUsable(ring)
  const version = ring.version(encryptionVersion(ring.header, args.key_version, 'HMAC'))
  const compute = hmacWith(args.algorithm, 'algorithm')
  const make = (input: string | number | undefined): string => {
    if (input === undefined) throw fail('field_missing', ['input', 'missing input for HMAC'])
    return makeMac(compute, version, String(input))
  }
  if (args.batch_input === undefined) return { data: { hmac: make(args.input) } }
  const run = runPatiently<HmacResult>(
    args.batch_input,
    ({ input }, reference) => ({ hmac: make(input), reference }),
    (error, reference) => ({ error, reference }),
    transit.world,
  )
  return whenDone(run, ({ results }) => ({ data: { batch_results: results } }))
}
