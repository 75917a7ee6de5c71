// One message encrypted or decrypted with one key: what encrypt, decrypt, rewrap and datakey share, single or in a
// batch. A refusal names the part of the request that is wrong.
import { fail, type Refusal } from '../../api/errors.ts'
import { type Cipher, PADDING_SCHEMES, type PaddingScheme, paddedCipher } from '../../crypto/key-types/key-type.ts'
import { type MessageParts, openMessage, sealMessage } from '../../crypto/message.ts'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import type { NoncePool } from '../../crypto/primitives/nonce-pool.ts'
import { Base64Error, decodeBase64 } from '../../lib/base64.ts'
import { base64Text, type LongText } from '../../lib/long-text.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import { parseCiphertext } from './ring/ciphertext.ts'
import { CALLER_NONCE_BYTES } from './ring/key-use.ts'
import { type LoadedRing, type LoadedVersion, privateKeyOf, requireUsable } from './ring/loaded-ring.ts'
import { decryptionVersion, encryptionVersion } from './ring/versions.ts'

/** Options as a client sends them, in the request or in an item of a batch: base64, or '' for none. */
export type CryptOptions = {
  readonly context?: string | undefined
  readonly nonce?: string | undefined
  readonly associated_data?: string | undefined
  /** One of PADDING_SCHEMES, for RSA keys; not base64. */
  readonly padding_scheme?: string | undefined
}
/** Options of a message to encrypt; `key_version` 0 is the latest. */
export type EncryptOptions = CryptOptions & { readonly key_version?: number | undefined }

/** A ciphertext in its text form (ciphertext.ts), and the version that made it. */
export type Encrypted = { readonly ciphertext: string | LongText; readonly key_version: number }

/** Decodes a field in base64; returns undefined if it is missing or empty. @throws Refusal naming the field */
export function decodeField(name: string, text: string | undefined): Buffer | undefined {
  if (text === undefined || text === '') return undefined
  try {
    return decodeBase64(text)
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw fail('base64_invalid', [`"${name}": ${cause.message}`], cause)
  }
}

/** docs/decisions/0011: only the caller knows whether its nonce was used with other associated data before. */
const NO_DATA_WITH_A_NONCE =
  '"associated_data": this version of the key takes the nonce of its caller, and two messages under one nonce give ' +
  'away what authenticates them: leave it out, or use a newer version of the key'

/** A message that is ready to be sealed or opened: everything that a client can get wrong has been checked. */
export type Prepared = MessageParts & {
  readonly version: LoadedVersion
  readonly padding: PaddingScheme | undefined
  readonly cipher: Cipher
  /** The plaintext to seal, or the decoded ciphertext to open. */
  readonly message: Buffer
}

/**
 * Checks one message to encrypt, and counts it as sealed.
 * @throws Refusal; BudgetSpent if this thread may seal no more messages under the version
 */
export function prepareEncryption(ring: LoadedRing, plaintext: Buffer, options: EncryptOptions): Prepared {
  requireUsable(ring)
  const context = decodeField('context', options.context)
  const given = decodeField('nonce', options.nonce)
  refuseNonce(ring, given)
  const associatedData = decodeField('associated_data', options.associated_data)
  const padding = paddingOf(ring, options.padding_scheme)
  const cipher = requireCipher(ring, 'encryption', padding, associatedData)
  const version = ring.version(encryptionVersion(ring.header, options.key_version ?? 0))
  if (version.use === 'convergent-1' && (associatedData?.length ?? 0) > 0)
    throw fail('field_not_applicable', [NO_DATA_WITH_A_NONCE])
  const { maxPlaintextBytes } = cipher
  if (maxPlaintextBytes !== undefined && plaintext.length > maxPlaintextBytes) {
    const is = `"plaintext": it has ${plaintext.length} bytes`
    throw fail('plaintext_too_long', [`${is}, a key of type ${ring.type.name} encrypts at most ${maxPlaintextBytes}`])
  }
  const prepared = {
    version,
    padding,
    cipher,
    message: plaintext,
    context: ring.header.derived ? requireContext(context) : undefined,
    nonce: version.use === 'convergent-1' ? requireNonce(given) : undefined,
    associatedData,
  }
  // Last, so that a refused message is not counted.
  version.budget?.take((options.key_version ?? 0) !== 0)
  return prepared
}

/** Encrypts one message on this thread; the plaintext stays the caller's to wipe. @throws Refusal, BudgetSpent */
export function encrypt(ring: LoadedRing, nonces: NoncePool, plaintext: Buffer, options: EncryptOptions): Encrypted {
  const prepared = prepareEncryption(ring, plaintext, options)
  return asEncrypted(prepared.version, sealMessage(sealingOf(ring, prepared), nonces, plaintext, prepared))
}

/** Returns the text form of `sealed`, which the version made. */
export function asEncrypted({ prefix, number }: LoadedVersion, sealed: Buffer): Encrypted {
  return { ciphertext: base64Text(sealed, prefix), key_version: number }
}

