// One message through one key: what encrypt, decrypt, rewrap and datakey share, single or in a batch. Each part of a
// request that a client got wrong is refused by its name.
import type { KeyObject } from 'node:crypto'
import { fail, type Refusal } from '../../api/errors.ts'
import { AuthenticationFailed } from '../../crypto/aead.ts'
import type { Cipher, Convergent, Derivation, KeyType } from '../../crypto/key-type.ts'
import type { NoncePool } from '../../crypto/nonce-pool.ts'
import { Base64Error, decodeBase64, encodeBase64 } from '../../lib/base64.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import { parseCiphertext } from './ciphertext.ts'
import { type LoadedRing, type LoadedVersion, privateKeyOf, requireUsable } from './loaded-ring.ts'
import { decryptionVersion, encryptionVersion } from './versions.ts'

/** As a client sends them, at the top level or in an item of a batch: base64, or empty for none. */
export type CryptOptions = {
  readonly context?: string | undefined
  readonly nonce?: string | undefined
  readonly associated_data?: string | undefined
}
export type EncryptOptions = CryptOptions & { readonly key_version?: number | undefined }

export type Encrypted = { readonly ciphertext: string; readonly key_version: number }

type Derived = { readonly key: KeyObject; readonly nonce?: Buffer }

/** Interface 4.3: 96 bits. */
const CALLER_NONCE_BYTES = 12

const refuse = (sentence: string, cause?: unknown) => fail('bad_request', [sentence], cause)

/** @throws Refusal naming the field */
export function decodeField(name: string, text: string | undefined): Buffer | undefined {
  if (text === undefined || text === '') return undefined
  try {
    return decodeBase64(text)
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw refuse(`"${name}": ${cause.message}`, cause)
  }
}

/** A message that can be sealed or opened: all that a client can get wrong was looked at. */
export type Prepared = {
  readonly version: LoadedVersion
  /** Plaintext, or nonce ‖ ciphertext ‖ tag. */
  readonly message: Buffer
  /** Only of a derived key. */
  readonly context: Buffer | undefined
  readonly associatedData: Buffer | undefined
}

/** @throws Refusal */
export function prepareEncryption(ring: LoadedRing, plaintext: Buffer, options: EncryptOptions): Prepared {
  requireUsable(ring)
  const context = decodeField('context', options.context)
  refuseNonce(ring, options.nonce)
  const associatedData = decodeField('associated_data', options.associated_data)
  const { maxPlaintextBytes } = requireCipher(ring.type, 'encryption', associatedData)
  const version = ring.version(encryptionVersion(ring.header, options.key_version ?? 0))
  if (maxPlaintextBytes !== undefined && plaintext.length > maxPlaintextBytes) {
    const is = `"plaintext": it has ${plaintext.length} bytes`
    throw refuse(`${is}, a key of type ${ring.type.name} encrypts at most ${maxPlaintextBytes}`)
  }
  return {
    version,
    message: plaintext,
    context: ring.header.derived ? requireContext(context) : undefined,
    associatedData,
  }
}

/** @throws Refusal */
export function encrypt(ring: LoadedRing, nonces: NoncePool, plaintext: Buffer, options: EncryptOptions): Encrypted {
  const { version, context, associatedData } = prepareEncryption(ring, plaintext, options)
  const cipher = cipherOf(ring)
  const derived = context === undefined ? undefined : derive(ring, version, context, plaintext)
  const nonce = derived?.nonce ?? nonces.take(cipher.nonceBytes)
  return encrypted(version, cipher.sealWithNonce(derived?.key ?? version.key, nonce, plaintext, associatedData))
}

/** `sealed` is what the version made. */
export function encrypted({ prefix, number }: LoadedVersion, sealed: Buffer): Encrypted {
  return { ciphertext: prefix + encodeBase64(sealed), key_version: number }
}

/** @throws Refusal */
export function prepareDecryption(ring: LoadedRing, ciphertext: string | undefined, options: CryptOptions): Prepared {
  requireUsable(ring)
  if (ciphertext === undefined || ciphertext === '') throw refuse('missing ciphertext to decrypt')
  const context = decodeField('context', options.context)
  const associatedData = decodeField('associated_data', options.associated_data)
  const cipher = requireCipher(ring.type, 'decryption', associatedData)
  const { version: written, payload } = parseCiphertext(ciphertext)
  const version = ring.version(decryptionVersion(ring.header, written))
  privateKeyOf(version)
  const message = decodePayload(payload)
  if (message.length < cipher.nonceBytes) throw refuse('invalid ciphertext length, it is too short to hold a nonce')
  return { version, message, context: ring.header.derived ? requireContext(context) : undefined, associatedData }
}

