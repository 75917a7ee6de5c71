// datakey/:type/:name (Interface 4.3): a random key for the caller's own use, encrypted with a named key. The type is
// part of the path so that policies can tell who may see it.
import { endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { type Args, int, string } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import { freshBytes } from '../../crypto/random-bytes.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import { encrypt } from './crypt.ts'
import { DATA_KEY, isGiven, keyNotFound, NONCE_UNUSED, nameField, optionFields, versionField } from './crypt-fields.ts'
import { LoadedRing } from './loaded-ring.ts'
import type { Transit } from './transit.ts'

const BITS = [128, 256, 512]

const fields = {
  type: string('plaintext: the key in clear and encrypted; wrapped: only encrypted', { required: true }),
  ...nameField,
  bits: int('Length of the key: 128, 256 or 512', { default: 256 }),
  ...optionFields,
  ...versionField,
}
type DatakeyArgs = Args<typeof fields>

export const datakeyEndpoint = endpoint({
  id: 'transit-datakey',
  operation: 'update',
  path: 'datakey/:type/:name',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Makes a data key and encrypts it with a named key',
  fields,
  response: DATA_KEY,
  handler: (transit: Transit, args) => {
    if (args.type !== 'plaintext' && args.type !== 'wrapped') {
      throw fail('bad_request', ["Invalid path, must be 'plaintext' or 'wrapped'"])
    }
    if (!BITS.includes(args.bits)) throw fail('bad_request', ['invalid bit length, "bits" must be 128, 256 or 512'])
    const ring = transit.keys.find(args.name)
    return ring instanceof LoadedRing
      ? makeWith(transit, ring, args)
      : ring.then((found) => makeWith(transit, found, args))
  },
})

function makeWith(transit: Transit, ring: LoadedRing | undefined, args: DatakeyArgs): Answer {
  if (ring === undefined) throw keyNotFound(args.name)
  const key = freshBytes(transit.world.random.bytes, args.bits / 8)
  try {
    const encrypted = encrypt(ring, transit.nonces, key, args)
    const data = args.type === 'plaintext' ? { ...encrypted, plaintext: encodeBase64(key) } : encrypted
    return isGiven(args.nonce) ? { data, warnings: [NONCE_UNUSED] } : { data }
  } finally {
    key.fill(0)
  }
}