/** Checks one ciphertext as far as that is possible without opening it. @throws Refusal */
export function prepareDecryption(ring: LoadedRing, ciphertext: string | undefined, options: CryptOptions): Prepared {
  requireUsable(ring)
  if (ciphertext === undefined || ciphertext === '')
    throw fail('field_missing', ['ciphertext', 'missing ciphertext to decrypt'])
  const context = decodeField('context', options.context)
  const associatedData = decodeField('associated_data', options.associated_data)
  const padding = paddingOf(ring, options.padding_scheme)
  const cipher = requireCipher(ring, 'decryption', padding, associatedData)
  const { version: written, payload } = parseCiphertext(ciphertext)
  const version = ring.version(decryptionVersion(ring.header, written))
  privateKeyOf(version)
  const message = decodePayload(payload)
  const takesNonce = version.use === 'convergent-1'
  if (!takesNonce && message.length < cipher.nonceBytes)
    throw fail('ciphertext_malformed', ['invalid ciphertext length, it is too short to hold a nonce'])
  return {
    version,
    padding,
    cipher,
    message,
    context: ring.header.derived ? requireContext(context) : undefined,
    nonce: takesNonce ? requireNonce(decodeField('nonce', options.nonce)) : undefined,
    associatedData,
  }
}

/**
 * Decrypts one ciphertext; the plaintext is the caller's to wipe. Returns a promise only if the key type opens slowly.
 * @throws Refusal
 */
export function decrypt(
  ring: LoadedRing,
  slow: SlowWork,
  ciphertext: string | undefined,
  options: CryptOptions,
): Buffer | Promise<Buffer> {
  const prepared = prepareDecryption(ring, ciphertext, options)
  const { cipher, version, message } = prepared
  if (cipher.openSlowly !== undefined) return cipher.openSlowly(slow, version.key, message).catch(refuseUnopened)
  try {
    return openMessage(sealingOf(ring, prepared), message, prepared)
  } catch (cause) {
    return refuseUnopened(cause)
  }
}

function sealingOf({ type }: LoadedRing, { cipher, version }: Prepared) {
  return { type, cipher, key: version.key, use: version.use }
}

/** Gives every reason the same sentence (threats C-11). */
function refuseUnopened(cause: unknown): never {
  throw cause instanceof AuthenticationFailed ? unopened() : cause
}

/** Returns the refusal for a ciphertext that does not open. It gives no reason, which could help to forge one. */
export function unopened(): Refusal {
  return fail('decryption_failed', [])
}

/** True if `decrypt` returns promises: the private half of such key types is slow. */
export function decryptsSlowly({ type }: LoadedRing): boolean {
  return type.cipher?.openSlowly !== undefined
}

/**
 * Checks a nonce of the caller. It is not used (threats C-01), except by versions of convergent algorithm 1, which have
 * no other. Convergent keys accept a well-formed nonce, since clients older than 0.6.2 had to send one; any other key
 * refuses it.
 */
function refuseNonce(ring: LoadedRing, nonce: Buffer | undefined): void {
  if (nonce === undefined) return
  if (!ring.header.convergent)
    throw fail('nonce_refused', ['"nonce": provided nonce not allowed for this key, which draws its own'])
  requireNonce(nonce)
}

function requireNonce(nonce: Buffer | undefined): Buffer {
  if (nonce === undefined) {
    throw fail('nonce_refused', [
      `"nonce": missing, and this version of the key takes the nonce of its caller: give the ${CALLER_NONCE_BYTES} ` +
        'bytes that belong to the plaintext, or use a newer version of the key',
    ])
  }
  if (nonce.length === CALLER_NONCE_BYTES) return nonce
  throw fail('nonce_refused', [`"nonce": base64-decoded nonce must be ${CALLER_NONCE_BYTES} bytes long`])
}

function paddingOf({ type }: LoadedRing, text: string | undefined): PaddingScheme | undefined {
  if (text === undefined || text === '') return undefined
  const padding = PADDING_SCHEMES.find((one) => one === text)
  if (padding === undefined) throw fail('choice_unknown', [`"padding_scheme": must be ${PADDING_SCHEMES.join(' or ')}`])
  if (type.paddings === undefined)
    throw fail('field_not_applicable', [`"padding_scheme": only for RSA keys, a key of type ${type.name} has none`])
  return padding
}

function requireCipher(
  { type }: LoadedRing,
  what: 'encryption' | 'decryption',
  padding: PaddingScheme | undefined,
  associatedData: Buffer | undefined,
): Cipher {
  const cipher = paddedCipher(type, padding)
  if (cipher === undefined) throw fail('key_cannot', [`message ${what} not supported for key type ${type.name}`])
  if (associatedData !== undefined && !cipher.takesAssociatedData) {
    throw fail('field_not_applicable', [`"associated_data": provided for non-AEAD cipher suite ${type.name}`])
  }
  return cipher
}

function requireContext(context: Buffer | undefined): Buffer {
  if (context !== undefined && context.length > 0) return context
  throw fail('field_missing', [
    'context',
    "missing 'context' for key derivation; the key was created with derivation, so each request says for which context",
  ])
}

/** Decodes the base64 behind the prefix of a ciphertext. @throws Refusal */
export function decodePayload(payload: string): Buffer {
  try {
    return decodeBase64(payload)
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw fail('ciphertext_malformed', [`invalid ciphertext: could not decode base64, ${cause.message}`], cause)
  }
}
