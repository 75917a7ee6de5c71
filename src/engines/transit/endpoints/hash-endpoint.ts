// hash(/:algorithm) (Interface 4.3): no key is involved.
import { endpoint } from '../../../api/endpoint.ts'
import { HASH_TOOL, hashAnswer } from '../../../api/tool-fields.ts'
import { HASH_NAMES, namedHash } from '../../../crypto/primitives/named-hash.ts'

export const hashEndpoint = endpoint({
  ...HASH_TOOL,
  id: 'transit-hash',
  path: 'hash(/:algorithm)',
  describe:
    'SHA-1 is not offered: nothing new may rest on it. No FIPS mode is offered either, with whatever algorithm.',
  handler: (_transit, args) => hashAnswer(args, HASH_NAMES, namedHash),
})
