// random(/:source)(/:bytes) (Interface 4.3).
import { endpoint } from '../../api/endpoint.ts'
import { drawRandom } from '../../api/random-source.ts'
import { encoded, RANDOM_FIELDS, RANDOM_RESPONSE, readRandomRequest } from '../../api/tool-fields.ts'
import { mixedBytes } from '../../crypto/mixed-random.ts'
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
    'With `seal` and `all` the bytes of this machine are mixed with those of the device that is configured ' +
    '(kms_library). Where there is none they are of this machine alone, and with `seal` a warning says so.',
  fields: RANDOM_FIELDS,
  response: RANDOM_RESPONSE,
  handler: async (transit: Transit, args) => {
    const { source, count } = readRandomRequest(args)
    const { edition, world } = transit
    const { bytes, warnings } = await drawRandom(source, count, {
      edition,
      device: transit.deviceRandom,
      platform: (wanted) => freshBytes(world.random.bytes, wanted),
      mixed: (device) => mixedBytes(world.random.bytes, device),
    })
    return { data: { random_bytes: encoded(bytes, args.format) }, warnings }
  },
})
