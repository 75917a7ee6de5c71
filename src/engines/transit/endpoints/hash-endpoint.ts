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
    'SHA-1 is not offered, because it is too weak for new uses. No FIPS mode is offered either, for any algorithm.',
  handler: (_transit, args) => hashAnswer(args, HASH_NAMES, namedHash),
})
