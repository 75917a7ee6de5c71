// One message signed or verified with one key that is here: what sign and verify share, single or in a batch.
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

/** A message as a client sends it: input and context in base64. */
export type SignInput = { readonly input: string; readonly context?: string | undefined }
/** A message with its signature, which is still in its text form. */
export type VerifyInput = SignInput & { readonly signature: string }

/** A signature in its text form, and the version that made it. */
export type Signed = {
  readonly signature: string
  readonly version: number
  /** The public half for the context, if the key is derived. */
  readonly publicKey: string | undefined
}

/** Checks that keys of this type sign. @throws Refusal */
export function requireSigning({ signing, name }: KeyType, what: 'signing' | 'verification'): void {
  if (signing === undefined) throw fail('key_cannot', [`key type ${name} does not support ${what}`])
}

/** Signs one message with the version `requested`, 0 for the latest. Slow types return a promise. @throws Refusal */
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

/** A signature whose text form was read and whose key was found. */
export type PreparedSignature = {
  readonly key: KeyObject
  readonly input: Buffer
  /** Still encoded: base64, or base64url for jws. */
  readonly payload: string
}

/** Reads a signature and finds its key. @throws Refusal for a malformed one, or a version that may not verify */
export function prepareVerification(ring: LoadedRing, { input, context, signature }: VerifyInput): PreparedSignature {
  const { version: written, payload } = parseCiphertext(signature, 'signature')
  const version = ring.version(verificationVersion(ring.header, written, 'signature'))
  const given = decodeField('context', context)
  return { key: keyFor(ring, version, given), input: decodeInput(input), payload }
}

/** True if the signature is valid under these options. @throws Refusal if options or signature cannot be used */
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

/** Returns the key of the version, or for a derived key the one that belongs to the context. @throws Refusal */
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

/** Encodes a signature: base64, or base64url without padding for jws, whatever the type of the key. */
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
