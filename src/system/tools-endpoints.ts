// sys/tools: hashes and random bytes, without a mount.

import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { drawRandom } from '../api/random-source.ts'
import {
  encoded,
  HASH_FIELDS,
  HASH_RESPONSE,
  RANDOM_FIELDS,
  RANDOM_RESPONSE,
  readRandomRequest,
} from '../api/tool-fields.ts'
import { mixedBytes } from '../crypto/mixed-random.ts'
import { HASH_NAMES, namedHash } from '../crypto/named-hash.ts'
import { freshBytes } from '../crypto/random-bytes.ts'
import type { System } from './system.ts'

const hash = endpoint({
  id: 'tools-hash',
  operation: 'update',
  path: 'tools/hash(/:algorithm)',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Hash of the input',
  fields: HASH_FIELDS,
  response: HASH_RESPONSE,
  handler: (_system: System, { input, algorithm, format }) => {
    const sum = namedHash(algorithm, input)
    if (sum === undefined) throw fail('field_invalid', ['algorithm', `must be one of ${HASH_NAMES.join(', ')}`])
    return { data: { sum: encoded(sum, format) } }
  },
})

const random = endpoint({
  id: 'tools-random',
  operation: 'update',
  path: 'tools/random(/:source)(/:bytes)',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Random bytes',
  describe:
    'With `seal` and `all` the bytes of this machine are mixed with those of the device that is configured ' +
    '(kms_library). Where there is none they are of this machine alone, and with `seal` a warning says so.',
  fields: RANDOM_FIELDS,
  response: RANDOM_RESPONSE,
  handler: async (system: System, args) => {
    const { source, count } = readRandomRequest(args)
    const { edition, world } = system
    const { bytes, warnings } = await drawRandom(source, count, {
      edition,
      device: system.services.managedKeys,
      platform: (wanted) => freshBytes(world.random.bytes, wanted),
      mixed: (device) => mixedBytes(world.random.bytes, device),
    })
    return { data: { random_bytes: encoded(bytes, args.format) }, warnings }
  },
})

export const TOOLS_ENDPOINTS: readonly Endpoint[] = [hash, random]
