// Fields and shapes that encrypt, decrypt, rewrap and datakey have in common (Interface 4.3).
import { fail } from '../../api/errors.ts'
import { int, string } from '../../api/fields.ts'
import { group, integer, listOf, optional, type Shape, type Shapes, text } from '../../api/shape.ts'
import type { LoadedRing } from './ring/loaded-ring.ts'

export const keyNameField = { name: string('Name of the key', { required: true }) }

export const cryptOptionFields = {
  context: string('Context, for keys with derivation; base64', { secret: true }),
  associated_data: string('Authenticated with the message, not encrypted; base64', { secret: true }),
  nonce: string(
    '12 bytes, base64: what restored versions of convergent encryption 1 take; other convergent keys let it pass',
    { secret: true },
  ),
}

const PADDING = 'Of RSA keys: oaep, which is the default, or pkcs1v15, for those who must have it'

export const paddingField = { padding_scheme: string(PADDING) }

/** Of rewrap, which decrypts and encrypts. */
export const paddingFields = {
  decrypt_padding_scheme: string(`${PADDING}: of the ciphertext that is given`),
  encrypt_padding_scheme: string(`${PADDING}: of the ciphertext that is made`),
}

export const versionField = { key_version: int('Version of the key that encrypts; 0 is the latest', { default: 0 }) }

export const partialFailureField = {
  partial_failure_response_code: int(
    'Status for a batch of which some items fail and some do not, 200 to 599; else 400. With 204 the answer has no ' +
      'results; 205 and 304, whose answers have no body either, and what is out of range are 400 with a warning',
  ),
}

/** The same in an item of a batch; `reference` is repeated in its result. */
export const optionItems = {
  context: 'string',
  associated_data: 'string',
  nonce: 'string',
  reference: 'string',
} as const

const ENCRYPTED: Shapes = {
  ciphertext: text('vault:vN: and base64'),
  key_version: integer('Version of the key that encrypted'),
}

const REFERENCE = text('As in the item; empty for none')
const FAILURE = optional(text('What is wrong with the item, where it failed'))

/** The one answer or the results of a batch, whichever was asked for. */
export function singleOrBatch(single: Shapes, item: Shapes): Shapes {
  const members = { ...item, reference: REFERENCE, error: FAILURE }
  return {
    ...allOptional(single),
    batch_results: optional(listOf(group(members, 'Result of an item'), 'Results in the order of the items')),
  }
}

export function allOptional(shapes: Shapes): Shapes {
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]): [string, Shape] => [name, optional(shape)]))
}

export const ENCRYPTED_OR_BATCH = singleOrBatch(ENCRYPTED, allOptional(ENCRYPTED))
export const DATA_KEY: Shapes = { ...ENCRYPTED, plaintext: optional(text('The data key, for type plaintext; base64')) }

/** Wire text: 400, not 404, for every operation with a key that is not there. */
export function keyNotFound(
  name: string,
  key: 'encryption key' | 'signing key' | 'signature verification key' = 'encryption key',
) {
  return fail('key_not_found', [`${key} not found: no key has the name "${name}"`])
}

/** What is said of an answer of a key besides it; `sealedWith`: the version that encrypted, where one did. */
export function cryptWarnings(ring: LoadedRing, isNonceGiven: boolean, sealedWith?: number): readonly string[] {
  const warnings = isNonceGiven && !ring.takesNonces ? [NONCE_UNUSED] : []
  if (sealedWith !== undefined && ring.version(sealedWith).budget?.isNearLimit === true)
    warnings.push(nearLimit(sealedWith))
  return warnings
}

/** The same of the run of a batch, which knows whether a nonce was given. */
export function withWarnings<R extends { readonly warnings: readonly string[] }>(
  ring: LoadedRing,
  run: R,
  seals = false,
): R {
  const warnings = cryptWarnings(ring, run.warnings.includes(NONCE_UNUSED))
  if (!seals) return { ...run, warnings }
  const near = ring.versions.filter(({ budget }) => budget?.isNearLimit === true)
  return { ...run, warnings: [...warnings, ...near.map(({ number }) => nearLimit(number))] }
}

const nearLimit = (version: number): string =>
  `version ${version} of the key has encrypted more than 2^31 messages, half of what its nonces are good for: ` +
  'rotate the key'

/** Warns whoever sent a nonce and was not refused. */
export const NONCE_UNUSED = 'The given nonce was not used and need not be sent: each ciphertext holds its own'

/** An empty text counts as none. */
export function isGiven(value: string | number | undefined): boolean {
  return value !== undefined && value !== ''
}