/**
 * The plaintext is the caller's to wipe. It is there at once unless the type of the key opens slowly.
 * @throws Refusal
 */
export function decrypt(
  ring: LoadedRing,
  slow: SlowWork,
  ciphertext: string | undefined,
  options: CryptOptions,
): Buffer | Promise<Buffer> {
  const { version, message, context, associatedData } = prepareDecryption(ring, ciphertext, options)
  const cipher = cipherOf(ring)
  const key = context === undefined ? version.key : requireDerivation(ring.type).derive(version.key, context)
  if (cipher.openSlowly !== undefined) return cipher.openSlowly(slow, key, message).catch(refuseUnopened)
  try {
    return cipher.openWithNonce(key, message, associatedData)
  } catch (cause) {
    return refuseUnopened(cause)
  }
}

/** One sentence for all that can be wrong (threats C-11). */
function refuseUnopened(cause: unknown): never {
  throw cause instanceof AuthenticationFailed ? unopened() : cause
}

export function unopened(): Refusal {
  return refuse('message authentication failed: ciphertext, key, context and associated_data do not fit together')
}

/** Whether `decrypt` gives promises: for keys of types whose private half is slow. */
export function decryptsSlowly({ type }: LoadedRing): boolean {
  return type.cipher?.openSlowly !== undefined
}

/** The key for a context; a convergent key also has the nonce for a plaintext. */
function derive(ring: LoadedRing, { key }: LoadedVersion, context: Buffer, plaintext: Buffer): Derived {
  const derivation = requireDerivation(ring.type)
  if (!ring.header.convergent) return { key: derivation.derive(key, context) }
  const convergent = requireConvergent(ring.type)
  const keys = convergent.deriveV3(key, context)
  return { key: keys.encryptionKey, nonce: convergent.nonce(keys, plaintext) }
}

/**
 * No nonce of a caller is ever used (threats C-01). A convergent key lets a well-formed one pass, as clients of before
 * 0.6.2 had to send it; any other key refuses it.
 */
function refuseNonce(ring: LoadedRing, text: string | undefined): void {
  const nonce = decodeField('nonce', text)
  if (nonce === undefined) return
  if (!ring.header.convergent) throw refuse('"nonce": provided nonce not allowed for this key, which draws its own')
  if (nonce.length !== CALLER_NONCE_BYTES) {
    throw refuse(`"nonce": base64-decoded nonce must be ${CALLER_NONCE_BYTES} bytes long`)
  }
}

function requireCipher(type: KeyType, what: 'encryption' | 'decryption', associatedData: Buffer | undefined): Cipher {
  const { cipher, name } = type
  if (cipher === undefined) throw refuse(`message ${what} not supported for key type ${name}`)
  if (associatedData !== undefined && !cipher.takesAssociatedData) {
    throw refuse(`"associated_data": provided for non-AEAD cipher suite ${name}`)
  }
  return cipher
}

function requireContext(context: Buffer | undefined): Buffer {
  if (context !== undefined && context.length > 0) return context
  throw refuse(
    "missing 'context' for key derivation; the key was created with derivation, so each request says for which context",
  )
}

function decodePayload(payload: string): Buffer {
  try {
    return decodeBase64(payload)
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw refuse(`invalid ciphertext: could not decode base64, ${cause.message}`, cause)
  }
}

// A key is only created with what its type can do; these hold the types to it.

/** After `prepare…`, which refuses what does not encrypt. */
function cipherOf({ type: { cipher, name } }: LoadedRing): Cipher {
  if (cipher === undefined) throw new Error(`A key of type ${name} was prepared to encrypt`)
  return cipher
}

function requireDerivation({ derivation, name }: KeyType): Derivation {
  if (derivation === undefined) throw new Error(`A key of type ${name} is marked as derived`)
  return derivation
}

function requireConvergent(type: KeyType): Convergent {
  const { convergent } = requireDerivation(type)
  if (convergent === undefined) throw new Error(`A key of type ${type.name} is marked as convergent`)
  return convergent
}
