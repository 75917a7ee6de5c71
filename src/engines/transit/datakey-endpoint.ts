// datakey/:type/:name (Interface 4.3): a random key for the caller's own use, encrypted with a named key; datakeys gives
// many at once. The type is part of the path so that policies can tell who may see it.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { type Args, int, string } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import { group, integer, listOf, text } from '../../api/shape.ts'
import { freshBytes } from '../../crypto/random-bytes.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import { type Encrypted, encrypt } from './crypt.ts'
import {
  allOptional,
  DATA_KEY,
  isGiven,
  keyNotFound,
  nameField,
  optionFields,
  paddingField,
  versionField,
  warningsOf,
} from './crypt-fields.ts'
import { LoadedRing } from './loaded-ring.ts'
import type { Transit } from './transit.ts'

const BITS = [128, 256, 512]
/** As much work as a batch that one thread does in milliseconds. */
const MAX_COUNT = 1_000

const fields = {
  type: string('plaintext: the key in clear and encrypted; wrapped: only encrypted', { required: true }),
  ...nameField,
  bits: int('Length of the key: 128, 256 or 512', { default: 256 }),
  ...optionFields,
  ...paddingField,
  ...versionField,
}
type DatakeyArgs = Args<typeof fields>
type Made = Encrypted & { readonly plaintext?: string }

const datakey = endpoint({
  id: 'transit-datakey',
  operation: 'update',
  path: 'datakey/:type/:name',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Makes a data key and encrypts it with a named key',
  fields,
  response: DATA_KEY,
  handler: (transit: Transit, args) => withKey(transit, args, (ring) => makeOne(transit, ring, args)),
})

const datakeys = endpoint({
  id: 'transit-datakeys',
  operation: 'update',
  path: 'datakeys/:type/:name',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Makes many data keys and encrypts each with a named key',
  fields: { ...fields, count: int('How many, 1 to 1000', { required: true, min: 1, max: MAX_COUNT }) },
  response: {
    key_pairs: listOf(
      group(
        { ciphertext: text('vault:vN: and base64'), ...allOptional({ plaintext: text('For type plaintext; base64') }) },
        'A data key',
      ),
      'The data keys',
    ),
    key_version: integer('Version of the key that encrypted them'),
  },
  handler: (transit: Transit, args) =>
    withKey(transit, args, (ring) => {
      const made = Array.from({ length: args.count }, () => makeOne(transit, ring, args))
      return {
        key_pairs: made.map(({ ciphertext, plaintext }) =>
          plaintext === undefined ? { ciphertext } : { ciphertext, plaintext },
        ),
        key_version: made[0]?.key_version,
      }
    }),
})

/** @throws Refusal */
function withKey(transit: Transit, args: DatakeyArgs, make: (ring: LoadedRing) => object): Answer | Promise<Answer> {
  if (args.type !== 'plaintext' && args.type !== 'wrapped') {
    throw fail('bad_request', ["Invalid path, must be 'plaintext' or 'wrapped'"])
  }
  if (!BITS.includes(args.bits)) throw fail('bad_request', ['invalid bit length, "bits" must be 128, 256 or 512'])
  const answer = (ring: LoadedRing | undefined): Answer => {
    if (ring === undefined) throw keyNotFound(args.name)
    return { data: make(ring), warnings: warningsOf(ring, isGiven(args.nonce)) }
  }
  const ring = transit.keys.find(args.name)
  return ring instanceof LoadedRing ? answer(ring) : ring.then(answer)
}

function makeOne(transit: Transit, ring: LoadedRing, args: DatakeyArgs): Made {
  const key = freshBytes(transit.world.random.bytes, args.bits / 8)
  try {
    const made = encrypt(ring, transit.nonces, key, args)
    return args.type === 'plaintext' ? { ...made, plaintext: encodeBase64(key) } : made
  } finally {
    key.fill(0)
  }
}

export const DATAKEY_ENDPOINTS: readonly Endpoint[] = [datakey, datakeys]
