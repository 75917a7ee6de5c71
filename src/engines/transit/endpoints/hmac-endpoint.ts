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

const HMAC = { hmac: text('vault:vN: and base64, in full length') }

const fields = {
  ...keyNameField,
  algorithm: string(`Hash: ${HMAC_HASH_NAMES.join(', ')}`, { default: 'sha2-256' }),
  input: string('What to authenticate, base64; it may be empty', { secret: true }),
  key_version: int('Version of the key that makes the HMAC; 0 is the latest', { default: 0 }),
  batch_input: batch(
    'Items instead of input',
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
  summary: 'Makes an HMAC with a named key',
  describe:
    'Keys of every type do: each version has a secret of its own for it, or is that secret in a key of type hmac. ' +
    'A batch answers 200, and an item that failed says why.',
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
