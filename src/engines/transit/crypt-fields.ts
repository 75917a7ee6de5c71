// Fields, shapes and warnings that encrypt, decrypt, rewrap and datakey share (Interface 4.3).
import { fail } from '../../api/errors.ts'
import { int, string } from '../../api/fields.ts'
import { group, integer, listOf, optional, type Shape, type Shapes, text } from '../../api/shape.ts'
import type { LoadedRing } from './ring/loaded-ring.ts'

/** The key that an endpoint is for; the name stands in the path. */
export const keyNameField = { name: string('Name of the key', { required: true }) }

/** Options of one message. A batch takes them from its items instead (`optionItems`). */
export const cryptOptionFields = {
  context: string('Key derivation context, base64; required for derived keys', { secret: true }),
  associated_data: string('Associated data, base64: authenticated but not encrypted', { secret: true }),
  nonce: string(
    'Nonce of 12 bytes, base64: required by key versions that were restored with version 1 of convergent encryption. ' +
      'Other convergent keys ignore it; any other key refuses it when encrypting',
    { secret: true },
  ),
}

const PADDINGS = 'oaep (default), or pkcs1v15, for compatibility only'

/** The padding of an RSA key, for endpoints that use one. */
export const paddingField = { padding_scheme: string(`RSA padding: ${PADDINGS}`) }

/** The paddings of rewrap, which decrypts with one and encrypts with the other. */
export const paddingFields = {
  decrypt_padding_scheme: string(`RSA padding of the given ciphertext: ${PADDINGS}`),
  encrypt_padding_scheme: string(`RSA padding of the new ciphertext: ${PADDINGS}`),
}

/** The version that encrypts. */
export const versionField = { key_version: int('Key version to encrypt with; 0 is the latest', { default: 0 }) }

/** The status that the caller wants if some items fail (Interface 7.1). */
export const partialFailureField = {
  partial_failure_response_code: int(
    'HTTP status, 200 to 599, for a batch in which some items fail and others succeed; 400 if unset. With 204 the ' +
      'answer has no results. 205, 304 (which have no body either) and values out of range give 400 with a warning',
  ),
}

/** Members of an item that mean what `cryptOptionFields` mean; `reference` is repeated in the item's result. */
export const optionItems = {
  context: 'string',
  associated_data: 'string',
  nonce: 'string',
  reference: 'string',
} as const

const ENCRYPTED: Shapes = {
  ciphertext: text('Ciphertext: vault:vN: followed by base64; N is the key version'),
  key_version: integer('Key version that encrypted'),
}

const REFERENCE = text('Reference of the item; empty if it has none')
const FAILURE = optional(text('Why the item failed; absent if it succeeded'))

/** Returns the shape of an answer that has the members of `single`, or `batch_results` if a batch was sent. */
export function singleOrBatch(single: Shapes, item: Shapes): Shapes {
  const members = { ...item, reference: REFERENCE, error: FAILURE }
  return {
    ...allOptional(single),
    batch_results: optional(listOf(group(members, 'Result of one item'), 'Results in the order of the items')),
  }
}

/** Returns the same shapes with every member optional. */
export function allOptional(shapes: Shapes): Shapes {
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]): [string, Shape] => [name, optional(shape)]))
}

/** The answer of encrypt and rewrap. */
export const ENCRYPTED_OR_BATCH = singleOrBatch(ENCRYPTED, allOptional(ENCRYPTED))
/** The answer of datakey; without the plaintext if only its ciphertext was asked for. */
export const DATA_KEY: Shapes = {
  ...ENCRYPTED,
  plaintext: optional(text('Data key, base64; only with type plaintext')),
}

/** Returns the refusal for a key that is not there. Wire text; the status is 400, not 404, for all uses of a key. */
export function keyNotFound(
  name: string,
  key: 'encryption key' | 'signing key' | 'signature verification key' = 'encryption key',
) {
  return fail('key_not_found', [`${key} not found: no key has the name "${name}"`])
}

/**
 * Returns the warnings of a single answer: about a nonce that was not used, and about a version near its message limit.
 * `sealedWith` is the version that encrypted, if one did.
 */
export function cryptWarnings(ring: LoadedRing, isNonceGiven: boolean, sealedWith?: number): readonly string[] {
  const warnings = isNonceGiven && !ring.takesNonces ? [NONCE_UNUSED] : []
  if (sealedWith !== undefined && ring.version(sealedWith).budget?.isNearLimit === true)
    warnings.push(nearLimit(sealedWith))
  return warnings
}

/**
 * Returns the run of a batch with these warnings in place of its own, which only say whether a nonce was given.
 * `seals` is true if the batch encrypted: then any version of the key may be near its limit.
 */
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

/** The warning for a caller whose nonce was accepted and not used. */
export const NONCE_UNUSED = 'The given nonce was not used and need not be sent: each ciphertext holds its own'

/** True unless the value is missing or ''; clients send the empty text for none. */
export function isGiven(value: string | number | undefined): boolean {
  return value !== undefined && value !== ''
}
