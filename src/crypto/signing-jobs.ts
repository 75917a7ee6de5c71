// Signing and verifying for another thread, where the type of the key takes long for it.
import type { KeyObject } from 'node:crypto'
import type { Job } from '../lib/slow-work.ts'
import { type SignatureOptions, type Signing, UnusableInput } from './key-type.ts'
import { KEY_TYPES } from './key-types.ts'

export type SignInput = {
  /** Name of a key type that signs. */
  readonly type: string
  readonly key: KeyObject
  readonly input: Uint8Array
  readonly options: SignatureOptions
}
export type VerifyInput = SignInput & { readonly signature: Uint8Array }

/** What `UnusableInput` said, where it was thrown: errors keep no class on their way between threads. */
export type Unusable = { readonly unusable: string }

export const SIGN: Job<SignInput, Uint8Array<ArrayBuffer> | Unusable> = {
  name: 'sign',
  takes: 'short',
  run: ({ type, key, input, options }) =>
    orUnusable(() => new Uint8Array(signingOf(type).sign(key, asBuffer(input), options))),
}

export const VERIFY: Job<VerifyInput, boolean | Unusable> = {
  name: 'verify',
  takes: 'short',
  run: ({ type, key, input, signature, options }) =>
    orUnusable(() => signingOf(type).verify(key, asBuffer(input), asBuffer(signature), options)),
}

function orUnusable<T>(work: () => T): T | Unusable {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof UnusableInput) return { unusable: cause.message }
    throw cause
  }
}

function signingOf(name: string): Signing {
  const signing = KEY_TYPES.get(name)?.signing
  if (signing === undefined) throw new RangeError(`Keys of type ${name} do not sign`)
  return signing
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
