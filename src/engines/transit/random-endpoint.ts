// random(/:source)(/:bytes) (Interface 4.3).
import { endpoint } from '../../api/endpoint.ts'
import { encoded, NO_SEAL_ENTROPY, RANDOM_FIELDS, RANDOM_RESPONSE, readRandomRequest } from '../../api/tool-fields.ts'
import { freshBytes } from '../../crypto/random-bytes.ts'
import type { Transit } from './transit.ts'

export const randomEndpoint = endpoint({
  id: 'transit-random',
  operation: 'update',
  path: 'random(/:source)(/:bytes)',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Random bytes',
  describe:
    'No seal here is a source of randomness: with `seal` the bytes come from this machine, and a warning says so.',
  fields: RANDOM_FIELDS,
  response: RANDOM_RESPONSE,
  handler: (transit: Transit, args) => {
    const { source, count } = readRandomRequest(args)
    const bytes = freshBytes(transit.world.random.bytes, count)
    const warnings = source === 'seal' ? [NO_SEAL_ENTROPY] : []
    return { data: { random_bytes: encoded(bytes, args.format) }, warnings }
  },
})
