// hash(/:algorithm) (Interface 4.3): a digest, without any key.
import { endpoint } from '../../../api/endpoint.ts'
import { HASH_TOOL, hashAnswer } from '../../../api/tool-fields.ts'
import { HASH_NAMES, namedHash } from '../../../crypto/primitives/named-hash.ts'

/** The hash tool of `sys/tools/hash`, as an endpoint of the mount. */
export const hashEndpoint = endpoint({
  ...HASH_TOOL,
  id: 'transit-hash',
  path: 'hash(/:algorithm)',
  describe:
    'SHA-1 is not offered: nothing new may rest on it. No FIPS mode is offered either, with whatever algorithm.',
  handler: (_transit, args) => hashAnswer(args, HASH_NAMES, namedHash),
})
