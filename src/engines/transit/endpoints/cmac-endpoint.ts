// cmac/:name(/:mac_length): CMACs, with keys that are for CMACs alone.
import { endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { type Args, batch, type Item, int, string } from '../../../api/fields.ts'
import type { Answer } from '../../../api/request.ts'
import { text } from '../../../api/shape.ts'
import { whenDone } from '../../../lib/when-done.ts'
import { allOptional, keyNameField, keyNotFound, singleOrBatch } from '../crypt-fields.ts'
import { cmacOf, makeMac } from '../mac.ts'
import { runPatiently } from '../patient-batch.ts'
import type { WithKeys } from '../ring/keys.ts'
import { type LoadedRing, requireUsable } from '../ring/loaded-ring.ts'
import { encryptionVersion } from '../ring/versions.ts'
import type { Timed } from '../time-slice.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find'> & Timed

const CMAC = { cmac: text('CMAC: vault:vN: followed by base64; N is the key version') }

const fields = {
  ...keyNameField,
  mac_length: int('Length of the CMAC in bytes, 1 to 16: its first bytes are kept; 0 keeps all 16', { default: 0 }),
  input: string('Data to authenticate, base64; must not be empty', { secret: true }),
  key_version: int('Key version that computes the CMAC; 0 is the latest', { default: 0 }),
  batch_input: batch(
    'Items to authenticate in place of input',
    {
      fields: { input: 'string', mac_length: 'int', reference: 'string' },
      required: 'input',
      lenient: true,
      nulls: 'empty',
    },
    { secret: true },
  ),
}

type CmacArgs = Args<typeof fields>
type CmacResult = { readonly cmac?: string; readonly reference: string; readonly error?: string }

/** Makes CMACs. A batch answers 200 even if items failed. */
export const cmacEndpoint = endpoint({
  id: 'transit-cmac',
  operation: 'update',
  path: 'cmac/:name(/:mac_length)',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Computes an AES-CMAC with a named key',
  describe:
    'The key must be of type aes128-cmac, aes192-cmac or aes256-cmac. A batch item may have its own mac_length. ' +
    'Each byte that is cut off makes a CMAC 256 times easier to guess.',
  fields,
  response: singleOrBatch(CMAC, allOptional(CMAC)),
  handler: (transit: Parts, args) =>
    whenDone(transit.keys.find(args.name), (ring) => {
      if (ring === undefined) throw keyNotFound(args.name)
      return authenticate(transit, ring, args)
    }),
})

function authenticate(transit: Parts, ring: LoadedRing, args: CmacArgs): Answer | Promise<Answer> {
  requireUsable(ring)
  const version = ring.version(encryptionVersion(ring.header, args.key_version, 'CMAC'))
  const usual = cmacOf(ring.type, args.mac_length)
  const make = ({ input, mac_length: bytes }: Item): string => {
    if (input === undefined || input === '') throw fail('field_missing', ['input', 'missing input for CMAC'])
    return makeMac(bytes === undefined ? usual : cmacOf(ring.type, Number(bytes)), version, String(input))
  }
  if (args.batch_input === undefined) return { data: { cmac: make({ input: args.input }) } }
  const run = runPatiently<CmacResult>(
    args.batch_input,
    (item, reference) => ({ cmac: make(item), reference }),
    (error, reference) => ({ error, reference }),
    transit.world,
  )
  return whenDone(run, ({ results }) => ({ data: { batch_results: results } }))
}
