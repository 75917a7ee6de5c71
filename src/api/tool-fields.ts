// What hash and random take, wherever they are offered (under sys/tools, and by engines).

import { fail } from './errors.ts'
import type { Args } from './fields.ts'
import { bytes, int, string } from './fields.ts'
import { text } from './shape.ts'

const FORMATS = ['hex', 'base64'] as const

const formatField = (usual: (typeof FORMATS)[number]) =>
  string('Of the answer: hex or base64', { oneOf: FORMATS, default: usual })

export const HASH_FIELDS = {
  input: bytes('Data, base64', { required: true }),
  algorithm: string('sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512', { default: 'sha2-256' }),
  format: formatField('hex'),
}
export const HASH_RESPONSE = { sum: text('The hash') }

export const MAX_RANDOM_BYTES = 131_072
const DEFAULT_RANDOM_BYTES = 32
const SOURCES = ['platform', 'seal', 'all'] as const
export type RandomSource = (typeof SOURCES)[number]

export const RANDOM_FIELDS = {
  source: string('platform: this machine; seal: the device of the seal; all: both mixed. A number here is `bytes`', {
    default: 'platform',
  }),
  bytes: int('How many', { min: 1, max: MAX_RANDOM_BYTES, default: DEFAULT_RANDOM_BYTES }),
  format: formatField('base64'),
}
export const RANDOM_RESPONSE = { random_bytes: text('The bytes') }

/** @throws Refusal for a source that is none, and for a number out of bounds in its place */
export function readRandomRequest(args: Args<typeof RANDOM_FIELDS>): {
  readonly source: RandomSource
  readonly count: number
} {
  const { source } = args
  const known = SOURCES.find((name) => name === source)
  if (known !== undefined) return { source: known, count: args.bytes }
  // `random/32`: where one segment follows, it is the source or the number.
  const count = Number(source)
  if (!/^\d{1,9}$/.test(source))
    throw fail('field_invalid', ['source', `must be one of ${SOURCES.join(', ')}, or a number`])
  if (count < 1 || count > MAX_RANDOM_BYTES)
    throw fail('field_invalid', ['bytes', `must be from 1 to ${MAX_RANDOM_BYTES}`])
  return { source: 'platform', count }
}

export const encoded = (data: Buffer, format: string): string => data.toString(format === 'hex' ? 'hex' : 'base64')

/** Wire text: what the reference says where there is no such device. */
export const NO_SEAL_ENTROPY = 'no seal/entropy augmentation available, using platform entropy source'
