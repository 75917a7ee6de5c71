// sys/tools: hashes and random bytes, without a mount.

import { requireFeature } from '../api/edition.ts'
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import {
  encoded,
  HASH_FIELDS,
  HASH_RESPONSE,
  NO_SEAL_ENTROPY,
  RANDOM_FIELDS,
  RANDOM_RESPONSE,
  readRandomRequest,
} from '../api/tool-fields.ts'
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
    'No seal here is a source of randomness: with `seal` the bytes come from this machine, and a warning says so.',
  fields: RANDOM_FIELDS,
  response: RANDOM_RESPONSE,
  handler: (system: System, args) => {
    const { source, count } = readRandomRequest(args)
    if (source !== 'platform') requireFeature(system.edition, 'Entropy Augmentation')
    const bytes = freshBytes(system.world.random.bytes, count)
    const warnings = source === 'seal' ? [NO_SEAL_ENTROPY] : []
    return { data: { random_bytes: encoded(bytes, args.format) }, warnings }
  },
})

export const TOOLS_ENDPOINTS: readonly Endpoint[] = [hash, random]
