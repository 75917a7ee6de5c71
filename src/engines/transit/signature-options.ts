// The options of a signature, which sign and verify share (Interface 4.3).
import { fail } from '../../api/errors.ts'
import { type Args, bool, string } from '../../api/fields.ts'
import type { KeyType, SignatureOptions } from '../../crypto/key-types/key-type.ts'
import { SIGNATURE_HASHES } from '../../crypto/signatures/signature-hashes.ts'

const NO_HASH = 'none'
/** Values of `hash_algorithm`; `none` signs the input as it is. */
export const SIGNATURE_HASH_NAMES: readonly string[] = [...SIGNATURE_HASHES, NO_HASH]
const USUAL_HASH = 'sha2-256'

const OFFERED_HASHES = SIGNATURE_HASH_NAMES.join(', ')

/** Fields that sign and verify share. */
export const signatureFields = {
  hash_algorithm: string(
    `Hash algorithm, not used by ed25519 and ML-DSA: ${OFFERED_HASHES}; ${USUAL_HASH} if unset or empty`,
  ),
  algorithm: string('Deprecated: use hash_algorithm; counts only if that is sent empty', {
    aliasOf: 'hash_algorithm',
    default: '',
  }),
  prehashed: bool('The input is already hashed; ed25519 takes it as the message, ML-DSA refuses this', {
    default: false,
  }),
  signature_algorithm: string('RSA padding: pss or pkcs1v15; empty is pss', { default: '' }),
  marshaling_algorithm: string('Encoding: asn1 (base64, ECDSA in DER) or jws (base64url, ECDSA as r followed by s)', {
    default: 'asn1',
  }),
  salt_length: string(
    'RSA-PSS salt length: auto (the longest; any when verifying), hash (as the hash), or a number of bytes',
    { default: 'auto', canonical: keptSaltLength },
  ),
  context: string('Key derivation context, base64; required for derived keys', { secret: true }),
}

type HashArgs = Pick<Args<typeof signatureFields>, 'hash_algorithm' | 'algorithm'>

/**
 * Returns the name of the hash. An explicitly empty field falls back to the older field, and then to the usual hash.
 */
export function hashNameOf(args: HashArgs): string {
  return namedHash(args) || USUAL_HASH
}

/** Returns '' if no hash is named. */
function namedHash({ hash_algorithm: name, algorithm }: HashArgs): string {
  return name === undefined ? '' : name || algorithm
}

/** Reads the options, whatever key they are for. @throws Refusal for a value that no key type knows */
export function readSignatureOptions(args: Omit<Args<typeof signatureFields>, 'context'>): SignatureOptions {
  const hash = hashNameOf(args)
  if (!SIGNATURE_HASH_NAMES.includes(hash)) {
    throw fail('choice_unknown', [
      `"hash_algorithm": invalid hash algorithm, must be one of ${SIGNATURE_HASH_NAMES.join(', ')}`,
    ])
  }
  const { marshaling_algorithm: marshaling, signature_algorithm: algorithm } = args
  if (marshaling !== 'asn1' && marshaling !== 'jws') {
    throw fail('choice_unknown', ['"marshaling_algorithm": invalid marshaling type, must be asn1 or jws'])
  }
  const padding = algorithm === '' ? 'pss' : algorithm
  if (padding !== 'pss' && padding !== 'pkcs1v15') {
    throw fail('choice_unknown', ['"signature_algorithm": unsupported signature algorithm, must be pss or pkcs1v15'])
  }
  const saltLength = parseSaltLength(args.salt_length)
  const isHashNamed = namedHash(args) === '' ? {} : ({ isHashNamed: true } as const)
  return { hash, ...isHashNamed, prehashed: args.prehashed, padding, marshaling, saltLength }
}

/** Returns the one form by which policies judge: numbers have several forms, and 0 and -1 stand for words. */
function keptSaltLength(text: string): string {
  const word = text.toLowerCase()
  const bytes = SALT_NUMBER.test(word) ? Number(word) + 0 : undefined
  return bytes === undefined ? word : bytes === 0 ? 'auto' : bytes === -1 ? 'hash' : String(bytes)
}

const SALT_NUMBER = /^[+-]?\d{1,9}$/

/** Parses the field; 0 is 'auto' and -1 is 'hash', so a salt of no bytes cannot be asked for. @throws Refusal */
function parseSaltLength(text: string): SignatureOptions['saltLength'] {
  const word = text.toLowerCase()
  if (word === 'auto' || word === 'hash') return word
  if (!SALT_NUMBER.test(text))
    throw fail('choice_unknown', [`"salt_length": salt length neither 'auto', 'hash', nor an int`])
  const bytes = Number(text)
  if (bytes < -1)
    throw fail('out_of_range', [`"salt_length": requested salt length ${bytes} is invalid, it is 1 or more bytes`])
  return bytes === 0 ? 'auto' : bytes === -1 ? 'hash' : bytes
}

/**
 * Refuses `prehashed` for key types that hash the message themselves: the caller's hash would be signed, or verified,
 * as if it were the message.
 * @throws Refusal
 */
export function requireMessages({ name, signing }: KeyType, { prehashed }: SignatureOptions): void {
  if (prehashed && signing?.hashesItself === true)
    throw fail('field_not_applicable', [
      `"prehashed": a key of type ${name} hashes the message itself: send the message, and leave it out`,
    ])
}

/**
 * Interface 7.7: without a hash the signature holds the input as it is, and one padding alone does so.
 * @throws Refusal
 */
export function requireHashOrRaw({ hash, prehashed, padding }: SignatureOptions): void {
  if (hash === NO_HASH && !(prehashed && padding === 'pkcs1v15')) {
    throw fail('fields_conflict', ['hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15'])
  }
}
