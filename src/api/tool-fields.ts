// The tools `hash` and `random` (Interface 4.3), which are the same wherever they are offered (under sys/tools, and by
// engines): their fields and answers.

import { parseDecimal } from './coercion.ts'
import type { AlsoNamed } from './endpoint.ts'
import { fail } from './errors.ts'
import type { Args } from './fields.ts'
import { bytes, int, keptDecimal, string } from './fields.ts'
import type { Answer } from './request.ts'
import { text } from './shape.ts'

const FORMATS = ['hex', 'base64'] as const

const formatField = (usual: (typeof FORMATS)[number]) =>
  string('Encoding of the result: hex or base64', { oneOf: FORMATS, default: usual })

const HASH_FIELDS = {
  input: bytes('Data to hash, base64-encoded', { required: true, secret: true }),
  algorithm: string('Hash algorithm: sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512', {
    default: 'sha2-256',
  }),
  format: formatField('hex'),
}

/** The endpoint, without its id, path and handler. */
export const HASH_TOOL = {
  operation: 'update',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Returns the hash of the input',
  fields: HASH_FIELDS,
  response: { sum: text('The hash, in the requested encoding') },
} as const

/**
 * Answers `hash`. The function `hash` returns undefined for a name that is not in `names`.
 * @throws Refusal for such a name
 */
export function hashAnswer(
  { input, algorithm, format }: Args<typeof HASH_FIELDS>,
  names: readonly string[],
  hash: (name: string, data: Buffer) => Buffer | undefined,
): Answer {
  const sum = hash(algorithm, input)
  if (sum === undefined) throw fail('choice_unknown', ['algorithm', `must be one of ${names.join(', ')}`])
  return { data: { sum: encoded(sum, format) } }
}

/** Most bytes of one request. */
export const MAX_RANDOM_BYTES = 131_072
const DEFAULT_RANDOM_BYTES = 32
const SOURCES = ['platform', 'seal', 'all'] as const
/** A source of random bytes, as requests name it. */
export type RandomSource = (typeof SOURCES)[number]
const DEFAULT_SOURCE: RandomSource = 'platform'

const RANDOM_FIELDS = {
  source: string(
    'Source of randomness: platform is this machine alone; seal and all mix in the seal device. A number is ' +
      'taken as `bytes`',
    {
      default: DEFAULT_SOURCE,
      canonical: keptDecimal,
    },
  ),
  bytes: int('Number of bytes to return', { min: 1, max: MAX_RANDOM_BYTES, default: DEFAULT_RANDOM_BYTES }),
  format: formatField('base64'),
}
/** The decoded fields of `random`. */
export type RandomArgs = Args<typeof RANDOM_FIELDS>

/** The endpoint, without its id, path and handler. */
export const RANDOM_TOOL = {
  operation: 'update',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Returns random bytes',
  describe:
    'With `seal` and `all`, random bytes of this machine are mixed with those of the configured device ' +
    '(kms_library). If no device is configured, all bytes come from this machine, and with `seal` the answer ' +
    'has a warning.',
  fields: RANDOM_FIELDS,
  response: { random_bytes: text('The random bytes, in the requested encoding') },
} as const

/** `random/32` is `random` with `bytes`, so rules about that path apply too. `path` is that of the endpoint. */
export const bytesAlone = (path: string): AlsoNamed => ({
  field: 'bytes',
  operation: 'update',
  at: (bytes, { source }) => (source === undefined ? `${path}/${bytes}` : undefined),
})

/**
 * Returns source and number of bytes.
 * @throws Refusal for an unknown source, and for a number out of bounds in its place
 */
export function readRandomRequest(args: RandomArgs): {
  readonly source: RandomSource
  readonly count: number
} {
  // Clients that send all fields send an empty source, which counts as none.
  const source = args.source === '' ? DEFAULT_SOURCE : args.source
  const known = SOURCES.find((name) => name === source)
  if (known !== undefined) return { source: known, count: args.bytes }
  // In `random/32` the one segment is either the source or the number.
  const count = parseDecimal(source)
  if (count === undefined) throw fail('choice_unknown', ['source', `must be one of ${SOURCES.join(', ')}, or a number`])
  if (count < 1 || count > MAX_RANDOM_BYTES)
    throw fail('out_of_range', ['bytes', `must be from 1 to ${MAX_RANDOM_BYTES}`])
  return { source: 'platform', count }
}

/** Writes bytes in hex or, by default, in base64. */
export const encoded = (data: Buffer, format: string): string => data.toString(format === 'hex' ? 'hex' : 'base64')

/** Wire text: the reference says this if there is no such device. */
export const NO_SEAL_ENTROPY = 'no seal/entropy augmentation available, using platform entropy source'
