// One message signed or verified with one key: what sign and verify share, single or in a batch.
import type { KeyObject } from 'node:crypto'
import { fail } from '../../api/errors.ts'
import { type KeyType, type SignatureOptions, UnusableInput } from '../../crypto/key-types/key-type.ts'
import { signWith, verifyWith } from '../../crypto/signing-jobs.ts'
import { Base64Error, decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from '../../lib/base64.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import { whenDone } from '../../lib/when-done.ts'
import { decodeField } from './crypt.ts'
import { decodeInput } from './mac.ts'
import { parseCiphertext } from './ring/ciphertext.ts'
import { type LoadedRing, type LoadedVersion, privateKeyOf } from './ring/loaded-ring.ts'
import { verifyingType } from './ring/managed-type.ts'
import { encryptionVersion, verificationVersion } from './ring/versions.ts'

/** As a client sends it, base64. */
export type SignInput = { readonly input: string; readonly context?: string | undefined }
export type VerifyInput = SignInput & { readonly signature: string }

export type Signed = {
  readonly signature: string
  readonly version: number
  /** Of a derived key: the public half for the context. */
  readonly publicKey: string | undefined
}

/** @throws Refusal for types that do not sign */
export function requireSigning({ signing, name }: KeyType, what: 'signing' | 'verification'): void {
  if (signing === undefined) throw fail('key_cannot', [`key type ${name} does not support ${what}`])
}

/** @throws Refusal */
export function sign(
  ring: LoadedRing,
  slow: SlowWork,
  { input: text, context }: SignInput,
  requested: number,
  options: SignatureOptions,
): Signed | Promise<Signed> {
  requireSigning(ring.type, 'signing')
  const input = decodeInput(text)
  const given = decodeField('context', context)
  const version = ring.version(encryptionVersion(ring.header, requested, 'signing'))
  privateKeyOf(version)
  const key = keyFor(ring, version, given)
  const signature = orRefusal(() => signWith(ring.type, slow, key, input, options))
  return whenDone(
    signature,
    (bytes): Signed => ({
      signature: version.prefix + encodeSignature(bytes, options),
      version: version.number,
      publicKey: ring.header.derived ? ring.type.publicPart?.text(key) : undefined,
    }),
  )
}

/** A signature that was read: what is left is to compute. */
export type PreparedSignature = {
  readonly key: KeyObject
  readonly input: Buffer
  /** Base64 of one kind or the other. */
  readonly payload: string
}

/** @throws Refusal for a signature that is none, or of a version that does not verify */
export function prepareVerification(ring: LoadedRing, { input, context, signature }: VerifyInput): PreparedSignature {
  const { version: written, payload } = parseCiphertext(signature, 'signature')
  const version = ring.version(verificationVersion(ring.header, written, 'signature'))
  const given = decodeField('context', context)
  return { key: keyFor(ring, version, given), input: decodeInput(input), payload }
}

/** @throws Refusal for options that cannot be, and for a signature that cannot be read */
export function verify(
  { type }: LoadedRing,
  slow: SlowWork,
  { key, input, payload }: PreparedSignature,
  options: SignatureOptions,
): boolean | Promise<boolean> {
  requireSigning(type, 'verification')
  const signature = decodeSignature(payload, options)
  return orRefusal(() => verifyWith(verifyingType(type, key), slow, key, input, signature, options))
}

/** The key of the version, or the one for the context. */
function keyFor(ring: LoadedRing, version: LoadedVersion, context: Buffer | undefined): KeyObject {
  if (!ring.header.derived) return version.key
  if (context === undefined || context.length === 0) {
    throw fail('field_missing', [
      'context',
      "missing 'context' for key derivation; the key was created with derivation",
    ])
  }
  const { derivation } = ring.type
  if (derivation === undefined) throw new Error(`A key of type ${ring.type.name} is marked as derived`)
  return derivation.derive(privateKeyOf(version), context)
}

function orRefusal<T>(work: () => T | Promise<T>): T | Promise<T> {
  try {
    const done = work()
    return done instanceof Promise ? done.catch(refuseUnusable) : done
  } catch (cause) {
    return refuseUnusable(cause)
  }
}

function refuseUnusable(cause: unknown): never {
  throw cause instanceof UnusableInput ? fail('input_unusable', [cause.message], cause) : cause
}

/** jws is base64url without padding, for all types of keys. */
export function encodeSignature(bytes: Buffer, { marshaling }: SignatureOptions): string {
  return marshaling === 'jws' ? encodeBase64Url(bytes) : encodeBase64(bytes)
}

function decodeSignature(payload: string, { marshaling }: SignatureOptions): Buffer {
  try {
    return marshaling === 'jws' ? decodeBase64Url(payload) : decodeBase64(payload)
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    const kind = marshaling === 'jws' ? 'base64url without padding' : 'base64'
    throw fail(
      'signature_malformed',
      [`invalid base64 signature value: marshaling_algorithm ${marshaling} wants ${kind}`],
      cause,
    )
  }
}
