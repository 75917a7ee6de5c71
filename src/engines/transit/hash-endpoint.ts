// hash(/:algorithm) (Interface 4.3): no key is involved.
import { endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { encoded, HASH_FIELDS, HASH_RESPONSE } from '../../api/tool-fields.ts'
import { HASH_NAMES, namedHash } from '../../crypto/named-hash.ts'
import type { Transit } from './transit.ts'

export const hashEndpoint = endpoint({
  id: 'transit-hash',
  operation: 'update',
  path: 'hash(/:algorithm)',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Hash of the input',
  describe:
    'SHA-1 is not offered: nothing new may rest on it. No FIPS mode is offered either, with whatever algorithm.',
  fields: HASH_FIELDS,
  response: HASH_RESPONSE,
  handler: (_transit: Transit, { input, algorithm, format }) => {
    const sum = namedHash(algorithm, input)
    if (sum === undefined) throw fail('field_invalid', ['algorithm', `must be one of ${HASH_NAMES.join(', ')}`])
    return { data: { sum: encoded(sum, format) } }
  },
})
